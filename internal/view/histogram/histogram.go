// Package histogram shows how one number spreads over locations: how many have
// about the same, and below it, on the same axis, a bar for each location.
//
// After the two-dimensional charts of ParaProf that Spear, Malony, Lee, Biersdorff
// and Shende begin with. The number is a metric of the selected regions; where none
// is selected, of the region that differs most between locations. Any other number
// a location has will do too: see view.MeasureAll.
package histogram

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/parallax-hpc/parallax/internal/analysis/grouping"
	"github.com/parallax-hpc/parallax/internal/analysis/quantile"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/words"
)

// View is the view.
var View = &view.View{
	Name:  "histogram",
	Title: "Histogram",
	Paper: "Spear, Malony, Lee, Biersdorff, Shende: An Approach to Creating Performance Visualizations in a " +
		"Parallel Profile Analysis Tool",
	Summary: "distribution of one region's metric over locations, and one bar per location",
	HowToRead: "The upper part counts locations: each bar is a range of values, and its height the number of " +
		"locations in it. The vertical line is the mean, the dashed line the median, and the bar at the top covers " +
		"one standard deviation to both sides. The lower part has one bar per location on the same axis. If there " +
		"are more locations than pixels, a bar covers several, from their minimum to their maximum. One hump is an " +
		"even load. A second hump or a separate bar shows locations that behave differently; click it to select " +
		"them. The value is a metric of the selected regions. Without a selection the view takes the region with " +
		"the largest differences and names it in the notes. Two runs are shown side by side with the same axis and " +
		"bins.",
	Needs: view.Needs{Intervals: true, Profile: true},
	Options: view.Words(view.Use("metric", "event0", "bins", "value-scale", "order", "arrange", "rows"),
		"value-scale: scale of the axis [linear log]"),
	Runs:    2,
	Data:    []any{Data{}, PairData{}},
	Compute: view.SideBySide(false, compute, func(a, b Data) any { return PairData{a, b} }),
}

// A bin is a range of values [low, high), the last one closed.
type bin struct {
	low, high float64
	count     int
}

type result struct {
	view.Arranged
	request   *view.Request
	measure   view.Measure
	name      string // of the measure, in short
	role      uint8
	holds     []bool             // which locations have values at all
	locations []trace.LocationID // ascending
	values    []float64          // of each
	bins      []bin
	binOf     []int32 // of each location; -1: no value
	order     []int32 // locations as they are drawn
	log       bool
	have      int // locations with a value
	zeros     int // left out of a logarithmic axis
	min, max  float64
	low, high float64 // of the axis: min and max, of two runs those of both
	mean, sd  float64
	quartile  [3]float64
	notes     []string
	colours   *view.Colours
	mostCount int // in a bin, of both of two runs
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	s := q.Store()
	r := &result{request: q, notes: view.RowNotes(s)}
	var err error
	if r.locations, r.holds, err = q.Holders(ctx, "values"); err != nil {
		return nil, err
	}
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	if err := r.summarise(); err != nil {
		return nil, err
	}
	r.low, r.high = r.min, r.max
	r.fill(r.binCount())
	if r.colours, err = q.Colours(ctx); err != nil {
		return nil, err
	}
	if r.Arranged, err = q.Arrange(ctx, grouping.Order); err != nil {
		return nil, err
	}
	r.notes = r.Arrangement().AddNote(r.notes)
	return r, r.sort()
}

// read finds the measure, and its values.
func (r *result) read(ctx context.Context) error {
	q := r.request
	if text := q.Values.Text("event0"); text != "" {
		m, err := view.MeasureAll(ctx, q, r.locations, []string{text})
		if err != nil {
			return fmt.Errorf("--event0 %w", err)
		}
		r.take(m[0], m[0].Label)
		return nil
	}
	metric, err := runfacts.ChooseMetric(q.Store(), q.Values.Text("metric"))
	if err != nil {
		return err
	}
	totals := &runfacts.TotalsReader{Store: q.Store(), Window: q.Window()}
	regions := q.Selection.Regions
	if regions == nil {
		region, found, err := r.mostDifferent(ctx, totals, metric)
		if err != nil {
			return err
		}
		if !found {
			return r.request.Advise("another metric").Empty("no region has a value in the selection")
		}
		regions = []trace.RegionID{region}
		r.notes = append(r.notes,
			fmt.Sprintf("no region is selected: this is %s, which differs most between locations",
				scene.Shorten(q.Store().Regions()[region].Name, mostName, scene.TextSize)))
	}
	wanted := make([]bool, len(q.Store().Regions()))
	for _, id := range regions {
		wanted[id] = true
	}
	values := make([]float64, len(r.locations))
	row := rows(q.Store().Locations().Len(), r.locations)
	err = totals.Totals(ctx, metric.ID, func(list []runfacts.Total) {
		i := row[list[0].Location]
		if i < 0 {
			return
		}
		var j runfacts.Joined
		for _, t := range list {
			if wanted[t.Region] {
				j.Add(metric.Join, metric.Of(t.Calls, t.Inclusive, t.Exclusive))
			}
		}
		values[i] = j.Value(metric.Join)
	})
	if q.Selection.Locations == nil {
		values = r.leaveKinds(values)
	}
	name := "no region"
	if len(regions) > 0 {
		name = q.Store().Regions()[regions[0]].Name
	}
	if len(regions) > 1 {
		name = view.Count(len(regions), "region")
		if metric.Number == runfacts.NumberInclusive {
			r.notes = append(r.notes,
				"inclusive values of several regions are added up: what lies in two of them counts twice")
		}
	}
	r.take(view.Measure{Label: name + ", " + metric.Name, Unit: metric.Unit, Values: values, Regions: regions}, name)
	return err
}

// leaveKinds leaves out the locations of a kind of which none has a value: a kernel of GPUs is nothing of their hosts.
func (r *result) leaveKinds(values []float64) []float64 {
	kinds := runfacts.Kinds(r.request.Store().Locations(), r.locations)
	var some [2]bool
	for i, v := range values {
		some[kinds[i]] = some[kinds[i]] || v != 0
	}
	if some[0] == some[1] {
		return values
	}
	var locations []trace.LocationID
	var kept []float64
	for i, v := range values {
		if some[kinds[i]] {
			locations, kept = append(locations, r.locations[i]), append(kept, v)
		}
	}
	if left := len(values) - len(kept); left > 0 {
		r.notes = append(r.notes, fmt.Sprintf("%s of the other kind have no value and are left out",
			view.Count(left, "location")))
	}
	r.locations = locations
	return kept
}

func (r *result) take(m view.Measure, name string) {
	r.measure, r.values, r.name = m, m.Values, name
	if len(m.Regions) > 0 {
		r.role = uint8(r.request.Store().Regions()[m.Regions[0]].Role)
	}
}

func rows(n int, ids []trace.LocationID) []int32 {
	row := make([]int32, n)
	for i := range row {
		row[i] = -1
	}
	for i, id := range ids {
		row[id] = int32(i)
	}
	return row
}

// mostName is the length of a name in a note, in pixels.
const mostName = 320

// tied is how far variances may differ by rounding: of several that are as large the first region is taken.
const tied = 1e-9

// mostDifferent returns the region with the greatest standard deviation over the
// locations.
func (r *result) mostDifferent(ctx context.Context, totals *runfacts.TotalsReader,
	metric runfacts.MetricChoice) (best trace.RegionID, found bool, err error) {
	s := r.request.Store()
	all, err := runfacts.SpreadOfRegions(ctx, totals, metric, r.locations)
	most, tells := -1.0, false
	for id, x := range all {
		this := runfacts.Tells(&s.Regions()[id])
		if x.Seen && (this && !tells || this == tells && x.Variance > most*(1+tied)) {
			best, most, found, tells = trace.RegionID(id), x.Variance, true, this
		}
	}
	return best, found, err
}

// summarise finds mean, spread and quartiles of the locations that have a value.
func (r *result) summarise() error {
	var sorted []float64
	sum := 0.0
	for _, v := range r.values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		sorted = append(sorted, v)
		sum += v
	}
	if r.have = len(sorted); r.have == 0 {
		return view.Empty("choose another number or other locations", "no location has %s", r.measure.Label)
	}
	sort.Float64s(sorted)
	r.min, r.max = sorted[0], sorted[r.have-1]
	r.mean = min(max(sum/float64(r.have), r.min), r.max)
	for _, v := range sorted {
		r.sd += (v - r.mean) * (v - r.mean)
	}
	r.sd = math.Sqrt(r.sd / float64(r.have))
	for k := range r.quartile {
		r.quartile[k] = quantile.OfSorted(sorted, float64(k+1)/4)
	}
	if missing := len(r.values) - r.have; missing > 0 {
		r.notes = append(r.notes,
			fmt.Sprintf("%s of %s have no value and are left out", view.Thousands(int64(missing)),
				view.Count(len(r.values), "location")))
	}
	if r.log = r.max > 0 && r.request.Values.Text("value-scale") == "log"; !r.log {
		return nil
	}
	if i := sort.SearchFloat64s(sorted, math.SmallestNonzeroFloat64); i > 0 {
		r.zeros = i
		r.min = sorted[i]
		r.notes = append(r.notes,
			fmt.Sprintf("%s with 0 or less are left out of the logarithmic axis", view.Count(i, "location")))
	}
	return nil
}

// Settle implements view.Chooser: the second run shows the region of the first.
func (r *result) Settle(second *view.Request) {
	if r.choseRegion() {
		second.Selection.Regions = view.RegionsNamed(second.Store().Regions(), r.name)
	}
}

// choseRegion reports whether the measure was left open.
func (r *result) choseRegion() bool {
	return r.request.Selection.Regions == nil && r.request.Values.Text("event0") == ""
}

// ShareScale implements view.Scaled: both have one axis and the bins of the first.
func (r *result) ShareScale(second view.Result) {
	other := second.(*result)
	r.low, r.high = min(r.low, other.low), max(r.high, other.high)
	other.low, other.high = r.low, r.high
	if r.choseRegion() { // several of one name, or none, are that region
		other.name, other.measure.Label = r.name, r.measure.Label
		other.measure.Regions = other.measure.Regions[:min(len(other.measure.Regions), 1)]
	}
	n := r.binCount()
	r.fill(n)
	other.fill(n)
	r.mostCount = max(r.highest(), other.highest())
	other.mostCount = r.mostCount
}

// binCount is how many bins there are: as many as asked for, else by Freedman and Diaconis, within 8 and 120.
func (r *result) binCount() int {
	n := r.request.Values.Integer("bins")
	lo, hi := r.axis(r.low), r.axis(r.high)
	if n <= 0 {
		n = max(8, min(120, int(math.Ceil(2*math.Cbrt(float64(r.have))))))
		if iqr := r.axis(r.quartile[2]) - r.axis(max(r.quartile[0], r.min)); iqr > 0 {
			n = max(8, min(120, int(math.Ceil((hi-lo)*math.Cbrt(float64(r.have))/(2*iqr)))))
		}
	}
	n = min(n, 10000)
	if !(hi > lo) {
		n = 1
	}
	return n
}

// fill counts locations in bins.
func (r *result) fill(n int) {
	lo, hi := r.axis(r.low), r.axis(r.high)
	r.bins = make([]bin, n)
	for b := range r.bins {
		r.bins[b] = bin{low: r.value(lo + (hi-lo)*float64(b)/float64(n)),
			high: r.value(lo + (hi-lo)*float64(b+1)/float64(n))}
	}
	r.bins[0].low, r.bins[n-1].high = r.low, r.high
	r.binOf = make([]int32, len(r.values))
	for i, v := range r.values {
		r.binOf[i] = -1
		if math.IsNaN(v) || math.IsInf(v, 0) || r.log && v <= 0 {
			continue
		}
		b := sort.Search(n-1, func(b int) bool { return v < r.bins[b].high })
		r.binOf[i] = int32(b)
		r.bins[b].count++
	}
}

// axis returns the place of a value on the axis, value the way back.
func (r *result) axis(v float64) float64 {
	if r.log {
		return math.Log10(v)
	}
	return v
}

func (r *result) value(at float64) float64 {
	if r.log {
		return math.Pow(10, at)
	}
	return at
}

func (r *result) sort() error {
	r.order = make([]int32, len(r.locations))
	for i := range r.order {
		r.order[i] = int32(i)
	}
	switch order := r.request.Values.Text("order"); order {
	case "", "location":
		r.Arrangement().SortPlaces(r.order, r.locations)
	case "value":
		at := func(i int32) float64 {
			if math.IsNaN(r.values[i]) {
				return math.Inf(-1)
			}
			return r.values[i]
		}
		slices.SortStableFunc(r.order, func(a, b int32) int { return cmp.Compare(at(b), at(a)) })
	default:
		return words.NotOneOf("--order", order, "location", "value", "groups")
	}
	r.Arrangement().SortGroups(r.order, r.locations) // of a group in the order asked for
	return nil
}

func (r *result) Notes() []string { return append([]string{}, r.notes...) }
