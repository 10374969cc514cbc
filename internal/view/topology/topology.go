// Package topology places and colours locations in space: by the coordinates in
// the data, by filling a box, or by the user's own formulas.
//
// After Spear, Malony, Lee, Biersdorff, Shende; the language is that of package
// formula. Places and values go to the page once, as a scene.Space: camera, range
// filter and slices are applied there.
package topology

import (
	"context"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/formula"
	"github.com/parallax-hpc/parallax/internal/scene"
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
		"of the last event bound. Drag to turn, drag with Shift to move, wheel to come closer. The range filter shows values between min and max; where min is above max, only what lies outside. " +
		"A slice keeps a plane, a line or a point, and the note gives the mean of what it holds.",
	Needs: view.Needs{Intervals: true, Profile: true},
	Options: view.Use("layout", "map", "event0", "event1", "event2", "event3", "shape", "point", "cores", "range", "min", "max", "slice", "camera=30,20,1",
		"palette", "paper"),
	Examples: examples(),
	Compute:  compute,
}

type result struct {
	request  *view.Request
	location []trace.LocationID       // of each point
	row      map[trace.LocationID]int // the other way round
	layout   string                   // its name
	chosen   *formula.Layout          // nil where the data has coordinates
	source   string                   // the layout's text, for errors
	cray     *formula.CrayMap         // where ranks are on a Cray, if the user says so
	axes     [3]string                // what the axes are called
	points   []formula.Points
	placed   [][]bool
	repeats  []bool // locations whose place another one stands for; nil: none
	visible  []bool
	bound    []binding
	shade    *binding // what colours show, where the layout sets them
	lo, hi   float64  // ends of the colours
	shown    scene.SpaceFilter
	camera   scene.Camera
	mean     float64 // of the slice; NaN of none
	inSlice  int
	unplaced int
	flat     bool // a mesh was asked for where there can be none
	notes    []string
	space    *scene.Space // drawn last
	lock     sync.Mutex   // of columns made while a layout is applied on several cores
}

var _ view.ItemPicker = (*result)(nil)

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	s := q.Store()
	r := &result{request: q}
	h := view.NewHierarchy(s.Locations(), q.Selection.Locations, view.Holders(ctx, s))
	if h.Leaves == 0 || s.Info().Intervals > 0 && q.Selection.Begin >= q.Selection.End {
		return nil, view.Empty("choose other locations or a longer time", "no location with values in the selection")
	}
	r.location = make([]trace.LocationID, 0, h.Leaves)
	for i := range h.Len() {
		if int(h.Last[i]) == i {
			r.location = append(r.location, h.Location[i])
		}
	}
	place, err := r.choose()
	if err != nil {
		return nil, err
	}
	if r.camera, err = scene.ParseCamera(r.option("camera")); err != nil {
		return nil, err
	}
	if err := r.bind(ctx); err != nil {
		return nil, err
	}
	if err := place(ctx); err != nil {
		return nil, err
	}
	return r, r.filter()
}

// option gives what the user set, or what the layout's file says, or the default.
func (r *result) option(name string) string {
	v := r.request.Values
	if !v.Set(name) && r.chosen != nil && r.chosen.UI != nil {
		if text, ok := r.chosen.UI.Defaults[name]; ok {
			return text
		}
	}
	return v.Text(name)
}

// colour is the binding that colours show: the last one, unless the layout sets
// them otherwise.
func (r *result) colour() *binding {
	if r.shade != nil {
		return r.shade
	}
	return &r.bound[len(r.bound)-1]
}

func (r *result) Notes() []string { return append([]string{}, r.notes...) }

// SizeBytes is about what a result keeps: a handful of numbers a point.
func (r *result) SizeBytes() int64 {
	return int64(len(r.location)) * int64(64+len(r.points)*56+len(r.bound)*8)
}
