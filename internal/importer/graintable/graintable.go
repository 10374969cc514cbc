// Package graintable imports tables of OpenMP tasks, a line a task, as the MIR
// runtime and the grain graph tools write them (task-stats): comma-separated, with
// a header that names the columns. Described by anamud/grain-graphs and
// anamud/mir-dev.
//
//	cpu_id                        location (core)
//	outline_function              region, with the file of source_line
//	task                          interval; every other column is an attribute of it
//	parent                        spawn link from the task that made it
//	wait_instants                 interval "taskwait" in which the task was not running; others may run inside
//	lineage                       attribute: R-1-2 is the second child of R-1
//
// Times are cycles of a clock whose rate is not told: one is shown as a nanosecond.
//
// The table tells when a task ended, how many cycles it executed, and after how
// many of them it made each child and waited; not when it began. The begin is taken
// as late as all this allows: its cycles before its end, and early enough to make
// its children. The report counts these guesses. The whole table is held in
// memory, since parents may follow their children.
package graintable

import (
	"bytes"
	"context"
	"encoding/csv"
	"io"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is the grain table.
var Format = &importer.Format{
	Name:   "graintable",
	Title:  "OpenMP task tables (MIR, grain graphs)",
	Text:   true,
	Room:   importer.Times(6),
	Claim:  importer.EachFile(isTable),
	Import: importer.OneFile(read),
}

// needed are the columns without which a table is none of tasks.
var needed = []string{"task", "parent", "cpu_id", "exec_cycles", "create_instant", "exec_end_instant"}

// isTable recognises a header with the columns of tasks.
func isTable(head []byte) bool {
	line, _, ok := bytes.Cut(head, []byte("\n"))
	if !ok || !bytes.Contains(line, []byte("exec_end_instant")) {
		return false
	}
	header, err := csv.NewReader(bytes.NewReader(line)).Read()
	_, lacking := columnsOf(header)
	return err == nil && lacking == ""
}

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	t, err := table(ctx, in, label, w)
	if err != nil {
		return err
	}
	return t.convert(ctx, w)
}
