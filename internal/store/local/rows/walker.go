package rows

import "github.com/parallax-hpc/parallax/internal/trace"

// A Walker goes through the time of a lane and says which interval is innermost.
// It follows parents instead of keeping a stack, so it is small: a location may
// have very many lanes under way at once.
type Walker struct {
	v     *Lane
	roles []trace.Role
	now   trace.Time
	next  int // the row that begins next
	cur   int // the innermost open row, -1
}

// Start puts the walker at t.
func (w *Walker) Start(v *Lane, roles []trace.Role, t trace.Time) {
	w.StartAt(v, roles, t, v.FirstFrom(t))
}

// StartAt does where the first row that begins at t or later is known.
func (w *Walker) StartAt(v *Lane, roles []trace.Role, t trace.Time, next int) {
	*w = Walker{v: v, roles: roles, now: t, next: next}
	w.cur = w.next - 1
	for w.cur >= 0 && v.End(w.cur) <= t {
		w.cur = v.Up(w.cur)
	}
}

// Step returns the next time range with one innermost interval, up to until.
// The same row may come twice in a row where an empty interval is between.
func (w *Walker) Step(until trace.Time) (begin, end trace.Time, row int, ok bool) {
	v := w.v
	for w.now < until {
		if w.next < len(v.Begin) {
			v.Touch(w.next, w.next+1)
		}
		if w.next < len(v.Begin) && v.Begin[w.next] <= w.now {
			w.cur = w.next
			w.next++
			continue
		}
		end = until
		if w.next < len(v.Begin) {
			end = min(end, v.Begin[w.next])
		}
		if w.cur >= 0 {
			e := v.End(w.cur)
			if e <= w.now {
				w.cur = v.Up(w.cur)
				continue
			}
			end = min(end, e)
		}
		begin, w.now = w.now, end
		return begin, end, w.cur, true
	}
	return 0, 0, -1, false
}

// Role returns the role that counts while row is innermost: annotations are transparent.
func (w *Walker) Role(row int) trace.Role {
	if row < 0 {
		return trace.RoleNone
	}
	for i := row; i >= 0; i = w.v.Up(i) {
		w.v.Touch(i, i+1)
		if role := w.roles[w.v.Region[i]]; role != trace.RoleAnnotation {
			return role
		}
	}
	return trace.RoleAnnotation
}

// touchRows is the number of rows that are looked at at once on a way through a lane.
const touchRows = 1 << 10

// Segments appends the innermost segments up to until.
func (w *Walker) Segments(out []trace.Segment, until trace.Time) []trace.Segment {
	first := len(out)
	v, now, next, cur := w.v, w.now, w.next, w.cur
	begins := v.Begin
	// Rows [sure, ahead) have been looked at: asking for each would cost as much as walking.
	sure, ahead := next, next
	if v.sure == nil {
		sure, ahead = 0, len(begins)
	}
	for now < until { // as step does, written out: a summary tree is mostly this
		end := until
		if next < len(begins) {
			if next >= ahead {
				ahead = min(next+touchRows, len(begins))
				v.Touch(next, ahead)
			}
			if begins[next] <= now {
				cur = next
				next++
				continue
			}
			end = min(end, begins[next])
		}
		if cur >= 0 {
			if cur < sure {
				v.Touch(cur, cur+1)
			}
			e := begins[cur] + v.Duration[cur]
			if e <= now {
				cur = v.up(cur)
				continue
			}
			end = min(end, e)
		}
		if n := len(out); n > first && out[n-1].Row == cur {
			out[n-1].End = end
		} else {
			s := trace.Segment{Begin: now, End: end, Region: trace.NoRegion, Row: cur}
			if cur >= 0 {
				s.Region = v.Region[cur]
				if s.Role = w.roles[s.Region]; s.Role == trace.RoleAnnotation {
					s.Role = w.Role(cur)
				}
			}
			out = append(out, s)
		}
		now = end
	}
	w.now, w.next, w.cur = now, next, cur
	return out
}
