package overview

// MostWork lets a test list few stretches.
var MostWork = &mostWork

// MostSheets lets a test keep no sums of groups, so that all are read again.
var MostSheets = &mostSheets
