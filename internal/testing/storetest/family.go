package storetest

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// This file implements trace.StreamOptions.ByParent from its definition.

// A time range.
type stretch struct{ begin, end trace.Time }

// relate finds the parents of intervals from links within a location. The first word
// counts, and nothing is its own ancestor.
func (m *Memory) relate(report *[]trace.ReportEntry) {
	for _, k := range m.tracks {
		k.parents = map[int]int{}
	}
	for _, l := range m.links {
		k := m.tracks[l.To.Location]
		if l.Kind != trace.LinkSpawn || l.Untimed || l.From.Location != l.To.Location || k == nil || !k.byParent {
			continue
		}
		child, parent := int(l.To.Number), int(l.From.Number)
		if child > 0 && parent > 0 && k.parents[child] == 0 {
			k.parents[child] = parent
		}
	}
	for _, k := range m.tracks {
		for child, parent := range k.parents {
			if child > k.numbers || parent > k.numbers {
				delete(k.parents, child)
			}
		}
		// The cut is where a walk from the lowest number on comes back to itself.
		for n := 1; n <= k.numbers; n++ {
			seen := map[int]bool{}
			for at := n; at > 0; at = k.parents[at] {
				seen[at] = true
				if seen[k.parents[at]] {
					delete(k.parents, at)
					addReport(report, trace.Repaired, "intervals that are their own ancestors, made roots", 1, "")
				}
			}
		}
	}
}

// assignFamily considers spans by begin, the longer first, parents before children, then by arrival. Each goes into
// its parent if that is innermost in its lane and lasts as long, else into the first lane in which nothing is open.
func (k *track) assignFamily(spans []span) [][]row {
	spans = slices.Clone(spans)
	slices.SortStableFunc(spans, func(a, b span) int { return a.number - b.number })
	byNumber := map[int]span{}
	for _, s := range spans {
		byNumber[s.number] = s
	}
	// Only ancestors of the same time count, and these without a gap.
	generation := func(s span) (n int) {
		for at := k.parents[s.number]; at > 0 && byNumber[at].begin == s.begin &&
			byNumber[at].end == s.end; at = k.parents[at] {
			n++
		}
		return n
	}
	slices.SortStableFunc(spans, func(a, b span) int {
		if c := cmp.Compare(a.begin, b.begin); c != 0 {
			return c
		}
		if c := cmp.Compare(b.end, a.end); c != 0 {
			return c
		}
		return generation(a) - generation(b)
	})
	var lanes [][]row
	var open []int
	where := map[int][2]int{}
	for _, s := range spans {
		for l := range lanes {
			for open[l] >= 0 && lanes[l][open[l]].end <= s.begin {
				open[l] = lanes[l][open[l]].parent
			}
		}
		at := -1
		for l := range lanes {
			if p := open[l]; p >= 0 && lanes[l][p].number == k.parents[s.number] && lanes[l][p].end >= s.end {
				at = l
			}
		}
		for l := 0; l < len(lanes) && at < 0; l++ {
			if open[l] < 0 {
				at = l
			}
		}
		if at < 0 {
			at = len(lanes)
			lanes, open = append(lanes, nil), append(open, -1)
		}
		w := row{begin: s.begin, end: s.end, region: s.region, parent: open[at], facts: s.facts, number: s.number,
			callerLane: -1, caller: -1}
		if w.parent >= 0 {
			w.depth = lanes[at][w.parent].depth + 1
		}
		open[at] = len(lanes[at])
		where[s.number] = [2]int{at, open[at]}
		lanes[at] = append(lanes[at], w)
	}
	for l := range lanes {
		for i := range lanes[l] {
			w := &lanes[l][i]
			if p, ok := where[k.parents[w.number]]; ok && w.parent < 0 {
				w.callerLane, w.caller = p[0], p[1]
			}
			k.account(w, lanes, l, i)
		}
	}
	return lanes
}

// account finds the exclusive time of a row, nanosecond stretch by stretch: cut at every
// begin and end of a child, a stretch is covered by one or by none.
func (k *track) account(w *row, lanes [][]row, l, i int) {
	type child struct {
		stretch
		inside bool
	}
	var children []child
	cuts := []trace.Time{w.begin, w.end}
	for cl := range lanes {
		for _, c := range lanes[cl] {
			if k.parents[c.number] == w.number {
				children = append(children, child{stretch{c.begin, c.end}, cl == l && c.parent == i})
				for _, t := range []trace.Time{c.begin, c.end} {
					if t > w.begin && t < w.end {
						cuts = append(cuts, t)
					}
				}
			}
		}
	}
	slices.Sort(cuts)
	for n := 1; n < len(cuts); n++ {
		a, b := cuts[n-1], cuts[n]
		any, inside := false, false
		for _, c := range children {
			if c.begin <= a && b <= c.end {
				any, inside = true, inside || c.inside
			}
		}
		switch {
		case !any:
			w.exclusive += b - a
		case !inside && b > a:
			w.covered = append(w.covered, stretch{a, b})
		}
	}
}

// A place is a row of a lane of a location.
type place struct {
	location  trace.LocationID
	lane, row int
}

func (r *reader) rowAt(p place) *row { return &r.lanes[p.location][p.lane].rows[p.row] }

// callerOf returns who called a row, in its lane or elsewhere.
func (r *reader) callerOf(p place) (place, bool) {
	switch w := r.rowAt(p); {
	case w.parent >= 0:
		return place{p.location, p.lane, w.parent}, true
	case w.caller >= 0:
		return place{w.callerAt, w.callerLane, w.caller}, true
	}
	return place{}, false
}

// relateFar joins rows with callers at other locations, in the order in which they were written. The first caller
// counts, a row with a caller at its own location is left out, and no row becomes its own ancestor. Then exclusive
// time is computed again from all children.
func (r *reader) relateFar(m *Memory, number []trace.LocationID) {
	find := func(e trace.End) (place, bool) {
		if k := m.tracks[e.Location]; k == nil || !k.byParent || e.Number == 0 {
			return place{}, false
		}
		id := number[e.Location]
		for l := range r.lanes[id] {
			for i, w := range r.lanes[id][l].rows {
				if w.number == int(e.Number) {
					return place{id, l, i}, true
				}
			}
		}
		return place{}, false
	}
	children := map[place][]place{}
	for _, l := range m.links {
		if l.Kind != trace.LinkSpawn || l.Untimed || l.From.Location == l.To.Location {
			continue
		}
		from, ok := find(l.From)
		to, is := find(l.To)
		if !ok || !is {
			continue
		}
		if _, called := r.callerOf(to); called {
			continue
		}
		circle := from == to
		for at, more := r.callerOf(from); more; at, more = r.callerOf(at) {
			circle = circle || at == to
		}
		if circle {
			addReport(&r.info.Report, trace.Repaired, "intervals that are their own ancestors, made roots", 1, "")
			continue
		}
		w := r.rowAt(to)
		w.callerAt, w.callerLane, w.caller = from.location, from.lane, from.row
		children[from] = append(children[from], to)
	}
	for p, far := range children {
		r.accountFar(p, far)
	}
}

// accountFar subtracts the time of children at other locations from the exclusive time of a row.
func (r *reader) accountFar(p place, far []place) {
	w := r.rowAt(p)
	cuts := []trace.Time{w.begin, w.end}
	var inside, others []stretch
	for i := range r.lanes[p.location][p.lane].rows {
		if c := &r.lanes[p.location][p.lane].rows[i]; c.parent == p.row {
			inside = append(inside, stretch{c.begin, c.end})
		}
	}
	others = append(others, w.covered...)
	for _, c := range far {
		others = append(others, stretch{r.rowAt(c).begin, r.rowAt(c).end})
	}
	for _, s := range slices.Concat(inside, others) {
		for _, t := range []trace.Time{s.begin, s.end} {
			if t > w.begin && t < w.end {
				cuts = append(cuts, t)
			}
		}
	}
	slices.Sort(cuts)
	w.exclusive, w.covered = 0, nil
	for n := 1; n < len(cuts); n++ {
		a, b := cuts[n-1], cuts[n]
		holds := func(s stretch) bool { return s.begin <= a && b <= s.end }
		switch {
		case a == b || slices.ContainsFunc(inside, holds):
		case slices.ContainsFunc(others, holds):
			w.covered = append(w.covered, stretch{a, b})
		default:
			w.exclusive += b - a
		}
	}
}

// numbered finds the interval that an end of a link names by its number.
func (r *reader) numbered(e trace.End) (laneNumber, rowNumber int32) {
	for l := range r.lanes[e.Location] {
		for i, w := range r.lanes[e.Location][l].rows {
			if w.number == int(e.Number) {
				return int32(l), int32(i)
			}
		}
	}
	return r.intervalAt(e)
}

// nested reports whether nesting already expresses a link.
func (r *reader) nested(m *Memory, l trace.Link, k link) bool {
	t := m.tracks[l.To.Location]
	if l.Kind != trace.LinkSpawn || l.Untimed || l.From.Location != l.To.Location || t == nil || !t.byParent {
		return false
	}
	return k.fromLane == k.toLane && k.toRow >= 0 &&
		r.lanes[k.To.Location][k.toLane].rows[k.toRow].parent == int(k.fromRow)
}

// callersOf returns trace.Columns.Callers for a lane.
func (r *reader) callersOf(id trace.LocationID, laneNumber int) func([]trace.RegionID, int) []trace.RegionID {
	rows := r.lanes[id][laneNumber].rows
	if !slices.ContainsFunc(rows, func(w row) bool { return w.caller >= 0 }) {
		return nil
	}
	return func(into []trace.RegionID, at int) []trace.RegionID {
		var out []trace.RegionID
		w := &rows[at]
		for w.caller >= 0 {
			lane := r.lanes[w.callerAt][w.callerLane].rows
			for p := w.caller; p >= 0; p = lane[p].parent {
				w = &lane[p]
				out = append(out, w.region)
			}
		}
		slices.Reverse(out)
		return append(into, out...)
	}
}
