package routetest

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A piece is a stretch of a lane in which one row is innermost; -1: none.
type piece struct {
	Begin, End trace.Time
	Row        int
}

// cut cuts a lane at every begin and end and asks for each stretch which row
// covers it last: rows come parents first, so the last is the innermost. O(n²).
func (l *Lane) cut(end trace.Time) (out []piece) {
	cuts := []trace.Time{0, end}
	for _, r := range l.Rows {
		cuts = append(cuts, r.Begin, r.End)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	row := make([]int, len(cuts))
	for i := range row {
		row[i] = -1
	}
	for i, r := range l.Rows {
		for k, t := range cuts {
			if t >= r.Begin && t < r.End {
				row[k] = i
			}
		}
	}
	for k := 0; k+1 < len(cuts); k++ {
		out = append(out, piece{cuts[k], cuts[k+1], row[k]})
	}
	return out
}

// pieces are those of a window.
func (l *Lane) pieces(begin, end trace.Time) (out []piece) {
	for _, p := range l.whole {
		if p.Begin, p.End = max(p.Begin, begin), min(p.End, end); p.Begin < p.End {
			out = append(out, p)
		}
	}
	return out
}

// role returns the role that counts at a row: its own, or under an annotation that of the nearest row around that
// is none; an annotation alone stays one.
func (x *Raw) role(l *Lane, row int) trace.Role {
	if row < 0 {
		return trace.RoleNone
	}
	for at := row; at >= 0; at = l.Rows[at].Parent {
		if r := x.Regions[l.Rows[at].Region].Role; r != trace.RoleAnnotation {
			return r
		}
	}
	return trace.RoleAnnotation
}

// strength orders the roles for lanes of one location that disagree, the weakest first.
var strength = []trace.Role{trace.RoleNone, trace.RoleAnnotation, trace.RoleIdle, trace.RoleOverhead,
	trace.RoleSynchronization, trace.RoleCommunication, trace.RoleCopy, trace.RoleIO, trace.RoleCompute}

// A state is a stretch of a location's time with the role that counts in it.
type state struct {
	Begin, End trace.Time
	Role       trace.Role
	// Rows lists the innermost row on each lane, as lane and row.
	Rows [][2]int
}

// states are those of a location in a window.
func (x *Raw) states(id trace.LocationID, begin, end trace.Time) (out []state) {
	if _, ok := x.kept[id]; !ok {
		x.kept[id] = x.cut(id, 0, x.End)
	}
	for _, s := range x.kept[id] {
		if s.Begin, s.End = max(s.Begin, begin), min(s.End, end); s.Begin < s.End {
			out = append(out, s)
		}
	}
	return out
}

// cut cuts the time of a location at every begin and end on any of its lanes.
func (x *Raw) cut(id trace.LocationID, begin, end trace.Time) []state {
	cuts := []trace.Time{begin, end}
	var lanes [][]piece
	for _, k := range x.of[id] {
		p := x.Lanes[k].pieces(begin, end)
		lanes = append(lanes, p)
		for _, s := range p {
			cuts = append(cuts, s.Begin)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	at := make([]int, len(lanes))
	var out []state
	for k := 0; k+1 < len(cuts); k++ {
		s := state{Begin: cuts[k], End: cuts[k+1]}
		for n, p := range lanes {
			for at[n]+1 < len(p) && p[at[n]].End <= s.Begin {
				at[n]++
			}
			lane := x.of[id][n]
			row := p[at[n]].Row
			if row < 0 {
				continue
			}
			s.Rows = append(s.Rows, [2]int{lane, row})
			if r := x.role(&x.Lanes[lane], row); slices.Index(strength, r) > slices.Index(strength, s.Role) {
				s.Role = r
			}
		}
		out = append(out, s)
	}
	return out
}

// roleTime is the time of a location per role: each instant counts once.
func (x *Raw) roleTime(id trace.LocationID, begin, end trace.Time) (out [trace.RoleCount]trace.Time) {
	for _, s := range x.states(id, begin, end) {
		out[s.Role] += s.End - s.Begin
	}
	return out
}

// busy returns the ranges in which a location is busy, joined if they touch.
func (x *Raw) busy(id trace.LocationID, begin, end trace.Time) (out [][2]trace.Time) {
	for _, s := range x.states(id, begin, end) {
		switch n := len(out); {
		case !s.Role.Busy():
		case n > 0 && out[n-1][1] == s.Begin:
			out[n-1][1] = s.End
		default:
			out = append(out, [2]trace.Time{s.Begin, s.End})
		}
	}
	return out
}

// A cell is a region on a location.
type cell struct {
	Location trace.LocationID
	Region   trace.RegionID
}

// A sum holds the calls and times of a region on a location.
type sum struct{ Calls, Inclusive, Exclusive float64 }

func (s sum) of(metric string) float64 {
	switch metric {
	case "calls":
		return s.Calls
	case "inclusive":
		return s.Inclusive
	}
	return s.Exclusive
}

// totals adds up calls that begin in the window, and time clipped to it: exclusive
// where the region is innermost on a lane, inclusive where it is anywhere on it, once.
func (x *Raw) totals(w *Window) map[cell]sum {
	if !x.timed() {
		return x.profileTotals(w)
	}
	if t, ok := x.added[w.String()]; ok {
		return t
	}
	out := map[cell]sum{}
	x.added[w.String()] = out
	x.lanes(w, func(l *Lane) {
		for _, p := range l.pieces(w.Begin, w.End) {
			if p.Row < 0 {
				continue
			}
			k := cell{l.Location, l.Rows[p.Row].Region}
			s := out[k]
			s.Exclusive += float64(p.End - p.Begin)
			out[k] = s
			seen := map[trace.RegionID]bool{}
			for at := p.Row; at >= 0; at = l.Rows[at].Parent {
				g := l.Rows[at].Region
				if seen[g] {
					continue
				}
				seen[g] = true
				k := cell{l.Location, g}
				s := out[k]
				s.Inclusive += float64(p.End - p.Begin)
				out[k] = s
			}
		}
		for _, r := range l.Rows {
			if w.begins(r) {
				k := cell{l.Location, r.Region}
				s := out[k]
				s.Calls++
				out[k] = s
			}
		}
	})
	return out
}

// profileTotals adds up the rows of the default metric: those that the source gives
// as totals over all callers, where there are some, else all paths, and of inclusive
// values only paths whose region is not above them too.
func (x *Raw) profileTotals(w *Window) map[cell]sum {
	metric, flat := 0, false
	for i, m := range x.Reader.Metrics() {
		if m.Default {
			metric = i
			break
		}
	}
	for _, p := range x.Paths {
		flat = flat || p.Flat
	}
	out := map[cell]sum{}
	for _, p := range x.Profile {
		path := x.Paths[p.Path]
		if int(p.Metric) != metric || path.Flat != flat || !x.in(w, p.Location) {
			continue
		}
		k := cell{p.Location, path.Region}
		s := out[k]
		s.Calls += p.Calls
		s.Exclusive += p.Exclusive
		again := false
		for up := path.Parent; up != trace.NoCallPath; up = x.Paths[up].Parent {
			again = again || x.Paths[up].Region == path.Region
		}
		if !again {
			s.Inclusive += p.Inclusive
		}
		out[k] = s
	}
	return out
}

// exclusive is the full length of a row without its children.
func (l *Lane) exclusive(row int) trace.Time {
	t := l.Rows[row].End - l.Rows[row].Begin
	for _, r := range l.Rows {
		if r.Parent == row {
			t -= r.End - r.Begin
		}
	}
	return t
}

// quantile is of type 7: between two values in proportion.
func quantile(values []float64, q float64) float64 {
	v := slices.Sorted(slices.Values(values))
	h := q * float64(len(v)-1)
	i := int(h)
	if i+1 >= len(v) {
		return v[len(v)-1]
	}
	return v[i] + (h-float64(i))*(v[i+1]-v[i])
}
