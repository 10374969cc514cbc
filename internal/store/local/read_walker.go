package local

import (
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A walker goes through the time of a lane and says which interval is innermost.
// It follows parents instead of keeping a stack, so it is small: a location may
// have very many lanes under way at once.
type walker struct {
	v     *laneView
	roles []trace.Role
	now   trace.Time
	next  int // the row that begins next
	cur   int // the innermost open row, -1
}

// start puts the walker at t.
func (w *walker) start(v *laneView, roles []trace.Role, t trace.Time) {
	w.startAt(v, roles, t, v.firstFrom(t))
}

// startAt does where the first row that begins at t or later is known.
func (w *walker) startAt(v *laneView, roles []trace.Role, t trace.Time, next int) {
	*w = walker{v: v, roles: roles, now: t, next: next}
	w.cur = w.next - 1
	for w.cur >= 0 && v.end(w.cur) <= t {
		w.cur = v.up(w.cur)
	}
}

// step gives the next stretch of time with one innermost interval, up to until.
// The same row may come twice in a row where an empty interval lies between.
func (w *walker) step(until trace.Time) (begin, end trace.Time, row int, ok bool) {
	v := w.v
	for w.now < until {
		if w.next < len(v.begin) && v.begin[w.next] <= w.now {
			w.cur = w.next
			w.next++
			continue
		}
		end = until
		if w.next < len(v.begin) {
			end = min(end, v.begin[w.next])
		}
		if w.cur >= 0 {
			e := v.end(w.cur)
			if e <= w.now {
				w.cur = v.up(w.cur)
				continue
			}
			end = min(end, e)
		}
		begin, w.now = w.now, end
		return begin, end, w.cur, true
	}
	return 0, 0, -1, false
}

// role is the role that counts while row is innermost: annotations are transparent.
func (w *walker) role(row int) trace.Role {
	if row < 0 {
		return trace.RoleNone
	}
	for i := row; i >= 0; i = w.v.up(i) {
		if role := w.roles[w.v.region[i]]; role != trace.RoleAnnotation {
			return role
		}
	}
	return trace.RoleAnnotation
}

// segments appends the innermost segments up to until.
func (w *walker) segments(out []trace.Segment, until trace.Time) []trace.Segment {
	first := len(out)
	for {
		begin, end, row, ok := w.step(until)
		if !ok {
			return out
		}
		if n := len(out); n > first && out[n-1].Row == row {
			out[n-1].End = end
			continue
		}
		s := trace.Segment{Begin: begin, End: end, Region: trace.NoRegion, Row: row}
		if row >= 0 {
			s.Region, s.Role = w.v.region[row], w.role(row)
		}
		out = append(out, s)
	}
}
