package table

// Tables are those that every run has.
var Tables = []*Table{locations, regions, intervals, links, counters, samples, instants, attributes, profile, callPaths,
	metrics, distributions, moments, communicators, topologies, coordinates, report, runs}

// Functions are what only a store can do fast, as tables that are asked with arguments.
var Functions = []*Table{timeIn, calls, Durations, busy}
