// Package chrometrace imports Chrome trace event files and their dialects:
// PyTorch's Kineto, DFTracer, clang -ftime-trace, Bazel, Node and many more.
//
// A file is JSON, or nearly: records of one object each, distinguished by a phase
// letter, with times in decimal microseconds. Specification: "Trace Event
// Format" (Google, 2016); Kineto and DFTracer are described by their sources only.
//
//	pid                      location (process)
//	tid                      location (thread)
//	pid, tid of GPU work     location (device, stream) under the rank's process
//	name, cat                region
//	X; B and E               interval
//	b n e; S T p F; N D      interval on a location for the process and category
//	i I R                    instant
//	C                        counter, one a key of its arguments
//	P of V8 (ProfileChunk)   call paths by time and samples, and a row aside under the thread
//	samples, stackFrames     the same by samples (Hermes and others)
//	s t f, bind_id           link: a message where it joins two processes or is called one, else a flow
//	correlation ids          link of kind spawn, from a launch to GPU work
//	scalar arguments         attributes of intervals and instants
//	M, top-level members     names, order, attributes and properties
//	pg_config, "PP rank 2"   coordinates (dp, pp, tp, ep, cp): attributes of ranks, and a topology
//
// Kineto and DFTracer write one file per rank. Files of a directory that state
// different ranks of one job (DFTracer: different processes) are one run. A rank or
// a process that comes again is of another run: a directory of nightly files is as
// many runs. Names without the rank distinguish runs, else the order in time. Windows
// of one worker (worker0.TIME.pt.trace.json, one process id) are one run. Files that
// state no rank are one run only if their names are numbered or those of PyTorch's
// handler, they communicate, and they are of different processes that begin within
// ten minutes; --join reads others as one.
//
// Rows are keyed by (pid, tid, CPU or GPU), since the pid of GPU work is the number
// of the device. If Kineto gives baseTimeNanoseconds, times are relative to it.
// People also put all ranks into one file: where processes are named after their
// ranks ("rank 3", "DP rank 0, PP rank 2"), the GPU work of a pid is that of its own
// devices, and ids of launches are counted by each rank.
//
// Kept aside, and counted in the report: arguments that are objects or long lists,
// arguments of end records, thread clocks, stacks of records that are no samples, object
// snapshots, memory dumps, clock synchronisation, the profiler's own rows
// ("PyTorch Profiler (0)", clang's "Total …"), and flow records that only repeat
// a correlation id.
package chrometrace

import (
	"github.com/parallax-hpc/parallax/internal/importer"
)

// The files, in the order in which a record passes them:
//
//	claim.go, probe.go, rank.go, several.go, group.go   which files are a run, and of which rank each is
//	import.go, share.go, align.go                       the files of a run, on one axis of time
//	reader.go, buffer.go, batch.go, member.go           text: records and the members around them
//	template.go, parse.go, value.go, lexicon.go         one record: by its layout if that is as before, else as JSON
//	record.go, precision.go, recovery.go                its fields, how exact its times are, and damage
//	convert.go, row.go, region.go, attribute.go         meaning: locations, regions, attributes
//	async.go, flow.go, kineto.go                        halves that belong together: spans, arrows, launches
//	memory.go, v8.go, framesample.go, dftracer.go       records of single writers
//	describe.go, coordinate.go, report.go               metadata, places of ranks, and what is left out

// Format reads Chrome trace event files and their dialects.
var Format = &importer.Format{
	Name:   "chrome",
	Title:  "Chrome trace events (PyTorch Kineto, DFTracer, clang, Bazel, Node, …)",
	Text:   true,
	Claim:  claim,
	Import: importRun,
	Joins:  true,
	Room:   room,

	Shares:   shares,
	Conclude: concludeParts,
}
