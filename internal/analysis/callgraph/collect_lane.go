package callgraph

import (
	"github.com/parallax-hpc/parallax/internal/analysis/quantile"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// fewRows is up to how many rows of a window are read faster than blocks.
const fewRows = 256

// AddLane takes the calls of a lane that begin in a window: from the record where
// there is one, and where not from the rows. The same numbers come of both.
// O(paths + buckets of their sketches + rows of a smallest block).
func (c *Collector) AddLane(l *trace.DigestedLane) error {
	if l.Lo >= l.Hi {
		return nil
	}
	return c.addLane(l, c.graph(l.Location), false)
}

// addLane takes a lane into a graph. With alone the graph holds no other lane, and
// is not merged with another: then a box plot that was prepared is enough.
func (c *Collector) addLane(l *trace.DigestedLane, g *Graph, alone bool) error {
	add := func(cols *trace.Columns) error { c.addTo(g, cols); return nil }
	if l.Record == nil || l.Hi-l.Lo <= fewRows {
		return l.Read(l.Lo, l.Hi, add)
	}
	w, _ := c.readers.Get().(*laneReader)
	if w == nil {
		w = &laneReader{}
	}
	defer c.readers.Put(w)
	if err := w.record.read(l.Record, len(c.Node)); err != nil {
		return err
	}
	if w.record.kind == kindPairs && (c.Closure || c.Path != nil || !c.plain()) {
		return l.Read(l.Lo, l.Hi, add)
	}
	var part func(partOfBlock) error
	if c.Measure == Totals && w.record.kind == kindPaths {
		part = func(p partOfBlock) error { return w.rest.add(&w.record, p, l.Read, w.totals) }
	}
	w.start(&c.Options, g, alone)
	if w.also = nil; c.Also != nil {
		w.also = &w.second
		w.also.start(w.record.parent, c.Also, g.further())
	}
	if err := w.record.cover(l.Lo, l.Hi, w.block, part,
		func(lo, hi int) error { return l.Read(lo, hi, add) }); err != nil {
		return err
	}
	return w.finish()
}

// plain reports whether every node is one region, so that values by region are values by node.
func (c *Collector) plain() bool {
	c.plainOnce.Do(func() { c.isPlain = c.Nodes == len(c.Node) })
	return c.isPlain
}

// A laneReader puts the paths of a record into buckets.
type laneReader struct {
	record record
	bucketing
	alone   bool
	waiting []sketchBytes // by bucket: the first sketch of it, with alone
	rest    remainder
	also    *bucketing // by Collector.Also; nil: there is none
	second  bucketing
}

// A bucketing finds the buckets of a graph that the paths of a record belong to.
type bucketing struct {
	options *Options
	graph   *Graph
	targets []target // by path
	all     []int32  // buckets of targets, see target
	seen    map[int32]bool
}

// A target is the buckets that calls of a path belong to: all[from:to].
type target struct {
	from, to  int32
	outermost bool
	known     bool
}

func (w *laneReader) start(o *Options, g *Graph, alone bool) {
	w.alone, w.waiting = alone, w.waiting[:0]
	w.bucketing.start(w.record.parent, o, g)
}

// start begins with the paths of a record, by their parents.
func (w *bucketing) start(paths []int32, o *Options, g *Graph) {
	w.options, w.graph = o, g
	n := len(paths)
	g.room(n)
	if cap(w.targets) < n {
		w.targets = make([]target, n+n/2)
	}
	w.targets = w.targets[:n]
	clear(w.targets)
	w.all = w.all[:0]
}

func (w *laneReader) block(b []byte, whole bool) error {
	return w.record.entries(b, whole, w.entry)
}

// headersOf returns the headers of the sketches of a path's times: counts and totals.
func headersOf(inclusive, exclusive sketchBytes) (in, ex quantile.Header, err error) {
	if in, err = quantile.ReadHeader(inclusive.sketch); err != nil {
		return in, ex, errRecord
	}
	if len(exclusive.sketch) > 0 && &inclusive.sketch[0] == &exclusive.sketch[0] { // one serves both
		return in, in, nil
	}
	if ex, err = quantile.ReadHeader(exclusive.sketch); err != nil {
		return in, ex, errRecord
	}
	return in, ex, nil
}

func (w *laneReader) entry(path int, inclusive, exclusive sketchBytes) error {
	t := w.target(&w.record, path)
	if t.from == t.to && w.also == nil {
		return nil
	}
	in, ex, err := headersOf(inclusive, exclusive)
	if err != nil {
		return err
	}
	w.count(t, in.Count, in.Total, ex.Total)
	if w.also != nil {
		w.also.count(w.also.target(&w.record, path), in.Count, in.Total, ex.Total)
	}
	for _, k := range w.all[t.from:t.to] {
		switch w.options.Measure {
		case Exclusive:
			err = w.distribution(k, exclusive)
		case Inclusive:
			err = w.distribution(k, inclusive)
		}
		if err != nil {
			return errRecord
		}
	}
	return nil
}

func (w *bucketing) target(x *record, path int) *target {
	t := &w.targets[path]
	if !t.known {
		w.resolve(x, path, t)
	}
	return t
}

// totals takes the calls of a path without their distribution.
func (w *laneReader) totals(path int, calls, inclusive, exclusive int64) error {
	w.count(w.target(&w.record, path), calls, inclusive, exclusive)
	if w.also != nil {
		w.also.count(w.also.target(&w.record, path), calls, inclusive, exclusive)
	}
	return nil
}

func (w *bucketing) count(t *target, calls, inclusive, exclusive int64) {
	for _, k := range w.all[t.from:t.to] {
		b := &w.graph.buckets[k]
		b.Count += calls
		b.Inclusive.Add(trace.Time(inclusive))
		b.Exclusive.Add(trace.Time(exclusive))
		if t.outermost {
			b.Outermost.Add(trace.Time(inclusive))
		}
	}
}

// distribution takes a sketch into a bucket. The first one waits: where no other
// comes, its box plot is all there is to know.
func (w *laneReader) distribution(bucket int32, s sketchBytes) error {
	calls := &w.graph.buckets[bucket].Calls
	if !w.alone || s.box == nil {
		return calls.MergeBytes(s.sketch)
	}
	for len(w.waiting) <= int(bucket) {
		w.waiting = append(w.waiting, sketchBytes{})
	}
	first := &w.waiting[bucket]
	if first.sketch == nil && calls.Count == 0 {
		*first = s
		return nil
	}
	if first.sketch != nil {
		if err := calls.MergeBytes(first.sketch); err != nil {
			return err
		}
		*first = sketchBytes{}
	}
	return calls.MergeBytes(s.sketch)
}

// finish takes the sketches that are still pending.
func (w *laneReader) finish() error {
	for k, s := range w.waiting {
		if s.sketch != nil {
			w.graph.condensed = true
			if err := w.graph.buckets[k].Calls.Condense(s.sketch, s.box); err != nil {
				return errRecord
			}
		}
	}
	return nil
}

// resolve finds the buckets of the calls of a path.
func (w *bucketing) resolve(x *record, path int, t *target) {
	o := w.options
	*t = target{known: true, from: int32(len(w.all)), to: int32(len(w.all))}
	node := o.Node[x.region[path]]
	if o.Skip != nil && o.Skip[x.region[path]] {
		return
	}
	if o.Callees != nil && !o.Callees[node] || o.Path != nil && !w.onPath(x, path) {
		return
	}
	caller := Root
	if x.kind == kindPairs {
		if up := x.parent[path] >> 1; up > 0 {
			caller = o.Node[up-1]
		}
		t.outermost = x.parent[path]&1 == 1
	} else {
		t.outermost = true
		if up := x.parent[path]; up >= 0 {
			caller = o.Node[x.region[up]]
		}
		for up := x.parent[path]; up >= 0 && t.outermost; up = x.parent[up] {
			t.outermost = o.Node[x.region[up]] != node
		}
	}
	switch {
	case o.Profile && o.Callers == nil:
		w.add(Pair{Root, node})
	case o.Closure:
		w.closure(x, path, node)
	default:
		w.choose(caller, node)
	}
	t.to = int32(len(w.all))
}

func (w *bucketing) closure(x *record, path int, node int32) {
	if w.seen == nil {
		w.seen = map[int32]bool{}
	}
	clear(w.seen)
	w.choose(Root, node)
	for up := x.parent[path]; up >= 0; up = x.parent[up] {
		if n := w.options.Node[x.region[up]]; !w.seen[n] {
			w.seen[n] = true
			w.choose(n, node)
		}
	}
}

func (w *bucketing) choose(caller, callee int32) {
	if o := w.options; o.Callers != nil && !o.Callers[caller+1] {
		return
	}
	if w.options.Profile {
		caller = Root
	}
	w.add(Pair{caller, callee})
}

func (w *bucketing) add(p Pair) {
	w.graph.At(p)
	w.all = append(w.all, w.graph.find(p))
}

// onPath reports whether the innermost callers are those of the path asked for.
func (w *bucketing) onPath(x *record, path int) bool {
	at := x.parent[path]
	for k := len(w.options.Path) - 1; k >= 0; k-- {
		caller := Root
		if at >= 0 {
			caller = w.options.Node[x.region[at]]
		}
		if !w.options.Path[k][caller+1] || caller == Root && k > 0 {
			return false
		}
		if at >= 0 {
			at = x.parent[at]
		}
	}
	return true
}
