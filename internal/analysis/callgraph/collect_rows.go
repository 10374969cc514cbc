package callgraph

import "github.com/parallax-hpc/parallax/internal/trace"

// A rowReader puts rows into buckets. It finds the path of each call first, as a
// digest does, and then takes the calls of a path together: they belong to the same
// buckets, and their sketches take many values faster than one.
type rowReader struct {
	paths laneReader
	table pathTable
	stack []int32

	of                   []int32 // path of each row
	calls, first         []int32 // of each path; where its values begin
	inclusive, exclusive []int64 // sums of each path
	values               []int64 // of the measure, by path
}

// add takes the calls that begin in a batch: O(rows + paths × depth).
func (w *rowReader) add(o *Options, g *Graph, c *trace.Columns) {
	w.table.reset()
	w.find(c)
	n := len(w.table.Parent)
	w.count(o, c, n)
	p := &w.paths
	p.record.kind, p.record.parent, p.record.region = kindPaths, w.table.Parent, w.table.Region
	p.start(o, g, false)
	for path := range n {
		if w.calls[path] == 0 { // it only holds others
			continue
		}
		t := &p.targets[path]
		p.resolve(path, t)
		for _, k := range p.all[t.from:t.to] {
			b := &g.buckets[k]
			b.Count += int64(w.calls[path])
			b.Inclusive += w.inclusive[path]
			b.Exclusive += w.exclusive[path]
			if t.outermost {
				b.Outermost += w.inclusive[path]
			}
			if o.Measure != Totals {
				b.Calls.AddAll(w.values[w.first[path]-w.calls[path] : w.first[path]])
			}
		}
	}
}

// find numbers the path of each row. Depth is known for every row, so a stack of
// paths by depth needs no search for parents.
func (w *rowReader) find(c *trace.Columns) {
	stack := w.stack[:0]
	at := int32(-1)
	for _, x := range c.Open {
		at = w.table.child(at, x.Region)
		stack = append(stack, at)
	}
	w.of = w.of[:0]
	for i, region := range c.Region {
		d := min(int(c.Depth[i]), len(stack))
		parent := int32(-1)
		if d > 0 {
			parent = stack[d-1]
		}
		id := w.table.child(parent, region)
		stack = append(stack[:d], id)
		w.of = append(w.of, id)
	}
	w.stack = stack
}

// count adds up the calls of each path, and sorts their values by path: first is
// then where those of the next begin.
func (w *rowReader) count(o *Options, c *trace.Columns, n int) {
	w.calls, w.first = zeros(w.calls, n), zeros(w.first, n)
	w.inclusive, w.exclusive = zeros(w.inclusive, n), zeros(w.exclusive, n)
	for i, p := range w.of {
		w.calls[p]++
		w.inclusive[p] += int64(c.Duration[i])
		w.exclusive[p] += int64(c.Exclusive[i])
	}
	if o.Measure == Totals {
		return
	}
	from := int32(0)
	for p, calls := range w.calls {
		w.first[p] = from
		from += calls
	}
	w.values = zeros(w.values, len(w.of))
	measure := c.Exclusive
	if o.Measure == Inclusive {
		measure = c.Duration
	}
	for i, p := range w.of {
		w.values[w.first[p]] = max(int64(measure[i]), 0)
		w.first[p]++
	}
}

// zeros gives n zeros in the room of a slice.
func zeros[T int32 | int64](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/2)
	}
	s = s[:n]
	clear(s)
	return s
}
