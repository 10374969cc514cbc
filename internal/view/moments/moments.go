// Package moments shows four numbers of busy time per location: how much, when, how
// spread out, how lopsided; one row each, down to a pixel.
//
// After Godin, Quinn, Pancake: "Parallel Performance Visualization Using Moments of
// Utilization Data". The kernels are analysis/moment and
// analysis/utilization.
//
// sketches hold the data read of all rows, rows those that are drawn; a result has both:
//
//	state.go   states that count, and what there is to know of the rows, in words
//	rows.go, fit.go, optimal.go    which rows are drawn: order, groups where rows do not fit
//	layout.go, glyph.go, chart.go  rows → scene
//	basis.go   another basis than moments
//	difference.go  two runs: the moments of one less those of the other
//	fact.go    a row in words; data.go the twins
package moments

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/grouping"
	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/analysis/utilization"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/words"
)

// View is the view.
var View = &view.View{
	Name:    "moments",
	Title:   "Moments",
	Paper:   "Godin, Quinn, Pancake: Parallel Performance Visualization Using Moments of Utilization Data",
	Summary: "four moments of busy time per location, one row each",
	HowToRead: "Each row is a location, and time runs to the right. The length of the solid bar is all busy " +
		"time (m0), and its centre, the tick, is the mean time of the work (m1). The paler bars reach to m1 ± m2, " +
		"the range of most of the work. They are hairlines if the work is one unbroken time range, so long ones " +
		"mean breaks. The thin line from the tick is the skew (m3): to the right if a small part of the work came " +
		"late, to the left if it came early. Marks that leave the axis are cut and have a triangle. Look for bars " +
		"that are shorter, shifted or wider than those of the neighbours; outliers have a diamond. In a well " +
		"balanced run the bars line up and the paler bars are short. Moments do not show the position of single " +
		"idle times, nor whether idle times of different locations coincide; the two-state chart (--gantt) does. " +
		"For two runs the view draws the second minus the first, one column per moment: bars to the right mean " +
		"more, later or wider in the second.",
	Needs: view.Needs{Intervals: true, Moments: true, Rows: true},
	Runs:  16,
	Options: view.Words(view.Use("busy", "idle", "layers", "order=location", "arrange", "group", "p", "top", "moments",
		"basis", "bins", "axis", "gantt", "picture=auto", "paper", "rows"),
		"picture: picture of two runs: auto (the differences of the moments), or the rows of the first [auto rows]",
		"bins: number of coefficients of another basis; 0: 16",
		"group: rows that are merged if they do not fit: none, optimal (where little is lost), or a kind of "+
			"location such as machine"),
	Report:  view.Report{Place: 5, Height: 380, AllLocations: true},
	Data:    []any{data{}, differenceData{}},
	Compute: compute,
}

// sketches hold the data read of the selected rows.
type sketches struct {
	view.Arranged
	*utilization.Rows
	axis axis
	opt  options

	states []*utilization.Layer // drawn; the first is busy unless --layers says otherwise
	busy   *utilization.Layer   // the layer of the data

	all *allRows // results that need every row; made when asked for
}

// A result is a computed picture.
type result struct {
	*sketches
	rows       []row       // drawn, from the top
	charts     *charts     // with --gantt
	projection *projection // with --basis
	alignment  []runAlignment
	notes      []string
}

// An axis is the quantity to the right: time, or a counter counted from the start of the
// window.
type axis struct {
	counter    string
	begin, end float64 // of the scale
	unit       string
}

func (a axis) length() float64 { return a.end - a.begin }

type options struct {
	order  string
	group  string
	p      float64 // of the best aggregation
	top    int
	orders int // highest moment given
	paper  bool
	// chart is where the two-state chart is drawn, and how wide next to the picture: a
	// share, or pixels.
	chart                   string
	chartShare, chartPixels float64
}

// A runAlignment rates one of the runs compared: its rows of a kind, where there are several kinds.
type runAlignment struct {
	Name string `json:"name"`
	Of   string `json:"of,omitempty"`
	moment.Alignment
}

// alignments rates the rows of a run, each kind by itself: a GPU is not busy when its host is.
func alignments(name string, t *store.Tree, ids []trace.LocationID, rows []moment.Moments,
	length float64) (out []runAlignment) {
	var order []trace.Kind
	by := map[trace.Kind][]moment.Moments{}
	for i, id := range ids {
		kind := t.Kind[id]
		if by[kind] == nil {
			order = append(order, kind)
		}
		by[kind] = append(by[kind], rows[i])
	}
	if len(order) == 1 {
		return []runAlignment{{Name: name, Alignment: moment.Align(rows, length)}}
	}
	for _, kind := range order {
		what := string(kind) + "s"
		if kind == trace.KindDevice {
			what = "GPUs"
		}
		out = append(out, runAlignment{Name: name, Of: what, Alignment: moment.Align(by[kind], length)})
	}
	return out
}

var orders = []string{"location", "m0", "m1", "m2", "m3", "-m0", "-m1", "-m2", "-m3", "outliers"}

func parseOptions(v view.Values) (options, error) {
	o := options{order: v.Text("order"), group: v.Text("group"), p: v.Number("p"), top: v.Integer("top"),
		orders: v.Integer("moments"), paper: v.Switch("paper")}
	switch {
	case !slices.Contains(orders, o.order):
		refused := words.NotOneOf("--order", o.order, append(slices.Clone(orders), "groups")...)
		refused.More = "; m0 is largest first, -m0 smallest first"
		return o, refused
	case o.orders < 3 || o.orders > moment.MaxOrder:
		return o, fmt.Errorf("--moments %d: want 3 to %d", o.orders, moment.MaxOrder)
	case o.top < 0:
		return o, fmt.Errorf("--top %d: want 0 for all, or a number of rows", o.top)
	}
	return o, o.readChart(v.Text("gantt"))
}

// compute reads the sketches of all rows, chooses the rows that are drawn, and adds the requested charts next to
// them.
func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	o, err := parseOptions(q.Values)
	if err != nil {
		return nil, err
	}
	if wantsDifference(q) {
		return subtract(ctx, q, o)
	}
	k, notes, err := read(ctx, q, o)
	if err != nil {
		return nil, err
	}
	rows, rowNotes := k.chooseRows(q.Size)
	r := &result{sketches: k, rows: rows, notes: slices.Concat(notes, rowNotes, k.describeStates())}
	if o.chart != chartNone && k.axis.counter != "" {
		r.notes = append(r.notes, "the two-state chart is drawn over time alone")
	} else if r.charts, err = k.makeCharts(ctx, rows); err != nil {
		return nil, err
	}
	note := ""
	if r.projection, note, err = k.project(ctx, rows, q.Values); err != nil {
		return nil, err
	}
	if note != "" {
		r.notes = append(r.notes, note)
	}
	if r.alignment, err = k.align(ctx, q, rows); err != nil {
		return nil, err
	}
	if nobodyBusy(r.alignment) && !q.Values.Set("busy") {
		r.notes = append([]string{"no row is busy in this time, only waits are recorded: --busy " +
			"synchronization,idle draws when rows wait"}, r.notes...)
	}
	for _, a := range r.alignment {
		name := ""
		if a.Of != "" {
			name = " of " + a.Of
		}
		if len(q.Runs) > 1 {
			name += " of " + a.Name
		}
		r.notes = append(r.notes, fmt.Sprintf("alignment%s %.2f: m0 %.2f × m1 %.2f", name, a.Score, a.M0, a.M1))
	}
	return r, nil
}

// nobodyBusy reports whether no row has busy time: a JVM records what threads wait for, and little of their work.
func nobodyBusy(list []runAlignment) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(a runAlignment) bool { return a.Utilization > 0 })
}

// read reads the sketches of all states of the selected rows.
func read(ctx context.Context, q *view.Request, o options) (*sketches, []string, error) {
	if q.Selection.Begin >= q.Selection.End {
		return nil, nil, view.Empty("choose a longer time", "the time selected is empty")
	}
	if q.Selection.Regions != nil && len(q.Selection.Regions) == 0 {
		return nil, nil, view.Empty("choose other regions", "no region is selected")
	}
	f, err := utilization.Choose(ctx, q.Runs[0], q.Selection, q.Values.Text("axis"))
	if err != nil {
		return nil, nil, err
	}
	if len(f.IDs) == 0 {
		return nil, nil,
			view.NoIntervals(q.Store(), "choose other locations",
				"none of the selected locations holds intervals or recorded moments")
	}
	k := &sketches{Rows: f, opt: o,
		axis: axis{begin: float64(q.Selection.Begin), end: float64(q.Selection.End), unit: "ns"}}
	if c := f.Counter; c != nil {
		k.axis = axis{counter: c.Name, end: cmp.Or(c.Length(k.IDs), 1), unit: c.Unit}
	}
	var notes []string
	if k.Reader.Info().Timed() {
		if k.Arranged, err = q.Arrange(ctx, grouping.Order); err != nil {
			return nil, nil, err
		}
	} else if q.Values.Set("arrange") {
		notes = append(notes, "moments that a recorder wrote say nothing of calls: rows are as in the tree")
	}
	notes = k.Arrangement().AddNote(notes)
	states, busy, err := statesOf(q, k.Reader.Regions())
	if err != nil {
		return nil, nil, err
	}
	if k.busy, err = f.Layer(ctx, busy, o.orders); err != nil {
		return nil, nil, err
	}
	if len(states) == 0 {
		k.states = []*utilization.Layer{k.busy}
	}
	for _, s := range states {
		l := k.layerOf(s)
		if l == nil {
			if l, err = f.Layer(ctx, s, o.orders); err != nil {
				return nil, nil, err
			}
		}
		k.states = append(k.states, l)
	}
	return k, append(notes, rowNotes(f)...), nil
}

// layerOf finds the sketches of a state that are there already.
func (k *sketches) layerOf(s *utilization.State) *utilization.Layer {
	if s == k.busy.State {
		return k.busy
	}
	for _, l := range k.states {
		if l.State.Name == s.Name {
			return l
		}
	}
	return nil
}

// describeStates lists the states taken for busy.
func (k *sketches) describeStates() (notes []string) {
	for _, l := range k.states {
		if k.Recorded != nil && l.State.Busy == nil && l.State.Idle == nil {
			notes = append(notes, l.State.Name+": as the program or its recorder counted it")
			continue
		}
		notes = append(notes, describe(l.State, k.Selection.Regions != nil))
	}
	return notes
}

// align rates the run, and those it is compared with over the same time. If rows are too
// many to look at each for a picture, the rows drawn are rated.
func (k *sketches) align(ctx context.Context, q *view.Request, rows []row) ([]runAlignment, error) {
	var out []runAlignment
	if rated := k.busy.AtHand(); rated != nil {
		out = alignments(q.Runs[0].Name, k.Tree, k.IDs, rated, k.axis.length())
	} else {
		for i := range rows {
			rated = append(rated, rows[i].moments[0])
		}
		out = []runAlignment{{Name: q.Runs[0].Name, Alignment: moment.Align(rated, k.axis.length())}}
	}
	busy := k.busy.State
	for _, other := range q.Runs[1:] {
		if !other.Store.Info().Timed() {
			continue
		}
		sel := trace.Selection{Begin: min(q.Selection.Begin, other.Store.Info().End),
			End: min(q.Selection.End, other.Store.Info().End)}
		if q.Selection.Begin == 0 && q.Selection.End == q.Store().Info().End {
			sel = trace.Selection{End: other.Store.Info().End}
		}
		f, err := utilization.Choose(ctx, other, sel, "")
		if err != nil {
			return nil, err
		}
		regions := other.Store.Regions()
		s, err := stateOf(busy.Name, regions, busy.Busy.List(), busy.Idle.List(), nil)
		if err != nil {
			return nil, err
		}
		l, err := f.Layer(ctx, s, 3)
		if err != nil {
			return nil, err
		}
		out = append(out, alignments(other.Name, f.Tree, f.IDs, l.All(), float64(sel.End-sel.Begin))...)
	}
	return out, nil
}

// Notes implements view.Result.
func (r *result) Notes() []string { return r.notes }

// SizeBytes is the size of the result in a cache.
func (r *result) SizeBytes() int64 {
	n := int64(64<<10) + int64(len(r.IDs))*4
	for _, l := range r.states {
		n += l.SizeBytes()
	}
	return n + int64(len(r.rows))*256
}

// colours of a state's bars.
func (k *sketches) colours(l *utilization.Layer) (bar, reach scene.Colour, flags scene.Flag) {
	role, known := trace.ParseRole(l.State.Name)
	switch {
	case k.opt.paper:
		return scene.PaperGrey, scene.PaperBlack, 0
	case len(k.states) == 1:
		return scene.UIData, scene.UIDataSoft, 0
	case l.State.Name == "busy":
		role, known = trace.RoleCompute, true
	}
	c := scene.LocationColour(slices.Index(k.states, l))
	if known && role != trace.RoleNone {
		c = scene.RoleColour(uint8(role))
	}
	return c, c, scene.Dimmed
}

// each calls f for 0 … n-1 on all cores, in ranges.
func each(n int, f func(i int)) {
	parallel.Ranges(context.Background(), n, 64, func(from, to int) {
		for i := from; i < to; i++ {
			f(i)
		}
	})
}
