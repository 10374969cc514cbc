package callgraph

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/analysis/quantile"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Paths are the calls of many locations merged by call path: path i is a call of
// Region[i] from path Parent[i], -1 at the top.
type Paths struct {
	Parent []int32
	Region []trace.RegionID
	// Calls that begin in the window, and the time in the path, clipped to the window.
	Calls     []int64
	Inclusive []trace.Sum
	// Exclusive is that of the calls that begin in the window, at full length.
	Exclusive []trace.Sum
	// Beside says that calls under one caller ran at the same time: then the callees of a path may take
	// longer than the path itself.
	Beside bool
	// Each is the distribution over calls, where one was asked for.
	Each []quantile.Sketch
	// Values are the inclusive times of each location, by path, then by location;
	// nil if they are more than was asked for.
	Values []PathValue
	// Locations is how many have calls.
	Locations int
}

// A PathValue is the time of one location in a path.
type PathValue struct {
	Path     int32
	Location trace.LocationID
	Time     int64
}

// A PathCollector merges lanes into Paths, those of a location on any core.
type PathCollector struct {
	// Begin and End of the window: time is clipped to it.
	Begin, End trace.Time
	// Measure of the distributions; Totals for none.
	Measure Measure
	// MostValues bounds how many values of single locations are kept.
	MostValues int
	// Regions is the number of regions.
	Regions int

	mu   sync.Mutex
	free sync.Pool // of *pathPart; those that it drops are in all
	all  []*pathPart
	kept atomic.Int64 // values of all parts; more than MostValues: none is wanted
}

// A pathPart holds the paths that one core has collected.
type pathPart struct {
	c         *PathCollector
	table     pathTable
	calls     []int64
	inclusive []trace.Sum
	exclusive []trace.Sum
	beside    bool
	each      []quantile.Sketch
	values    [][]PathValue      // some at a time, so that none is copied as they grow
	locations []trace.LocationID // some more than once

	record record
	rest   remainder
	place  []int32 // of paths of the record in the table; -1: not known yet
	stack  []int32
	chain  []trace.RegionID
	lane   []int64 // time of the present lane by path
	met    []int32 // paths with time in the lane
	in     []bool
}

// Add takes the calls of a lane that begin in the window or are open in it. O(paths + rows of a smallest
// block), or O(rows) without a record.
func (c *PathCollector) Add(l *trace.DigestedLane) error {
	p := c.take()
	err := p.add(l)
	c.free.Put(p)
	return err
}

func (c *PathCollector) take() *pathPart {
	if p, ok := c.free.Get().(*pathPart); ok {
		return p
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p := &pathPart{c: c}
	c.all = append(c.all, p)
	return p
}

func (p *pathPart) add(l *trace.DigestedLane) error {
	if n := len(p.locations); n == 0 || p.locations[n-1] != l.Location {
		p.locations = append(p.locations, l.Location)
	}
	p.beside = p.beside || l.Callers != nil
	if err := p.calledIn(l); err != nil {
		return err
	}
	// Calls open at the begin are in no row of the window; calls left open at the end are in the rows at
	// full length.
	at := p.callersOf(l.Callers, l.Open)
	for _, x := range l.Open {
		at = p.child(at, x.Region)
		p.time(at, int64(min(x.End, p.c.End)-p.c.Begin))
	}
	at = p.callersOf(l.Callers, l.Left)
	for _, x := range l.Left {
		if at = p.child(at, x.Region); x.Row >= l.Lo {
			p.time(at, -int64(x.End-p.c.End))
		}
	}
	keep := p.c.kept.Add(int64(len(p.met))) <= int64(p.c.MostValues)
	if !keep {
		p.values = nil
	}
	for _, id := range p.met {
		t := p.lane[id]
		p.lane[id], p.in[id] = 0, false
		p.inclusive[id].Add(trace.Time(t))
		if t != 0 && keep {
			p.keep(PathValue{id, l.Location, t})
		}
	}
	p.met = p.met[:0]
	return nil
}

// valuesAtOnce is how many values are kept in one piece of memory.
const valuesAtOnce = 1 << 14

func (p *pathPart) keep(v PathValue) {
	n := len(p.values)
	if n == 0 || len(p.values[n-1]) == valuesAtOnce {
		room := valuesAtOnce
		if n == 0 {
			room = 64
		}
		p.values = append(p.values, make([]PathValue, 0, room))
		n++
	}
	p.values[n-1] = append(p.values[n-1], v)
}

// calledIn takes the rows of the window.
func (p *pathPart) calledIn(l *trace.DigestedLane) error {
	if l.Lo >= l.Hi {
		return nil
	}
	if l.Record == nil || l.Hi-l.Lo <= fewRows {
		return l.Read(l.Lo, l.Hi, p.rows)
	}
	if err := p.record.read(l.Record, p.c.Regions); err != nil {
		return err
	}
	if p.record.kind != kindPaths {
		return l.Read(l.Lo, l.Hi, p.rows)
	}
	p.place = p.place[:0]
	for range p.record.parent {
		p.place = append(p.place, -1)
	}
	var part func(partOfBlock) error
	if p.c.Measure == Totals {
		part = func(x partOfBlock) error { return p.rest.add(&p.record, x, l.Read, p.totals) }
	}
	return p.record.cover(l.Lo, l.Hi, func(b []byte, whole bool) error { return p.record.entries(b, whole, p.entry) },
		part,
		func(lo, hi int) error { return l.Read(lo, hi, p.rows) })
}

// entry takes the calls of a path of the record.
func (p *pathPart) entry(path int, inclusive, exclusive sketchBytes) error {
	id := p.placeOf(int32(path))
	h, own, err := headersOf(inclusive, exclusive)
	if err != nil {
		return err
	}
	p.count(id, h.Count, h.Total, own.Total)
	switch p.c.Measure {
	case Inclusive:
		err = p.each[id].MergeBytes(inclusive.sketch)
	case Exclusive:
		err = p.each[id].MergeBytes(exclusive.sketch)
	}
	if err != nil {
		return errRecord
	}
	return nil
}

// totals takes the calls of a path of the record without their distribution.
func (p *pathPart) totals(path int, calls, inclusive, exclusive int64) error {
	p.count(p.placeOf(int32(path)), calls, inclusive, exclusive)
	return nil
}

func (p *pathPart) count(id int32, calls, inclusive, exclusive int64) {
	p.calls[id] += calls
	p.exclusive[id].Add(trace.Time(exclusive))
	p.time(id, inclusive)
}

func (p *pathPart) placeOf(path int32) int32 {
	if path < 0 {
		return -1
	}
	if p.place[path] < 0 {
		p.place[path] = p.child(p.placeOf(p.record.parent[path]), p.record.region[path])
	}
	return p.place[path]
}

// callersOf returns the path around the open calls, outermost first, from other lanes.
func (p *pathPart) callersOf(callers callersFunc, open []trace.OpenInterval) int32 {
	if callers == nil || len(open) == 0 {
		return -1
	}
	return p.calling(callers, open[0].Row)
}

func (p *pathPart) calling(callers callersFunc, row int) int32 {
	at := int32(-1)
	p.chain = callers(p.chain[:0], row)
	for _, r := range p.chain {
		at = p.child(at, r)
	}
	return at
}

// rows takes a batch of calls.
func (p *pathPart) rows(c *trace.Columns) error {
	stack := p.stack[:0]
	at := p.callersOf(c.Callers, c.Open)
	for _, x := range c.Open {
		at = p.child(at, x.Region)
		stack = append(stack, at)
	}
	for i, region := range c.Region {
		d := min(int(c.Depth[i]), len(stack))
		at := int32(-1)
		if d > 0 {
			at = stack[d-1]
		} else if c.Callers != nil {
			at = p.calling(c.Callers, c.First+i)
		}
		id := p.child(at, region)
		stack = append(stack[:d], id)
		p.calls[id]++
		p.exclusive[id].Add(max(c.Exclusive[i], 0))
		p.time(id, int64(c.Duration[i]))
		switch p.c.Measure {
		case Inclusive:
			p.each[id].Add(int64(c.Duration[i]))
		case Exclusive:
			p.each[id].Add(int64(c.Exclusive[i]))
		}
	}
	p.stack = stack
	return nil
}

func (p *pathPart) time(id int32, t int64) {
	if !p.in[id] {
		p.in[id] = true
		p.met = append(p.met, id)
	}
	p.lane[id] += t
}

// child returns the path of a call, with room for its numbers.
func (p *pathPart) child(parent int32, region trace.RegionID) int32 {
	id := p.table.child(parent, region)
	if int(id) == len(p.calls) {
		p.calls, p.inclusive, p.lane, p.in = append(p.calls, 0), append(p.inclusive, trace.Sum{}), append(p.lane, 0),
			append(p.in, false)
		p.exclusive = append(p.exclusive, trace.Sum{})
		if p.c.Measure != Totals {
			p.each = append(p.each, quantile.Sketch{})
		}
	}
	return id
}

// Paths returns all that was added. The order of paths depends on that of the lanes.
func (c *PathCollector) Paths(ctx context.Context) (*Paths, error) {
	if len(c.all) == 0 {
		c.take()
	}
	out := c.all[0] // it takes the others in, which go one by one: there may be as many paths as calls
	for k, p := range c.all[1:] {
		c.all[k+1] = nil
		place := make([]int32, len(p.calls))
		for i := range place {
			if i%4096 == 0 && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			parent := p.table.Parent[i]
			if parent >= 0 {
				parent = place[parent]
			}
			id := out.child(parent, p.table.Region[i])
			place[i] = id
			out.calls[id] += p.calls[i]
			out.inclusive[id].AddSum(p.inclusive[i])
			out.exclusive[id].AddSum(p.exclusive[i])
			if c.Measure != Totals {
				out.each[id].Merge(&p.each[i])
			}
		}
		for _, some := range p.values {
			for i := range some {
				some[i].Path = place[some[i].Path]
			}
			out.values = append(out.values, some)
		}
		out.locations = append(out.locations, p.locations...)
		out.beside = out.beside || p.beside
	}
	r := &Paths{Parent: out.table.Parent, Region: out.table.Region, Calls: out.calls, Inclusive: out.inclusive,
		Exclusive: out.exclusive, Beside: out.beside, Each: out.each, Locations: distinct(out.locations)}
	if c.kept.Load() <= int64(c.MostValues) {
		values, err := addLanes(ctx, out.values, len(out.calls))
		if err != nil {
			return nil, err
		}
		r.Values = values
	}
	return r, ctx.Err()
}

// distinct counts the locations of a list.
func distinct(list []trace.LocationID) (n int) {
	var met []bool
	if len(list) > 0 {
		met = make([]bool, slices.Max(list)+1)
	}
	for _, id := range list {
		if !met[id] {
			met[id] = true
			n++
		}
	}
	return n
}

// addLanes puts values in the order of paths, then of locations, and adds up those of the lanes of a location. Values
// are counted by path, and each path is sorted on a core of its own: O(n log n) over all cores.
func addLanes(ctx context.Context, values [][]PathValue, paths int) ([]PathValue, error) {
	begin, all := make([]int, paths+1), 0
	for _, some := range values {
		all += len(some)
		for _, v := range some {
			begin[v.Path+1]++
		}
	}
	for id := range paths {
		begin[id+1] += begin[id]
	}
	sorted, next := make([]PathValue, all), slices.Clone(begin)
	for _, some := range values {
		for _, v := range some {
			sorted[next[v.Path]] = v
			next[v.Path]++
		}
	}
	byLocation := func(a, b PathValue) int { return cmp.Compare(a.Location, b.Location) }
	err := parallel.For(ctx, paths, func(id int) {
		// each core added locations in their order
		if list := sorted[begin[id]:begin[id+1]]; !parallel.MergeRuns(list, byLocation) {
			slices.SortFunc(list, byLocation)
		}
	})
	if err != nil {
		return nil, err
	}
	out := sorted[:0]
	for _, v := range sorted {
		if n := len(out); n > 0 && out[n-1].Path == v.Path && out[n-1].Location == v.Location {
			out[n-1].Time += v.Time
		} else {
			out = append(out, v)
		}
	}
	return slices.Clip(out), nil
}
