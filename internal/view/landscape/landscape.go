// Package landscape shows a whole profile at once: regions to one side, locations to
// the other, and a metric as height and colour, as a surface or as bars.
//
// After the full profile of ParaProf that Spear, Malony, Lee, Biersdorff and Shende
// describe. A ridge along the locations is a region that costs much everywhere, a
// peak one location that differs, a slope or steps a pattern over ranks.
package landscape

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/grouping"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/words"
)

// View is the view.
var View = &view.View{
	Name:  "landscape",
	Title: "Landscape",
	Paper: "Spear, Malony, Lee, Biersdorff, Shende: An Approach to Creating Performance Visualizations in a " +
		"Parallel Profile Analysis Tool",
	Summary: "the whole profile in 3D: regions × locations with a metric as height",
	HowToRead: "One axis has the regions, largest first, the other has the locations in order. Height and colour " +
		"are the metric. A ridge along the locations is a region that is expensive everywhere. A single peak is a " +
		"location that differs, and a slope or steps are a pattern over ranks. Drag to rotate, and click to select " +
		"a region and a location. If there are more locations than fit, a position covers several and shows the one " +
		"farthest from the mean of its region, so that outliers stay visible. Two runs are shown side by side on " +
		"one scale, with the regions in the order of the first run.",
	Needs: view.Needs{Intervals: true, Profile: true},
	Options: view.Words(view.Use("metric", "shape=mesh", "order", "arrange", "top", "value-scale", "camera=30,20,1",
		"palette", "rows"),
		"shape: shape of the surface [mesh bars]",
		"value-scale: scale of the axis and of the colours [linear log]"),
	Runs:    2,
	Data:    []any{Data{}, PairData{}},
	Compute: view.SideBySide(false, compute, func(a, b Data) any { return PairData{a, b} }),
}

const (
	mostCells  = 1 << 20 // of the table: regions × columns
	mostRows   = 24      // regions drawn, unless told
	mostAcross = 256     // columns drawn
)

// A row is one region over the columns.
type row struct {
	region       trace.RegionID
	value        float64 // of all locations together
	mean, spread float64 // of a location
	// For each column: least, greatest and sum over its locations.
	low, high []float64
	sum       []float64
	have      []int32
}

type result struct {
	view.Arranged
	request   *view.Request
	regions   []trace.Region
	metric    runfacts.MetricChoice
	camera    scene.Camera
	holds     []bool // which locations have values at all
	locations []trace.LocationID
	columns   int // a location each, or several
	rows      []row
	most      float64 // highest and least positive value of a location
	least     float64
	log       bool
	notes     []string
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	s := q.Store()
	r := &result{request: q, notes: view.RowNotes(s), regions: s.Regions(),
		log: q.Values.Text("value-scale") == "log"}
	var err error
	if r.camera, err = scene.ParseCamera(q.Values.Text("camera")); err != nil {
		return nil, err
	}
	if r.metric, err = runfacts.ChooseMetric(s, q.Values.Text("metric")); err != nil {
		return nil, err
	}
	if r.locations, r.holds, err = q.Holders(ctx, "values"); err != nil {
		return nil, err
	}
	if r.Arranged, err = q.Arrange(ctx, grouping.Order); err != nil {
		return nil, err
	}
	r.Arrangement().Sort(r.locations)
	r.notes = r.Arrangement().AddNote(r.notes)
	if err := r.fill(ctx); err != nil {
		return nil, err
	}
	return r, r.sort(q.Values.Text("order"))
}

// fill reads the profile once. O(rows of the profile), and memory for mostCells.
func (r *result) fill(ctx context.Context) error {
	q := r.request
	shown := make([]bool, len(r.regions))
	count := 0
	for id := range r.regions {
		shown[id] = q.Selection.Regions == nil || slices.Contains(q.Selection.Regions, trace.RegionID(id))
		if shown[id] {
			count++
		}
	}
	r.columns = min(len(r.locations), max(mostCells/max(count, 1), 1))
	column := make([]int32, q.Store().Locations().Len())
	for i := range column {
		column[i] = -1
	}
	size := make([]int32, r.columns)
	for i, id := range r.locations {
		column[id] = int32(i * r.columns / len(r.locations))
		size[column[id]]++
	}
	rows := make([]row, len(r.regions))
	joined, squares := make([]runfacts.Joined, len(r.regions)), make([]float64, len(r.regions))
	err := runfacts.Totals(ctx, q.Store(), q.Window(), r.metric.ID, func(list []runfacts.Total) {
		c := column[list[0].Location]
		for _, t := range list {
			if c < 0 || !shown[t.Region] {
				continue
			}
			x := &rows[t.Region]
			if x.have == nil {
				x.low, x.high, x.sum, x.have = make([]float64, r.columns), make([]float64, r.columns),
					make([]float64, r.columns), make([]int32, r.columns)
			}
			v := r.metric.Of(t.Calls, t.Inclusive, t.Exclusive)
			if x.have[c]++; x.have[c] == 1 {
				x.low[c], x.high[c] = v, v
			}
			x.low[c], x.high[c] = min(x.low[c], v), max(x.high[c], v)
			x.sum[c] += v
			joined[t.Region].Add(r.metric.Join, v)
			squares[t.Region] += v * v
		}
	})
	if err != nil {
		return err
	}
	for id := range rows {
		if rows[id].have != nil {
			r.finish(&rows[id], trace.RegionID(id), joined[id].Value(r.metric.Join), squares[id], size)
		}
	}
	if len(r.rows) == 0 || r.most <= 0 {
		return r.request.Advise("other regions",
			"another metric").Empty("no region has a value above 0 in the selection")
	}
	if r.columns < len(r.locations) {
		r.notes = append(r.notes,
			fmt.Sprintf("%s regions × %s locations are too many for one table: it has %s columns of up to %s "+
				"locations, with the mean, least and greatest of each",
				view.Thousands(int64(len(r.rows))), view.Thousands(int64(len(r.locations))),
				view.Thousands(int64(r.columns)), view.Thousands(int64((len(r.locations)+r.columns-1)/r.columns))))
	}
	return nil
}

// finish computes the values over all locations of a region. A location without the
// region has 0 of an amount, and no minimum, maximum or rate.
func (r *result) finish(x *row, id trace.RegionID, value, squares float64, size []int32) {
	x.region, x.value = id, value
	total, n := 0.0, float64(len(r.locations))
	if r.metric.Join != trace.JoinSum {
		n = 0
		for _, have := range x.have {
			n += float64(have)
		}
	}
	for c := range x.have {
		if x.have[c] < size[c] && r.metric.Join == trace.JoinSum {
			x.low[c], x.high[c] = min(x.low[c], 0), max(x.high[c], 0)
		}
		total += x.sum[c]
		r.most = max(r.most, x.high[c])
		if v := x.high[c]; v > 0 && (r.least == 0 || v < r.least) {
			r.least = v
		}
	}
	x.mean = total / n
	x.spread = math.Sqrt(max(squares/n-x.mean*x.mean, 0))
	r.rows = append(r.rows, *x)
}

func (r *result) sort(order string) error {
	name := func(a, b row) int { return strings.Compare(r.regions[a.region].Name, r.regions[b.region].Name) }
	var key func(*row) float64
	switch order {
	case "name":
		slices.SortStableFunc(r.rows, name)
		return nil
	case "", "value":
		key = func(x *row) float64 { return x.value }
	case "sd":
		key = func(x *row) float64 { return x.spread }
	default:
		return words.NotOneOf("--order", order, "value", "sd", "name")
	}
	slices.SortStableFunc(r.rows, func(a, b row) int { return cmp.Or(cmp.Compare(key(&b), key(&a)), name(a, b)) })
	return nil
}

// ShareScale implements view.Scaled. Regions of the second run come in the order of the first.
func (r *result) ShareScale(second view.Result) {
	other := second.(*result)
	r.most, r.least = max(r.most, other.most), min(r.least, other.least)
	other.most, other.least = r.most, r.least
	place := make(map[string]int, len(r.rows))
	for i := range r.rows {
		place[r.regions[r.rows[i].region].Name] = i - len(r.rows) // before those that the first does not have
	}
	slices.SortStableFunc(other.rows, func(a, b row) int {
		return cmp.Compare(place[other.regions[a.region].Name], place[other.regions[b.region].Name])
	})
}

// members returns the locations of a column.
func (r *result) members(c int) (first, last int) {
	n := len(r.locations)
	return (c*n + r.columns - 1) / r.columns, ((c+1)*n + r.columns - 1) / r.columns
}

func (r *result) Notes() []string { return append([]string{}, r.notes...) }
