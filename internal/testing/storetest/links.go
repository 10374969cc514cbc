package storetest

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A link holds the ends of a trace.Link as places in the store.
type link struct {
	trace.Link
	fromTime, toTime trace.Time
	fromLane, toLane int32
	fromRow, toRow   int32
}

func (r *reader) resolve(l trace.Link, number []trace.LocationID, first trace.Time) link {
	l.From.Location, l.To.Location = number[l.From.Location], number[l.To.Location]
	if l.Untimed {
		return link{Link: l, fromLane: -1, fromRow: -1, toLane: -1, toRow: -1}
	}
	l.From.Time -= first
	l.To.Time -= first
	k := link{Link: l, fromTime: l.From.Time, toTime: l.To.Time}
	k.fromLane, k.fromRow = r.intervalAt(l.From)
	k.toLane, k.toRow = r.intervalAt(l.To)
	if l.From.Number > 0 {
		k.fromLane, k.fromRow = r.numbered(l.From)
	}
	if l.To.Number > 0 {
		k.toLane, k.toRow = r.numbered(l.To)
	}
	return k
}

// intervalAt finds the interval of a link's end: one that begins at the time exactly, else the innermost one open
// then. With a region only its intervals count, and one that ends at the time exactly serves if none is open: a
// receive is often stamped with the time of its leave.
func (r *reader) intervalAt(e trace.End) (laneNumber, rowNumber int32) {
	laneNumber, rowNumber = r.intervalOf(e)
	if open, ok := r.withoutEnd[e.Region]; ok && rowNumber < 0 {
		e.Region = open
		return r.intervalOf(e)
	}
	return laneNumber, rowNumber
}

func (r *reader) intervalOf(e trace.End) (laneNumber, rowNumber int32) {
	begins := func(w *row) bool { return w.begin == e.Time }
	open := func(w *row) bool { return w.begin <= e.Time && e.Time < w.end }
	ends := func(w *row) bool { return e.Region != trace.NoRegion && w.end == e.Time }
	for _, fits := range []func(*row) bool{begins, open, ends} {
		for l := range r.lanes[e.Location] {
			rows := r.lanes[e.Location][l].rows
			for i := len(rows) - 1; i >= 0; i-- {
				if (e.Region == trace.NoRegion || e.Region == rows[i].region) && fits(&rows[i]) {
					return int32(l), int32(i)
				}
			}
		}
	}
	return -1, -1
}

func (r *reader) addProfile(m *Memory, number []trace.LocationID, first trace.Time) {
	for _, p := range m.profile {
		p.Location = number[p.Location]
		r.profile = append(r.profile, p)
	}
	slices.SortStableFunc(r.profile, func(a, b trace.ProfileRow) int {
		return cmp.Or(cmp.Compare(a.Location, b.Location), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Metric, b.Metric))
	})
	for _, p := range m.lines {
		p.Location = number[p.Location]
		r.lines = append(r.lines, p)
	}
	r.files, r.info.Lines = m.files, int64(len(m.lines))
	slices.SortStableFunc(r.lines, func(a, b trace.LineRow) int {
		return cmp.Or(cmp.Compare(a.Location, b.Location), cmp.Compare(a.Path, b.Path), cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Callee, b.Callee), cmp.Compare(a.Metric, b.Metric))
	})
	for _, p := range m.atomics {
		p.Location = number[p.Location]
		r.atomics = append(r.atomics, p)
	}
	slices.SortStableFunc(r.atomics, func(a, b trace.AtomicRow) int {
		return cmp.Or(cmp.Compare(a.Location, b.Location), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Metric, b.Metric))
	})
	for _, p := range m.moments {
		p.Location = number[p.Location]
		p.Begin -= first
		p.End -= first
		r.moments = append(r.moments, p)
	}
	slices.SortStableFunc(r.moments, func(a, b trace.MomentRow) int {
		return cmp.Or(cmp.Compare(a.Location, b.Location), cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.Role, b.Role))
	})
	for _, c := range m.communicators {
		c.Members = slices.Clone(c.Members)
		for i, id := range c.Members {
			c.Members[i] = number[id]
		}
		r.communicators = append(r.communicators, c)
	}
	for _, t := range m.topologies {
		t.Coordinates = slices.Clone(t.Coordinates)
		for i, c := range t.Coordinates {
			t.Coordinates[i].Location = number[c.Location]
		}
		r.topologies = append(r.topologies, t)
	}
}
