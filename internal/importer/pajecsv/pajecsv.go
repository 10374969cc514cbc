// Package pajecsv imports the output of pj_dump for a Paje trace, and the tables
// that starvz makes of it.
//
// pj_dump (PajeNG) prints a line for each container, state, variable, event and
// link, with fields joined by ", " and no header. starvz, for StarPU, sorts these
// lines into tables with a header, and adds StarPU's own: the containers
// (entities.csv), the tasks (rec.tasks.csv) and the task graph (dag.csv). The
// lines are described by pj_dump's manual page, the tables by starvz's sources.
//
//	Container, entities.csv   location; its type gives the kind
//	State                     interval; its type is the region's category
//	Event                     instant
//	Variable                  sample of a counter, at its start
//	Link                      link
//	dag.csv                   link of kind flow, from the end of a task to the start of the next
//	further columns           attributes of intervals and instants, or a link's size and tag
//	rec.tasks.csv             attributes of the task's state
//
// The tables of a directory are one run; each output of pj_dump is one of its own.
// Containers are known by name: two of one name cannot be distinguished. Times are in
// seconds, with StarPU in milliseconds. Tasks of the graph that left no state
// (callbacks, synchronisation, MPI) are passed through: a task that waits for them
// waits for their own predecessors.
//
// Not kept: the keys of links, colours (pj_dump does not print them), and of tasks
// everything but their submission, priority, model and iteration.
package pajecsv

import "github.com/parallax-hpc/parallax/internal/importer"

// Format reads pj_dump's output and starvz's tables.
var Format = &importer.Format{
	Name:   "paje-csv",
	Title:  "pj_dump's output, and starvz's tables of StarPU runs",
	Text:   true,
	Claim:  claim,
	Import: importRun,
}
