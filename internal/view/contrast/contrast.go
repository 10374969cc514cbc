// Package contrast shows why a selection is different: the quantities that set some
// locations apart from the others, or some time range from the rest.
//
// Two sets are compared in every quantity that the source has: time by role, category,
// region and caller, messages by partner, counters, metrics of a profile, attributes of
// the locations. Each has a value for every rank (or location) of a set, so each is two
// samples; package analysis/contrast describes the tests and why they are used.
// Quantities of time come first, the largest and surest on top.
package contrast

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/contrast"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/words"
)

// View is the view.
var View = &view.View{
	Name:    "contrast",
	Title:   "Contrast",
	Summary: "why two selections differ: some locations against others, or one time against the rest",
	HowToRead: "Set A is what you selected, set B the rest; --a and --b choose others. Each line is one quantity: a " +
		"role, category, region or caller by its time, on how many locations a region is called, a partner by its " +
		"messages, a counter, a metric, an attribute. " +
		"The bar on the left is how much more (to the right) or less A has of it, as a share of the whole time, " +
		"bytes or value. The two rows beside it show the values themselves, a dot for each rank or location, or a " +
		"box (2, 25, 50, 75 and 98 %) where there are many: " +
		"A above, B below, on one scale. Lines are ranked by the size of the shift and by how far the two sets are " +
		"apart; what chance explains as well is dimmed and comes last. " +
		"Where A and B are the same locations at different times, each location is compared with itself.",
	Needs: view.Needs{Intervals: true, Profile: true},
	Runs:  2,
	Options: view.Words(view.Use("a", "b", "by=all", "metric", "group=auto", "top", "rows=threads"),
		"group: what is one location: those of a rank together, each alone, or auto: ranks where they have several "+
			"[auto ranks locations]",
		"by: what is compared: all, or some of role, category, region, caller, calls, messages, partner, counter, "+
			"metric, attribute joined by commas"),
	Report:  view.Report{Place: 3, Height: 420, AllRegions: true, About: true},
	Data:    []any{Data{}},
	Compute: compute,
}

// Kinds of quantities in the order in which equal ones are listed.
var kinds = []string{"role", "category", "region", "caller", "calls", "messages", "partner", "counter", "metric",
	"attribute"}

// A quantity is one number of each unit on both sides.
type quantity struct {
	kind, name string
	caller     string // of a caller, the region that calls
	unit       string // ns, share, bytes, count or ""
	role       trace.Role
	regions    []trace.RegionID // selected by choosing it
	values     [2][]float64     // by side, by unit
	calls      [2]float64       // in all, where known
	whole      float64
	verdict    contrast.Judgement
}

type result struct {
	request *view.Request
	metric  view.MetricChoice
	sides   [2]side
	paired  bool
	found   bool // a was chosen by us, because it is different
	shares  bool // times are shares of windows of different lengths
	rows    []*quantity
	by      map[string]bool
	notes   []string
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	r := &result{request: q, notes: view.RowNotes(q.Store())}
	var err error
	if r.by, err = parseKinds(q.Values.Text("by")); err != nil {
		return nil, err
	}
	if r.metric, err = view.ChooseMetric(q.Store(), q.Values.Text("metric")); err != nil {
		return nil, err
	}
	if err := r.choose(ctx); err != nil {
		return nil, err
	}
	for i := range r.sides {
		if r.sides[i].counted, err = store.CountsCalls(ctx, r.sides[i].store); err != nil {
			return nil, err
		}
	}
	g := newGatherer(r)
	if err := g.all(ctx); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.judge(g)
	if len(r.rows) == 0 {
		return nil, q.Advise("other regions").Empty("nothing to compare in the selection")
	}
	return r, nil
}

// parseKinds reads --by: all, or kinds joined by commas.
func parseKinds(text string) (map[string]bool, error) {
	out := map[string]bool{}
	for name := range strings.SplitSeq(text, ",") {
		switch name = strings.TrimSpace(name); {
		case name == "all" || name == "":
			for _, k := range kinds {
				out[k] = true
			}
		case slices.Contains(kinds, name):
			out[name] = true
		default:
			return nil, words.NotOneOf("--by", name, append([]string{"all"}, kinds...)...)
		}
	}
	return out, nil
}

// judge compares all quantities and puts them in order.
func (r *result) judge(g *gatherer) {
	r.rows = g.quantities()
	// Times are judged apart: many partners must not make them less sure.
	for _, time := range [2]bool{true, false} {
		var rows []*quantity
		var list []contrast.Comparison
		for _, q := range r.rows {
			if q.inTime() == time {
				rows = append(rows, q)
				list = append(list,
					contrast.Comparison{A: q.values[0], B: q.values[1], Paired: r.paired, Whole: q.whole,
						Ranks: q.yesNo()})
			}
		}
		for i, v := range contrast.Judge(list) {
			if rows[i].yesNo() {
				v.Shift, v.Effect = v.Delta, v.Delta // the difference of two shares; a median would be 0 or 1
			}
			rows[i].verdict = v
		}
	}
	r.doubt()
	cause := r.causeFirst()
	slices.SortStableFunc(r.rows, func(x, y *quantity) int {
		if cause && x.verdict.Clear && y.verdict.Clear && x.inTime() && y.inTime() && x.waits() != y.waits() {
			if y.waits() {
				return -1
			}
			return 1
		}
		return compareRows(x, y)
	})
}

// waits reports whether the quantity is time in which a location may wait for another.
func (q *quantity) waits() bool {
	return q.role == trace.RoleCommunication || q.role == trace.RoleSynchronization || q.role == trace.RoleIdle
}

// causeShare is the part of the largest difference in waiting that one in work must reach
// to be its cause.
const causeShare = 0.25

// causeFirst reports whether work that differs comes before waiting that does: who works
// longer waits less, and the others wait for it.
func (r *result) causeFirst() bool {
	work, waiting := 0.0, 0.0
	for _, q := range r.rows {
		if !q.verdict.Clear || !q.inTime() || q.role == trace.RoleAnnotation {
			continue
		}
		if e := &waiting; q.waits() && math.Abs(q.verdict.Effect) > math.Abs(*e) {
			*e = q.verdict.Effect
		}
		if e := &work; !q.waits() && math.Abs(q.verdict.Effect) > math.Abs(*e) {
			*e = q.verdict.Effect
		}
	}
	return work*waiting < 0 && math.Abs(work) >= causeShare*math.Abs(waiting)
}

// leastFound is the least effect of a set that was found by being different.
const leastFound = 0.03

// doubt withdraws results that a test cannot establish: a set that was chosen because it
// stands out does so by construction. Then only differences that cost much time count,
// and without any of those, nothing does.
func (r *result) doubt() {
	if !r.found {
		return
	}
	any := false
	for _, q := range r.rows {
		v := &q.verdict
		v.Clear = v.Clear && (!q.inTime() || math.Abs(v.Effect) >= leastFound)
		any = any || v.Clear && q.inTime()
	}
	for _, q := range r.rows {
		q.verdict.Clear = q.verdict.Clear && any
	}
}

// compareRows puts clear differences first, of those the ones in time, then by size.
// Time comes first because people ask about it.
func compareRows(x, y *quantity) int {
	yes := func(b bool) int {
		if b {
			return 0
		}
		return 1
	}
	if d := yes(x.verdict.Clear) - yes(y.verdict.Clear); d != 0 {
		return d
	}
	if d := yes(x.inTime()) - yes(y.inTime()); d != 0 {
		return d
	}
	// That one step of a training is not another is true and no news.
	if d := yes(x.role != trace.RoleAnnotation) - yes(y.role != trace.RoleAnnotation); d != 0 {
		return d
	}
	sx, sy := x.verdict.Score(), y.verdict.Score()
	switch {
	case sx > sy:
		return -1
	case sx < sy:
		return 1
	}
	if d := slices.Index(kinds, x.kind) - slices.Index(kinds, y.kind); d != 0 {
		return d
	}
	return cmp.Or(strings.Compare(x.name, y.name), strings.Compare(x.caller, y.caller))
}

// inTime reports whether the quantity is a part of the time.
func (q *quantity) inTime() bool {
	switch q.kind {
	case "role", "category", "region", "caller":
		return true
	}
	return false
}

// yesNo reports whether the values are 1 for units that have something, and 0.
func (q *quantity) yesNo() bool {
	return q.kind == "calls" || q.kind == "attribute" && q.unit == "share"
}

func (r *result) clear() int {
	n := 0
	for _, q := range r.rows {
		if q.verdict.Clear {
			n++
		}
	}
	return n
}

func (r *result) Notes() []string { return append([]string{}, r.notes...) }
