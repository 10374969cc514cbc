// Package topology places and colours locations in space: by the coordinates in
// the data, by filling a box, or by the user's own formulas.
//
// After Spear, Malony, Lee, Biersdorff, Shende; the language is that of package
// formula.
package topology

import (
	"context"
	"fmt"
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/formula"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:    "topology",
	Title:   "Topology",
	Paper:   "Spear, Malony, Lee, Biersdorff, Shende: An Approach to Creating Performance Visualizations in a Parallel Profile Analysis Tool",
	Summary: "locations placed and coloured by coordinates or by the user's formulas, in 3D",
	HowToRead: "Every point is a location. Where it lies is decided by the layout: coordinates of the machine, a box filled in order of rank, or formulas of your own; its colour is a value " +
		"of the last event bound. Turn the picture by its camera. The range filter shows values between min and max; where min is above max, only what lies outside. " +
		"A slice keeps a plane, a line or a point, and the note gives the mean of what it holds.",
	Needs:   view.Needs{Intervals: true, Profile: true},
	Options: view.Use("layout", "event0", "event1", "event2", "event3", "camera=30,20,1", "min", "max", "slice", "palette"),
	Compute: compute,
}

type result struct {
	request   *view.Request
	hierarchy *view.Hierarchy
	location  []trace.LocationID // of each point
	rank      []int              // running number, the layout's rank
	layout    string             // its name
	points    []formula.Points
	placed    [][]bool
	visible   []bool
	bound     []binding
	lo, hi    float64 // of the colour values
	mean      float64 // of the slice; NaN of none
	inSlice   int
	unplaced  int
	notes     []string
	drawn     []place
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	s := q.Store()
	r := &result{request: q}
	if _, err := parseCamera(q.Values.Text("camera")); err != nil {
		return nil, err
	}
	r.hierarchy = view.NewHierarchy(s.Locations(), q.Selection.Locations, view.Holders(ctx, s))
	if r.hierarchy.Leaves == 0 || s.Info().Intervals > 0 && q.Selection.Begin >= q.Selection.End {
		return nil, view.Empty("choose other locations or a longer time", "no location with values in the selection")
	}
	for i := range r.hierarchy.Len() {
		if int(r.hierarchy.Last[i]) == i {
			r.rank = append(r.rank, len(r.location))
			r.location = append(r.location, r.hierarchy.Location[i])
		}
	}
	if err := r.bind(ctx); err != nil {
		return nil, err
	}
	if err := r.place(ctx); err != nil {
		return nil, err
	}
	return r, r.filter()
}

// filter applies range and slice, and finds the mean of the slice.
func (r *result) filter() error {
	colour := r.points[0].Color
	r.lo, r.hi = math.Inf(1), math.Inf(-1)
	for _, v := range colour {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			r.lo, r.hi = min(r.lo, v), max(r.hi, v)
		}
	}
	if r.lo > r.hi {
		r.lo, r.hi = 0, 0
	}
	lo, err := r.limit(r.request.Values.Text("min"), r.lo)
	if err != nil {
		return fmt.Errorf("--min %w", err)
	}
	hi, err := r.limit(r.request.Values.Text("max"), r.hi)
	if err != nil {
		return fmt.Errorf("--max %w", err)
	}
	slice, sliced, err := parseSlice(r.request.Values.Text("slice"))
	if err != nil {
		return err
	}
	filtered := r.request.Values.Set("min") || r.request.Values.Set("max")
	r.visible = make([]bool, len(r.location))
	sum := 0.0
	p := &r.points[0]
	for i := range r.visible {
		if !r.placed[0][i] {
			r.unplaced++
			continue
		}
		if sliced && !slice.Holds(p.X[i], p.Y[i], p.Z[i]) {
			continue
		}
		r.inSlice++
		if !math.IsNaN(colour[i]) {
			sum += colour[i]
		}
		r.visible[i] = !filtered || formula.Shown(colour[i], lo, hi)
	}
	r.mean = sum / float64(r.inSlice)
	r.say(sliced)
	return nil
}

func (r *result) say(sliced bool) {
	if r.unplaced > 0 {
		r.notes = append(r.notes, fmt.Sprintf("%s locations have no finite place and are not drawn", view.Thousands(int64(r.unplaced))))
	}
	if sliced {
		r.notes = append(r.notes, fmt.Sprintf("the slice holds %s locations, mean %s", view.Thousands(int64(r.inSlice)), r.format(r.mean)))
	}
	r.notes = append([]string{fmt.Sprintf("layout %s, %s locations", r.layout, view.Thousands(int64(len(r.location))))}, r.notes...)
}

func (r *result) Notes() []string { return append([]string{}, r.notes...) }
