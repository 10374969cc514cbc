package overview

// MostWork lets a test list few stretches.
var MostWork = &mostWork

// MostSheets lets a test keep no sums of groups, so that all are read again.
var MostSheets = &mostSheets

// ManyIntervals lets a test keep what the picture of a small run begins with.
var ManyIntervals = &manyIntervals

// StartOfRun is what is kept of a run.
var StartOfRun = startOfRun
