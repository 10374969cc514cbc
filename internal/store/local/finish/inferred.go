package finish

import (
	"cmp"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Some recorders keep calls of communication only. Then a rank works between two of its calls, though no record says
// so: these times become intervals of the region trace.NotRecorded, so that work, balance and paths are the same as
// in a recording that has the work. They are counted before rows are made, since the place of a row depends on how
// many are before it.

// mostSorted is up to how many records of a location out of order the times between them are found.
const mostSorted = 1 << 24

// A gapFinder finds the times of a location without a call. Records come in order of time.
type gapFinder struct {
	begun bool
	calls int // that are open
	last  trace.Time
}

// see takes a record that changes the number of open calls; annotations change it by 0. It returns the begin of the
// time without a call up to it, if there is such a time.
func (g *gapFinder) see(t trace.Time, calls int) (begin trace.Time, found bool) {
	begin, found = g.last, g.begun && g.calls == 0 && t > g.last
	if !g.begun || t > g.last {
		g.last = t
	}
	g.begun, g.calls = true, max(g.calls+calls, 0)
	return begin, found
}

// callsOf is how much a record of a region changes the number of open calls.
func (f *finisher) callsOf(region trace.RegionID, by int) int {
	if int(region) < len(f.Def.Regions) && f.Def.Regions[region].Role == trace.RoleAnnotation {
		return 0
	}
	return by
}

// A gap is a time between calls, on the clock of its location.
type gap struct{ begin, end trace.Time }

// An inference is the work of ranks that nobody recorded.
type inference struct {
	region trace.RegionID
	rows   int64
	stacks []bool // by location as it was defined: found anew as its rows are made
	gaps   map[trace.LocationID][]gap
	off    offTimes
}

// inferWork finds the work of ranks that record communication only.
func (f *finisher) inferWork() {
	if at := slices.IndexFunc(f.Def.Regions, func(g trace.Region) bool { return trace.Inferred(&g) }); at >= 0 {
		f.countInferred(trace.RegionID(at)) // the source is an export of a store
		return
	}
	if !f.Opt.Infer || f.MomentRows.Any() || !slices.ContainsFunc(f.Def.Regions, communicates) {
		return
	}
	x := &inference{stacks: make([]bool, len(f.Def.Locations)), gaps: map[trace.LocationID][]gap{},
		off: offTimes{long: max(f.end/longGap, 1)}}
	rows := map[trace.LocationID]uint32{}
	for _, id := range f.order.old {
		if int(id) >= len(f.Streams) || f.Streams[id] == nil || f.Streams[id].Rows == 0 || !f.ofRank(id) {
			continue
		}
		s := f.Streams[id]
		works, n := f.gapsOf(s, x)
		if works || s.ByParent {
			return
		}
		if n > 0 {
			rows[id] = n
			x.rows += int64(n)
		}
	}
	if len(rows) < 2 || x.rows > math.MaxInt32 {
		return
	}
	if x.off.found = f.areWindows(&x.off, rows); x.off.found {
		off := uint32(len(x.off.common))
		for id := range rows {
			rows[id] -= off
			x.rows -= int64(off)
			x.gaps[id] = slices.DeleteFunc(x.gaps[id], x.off.has)
		}
	}
	for id, n := range rows {
		f.Streams[id].Rows += n
	}
	x.region = f.Region(trace.NotRecorded)
	f.inferred, f.inferredRows = x, x.rows
	f.Report(trace.Guessed, "times between calls of ranks that record communication only: taken as work, in region "+
		trace.NotRecorded.Name, x.rows, "")
}

// countInferred counts the intervals of a region.
func (f *finisher) countInferred(region trace.RegionID) {
	for _, s := range f.Streams {
		if s == nil || s.Rows == 0 {
			continue
		}
		f.eachCall(s, func(c *call) bool {
			if !c.leave && c.region == region {
				f.inferredRows++
			}
			return true
		})
	}
}

func communicates(g trace.Region) bool { return g.Role == trace.RoleCommunication }

// ofRank reports whether a location belongs to a rank.
func (f *finisher) ofRank(id trace.LocationID) bool {
	if f.Def.Kinds[f.Def.Locations[id].Kind].Aside() {
		return false
	}
	for ; id != trace.NoLocation; id = f.Def.Locations[id].Parent {
		if f.Def.Locations[id].Rank >= 0 {
			return true
		}
	}
	return false
}

// callsMPI reports whether a location may call collectives: it is of a rank, and not of a GPU.
func (f *finisher) callsMPI(id trace.LocationID) bool {
	kind := f.Def.Kinds[f.Def.Locations[id].Kind]
	return kind != trace.KindStream && kind != trace.KindDevice && f.ofRank(id)
}

// gapsOf finds the times of a location without a call, and reports whether it records work.
func (f *finisher) gapsOf(s *write.Stream, x *inference) (works bool, n uint32) {
	ordered := s.Numbered()
	if !ordered && s.Rows > mostSorted {
		return true, 0
	}
	var edges []edge
	var g gapFinder
	var long []gap
	f.eachCall(s, func(c *call) bool {
		works = !c.leave && f.Def.Regions[c.region].Role.Busy()
		by := f.callsOf(c.region, 1)
		if c.leave {
			by = -by
		}
		if !ordered {
			edges = append(edges, edge{c.begin, by})
			if c.whole {
				edges = append(edges, edge{max(c.end, c.begin), -by})
			}
		} else if begin, found := g.see(c.begin, by); found {
			n++
			long = x.off.take(long, gap{begin, c.begin})
		}
		return !works
	})
	switch {
	case works:
		return true, 0
	case !f.callsMPI(s.Location):
		return false, 0
	}
	if !ordered {
		x.gaps[s.Location] = g.between(edges)
		n = uint32(len(x.gaps[s.Location]))
		for _, g := range x.gaps[s.Location] {
			long = x.off.take(long, g)
		}
	}
	x.off.share(long, f.lineOf(s.Location))
	x.stacks[s.Location] = ordered && n > 0
	return false, n
}

// eachCall calls give for the calls of a stream, until it returns false.
func (f *finisher) eachCall(s *write.Stream, give func(*call) bool) {
	var d decoder
	for _, at := range f.Chunks.Chain(s.Tail, nil) {
		d.reset(f.Chunks.Chunk(at))
		for len(d.b) >= write.HalfBytes {
			if c, ok := d.call(); ok && !give(&c) {
				return
			}
		}
	}
}

// An edge is the begin or the end of an interval.
type edge struct {
	at    trace.Time
	calls int
}

// between finds the times without a call from edges in any order.
func (g *gapFinder) between(edges []edge) (out []gap) {
	slices.SortFunc(edges,
		func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.calls, a.calls)) })
	for _, e := range edges {
		if begin, found := g.see(e.at, e.calls); found {
			out = append(out, gap{begin, e.at})
		}
	}
	return out
}

// A call is an Enter, a Leave or an Interval of a stream.
type call struct {
	begin, end   trace.Time
	region       trace.RegionID
	leave, whole bool
}

// call takes a record; false where it is of another kind. Times are as recorded.
func (d *decoder) call() (c call, ok bool) {
	op, id, v := d.head()
	switch op {
	case write.OpEnter, write.OpLeave, write.OpLeaveAny, write.OpInterval:
		c = call{begin: d.time(v), region: trace.RegionID(id), leave: op == write.OpLeave || op == write.OpLeaveAny}
		if op == write.OpLeaveAny {
			c.region = trace.NoRegion
		}
		if c.whole = op == write.OpInterval; c.whole {
			c.end = c.begin + trace.Time(d.word())
		}
		return c, true
	case write.OpInstant:
		d.time(v)
	case write.OpSample:
		d.time(v)
		d.word()
	case write.OpFact:
		if uint8(v)&write.FactShort == 0 {
			d.word()
		}
	}
	return call{}, false
}

// infers reports whether times between calls of a stream are found as its rows are made.
func (f *finisher) infers(s *write.Stream) bool {
	return f.inferred != nil && f.inferred.stacks[s.Location]
}

// before adds a row for the time without a call up to a record that comes next, at the decoder's time t.
func (w *rowWorker) before(d *decoder, stack *trace.StackBuilder, t trace.Time, region trace.RegionID, calls int) {
	begin, found := w.gaps.see(d.base, w.f.callsOf(region, calls))
	if !found || w.f.inferred.off.found && w.f.inferred.off.has(gap{begin, d.base}) {
		return
	}
	stack.Enter(d.at(begin), w.f.inferred.region)
	stack.Leave(t, w.f.inferred.region)
	d.row++
	d.inferred++
}

// addGaps gives the times without a call to the Builder.
func (w *rowWorker) addGaps(s *write.Stream) {
	if w.f.inferred == nil {
		return
	}
	d := w.f.decoder(s)
	d.reset(nil)
	for _, g := range w.f.inferred.gaps[s.Location] {
		w.builder.Interval(d.at(d.base+g.begin), d.at(d.base+g.end), w.f.inferred.region)
	}
}
