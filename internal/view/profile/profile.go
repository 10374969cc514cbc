// Package profile shows where the time went: one row per region with its share, its
// calls, its time with and without children, how that differs between locations, and a
// strip of all locations side by side.
//
// It reads traces and profiles alike. For a trace any window costs the same, since the
// store answers from prefix sums; for a profile the rows are read once. Numbers over
// locations count every location that holds values: where a region does not occur it has
// 0.
package profile

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/parallax-hpc/parallax/internal/analysis/grouping"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/words"
)

// View is the view.
var View = &view.View{
	Name:    "profile",
	Title:   "Profile",
	Summary: "regions by time: share, calls, inclusive and exclusive time, and differences between locations",
	HowToRead: "Each row is a region, the most time first. The bar is its time, summed over the selected locations, " +
		"with its share of all time: the length of the selection × the number of locations with intervals. The line " +
		"below a bar reaches from the minimum to the maximum of a location. The dot is the mean, and the thick part " +
		"covers one standard deviation to both sides. The strip on the right has one column per location, or per " +
		"group of neighbours if there are more locations than pixels. Bright is much, dark is little, relative to " +
		"the maximum of the row. Times are clipped to the selected window, and a call counts where it begins. Mean, " +
		"minimum and maximum are per location. The mean of a call is its exclusive time, as in the table of the " +
		"selection. Click a row to select its region. Two runs are shown side by side on one scale, with each " +
		"region at one height; a grey name means that only the other run has the region.",
	Needs:   view.Needs{Intervals: true, Profile: true},
	Options: view.Use("metric", "order", "arrange", "top", "palette"),
	Report:  view.Report{Place: 7, Height: 380, AllRegions: true, Regions: true},
	Runs:    2,
	Data:    []any{Data{}, PairData{}},
	Compute: view.SideBySide(false, compute, func(a, b Data) any { return PairData{a, b} }),
}

// A row is one region.
type row struct {
	region                      trace.RegionID
	calls, inclusive, exclusive float64
	value, key                  float64 // by the metric, and by the order of rows
	share, ofRecorded           float64
	mean, sd, min, max          float64
	call                        *float64 // mean exclusive value of a call; nil: no call, or not known
	sum, squares                float64
	joined                      [3]runfacts.Joined // value, inclusive, exclusive
	seen                        int                // locations that have it
	// For each column of the strip: the least and the most of its locations, and how many
	// have the region; then heat, the value shown.
	lo, hi, heat []float32
	have         []int32
}

type result struct {
	view.Arranged
	request   *view.Request
	regions   []trace.Region
	colours   *view.Colours
	metric    runfacts.MetricChoice
	join      trace.Join // of inclusive and exclusive values, also where calls are shown
	counted   bool       // calls are
	rows      []row      // in order
	total     float64    // exclusive, or calls, of all regions
	base      view.Base
	locations []trace.LocationID // that hold values, in order
	binOf     []int32            // of each location, -1
	bins      int
	binSize   []int32
	// Least values that the full width of bars stands for, over all locations and over one; 0: the drawn
	// bars decide.
	full, fullOne float64
	// paired are the lines of the picture of one of two runs.
	paired []line
	notes  []string
}

// rowBytes and cellBytes are the memory of a region, and of each column of its strip.
const (
	rowBytes  = int64(unsafe.Sizeof(row{}))
	cellBytes = 12
)

// mostCells bounds the strips of all regions together.
const mostCells = 4 << 20

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	s := q.Store()
	metric, err := runfacts.ChooseMetric(s, q.Values.Text("metric"))
	if err != nil {
		return nil, err
	}
	r := &result{request: q, regions: s.Regions(), metric: metric}
	if !s.Info().Timed() && int(metric.ID) < len(s.Metrics()) {
		r.join = s.Metrics()[metric.ID].Join
	}
	if r.counted, err = store.CountsCalls(ctx, s); err != nil {
		return nil, err
	}
	if r.colours, err = q.Colours(ctx); err != nil {
		return nil, err
	}
	if err := r.chooseLocations(ctx); err != nil {
		return nil, err
	}
	if err := r.sum(ctx); err != nil {
		return nil, err
	}
	if err := r.callMeans(ctx); err != nil {
		return nil, err
	}
	return r, r.sort(q.Values.Text("order"))
}

// chooseLocations lists the selected locations that hold values and gives each a
// column of the strips.
func (r *result) chooseLocations(ctx context.Context) error {
	var err error
	if r.locations, _, err = r.request.Holders(ctx, "values"); err != nil {
		return err
	}
	if r.Arranged, err = r.request.Arrange(ctx, grouping.Order); err != nil {
		return err
	}
	r.Arrangement().Sort(r.locations)
	r.notes = r.Arrangement().AddNote(r.notes)
	r.bins = max(1, min(len(r.locations), 1024, mostCells/max(len(r.regions), 1)))
	r.binOf = make([]int32, r.request.Store().Locations().Len())
	for i := range r.binOf {
		r.binOf[i] = -1
	}
	r.binSize = make([]int32, r.bins)
	for i, id := range r.locations {
		b := int32(i * r.bins / len(r.locations))
		r.binOf[id] = b
		r.binSize[b]++
	}
	return nil
}

// sum adds up all regions. The order of locations is fixed, so sums are the same
// on any number of cores.
func (r *result) sum(ctx context.Context) error {
	if err := memory.Room(ctx, int64(len(r.regions))*(rowBytes+int64(r.bins)*cellBytes)); err != nil {
		return err
	}
	rows := make([]row, len(r.regions))
	calls, recorded := 0.0, 0.0
	skip, note, err := runfacts.LeaveOpen(ctx, r.request.Store(), r.request.Window())
	if err != nil {
		return err
	}
	if note != "" {
		r.notes = append(r.notes, note)
	}
	sampled := make([]bool, len(r.regions))
	for id := range r.regions {
		sampled[id] = runfacts.Sampled(&r.regions[id])
	}
	err = runfacts.Totals(ctx, r.request.Store(), r.request.Window(), r.metric.ID, func(list []runfacts.Total) {
		for _, t := range list {
			if !sampled[t.Region] {
				recorded += t.Exclusive
			}
			if skip != nil && skip[t.Region] {
				continue
			}
			x := &rows[t.Region]
			v := r.metric.Of(t.Calls, t.Inclusive, t.Exclusive)
			if x.seen++; x.seen == 1 {
				x.min, x.max = v, v
				x.lo, x.hi, x.have = make([]float32, r.bins), make([]float32, r.bins), make([]int32, r.bins)
			}
			x.calls += t.Calls
			x.joined[0].Add(r.metric.Join, v)
			x.joined[1].Add(r.join, t.Inclusive)
			x.joined[2].Add(r.join, t.Exclusive)
			x.sum += v
			x.squares += v * v
			x.min, x.max = min(x.min, v), max(x.max, v)
			if b := r.binOf[t.Location]; b >= 0 {
				if x.have[b]++; x.have[b] == 1 {
					x.lo[b], x.hi[b] = float32(v), float32(v)
				}
				x.lo[b], x.hi[b] = min(x.lo[b], float32(v)), max(x.hi[b], float32(v))
			}
			if !sampled[t.Region] {
				r.total += t.Exclusive
				calls += t.Calls
			}
		}
	})
	if err != nil {
		return err
	}
	switch {
	case r.metric.Number == runfacts.NumberCalls:
		r.total = calls
		r.base = view.Base{Whole: calls, Name: "all calls"}
	case r.request.Store().Info().Timed():
		r.base = view.TimeBase(r.request.Store(), r.request.Window(), r.locations, recorded)
	case r.metric.Join == trace.JoinSum:
		r.base = view.MetricBase(r.request.Store().Metrics()[r.metric.ID].Name, r.metric.Unit, r.total)
	default: // nothing that shares could be of
		r.total = 0
		r.notes = append(r.notes,
			fmt.Sprintf("%s is a %s: values are put together by it, not added up, and have no share", r.metric.Name,
				kinds[r.metric.Join]))
	}
	r.finish(rows)
	if len(r.rows) == 0 {
		return r.request.Advise("other regions",
			"another metric").Empty("no region has a value of %s other than 0 in the selection", r.metric.Name)
	}
	return nil
}

// kinds of metrics that do not add up, in words.
var kinds = map[trace.Join]string{trace.JoinMin: "minimum", trace.JoinMax: "maximum", trace.JoinMean: "mean"}

// finish keeps the regions that are shown and computes the values over locations. A
// location without a region has 0 of an amount, and no minimum, maximum or rate.
func (r *result) finish(rows []row) {
	shown := r.request.Selection.Regions
	sampled := 0
	amount := r.metric.Join == trace.JoinSum
	r.rows = rows[:0] // in place: a copy of many regions would take as much again
	for id := range rows {
		x := &rows[id]
		if x.seen == 0 || shown != nil && !slices.Contains(shown, trace.RegionID(id)) {
			continue
		}
		x.region = trace.RegionID(id)
		x.value, x.inclusive, x.exclusive = x.joined[0].Value(r.metric.Join), x.joined[1].Value(r.join),
			x.joined[2].Value(r.join)
		n := float64(len(r.locations))
		if !amount {
			n = float64(x.seen)
		}
		x.mean = x.sum / n
		if x.seen < len(r.locations) && amount {
			x.min, x.max = min(x.min, 0), max(x.max, 0)
		}
		x.sd = math.Sqrt(max(x.squares/n-x.mean*x.mean, 0))
		if x.min == x.max {
			x.sd = 0
		}
		x.share = r.base.Share(x.value)
		if r.total != 0 {
			x.ofRecorded = x.value / r.total
		}
		x.heat = x.hi
		for b := range x.heat {
			if x.have[b] < r.binSize[b] && amount {
				x.lo[b], x.hi[b] = min(x.lo[b], 0), max(x.hi[b], 0)
			}
			x.heat[b] = x.farther(x.lo[b], x.hi[b])
		}
		if runfacts.Sampled(&r.regions[id]) {
			sampled++
		}
		r.rows = append(r.rows, *x)
	}
	if sampled > 0 {
		r.notes = append(r.notes,
			fmt.Sprintf("%s regions are estimates by sampling of time that others hold too; shares leave them out of "+
				"the whole", view.Thousands(int64(sampled))))
	}
	if r.bins < len(r.locations) {
		r.notes = append(r.notes,
			fmt.Sprintf("a column of the strips stands for up to %s of %s locations and shows the one farthest from "+
				"the mean", view.Thousands(int64(slices.Max(r.binSize))), view.Thousands(int64(len(r.locations)))))
	}
}

// farther is the one of two values that differs more from the mean of a location:
// a column that stands for many must not hide the odd one.
func (x *row) farther(a, b float32) float32 {
	if math.Abs(float64(a)-x.mean) > math.Abs(float64(b)-x.mean) {
		return a
	}
	return b
}

// orders are the columns that rows can be sorted by, the greatest first.
var orders = map[string]func(*row) float64{
	"":          func(x *row) float64 { return x.value },
	"value":     func(x *row) float64 { return x.value },
	"share":     func(x *row) float64 { return x.value },
	"calls":     func(x *row) float64 { return x.calls },
	"inclusive": func(x *row) float64 { return x.inclusive },
	"exclusive": func(x *row) float64 { return x.exclusive },
	"mean":      func(x *row) float64 { return x.mean },
	"sd":        func(x *row) float64 { return x.sd },
	"min":       func(x *row) float64 { return x.min },
	"max":       func(x *row) float64 { return x.max },
	"imbalance": func(x *row) float64 { return x.max - x.mean },
}

func (r *result) sort(order string) error {
	name := func(a, b row) int {
		return strings.Compare(r.regions[a.region].Name, r.regions[b.region].Name)
	}
	if order == "name" {
		slices.SortStableFunc(r.rows, name)
		return nil
	}
	key, ok := orders[order]
	if !ok {
		return words.NotOneOf("--order", order, "value", "name", "share", "calls", "inclusive", "exclusive", "mean",
			"sd",
			"min", "max", "imbalance")
	}
	for i := range r.rows {
		r.rows[i].key = key(&r.rows[i]) // once: taking the address of a compared row would copy it
	}
	slices.SortStableFunc(r.rows, func(a, b row) int {
		switch {
		case a.key > b.key:
			return -1
		case a.key < b.key:
			return 1
		}
		return name(a, b)
	})
	return nil
}

func (r *result) Notes() []string { return append([]string{}, r.notes...) }
