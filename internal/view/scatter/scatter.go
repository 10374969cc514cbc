// Package scatter sets numbers of locations against each other: a point for each
// location, placed by two or three numbers and coloured by a fourth.
//
// After the event correlation view of ParaProf as Spear, Malony, Lee, Biersdorff and
// Shende rebuilt it (Listing 1.3): it is a layout of package formula, whose axes
// are brought to the same length by restrictDim. Any number that a location has
// may be bound, see view.MeasureAll.
package scatter

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/formula"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:  "scatter",
	Title: "Scatter",
	Paper: "Spear, Malony, Lee, Biersdorff, Shende: An Approach to Creating Performance Visualizations in a " +
		"Parallel Profile Analysis Tool",
	Summary: "values of locations as points: two or three place a point, a fourth colours it",
	HowToRead: "Each point is a location. event0 is its position to the right and event1 upwards; event2 adds a " +
		"third axis, and the picture can be rotated. event3 is its colour. Points along a line are correlated, and " +
		"the notes state how strongly. A separate cluster is a set of locations that behave differently; click a " +
		"point to select it. If there are too many locations, a point stands for those nearby, in their mean " +
		"colour. By default the axes are the regions with the largest differences between locations. Two runs are " +
		"shown side by side with the same values and axes.",
	Needs:   view.Needs{Intervals: true, Profile: true},
	Options: view.Use("event0", "event1", "event2", "event3", "camera=30,20,1", "palette", "rows"),
	Runs:    2,
	Data:    []any{Data{}, PairData{}},
	Compute: view.SideBySide(false, compute, func(a, b Data) any { return PairData{a, b} }),
}

// Listing 1.3 of the paper; the third axis is flat where nothing is bound to it.
const layout = `BEGIN_VIZ=ScatterTest
restrictDim=1
x=(event0.val-event0.min)/(event0.max-event0.min)
y=(event1.val-event1.min)/(event1.max-event1.min)
z=(event2.val-event2.min)/(event2.max-event2.min)
END_VIZ
`

const colour = 3 // the event that colours

type result struct {
	request   *view.Request
	holds     []bool // which locations have values at all
	locations []trace.LocationID
	measure   [4]*view.Measure // nil: not bound
	chosen    [4]string        // regions that no option names, by number
	at        formula.Points   // 0 … 1 on each axis
	placed    []bool
	low, high [4]float64 // of each number, over the placed locations
	unplaced  int
	camera    scene.Camera
	notes     []string
	plane     struct {
		nx, ny int
		spots  []spot
	}
	space []spot
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	s := q.Store()
	r := &result{request: q, notes: view.RowNotes(s)}
	var err error
	if r.camera, err = scene.ParseCamera(q.Values.Text("camera")); err != nil {
		return nil, err
	}
	if r.locations, r.holds, err = q.Holders(ctx, "values"); err != nil {
		return nil, err
	}
	if err := r.bind(ctx); err != nil {
		return nil, err
	}
	for k, m := range r.measure {
		if m != nil {
			r.low[k], r.high[k] = extent(m.Values)
		}
	}
	if err := r.place(ctx); err != nil {
		return nil, err
	}
	r.note()
	return r, nil
}

// nowhere is asked for in a second run that does not have the region of the first: all of its locations have 0.
const nowhere = "#:exclusive"

// Settle implements view.Chooser: the second run has the axes of the first.
func (r *result) Settle(second *view.Request) {
	for k, name := range r.chosen {
		if name == "" {
			continue
		}
		text := nowhere
		if ids := view.RegionsNamed(second.Store().Regions(), name); len(ids) > 0 {
			text = fmt.Sprintf("#%d:exclusive", ids[0])
		}
		second.Values = second.Values.With(fmt.Sprintf("event%d", k), text)
	}
}

// ShareScale implements view.Scaled: numbers that both have are placed from the least to the most of both.
func (r *result) ShareScale(second view.Result) {
	other := second.(*result)
	for k := range r.low {
		if r.measure[k] != nil && other.measure[k] != nil {
			r.low[k], r.high[k] = min(r.low[k], other.low[k]), max(r.high[k], other.high[k])
			other.low[k], other.high[k] = r.low[k], r.high[k]
			if r.chosen[k] != "" && other.chosen[k] == "" { // by Settle, which asks by number
				other.measure[k].Label, other.measure[k].Unit = r.measure[k].Label, r.measure[k].Unit
				if other.measure[k].Text == nowhere {
					other.measure[k].Text = r.chosen[k] + ":exclusive"
					other.notes = append(other.notes, "no "+r.chosen[k]+" here: it is 0 on all locations")
				}
			}
		}
	}
	for _, half := range []*result{r, other} {
		_ = half.place(context.Background()) // a placed location has a place on a wider scale
	}
}

// bind reads the numbers that were asked for, and chooses missing ones of x and y.
func (r *result) bind(ctx context.Context) error {
	q := r.request
	var texts []string
	var event []int
	for k := range r.measure {
		switch text := q.Values.Text(fmt.Sprintf("event%d", k)); text {
		case "":
		case nowhere:
			r.measure[k] = &view.Measure{Text: text, Values: make([]float64, len(r.locations))}
		default:
			texts, event = append(texts, text), append(event, k)
		}
	}
	bound := func(k int) bool { return r.measure[k] != nil || slices.Contains(event, k) }
	var chosen []string
	if !bound(0) || !bound(1) {
		free, err := r.mostDifferent(ctx, texts)
		if err != nil {
			return err
		}
		for _, k := range []int{0, 1, colour} {
			if bound(k) || len(free) == 0 || k == colour && len(event) > len(chosen) {
				continue
			}
			texts, event, chosen, free = append(texts, free[0].text), append(event, k), append(chosen, free[0].name),
				free[1:]
			r.chosen[k] = chosen[len(chosen)-1]
		}
		if len(chosen) > 0 {
			r.notes = append(r.notes,
				fmt.Sprintf("chosen because they differ most between locations: %s", strings.Join(chosen, ", ")))
		}
	}
	if !bound(0) {
		return r.request.Advise("what --event0 and --event1 are bound to").Empty("no region has a value in the " +
			"selection")
	}
	all, err := view.MeasureAll(ctx, q, r.locations, texts)
	if err != nil {
		return err
	}
	for i, k := range event {
		r.measure[k] = &all[i]
		if i >= len(event)-len(chosen) {
			all[i].Label = chosen[i-len(event)+len(chosen)] + ", exclusive"
		}
	}
	return nil
}

// A candidate is a region that could be an axis.
type candidate struct {
	text, name string
	spread     float64
	tells      bool // see runfacts.Tells
}

// mostDifferent lists selected regions by their standard deviation over locations.
func (r *result) mostDifferent(ctx context.Context, taken []string) ([]candidate, error) {
	s := r.request.Store()
	metric, err := runfacts.ChooseMetric(s, "exclusive")
	if err != nil {
		return nil, err
	}
	all, err := runfacts.SpreadOfRegions(ctx, &runfacts.TotalsReader{Store: s, Window: r.request.Window()}, metric,
		r.locations)
	var out []candidate
	for id, x := range all {
		g := &s.Regions()[id]
		free := x.Some &&
			!slices.ContainsFunc(taken, func(x string) bool { return x == g.Name || strings.HasPrefix(x, g.Name+":") })
		if chosen := r.request.Selection.Regions; free &&
			(chosen == nil || slices.Contains(chosen, trace.RegionID(id))) {
			out = append(out, candidate{fmt.Sprintf("#%d:exclusive", id), g.Name, x.Variance, runfacts.Tells(g)})
		}
	}
	slices.SortStableFunc(out, func(a, b candidate) int {
		if a.tells != b.tells {
			if a.tells {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.spread, a.spread)
	})
	return out, err
}

// place applies the layout.
func (r *result) place(ctx context.Context) error {
	layouts, err := formula.Parse(layout)
	if err != nil {
		return err
	}
	scalar, column := map[string]float64{}, map[string][]float64{}
	none := make([]float64, len(r.locations))
	for k, m := range r.measure {
		values := none
		if m != nil {
			values = m.Values
		}
		name := fmt.Sprintf("event%d", k)
		scalar[name+".min"], scalar[name+".max"], column[name+".val"] = r.low[k], r.high[k], values
		column["color"] = values
	}
	out, err := layouts[0].Apply(ctx, &formula.Input{N: len(r.locations),
		Scalar: func(n string) (float64, bool) { v, ok := scalar[n]; return v, ok },
		Column: func(n string) ([]float64, bool) { v, ok := column[n]; return v, ok },
	})
	if err != nil {
		return err
	}
	r.at = out.Points[0]
	r.placed = r.at.Place(out.Restrict)
	r.unplaced = 0
	for _, ok := range r.placed {
		if !ok {
			r.unplaced++
		}
	}
	if r.unplaced == len(r.placed) {
		return view.Empty("bind other numbers", "no location has all the numbers that place it")
	}
	return nil
}

func (r *result) note() {
	if r.unplaced > 0 {
		r.notes = append(r.notes,
			fmt.Sprintf("%s of %s lack one of the numbers and are not drawn", view.Thousands(int64(r.unplaced)),
				view.Count(len(r.placed), "location")))
	}
	r.correlate()
}

func extent(values []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			low, high = min(low, v), max(high, v)
		}
	}
	if low > high {
		return 0, 0
	}
	return low, high
}

// correlate says how strictly the axes go together, pair by pair.
func (r *result) correlate() {
	axis := [3]string{"x", "y", "z"}
	for a := range 3 {
		for b := a + 1; b < 3; b++ {
			if v := r.correlation(a, b); !math.IsNaN(v) {
				r.notes = append(r.notes,
					fmt.Sprintf("correlation of %s and %s: %s", axis[a], axis[b], view.FormatSigned("%+.3f", v)))
			}
		}
	}
}

// correlation is that of Pearson, over the placed locations; NaN if one is not bound or
// does not differ.
func (r *result) correlation(a, b int) float64 {
	if r.measure[a] == nil || r.measure[b] == nil {
		return math.NaN()
	}
	axes := [3][]float64{r.at.X, r.at.Y, r.at.Z}
	x, y := axes[a], axes[b]
	var n, mx, my float64
	for i, ok := range r.placed {
		if ok {
			n, mx, my = n+1, mx+x[i], my+y[i]
		}
	}
	mx, my = mx/n, my/n
	var xy, xx, yy float64
	for i, ok := range r.placed {
		if ok {
			xy, xx, yy = xy+(x[i]-mx)*(y[i]-my), xx+(x[i]-mx)*(x[i]-mx), yy+(y[i]-my)*(y[i]-my)
		}
	}
	return min(max(xy/math.Sqrt(xx*yy), -1), 1)
}

func (r *result) Notes() []string { return append([]string{}, r.notes...) }

// solid reports whether the picture has a third direction.
func (r *result) solid() bool { return r.measure[2] != nil }
