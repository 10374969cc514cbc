package table

// Tables are those that every run has.
var Tables = []*Table{locations, regions, intervals, links, counters, samples, instants, attributes, profile, lines,
	callPaths,
	metrics, distributions, moments, communicators, topologies, coordinates, report, runs}

// Functions are tables with arguments, for questions that only a store can answer fast.
var Functions = []*Table{timeIn, calls, Durations, busy}
