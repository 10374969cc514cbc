// Package processor says which rows of a run can be compared with each other: its processors. A processor is a GPU, a
// process's main thread next to it, a thread of a team, a processor of Go's scheduler, a service. Other locations with
// intervals are part of a processor (streams of a GPU), or no row at all: threads of runtimes and recorders,
// goroutines, which repeat the time of processors.
//
//	processor.go  which rows a rule gives
//	helper.go     which threads only help, and which one is a process's main thread
//	reader.go     a run seen by these rows
package processor

import (
	"context"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// A Rule defines the rows.
type Rule string

// The rules.
const (
	Processors Rule = "processors" // what can be compared
	Threads    Rule = "threads"    // each thread and stream, goroutines by function; without those of the recorder
	All        Rule = "all"        // everything that holds intervals
)

// A Choice is the rows of a run by a rule.
type Choice struct {
	Rule Rule
	// Row is by location the row that it is a part of: itself, the GPU of a stream, the function of a goroutine;
	// NoLocation where it is part of none.
	Row  []trace.LocationID
	Rows []trace.LocationID // ascending
	Of   int                // how many locations hold intervals
	gpus []trace.LocationID // of the rows those that are GPUs, ascending
	tree *store.Tree
}

// Choose returns the rows of a tree. O(locations).
func Choose(t *store.Tree, rule Rule) *Choice {
	c := &Choice{Rule: rule, Row: make([]trace.LocationID, t.Len()), tree: t}
	goroutines := false
	for id, holds := range t.Holds {
		c.Row[id] = trace.NoLocation
		if holds {
			c.Row[id] = trace.LocationID(id)
			c.Of++
			goroutines = goroutines || t.Kind[id] == trace.KindGoroutine
		}
	}
	switch {
	case rule == Processors && goroutines:
		c.keepProcessors()
	case rule == Processors:
		c.foldGPUs()
		c.leaveOthers()
	case rule == Threads:
		c.foldGoroutines()
		c.leaveRecorders()
	}
	for id, row := range c.Row {
		if row == trace.NoLocation {
			continue
		}
		if c.Row[row] != row { // holds nothing itself
			c.Row[row] = row
		}
		if n := len(c.Rows); row != trace.LocationID(id) || n == 0 || c.Rows[n-1] != row {
			c.Rows = append(c.Rows, row)
		}
	}
	slices.Sort(c.Rows)
	c.Rows = slices.Compact(c.Rows)
	return c
}

// Differs reports whether the rows are others than the locations that hold intervals.
func (c *Choice) Differs() bool {
	if len(c.Rows) != c.Of {
		return true
	}
	for id, holds := range c.tree.Holds {
		if holds && c.Row[id] != trace.LocationID(id) {
			return true
		}
	}
	return false
}

// keepProcessors leaves goroutines and the rows next to them out where there are processors: these are there all the
// time, so that their share is the machine's. Most goroutines live for a small part of a run and are nothing before
// and after: over all of them even a machine at full load looks idle.
func (c *Choice) keepProcessors() {
	t := c.tree
	if !slices.ContainsFunc(held(t), func(id trace.LocationID) bool { return t.Kind[id] == trace.KindProcessor }) {
		return
	}
	for _, id := range held(t) {
		if t.Kind[id] != trace.KindProcessor {
			c.Row[id] = trace.NoLocation
		}
	}
}

// foldGPUs makes the streams of a GPU one row.
func (c *Choice) foldGPUs() {
	if !runfacts.HasGPU(c.tree) {
		return
	}
	d := runfacts.FindDevices(c.tree, nil)
	for id, k := range d.GPU {
		if k >= 0 {
			c.Row[id] = d.GPUs[k]
		}
	}
	c.gpus = slices.Sorted(slices.Values(d.GPUs))
}

// leaveOthers leaves out locations that are no processor: helpers of a process, all but the main thread next to a
// GPU, and CPUs if processes record the work that ran on them.
func (c *Choice) leaveOthers() {
	t := c.tree
	process, rows := owners(t), held(t)
	place := func(id trace.LocationID) int { return int(process[id] + 1) } // of its process, 0: it is in none
	gpu := make([]bool, t.Len()+1)
	end := make([]int, t.Len()+2) // of the members of a process
	gpus, hosts := 0, 0           // processes with a GPU, with members
	for _, id := range rows {
		switch p := place(id); {
		case c.Row[id] != id:
			if !gpu[p] {
				gpus++
			}
			gpu[p] = true
		case t.Kind[id] != trace.KindProcessor:
			if end[p+1] == 0 {
				hosts++
			}
			end[p+1]++
		}
	}
	if gpus+hosts == 0 {
		return
	}
	for p := range t.Len() + 1 {
		end[p+1] += end[p]
	}
	members := make([]trace.LocationID, end[t.Len()+1])
	next := slices.Clone(end)
	for _, id := range rows {
		switch p := place(id); {
		case t.Kind[id] == trace.KindProcessor:
			c.Row[id] = trace.NoLocation
		case c.Row[id] == id:
			members[next[p]] = id
			next[p]++
		}
	}
	// Devices of some formats are processes of their own: the only other process is their host.
	alone := hosts == 1 && gpus > 0
	_ = parallel.Ranges(context.Background(), t.Len()+1, 4096, func(from, to int) {
		for p := from; p < to; p++ {
			c.leaveHelpers(trace.LocationID(p-1), members[end[p]:end[p+1]], gpu[p] || alone)
		}
	})
}

// leaveHelpers leaves out helpers of a process, and all but its main thread next to a GPU.
func (c *Choice) leaveHelpers(process trace.LocationID, members []trace.LocationID, gpu bool) {
	if len(members) < 2 {
		return
	}
	kept := working(c.tree, members)
	if gpu && process != trace.NoLocation {
		kept = []trace.LocationID{mainThread(c.tree, process, kept)}
	}
	for _, id := range members {
		if len(kept) > 0 && kept[0] == id { // they have the order of the members
			kept = kept[1:]
		} else {
			c.Row[id] = trace.NoLocation
		}
	}
}

// foldGoroutines makes goroutines that begin with the same function one row, and leaves processors out next to them.
func (c *Choice) foldGoroutines() {
	t := c.tree
	found := false
	for _, id := range held(t) {
		if up := t.Parent[id]; t.Kind[id] == trace.KindGoroutine && up != trace.NoLocation {
			c.Row[id], found = up, true
		}
	}
	for _, id := range held(t) {
		if found && t.Kind[id] == trace.KindProcessor {
			c.Row[id] = trace.NoLocation
		}
	}
}

// leaveRecorders leaves out the rows of recorders, as far as there are others.
func (c *Choice) leaveRecorders() {
	var kept []trace.LocationID
	for _, id := range held(c.tree) {
		if c.Row[id] != trace.NoLocation && !records(c.tree, id) {
			kept = append(kept, id)
		}
	}
	if len(kept) == 0 {
		return
	}
	for _, id := range held(c.tree) {
		if records(c.tree, id) {
			c.Row[id] = trace.NoLocation
		}
	}
}

// held lists the locations that hold intervals.
func held(t *store.Tree) []trace.LocationID { return runfacts.Chosen(t, nil, t.Holds) }

// owners returns the process of each location; NoLocation where it is in none.
func owners(t *store.Tree) []trace.LocationID {
	out := make([]trace.LocationID, t.Len())
	for i := range out {
		id := trace.LocationID(i)
		switch up := t.Parent[id]; {
		case t.Kind[id] == trace.KindProcess:
			out[i] = id
		case up == trace.NoLocation:
			out[i] = trace.NoLocation
		default:
			out[i] = out[up]
		}
	}
	return out
}

// Holds reports whether each of some locations has a row at or below it; nil stands for all.
func (c *Choice) Holds(locations []trace.LocationID) bool {
	for _, id := range locations {
		k, _ := slices.BinarySearch(c.Rows, id)
		if k == len(c.Rows) || c.Rows[k] > c.tree.Last[id] {
			return false
		}
	}
	return true
}

// Words names the rows: "8 GPUs and 8 main threads".
func (c *Choice) Words() string {
	count := map[string]int{}
	var order []string
	process := owners(c.tree)
	hosts := map[trace.LocationID]bool{}
	for _, id := range c.gpus {
		hosts[process[id]] = true
	}
	for _, id := range c.Rows {
		what := string(c.tree.Kind[id])
		_, isGPU := slices.BinarySearch(c.gpus, id)
		switch {
		case isGPU:
			what = "GPU"
		case c.Rule == Threads && what == string(trace.KindGroup) && !c.tree.Holds[id]:
			what = "function"
		case what == string(trace.KindThread) && hosts[process[id]]:
			what = "main thread"
		case what == string(trace.KindStates):
			what = "state row"
		case what == "":
			what = "location"
		}
		if count[what] == 0 {
			order = append(order, what)
		}
		count[what]++
	}
	parts := make([]string, len(order))
	for i, what := range order {
		parts[i] = words.Count(count[what], what)
	}
	if n := len(parts); n > 1 {
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
	return strings.Join(parts, "")
}
