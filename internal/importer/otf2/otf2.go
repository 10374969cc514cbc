// Package otf2 imports traces in the Open Trace Format, version 2, as Score-P,
// TAU, EZTrace, lo2s and others write them.
//
// An archive is an anchor (X.otf2, of any name), definitions of the whole (X.def)
// and, for each location, local definitions (X/N.def) and events (X/N.evt). The
// records and their fields are described in the documentation of the OTF2 library
// (versions 1.0 to 3.0); the bytes only by its source.
//
//	system tree node         location (cluster, machine, socket …)
//	location group           location (process, with its rank; device)
//	location                 location (thread, stream, metric)
//	region                   region: paradigm as category, role and paradigm as role
//	Enter, Leave             interval
//	BufferFlush, MeasurementOnOff    interval
//	CallingContext…          intervals, from the paths that samples give
//	MpiSend … MpiRecv        link of kind message
//	RmaPut, RmaGet, RmaAtomic        link of kind message
//	ThreadFork, …Create, tasks       link of kind spawn to the thread or task
//	ThreadTeamEnd, ThreadEnd link of kind wake to who joins or waits
//	Metric                   samples of counters
//	collectives, parameters, I/O, locks, windows, attribute lists
//	                         attributes of the call they are in, else of an instant
//	ProgramBegin …, ThreadBegin …, markers    instant
//	group, Comm              communicator; ranks are resolved to locations
//	CartTopology             topology
//
// Numbers of a location are translated by its mapping tables, its clock by its
// clock offsets, interpolated in between. Clocks that were not corrected show in
// messages that arrive before they are sent: that is counted, and package align
// fits the clocks where a user asks for it.
//
// Kept aside, and counted in the report: when nonblocking sends complete, tests
// of requests, completions of tasks, snapshots and thumbnails, and records of
// types that are not known. Names of handles, groups of regions, call sites and
// call paths of definitions have no place. Archives in SION containers are refused.
package otf2

import (
	"path"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/parallel"
)

// Format reads OTF2 archives.
var Format = &importer.Format{
	Name:   "otf2",
	Title:  "Open Trace Format 2 (Score-P, TAU, EZTrace, lo2s)",
	Claim:  claim,
	Import: importRun,
	Room:   room,
	Shares: func(importer.Run) (string, bool) { return "", true },
}

// mostEvents is up to how many bytes the events of a location surely are no more rows than are unpacked into memory: 8
// each.
const mostEvents = 8 << 20

// room is 1.5 times the archive with its messages, and more where a location has very many rows: these are unpacked
// into files while the rest is derived from them, on each core those of one.
func room(_ importer.Run, files []importer.File) float64 {
	var all, large int64
	left := parallel.Workers()
	for _, f := range files {
		all += f.Size
		if strings.EqualFold(path.Ext(f.Path), ".evt") && f.Size > mostEvents && left > 0 {
			large += f.Size
			left--
		}
	}
	return 1.5 + 2.5*float64(large)/float64(max(all, 1))
}
