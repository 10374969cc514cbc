// Package paraver imports Paraver traces, which Extrae, Dimemas, OmpSs and COMPSs
// write: a body of records (.prv, packed or not), next to it the names of states and
// events (.pcf) and of rows (.row).
//
// The first line of the body tells when and how long the trace is, the nodes and
// their processors, and of each application its tasks, their threads and their
// nodes; communicators follow. Then come records of one line each, numbers joined by
// colons, in order of time: states (1), events with any number of pairs of type and
// value (2), communications (3). Described in "Paraver: trace format description"
// (BSC) and by the sources of paraver-kernel and Extrae.
//
//	node                          location (machine)
//	task                          location (process); with MPI the task's number gives the rank
//	thread                        location (thread), where a task has several
//	state                         interval, of category "state"
//	event type with value 0 = end interval from a value to the end, of the type's category
//	other type with named values  instant
//	hardware counter, other type  counter
//	communication                 link
//	communicator                  communicator
//
// MPI (types 50000001 to 50000005) and OpenMP (60000001 and on) are known without a
// .pcf. Calls are within the state that says the same at a coarser grain. Callers,
// source lines, and sizes of collectives that come with the begin of a call are
// attributes of its interval. User functions and outlined functions nest; a value of
// another type ends the one before.
//
// A link goes from the call of the send (logical send) to the arrival of the message
// (physical receive). When the receive was posted (logical receive) is where its call
// begins, an interval of its own; when the message left (physical send) is not kept.
// Times are in nanoseconds or microseconds, as the header says.
//
// Not kept, and counted: the processor of single records where a thread moves between
// some, communicators between groups, global communication records.
package paraver

import "github.com/parallax-hpc/parallax/internal/importer"

// Format reads Paraver traces.
var Format = &importer.Format{
	Name:   "paraver",
	Title:  "Paraver traces (Extrae, Dimemas, OmpSs, COMPSs)",
	Text:   true,
	Room:   importer.Times(2.5),
	Claim:  claim,
	Import: importRun,
}
