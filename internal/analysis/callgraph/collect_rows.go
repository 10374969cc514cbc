package callgraph

import "github.com/parallax-hpc/parallax/internal/trace"

// A rowReader puts rows into buckets. It finds the path of each call first, as a
// digest does, and then takes the calls of a path together: they belong to the same
// buckets, and their sketches take many values faster than one.
type rowReader struct {
	paths laneReader
	pathFinder

	sums   []pathSum // by path
	values []int64   // of the measure, by path
}

// A pathSum is the calls of a path, and where its values end.
type pathSum struct {
	calls, end           int64
	inclusive, exclusive int64
}

// add takes the calls that begin in a batch: O(rows + paths × depth).
func (w *rowReader) add(o *Options, g *Graph, c *trace.Columns) {
	w.start(c.Open, c.Callers)
	w.find(c.Depth, c.Region, c.First, c.Callers)
	w.count(o, c, len(w.table.Parent))
	w.put(o, g)
}

// put adds the calls of each path to their buckets.
func (w *rowReader) put(o *Options, g *Graph) {
	p := &w.paths
	p.record.kind, p.record.parent, p.record.region = kindPaths, w.table.Parent, w.table.Region
	p.start(o, g, false)
	for path := range w.sums {
		sum := &w.sums[path]
		if sum.calls == 0 { // it only holds others
			continue
		}
		t := &p.targets[path]
		p.resolve(&p.record, path, t)
		for _, k := range p.all[t.from:t.to] {
			b := &g.buckets[k]
			b.Count += sum.calls
			b.Inclusive.Add(trace.Time(sum.inclusive))
			b.Exclusive.Add(trace.Time(sum.exclusive))
			if t.outermost {
				b.Outermost.Add(trace.Time(sum.inclusive))
			}
			if o.Measure != Totals {
				b.Calls.AddAll(w.values[sum.end-sum.calls : sum.end])
			}
		}
	}
}

// count adds up the calls of each path, and sorts their values by path.
func (w *rowReader) count(o *Options, c *trace.Columns, n int) {
	if cap(w.sums) < n {
		w.sums = make([]pathSum, n+n/2)
	}
	sums := w.sums[:n]
	clear(sums)
	w.sums = sums
	duration, exclusive := c.Duration[:len(w.of)], c.Exclusive[:len(w.of)]
	for i, p := range w.of {
		s := &sums[p]
		s.calls++
		s.inclusive += int64(duration[i])
		s.exclusive += int64(exclusive[i])
	}
	if o.Measure == Totals {
		return
	}
	from := int64(0)
	for p := range sums {
		sums[p].end = from // begin for now
		from += sums[p].calls
	}
	if cap(w.values) < len(w.of) {
		w.values = make([]int64, len(w.of)+len(w.of)/2)
	}
	values, measure := w.values[:len(w.of)], exclusive
	if o.Measure == Inclusive {
		measure = duration
	}
	for i, p := range w.of {
		s := &sums[p]
		values[s.end] = max(int64(measure[i]), 0)
		s.end++
	}
	w.values = values
}
