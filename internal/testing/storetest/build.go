package storetest

import (
	"cmp"
	"maps"
	"slices"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A row is an interval in its lane.
type row struct {
	begin, end trace.Time
	region     trace.RegionID
	parent     int // row in the lane, -1 at the top
	depth      int // 0 at the top
	exclusive  trace.Time
	facts      []fact
	number     int // of the record, from 1 on
	// caller is the parent in another lane, -1 for none; callerAt is its location.
	callerLane, caller int
	callerAt           trace.LocationID
	covered            []stretch
}

// A lane is rows in preorder, and the segments that tile [0, end of trace).
type lane struct {
	rows     []row
	segments []trace.Segment
}

type instant struct {
	time   trace.Time
	region trace.RegionID
	facts  []fact
}

type sample struct {
	time  trace.Time
	value float64
}

// build makes a reader of the written records: the origin moves to the first record, locations get their place in
// the tree, intervals their lanes.
func (m *Memory) build() *reader {
	first, last := m.timeRange()
	tree, number := buildTree(m.locations)
	r := &reader{
		definitions: definitions{
			generation: m.readers,
			tree:       tree,
			regions:    slices.Clone(m.regions),
			attributes: slices.Clone(m.attributes),
			metrics:    slices.Clone(m.metrics),
			callPaths:  slices.Clone(m.callPaths),
		},
		summaries: m.summaries,
		lanes:     make([][]lane, tree.Len()),
		instants:  make([][]instant, tree.Len()),
		samples:   make([][]sample, len(m.counters)),
	}
	r.info = store.Info{
		Format: "memory", Sources: []string{"memory"}, End: last - first, Origin: first,
		Properties: maps.Clone(m.properties), Report: slices.Clone(m.report),
	}
	for _, c := range m.counters {
		c.Location = number[c.Location]
		r.counters = append(r.counters, c)
	}
	var repairs trace.Repairs
	unclosed := m.unclosed(r, last)
	m.relate(&r.info.Report)
	for old := range m.locations {
		if k := m.tracks[trace.LocationID(old)]; k != nil {
			r.addTrack(number[old], k, first, last, &repairs, unclosed)
		}
	}
	r.relateFar(m, number)
	r.settleCounters()
	for _, e := range repairs.Entries() {
		addReport(&r.info.Report, e.Kind, e.What, e.Count, e.Example)
	}
	r.addProfile(m, number, first)
	for _, l := range m.links {
		if k := r.resolve(l, number, first); !r.nested(m, l, k) {
			r.links = append(r.links, k)
		}
	}
	slices.SortStableFunc(r.links, func(a, b link) int { return cmp.Compare(a.fromTime, b.fromTime) })
	r.count()
	r.findCore()
	return r
}

// findCore looks at everything that has a time of its own.
func (r *reader) findCore() {
	core := store.NewCore(r.info.End)
	for id := range r.lanes {
		for _, l := range r.lanes[id] {
			for _, w := range l.rows {
				core.Add(w.begin, w.end)
			}
		}
		for _, x := range r.instants[id] {
			core.Add(x.time, x.time)
		}
	}
	for _, list := range r.samples {
		for _, x := range list {
			core.Add(x.time, x.time)
		}
	}
	if begin, end, outside, ok := core.Find(); ok {
		r.info.Core = &[2]trace.Time{begin, end}
		addReport(&r.info.Report, trace.Guessed, store.OutsideCore, outside, "")
	}
}

// settleCounters finds which counters grow.
func (r *reader) settleCounters() {
	for c := range r.counters {
		var g trace.Growth
		for _, s := range r.samples[c] {
			g.Add(s.value)
		}
		if g.Settle(&r.counters[c]) {
			addReport(&r.info.Report, trace.Repaired, trace.FallingCounters, 1, r.counters[c].Name)
		}
	}
}

// unclosed makes the regions of intervals that were never left, in the order of those that they are made of.
func (m *Memory) unclosed(r *reader, last trace.Time) map[trace.RegionID]trace.RegionID {
	out := map[trace.RegionID]trace.RegionID{}
	for _, k := range m.tracks {
		for _, s := range k.spans(last, new(trace.Repairs)) {
			if s.unclosed {
				out[s.region] = 0
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(out)) {
		out[id] = trace.RegionID(len(r.regions))
		r.regions = append(r.regions, trace.WithoutEnd(r.regions[id]))
	}
	r.withoutEnd = out
	return out
}

// timeRange is the first and the last time stamp of anything that has one.
func (m *Memory) timeRange() (first, last trace.Time) {
	any := false
	see := func(t trace.Time) {
		if !any {
			first, last, any = t, t, true
		}
		first, last = min(first, t), max(last, t)
	}
	for _, k := range m.tracks {
		for _, r := range k.records {
			see(r.time)
			if r.op == opInterval {
				see(max(r.time, r.end))
			}
		}
	}
	for _, l := range m.links {
		if !l.Untimed {
			see(l.From.Time)
			see(l.To.Time)
		}
	}
	for _, t := range m.covered {
		see(t)
	}
	for _, w := range m.moments {
		see(w.Begin)
		see(w.End)
	}
	return first, last
}

func (r *reader) addTrack(id trace.LocationID, k *track, first, last trace.Time, repairs *trace.Repairs,
	unclosed map[trace.RegionID]trace.RegionID) {
	spans := k.spans(last, repairs)
	for i := range spans {
		if spans[i].unclosed {
			spans[i].region = unclosed[spans[i].region]
		}
		spans[i].begin -= first
		spans[i].end -= first
	}
	assign := func(spans []span) [][]row { return assignLanes(spans, k.rounded, repairs) }
	if k.stackAlone() {
		assign = keepStack
	}
	if k.byParent {
		assign = k.assignFamily
	}
	for _, rows := range assign(spans) {
		for i := range rows {
			rows[i].callerAt = id
		}
		r.lanes[id] = append(r.lanes[id], lane{rows, segmentsOf(rows, r.info.End, r.regions)})
	}
	switch {
	case len(spans) == 0:
	case r.tree.Kind[id].Aside():
		if r.tree.Aside == nil {
			r.tree.Aside = make([]bool, r.tree.Len())
		}
		r.tree.Aside[id] = true
	default:
		r.tree.Holds[id] = true
	}
	for _, rec := range k.inOrder() {
		switch rec.op {
		case opInstant:
			r.instants[id] = append(r.instants[id], instant{rec.time - first, rec.region, rec.facts})
		case opSample:
			r.samples[rec.counter] = append(r.samples[rec.counter], sample{rec.time - first, rec.value})
		}
	}
	slices.SortStableFunc(r.instants[id], func(a, b instant) int { return cmp.Compare(a.time, b.time) })
	for c := range r.samples {
		if r.counters[c].Location == id {
			slices.SortStableFunc(r.samples[c], func(a, b sample) int { return cmp.Compare(a.time, b.time) })
		}
	}
}

// keepStack makes one lane of spans whose stack is known.
func keepStack(spans []span) [][]row {
	if len(spans) == 0 {
		return nil
	}
	var rows []row
	for _, s := range spans {
		w := row{begin: s.begin, end: s.end, region: s.region, parent: s.around, exclusive: s.end - s.begin,
			facts: s.facts, number: s.number, caller: -1}
		if s.around >= 0 {
			w.depth = rows[s.around].depth + 1
			rows[s.around].exclusive -= s.end - s.begin
		}
		rows = append(rows, w)
	}
	return [][]row{rows}
}

// assignLanes considers spans by begin, the longer first, then by arrival, and puts each into the first lane where
// it nests in the open interval or where none is open. An empty interval is never open, so it holds no others. Ends
// that are off by no more than rounded are moved, see trace.Rounder.
func assignLanes(spans []span, rounded trace.Time, repairs *trace.Repairs) [][]row {
	spans = slices.Clone(spans)
	slices.SortStableFunc(spans, func(a, b span) int {
		if c := cmp.Compare(a.begin, b.begin); c != 0 {
			return c
		}
		return cmp.Compare(b.end, a.end)
	})
	var lanes [][]row
	var open []int // per lane the innermost open row, -1 for none
	for _, s := range spans {
		at, many := -1, rounded > 0 && len(lanes) > 8
		for l := range lanes {
			for open[l] >= 0 && lanes[l][open[l]].end <= s.begin {
				open[l] = lanes[l][open[l]].parent
			}
			if at >= 0 {
				continue
			}
			// An interval that ends a little after s begins, and does not hold it, may end sooner.
			in := open[l]
			for !many && in >= 0 && lanes[l][in].end-s.begin <= rounded && s.end-lanes[l][in].end > rounded {
				in = lanes[l][in].parent
			}
			if in >= 0 && s.end-rounded > lanes[l][in].end {
				continue
			}
			for at = l; open[l] != in; open[l] = lanes[l][open[l]].parent {
				x := &lanes[l][open[l]]
				if x.parent >= 0 {
					lanes[l][x.parent].exclusive += x.end - s.begin
				}
				x.exclusive -= x.end - s.begin
				x.end = s.begin
				repairs.Rounded++
			}
			if in >= 0 && lanes[l][in].end < s.end {
				s.end = lanes[l][in].end
				repairs.Rounded++
			}
		}
		if at < 0 {
			at = len(lanes)
			lanes, open = append(lanes, nil), append(open, -1)
		}
		w := row{begin: s.begin, end: s.end, region: s.region, parent: open[at], exclusive: s.end - s.begin,
			facts: s.facts, number: s.number, caller: -1}
		if w.parent >= 0 {
			p := &lanes[at][w.parent]
			w.depth = p.depth + 1
			p.exclusive -= s.end - s.begin
		}
		open[at] = len(lanes[at])
		lanes[at] = append(lanes[at], w)
	}
	return lanes
}

// segmentsOf tiles [0, end) by the innermost row: at each time the last row that has begun and not ended, which in
// preorder is the deepest one.
func segmentsOf(rows []row, end trace.Time, regions []trace.Region) []trace.Segment {
	var out []trace.Segment
	add := func(from, to trace.Time, at int) {
		if from >= to {
			return
		}
		if n := len(out); n > 0 && out[n-1].Row == at {
			out[n-1].End = to
			return
		}
		s := trace.Segment{Begin: from, End: to, Region: trace.NoRegion, Row: at}
		if at >= 0 {
			s.Region = rows[at].region
			s.Role = roleAt(rows, at, regions)
		}
		out = append(out, s)
	}
	now, open := trace.Time(0), -1
	advance := func(to trace.Time) {
		for open >= 0 && rows[open].end <= to {
			add(now, rows[open].end, open)
			now, open = rows[open].end, rows[open].parent
		}
		add(now, to, open)
		now = to
	}
	for i, w := range rows {
		advance(w.begin)
		open = i
	}
	advance(end)
	return out
}

// roleAt is the role that counts where row at is innermost.
func roleAt(rows []row, at int, regions []trace.Region) trace.Role {
	for i := at; i >= 0; i = rows[i].parent {
		if role := regions[rows[i].region].Role; role != trace.RoleAnnotation {
			return role
		}
	}
	return trace.RoleAnnotation
}

// count fills in the numbers of Info.
func (r *reader) count() {
	r.laneStart = []uint32{0}
	ranks := map[int32]bool{}
	for id := range r.tree.Len() {
		for _, l := range r.lanes[id] {
			r.info.Intervals += int64(len(l.rows))
			for _, w := range l.rows {
				r.info.Depth = max(r.info.Depth, w.depth+1)
			}
		}
		if r.tree.Holds[id] {
			r.info.Rows++
		}
		if k := r.tree.Rank[id]; k != trace.NoRank {
			ranks[k] = true
		}
		r.info.Instants += int64(len(r.instants[id]))
		r.laneStart = append(r.laneStart, r.laneStart[id]+uint32(len(r.lanes[id])))
	}
	for _, s := range r.samples {
		r.info.Samples += int64(len(s))
	}
	r.info.Ranks = len(ranks)
	r.info.Links = int64(len(r.links))
	r.info.Profile = int64(len(r.profile))
}
