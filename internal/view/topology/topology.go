// Package topology places and colours locations in space: by the coordinates in
// the data, by filling a box, or by the user's own formulas.
//
// After Spear, Malony, Lee, Biersdorff, Shende; the language is that of package
// formula. Places and values go to the page once, as a scene.Space: camera, range
// filter and slices are applied there.
package topology

import (
	"context"
	"fmt"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/formula"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:  "topology",
	Title: "Topology",
	Paper: "Spear, Malony, Lee, Biersdorff, Shende: An Approach to Creating Performance Visualizations in a " +
		"Parallel Profile Analysis Tool",
	Summary: "locations placed in 2D or 3D by coordinates, traffic, host names or formulas, and coloured by a metric",
	HowToRead: "Each point is a location. The layout decides its position: coordinates of the machine, the grid of " +
		"the ranks' messages, nodes, host names, rows in order of rank, or your own formulas. Its colour is the " +
		"last of the values of --event0 to --event3. Drag to rotate, drag with Shift to move, drag with Ctrl to " +
		"select the points inside the line, and use the wheel to zoom. The range filter shows values between min " +
		"and max; if min is above max, it shows the values outside. A slice keeps a plane, a line or a point, and " +
		"the note states its mean. Two runs are shown side by side on one colour scale. As a difference, the first " +
		"run is coloured by the increase of each location in the second.",
	Needs: view.Needs{Intervals: true, Profile: true},
	Options: view.Words(view.Use("layout", "map", "event0", "event1", "event2", "event3", "shape", "point", "detail",
		"axes", "key", "traffic", "cores", "numbering", "range", "min", "max", "slice", "camera=30,20,1", "rows",
		"palette", "picture=beside", "paper"),
		"shape: shape of the points; unless it is given, fewer than 1,000 points in space are spheres",
		"picture: picture of two runs: side by side (beside), or the first, coloured by the increase of each "+
			"location in the second [beside difference]"),
	Examples: examples(), Completions: completions(),
	Report:   view.Report{AllLocations: true},
	Runs:     2,
	Data:     []any{Data{}, PairData{}},
	Compute:  computeRuns,
	AtImport: []view.Preparer{LayoutsOfRun},
}

var computeBeside = view.SideBySide(false, compute, func(a, b Data) any { return PairData{a, b} })

// computeRuns takes one run, or two: side by side, or as a difference.
func computeRuns(ctx context.Context, q *view.Request) (view.Result, error) {
	if len(q.Runs) > 1 && q.Values.Text("picture") == "difference" {
		return subtract(ctx, q)
	}
	return computeBeside(ctx, q)
}

type result struct {
	request  *view.Request
	who      *roster            // all of the run
	wide     bool               // places depend on values: those of all locations are read
	location []trace.LocationID // of each point; all of them until keep leaves the selected ones
	row      []int32            // the place of each location in location; -1: it has none
	number   []int              // of the roster, of each point
	proposed *proposals
	blocks   map[trace.LocationID]string // names of groups, at the location where each is read
	blockOf  []int32                     // by rank: the number of its block; nil: the layout has none
	bare     bool                        // places have no numbers to read
	layout   string                      // its name
	heading  string                      // of a layout that the run suggests: its name for people
	explains string                      // and how much its neighbours explain
	chosen   *formula.Layout             // nil if the data has coordinates
	given    *formula.Input              // of the layout, over all of the run
	source   string                      // the layout's text, for errors
	cray     *formula.CrayMap            // where ranks are on a Cray, if the user says so
	axes     [3]string                   // names of the axes
	points   []formula.Points
	placed   [][]bool
	spans    [3]formula.Span // of the axes before they were brought to one length
	cube     bool            // they were
	at       [][]int         // coordinates of the data; nil by a formula
	repeats  []bool          // locations whose place another one stands for; nil: none
	visible  [][]bool        // of each of points
	bound    []binding
	shade    *binding // value of colours, if the layout sets them
	lo, hi   float64  // ends of the colours
	shown    scene.SpaceFilter
	camera   scene.Camera
	mean     float64 // of the slice; NaN of none
	inSlice  int
	unplaced int
	links    *traffic // nil: none
	board    *board   // of the layout; nil: none
	less     string   // of a difference: "B less A", by the names of the runs
	flat     bool     // a mesh was asked for where there can be none
	notes    []string
	before   []string     // notes without those of say
	lacking  []string     // missing names in formulas
	space    *scene.Space // drawn last
	lock     sync.Mutex   // of columns made while a layout is applied on several cores
}

var _ view.Detailed = (*result)(nil)

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	s := q.Store()
	r := &result{request: q}
	holds, err := runfacts.Holders(ctx, s)
	if err != nil {
		return nil, err
	}
	r.who = newRoster(s.Locations(), holds)
	r.location = r.who.location
	selected := r.who.keep(s.Locations(), q.Selection.Locations)
	if len(r.location) == 0 || selected != nil && len(selected) == 0 ||
		s.Info().Timed() && q.Selection.Begin >= q.Selection.End {
		return nil, q.Advise("other locations").Empty("no location with values in the selection")
	}
	if r.proposed, err = propose(ctx, &q.Runs[0], r.who); err != nil {
		return nil, err
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
	r.keep(selected)
	if err := r.readLinks(ctx); err != nil {
		return nil, err
	}
	if r.at != nil && r.option("cores") != "expand" {
		r.average()
	}
	return r, r.filter()
}

// keep leaves the selected locations, where the layout of all of them put them.
func (r *result) keep(selected []int) {
	if selected == nil {
		r.number = make([]int, len(r.location))
		for i := range r.number {
			r.number[i] = i
		}
		return
	}
	r.number = selected
	r.location = pick(r.location, selected)
	r.at = pick(r.at, selected)
	for k := range r.points {
		p := &r.points[k]
		p.X, p.Y, p.Z, p.Color = pick(p.X, selected), pick(p.Y, selected), pick(p.Z, selected), pick(p.Color, selected)
		r.placed[k] = pick(r.placed[k], selected)
	}
	for i := range r.bound {
		r.bound[i].values = pick(r.bound[i].values, selected)
	}
	if r.shade != nil && r.shade.name == "color" {
		r.shade.values = r.points[0].Color
	}
	if len(selected) < len(r.who.location) {
		r.notes = append(r.notes,
			fmt.Sprintf("%s of %s locations are selected, and lie where they lie among all of them",
				view.Thousands(int64(len(selected))), view.Thousands(int64(len(r.who.location)))))
	}
}

// option returns the user's value, or that of the layout's file, or the default.
func (r *result) option(name string) string {
	v := r.request.Values
	if !v.Set(name) && r.chosen != nil && r.chosen.UI != nil {
		if text, ok := r.chosen.UI.Defaults[name]; ok {
			return text
		}
	}
	return v.Text(name)
}

// isSet reports whether the user or the layout's file has a value for an option.
func (r *result) isSet(name string) bool {
	return r.request.Values.Set(name) || r.chosen != nil && r.chosen.UI != nil && r.chosen.UI.Defaults[name] != ""
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

// SizeBytes is about the size of a result: a handful of numbers per point.
func (r *result) SizeBytes() int64 {
	return int64(len(r.location)) * int64(64+len(r.points)*56+len(r.bound)*8)
}
