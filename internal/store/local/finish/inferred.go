package finish

import (
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Some recorders keep calls of communication only. Then a rank works between two of its calls, though no record says
// so. An interval of the region trace.NotRecorded goes around such calls, as a recording of the work has one of its
// main function: its exclusive time is the work, and balance and paths are the same as there. It lasts as long as no
// annotation begins or ends and the recorder is on, so that such rows are few. They are counted before rows are made,
// since the place of a row depends on how many are before it.

// mostSorted is up to how many records of a location out of order the times between them are found.
const mostSorted = 1 << 24

// An inference is the unrecorded work of ranks.
type inference struct {
	region trace.RegionID
	rows   map[trace.LocationID]workRows // by location as it was defined
	off    offTimes
}

// workRows are intervals of work of a location.
type workRows struct {
	count int
	gaps  []gap // on the clock of the location; nil: found anew as rows are made
}

// A gap is a time without a call, or several with calls between them.
type gap struct{ begin, end trace.Time }

// inferWork finds the work of ranks that record communication only.
func (f *finisher) inferWork() {
	if at := slices.IndexFunc(f.Def.Regions, func(g trace.Region) bool { return trace.Inferred(&g) }); at >= 0 {
		f.countInferred(trace.RegionID(at)) // the source is an export of a store
		return
	}
	if !f.Opt.Infer || f.MomentRows.Any() || !slices.ContainsFunc(f.Def.Regions, communicates) {
		return
	}
	callers, works := f.callersOnly()
	if works {
		return
	}
	x := &inference{rows: map[trace.LocationID]workRows{}, off: offTimes{long: max(f.end/longGap, 1)}}
	cut := map[trace.LocationID]workRows{} // if the recorder was off in long gaps
	for _, s := range callers {
		if all, short := f.workOf(s, &x.off); all.count > 0 {
			x.rows[s.Location], cut[s.Location] = all, short
		}
	}
	if len(x.rows) < 2 {
		return
	}
	if x.off.found = f.areWindows(x); x.off.found {
		x.rows = cut
	}
	for id, w := range x.rows {
		f.Streams[id].Rows += uint32(w.count)
		f.inferredRows += int64(w.count)
	}
	x.region = f.Region(trace.NotRecorded)
	f.inferred = x
	f.Report(trace.Guessed, "locations of ranks that record communication only: time between their calls is taken as "+
		"work, in region "+trace.NotRecorded.Name, int64(len(x.rows)), "")
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

// callersOnly returns the streams of ranks that may call MPI, unless one of a rank records work.
func (f *finisher) callersOnly() (callers []*write.Stream, works bool) {
	for _, id := range f.order.old {
		if int(id) >= len(f.Streams) || f.Streams[id] == nil || f.Streams[id].Rows == 0 || !f.ofRank(id) {
			continue
		}
		s := f.Streams[id]
		if s.ByParent || f.works(s) {
			return nil, true
		}
		if f.callsMPI(id) {
			callers = append(callers, s)
		}
	}
	return callers, false
}

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

// works reports whether a location records work, or too many records to check.
func (f *finisher) works(s *write.Stream) (works bool) {
	if s.Rows > math.MaxInt32/2 || !s.Numbered() && s.Rows > mostSorted {
		return true
	}
	f.eachCall(s, func(c *call) bool {
		works = !c.leave && f.Def.Regions[c.region].Role.Busy()
		return !works
	})
	return works
}

// annotates reports whether a region is an annotation.
func (f *finisher) annotates(region trace.RegionID) bool {
	return int(region) < len(f.Def.Regions) && f.Def.Regions[region].Role == trace.RoleAnnotation
}

// workOf finds the work between the calls of a location; cut is that without long gaps.
func (f *finisher) workOf(s *write.Stream, off *offTimes) (all, cut workRows) {
	var long []gap
	if s.Numbered() {
		w, short := workFinder{}, workFinder{long: off.long}
		f.eachCall(s, func(c *call) bool {
			annotation := f.annotates(c.region)
			step, begin, found := w.see(c.begin, c, annotation)
			if found {
				long = off.take(long, gap{begin, c.begin})
			}
			all.count += step.begun()
			step, _, _ = short.see(c.begin, c, annotation)
			cut.count += step.begun()
			return true
		})
	} else {
		var edges []edge
		f.eachCall(s, func(c *call) bool {
			edges = f.appendEdges(edges, c)
			return true
		})
		parts := partsBetween(edges)
		for _, p := range parts {
			long = off.take(long, p.gap)
		}
		all.gaps, cut.gaps = joinGaps(parts, 0), joinGaps(parts, off.long)
		all.count, cut.count = len(all.gaps), len(cut.gaps)
	}
	off.share(long, f.lineOf(s.Location))
	return all, cut
}

// eachCall calls give for the calls of a stream, until it returns false.
func (f *finisher) eachCall(s *write.Stream, give func(*call) bool) {
	var d decoder
	var c call
	for _, at := range f.Chunks.Chain(s, nil) {
		d.reset(f.Chunks.Chunk(at), f.Chunks.IDs(at))
		for len(d.b) >= write.HalfBytes {
			if d.call(&c) && !give(&c) {
				return
			}
		}
	}
}

// A call is an Enter, a Leave or an Interval of a stream.
type call struct {
	begin, end   trace.Time
	region       trace.RegionID
	leave, whole bool
}

// call takes a record; false if it is of another kind. Times are as recorded.
func (d *decoder) call(c *call) (ok bool) {
	op, id, v := d.head()
	if op < write.OpInstant {
		id = uint32(d.ids.Region(trace.RegionID(id)))
	}
	switch op {
	case write.OpEnter, write.OpLeave:
		d.base += trace.Time(v)
		*c = call{begin: d.base, region: trace.RegionID(id), leave: op == write.OpLeave}
		return true
	case write.OpLeaveAny:
		*c = call{begin: d.time(v), region: trace.NoRegion, leave: true}
		return true
	case write.OpInterval:
		*c = call{begin: d.time(v), region: trace.RegionID(id), whole: true}
		c.end = c.begin + trace.Time(d.word())
		return true
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
	return false
}

// infers reports whether work is found as the rows of a stream are made.
func (f *finisher) infers(s *write.Stream) bool {
	return f.inferred != nil && s.Numbered() && f.inferred.rows[s.Location].count > 0
}

// startWork begins the calls of a location.
func (w *rowWorker) startWork() {
	w.work = workFinder{stack: w.work.stack[:0]}
	if x := w.f.inferred; x != nil {
		w.stack.Lasting = x.region
		if x.off.found {
			w.work.long = x.off.long
		}
	}
}

// before begins and ends intervals of work before a record, at the decoder's time t.
func (w *rowWorker) before(d *decoder, stack *trace.StackBuilder, t trace.Time, c call) {
	step, begin, _ := w.work.see(d.base, &c, w.f.annotates(c.region))
	region := w.f.inferred.region
	if step&endsBefore != 0 {
		stack.Leave(d.at(begin), region)
	}
	if step&beginsBefore != 0 {
		stack.Enter(d.at(begin), region)
		d.row++
		d.inferred++
	}
	if step&endsNow != 0 {
		stack.Leave(t, region)
	}
}

// endWork ends an interval of work with the last record, if no call is open.
func (w *rowWorker) endWork(d *decoder, stack *trace.StackBuilder) {
	if w.work.open && len(w.work.stack) == w.work.outer {
		stack.Leave(d.at(w.work.last), w.f.inferred.region)
	}
}

// addWork gives the intervals of work of a stream to the Builder.
func (w *rowWorker) addWork(s *write.Stream) {
	if w.f.inferred == nil {
		return
	}
	d := w.f.decoder(s)
	d.reset(nil, nil)
	for _, g := range w.f.inferred.rows[s.Location].gaps {
		w.builder.Interval(d.at(d.base+g.begin), d.at(d.base+g.end), w.f.inferred.region)
	}
}
