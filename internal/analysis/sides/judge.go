package sides

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/contrast"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// judge compares all quantities and puts them in order.
func (r *Result) judge(g *gatherer) {
	r.Rows = g.quantities()
	// Times are judged apart: many partners must not make them less sure.
	for _, time := range [2]bool{true, false} {
		var rows []*Quantity
		var list []contrast.Comparison
		for _, q := range r.Rows {
			if q.InTime() == time {
				rows = append(rows, q)
				list = append(list,
					contrast.Comparison{A: q.Values[0], B: q.Values[1], Paired: r.Paired, Whole: q.whole,
						Ranks: q.YesNo()})
			}
		}
		for i, v := range contrast.Judge(list) {
			if rows[i].YesNo() {
				v.Shift, v.Effect = v.Delta, v.Delta // the difference of two shares; a median would be 0 or 1
			}
			rows[i].Verdict = v
		}
	}
	r.doubt()
	cause := r.causeFirst()
	slices.SortStableFunc(r.Rows, func(x, y *Quantity) int {
		if cause && x.Verdict.Clear && y.Verdict.Clear && x.InTime() && y.InTime() && x.waits() != y.waits() {
			if y.waits() {
				return -1
			}
			return 1
		}
		return compareRows(x, y)
	})
}

// waits reports whether the quantity is time in which a location may wait for another.
func (q *Quantity) waits() bool {
	return q.Role == trace.RoleCommunication || q.Role == trace.RoleSynchronization || q.Role == trace.RoleIdle
}

// causeShare is the part of the largest difference in waiting that one in work must reach
// to be its cause.
const causeShare = 0.25

// causeFirst reports whether work that differs comes before waiting that does: who works
// longer waits less, and the others wait for it.
func (r *Result) causeFirst() bool {
	work, waiting := 0.0, 0.0
	for _, q := range r.Rows {
		if !q.Verdict.Clear || !q.InTime() || q.Role == trace.RoleAnnotation {
			continue
		}
		if e := &waiting; q.waits() && math.Abs(q.Verdict.Effect) > math.Abs(*e) {
			*e = q.Verdict.Effect
		}
		if e := &work; !q.waits() && math.Abs(q.Verdict.Effect) > math.Abs(*e) {
			*e = q.Verdict.Effect
		}
	}
	return work*waiting < 0 && math.Abs(work) >= causeShare*math.Abs(waiting)
}

// leastFound is the least effect of a set that was found by being different.
const leastFound = 0.03

// doubt withdraws results that a test cannot establish: a set that was chosen because it
// stands out does so by construction. Then only differences that cost much time count,
// and without any of those, nothing does.
func (r *Result) doubt() {
	if !r.found {
		return
	}
	any := false
	for _, q := range r.Rows {
		v := &q.Verdict
		v.Clear = v.Clear && (!q.InTime() || math.Abs(v.Effect) >= leastFound)
		any = any || v.Clear && q.InTime()
	}
	for _, q := range r.Rows {
		q.Verdict.Clear = q.Verdict.Clear && any
	}
}

// compareRows puts clear differences first, of those the ones in time, then by size.
// Time comes first because people ask about it.
func compareRows(x, y *Quantity) int {
	yes := func(b bool) int {
		if b {
			return 0
		}
		return 1
	}
	if d := yes(x.Verdict.Clear) - yes(y.Verdict.Clear); d != 0 {
		return d
	}
	if d := yes(x.InTime()) - yes(y.InTime()); d != 0 {
		return d
	}
	// That one step of a training is not another is true and no news.
	if d := yes(x.Role != trace.RoleAnnotation) - yes(y.Role != trace.RoleAnnotation); d != 0 {
		return d
	}
	sx, sy := x.Verdict.Score(), y.Verdict.Score()
	switch {
	case sx > sy:
		return -1
	case sx < sy:
		return 1
	}
	if d := slices.Index(Kinds, x.Kind) - slices.Index(Kinds, y.Kind); d != 0 {
		return d
	}
	return cmp.Or(strings.Compare(x.Name, y.Name), strings.Compare(x.Caller, y.Caller))
}

// inTime reports whether the quantity is a part of the time.
func (q *Quantity) InTime() bool {
	switch q.Kind {
	case "role", "category", "region", "caller":
		return true
	}
	return false
}

// yesNo reports whether the values are 1 for units that have something, and 0.
func (q *Quantity) YesNo() bool {
	return q.Kind == "calls" || q.Kind == "attribute" && q.Unit == "share"
}
