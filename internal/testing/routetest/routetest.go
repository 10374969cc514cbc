// Package routetest is a second route to every number: it recomputes the numbers of each view from raw intervals,
// slowly and plainly, and compares the two on random runs of every shape that a reader can give.
//
//	raw.go      the run taken apart: none of it was added up before
//	time.go     clipped times, states and calls, by the definitions of the glossary
//	random.go   the shapes of runs
//	route_*.go  the numbers of each view
//	agree.go    the same thing has the same number everywhere
//	said.go     the numbers of tooltips and sentences are in the data
//	about.go    of the thing that they are about
//
// It uses no kernel, no summary and no prefix sum. A view without a route fails
// TestEveryViewHasASecondRoute.
package routetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/all"
)

// A Route is how the numbers of a view are found a second time.
type Route struct {
	// Options that are tried, each a request of its own; none: as the view comes.
	Options []map[string]string
	// Check compares the view's numbers with the raw records.
	Check func(*Run)
}

// Routes by view.
var Routes = map[string]Route{
	"profile":      profileRoute,
	"source":       sourceRoute,
	"landscape":    landscapeRoute,
	"histogram":    histogramRoute,
	"scatter":      scatterRoute,
	"topology":     topologyRoute,
	"calltree":     calltreeRoute,
	"boxprofile":   boxprofileRoute,
	"callmatrix":   callmatrixRoute,
	"groups":       groupsRoute,
	"commmatrix":   commmatrixRoute,
	"activity":     activityRoute,
	"moments":      momentsRoute,
	"phases":       phasesRoute,
	"steps":        stepsRoute,
	"operators":    operatorsRoute,
	"requests":     requestsRoute,
	"criticalpath": criticalpathRoute,
	"services":     servicesRoute,
	"findings":     findingsRoute,
	"answer":       answerRoute,
	"contrast":     contrastRoute,
	"treemap":      treemapRoute,
	"overview":     overviewRoute,
	"kaleidoscope": kaleidoscopeRoute,
	"timeline":     timelineRoute,
	"alignment":    alignmentRoute,
	"compare":      compareRoute,
	"scaling":      scalingRoute,
	"history":      historyRoute,
}

// A Run is one answer of a view, with the data it must agree with.
type Run struct {
	testing.TB
	*Raw
	Window  Window
	View    *view.View
	Options map[string]string
	Result  view.Result // nil if the view has nothing to show
	Empty   error
	Notes   []string
	data    []byte

	reported int
}

// Data decodes the JSON output.
func (r *Run) Data(to any) {
	r.Helper()
	if r.Result == nil {
		return
	}
	must(r, json.Unmarshal(r.data, to))
}

// wrong reports a number that differs; of one answer the first few are enough.
func (r *Run) wrong(format string, args ...any) {
	r.Helper()
	if r.reported++; r.reported <= 3 {
		r.Errorf("%s %v %s: %s", r.View.Name, r.Options, r.Window.String(), fmt.Sprintf(format, args...))
	}
}

func (w *Window) String() string {
	s := fmt.Sprintf("[%d, %d)", w.Begin, w.End)
	if w.Locations != nil {
		s += fmt.Sprintf(" locations %v", w.Locations)
	}
	if w.Regions != nil {
		s += fmt.Sprintf(" regions %v", w.Regions)
	}
	return s
}

// near holds two numbers equal up to the rounding of sums.
func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b))+1e-9
}

// same reports numbers that differ.
func (r *Run) same(what string, got, want float64) bool {
	r.Helper()
	if !near(got, want) {
		r.wrong("%s is %v, recomputed %v", what, got, want)
		return false
	}
	return true
}

// Open writes the run of a shape into a store on disk and reads it back.
func Open(tb testing.TB, s Shape, seed uint64) *Raw {
	tb.Helper()
	return Read(tb, viewtest.Local(tb, func(w trace.Writer) { s.Write(w, rand.New(rand.NewPCG(seed, 17))) }))
}

// Windows returns selections: the whole, cuts through intervals, one instant, some locations, some regions, and
// both.
func (x *Raw) Windows(seed uint64, large bool) []Window {
	rnd := rand.New(rand.NewPCG(seed, 23))
	whole := trace.Selection{End: x.End}
	cut := whole
	if x.timed() && x.End > 10 {
		a, b := trace.Time(rnd.Int64N(int64(x.End))), trace.Time(rnd.Int64N(int64(x.End)))
		cut.Begin, cut.End = min(a, b), max(a, b)+1
	}
	some := func() (out []trace.LocationID) {
		for id := range x.Tree.Len() {
			if rnd.IntN(3) == 0 && (len(out) == 0 || trace.LocationID(id) > x.Tree.Last[out[len(out)-1]]) {
				out = append(out, trace.LocationID(id))
			}
		}
		return out
	}
	few := func() (out []trace.RegionID) {
		for id := range x.Regions {
			if rnd.IntN(3) == 0 {
				out = append(out, trace.RegionID(id))
			}
		}
		return out
	}
	list := []trace.Selection{whole, cut}
	if !large {
		places, kinds, both, tail, instant := cut, whole, cut, whole, cut
		places.Locations, kinds.Regions, both.Locations, both.Regions = some(), few(), some(), few()
		tail.Begin = cut.Begin
		instant.End = instant.Begin + 1
		list = append(list, places, kinds, both, tail, instant)
	}
	var out []Window
	for _, s := range list {
		if s.Locations != nil && len(s.Locations) == 0 || s.Regions != nil && len(s.Regions) == 0 {
			continue
		}
		out = append(out, x.window(s))
	}
	return out
}

// Ask puts one request to a view.
func (x *Raw) Ask(tb testing.TB, v *view.View, w Window, options map[string]string) *Run {
	tb.Helper()
	return x.AskOf(tb, x.Reader, v, w, options)
}

// AskOf asks with another reader of the same run.
func (x *Raw) AskOf(tb testing.TB, reader store.Reader, v *view.View, w Window, options map[string]string) *Run {
	tb.Helper()
	r := &Run{TB: tb, Raw: x, Window: w, View: v, Options: options}
	set := map[string][]string{}
	for k, o := range options {
		set[k] = []string{o}
	}
	values, err := view.NewValues(v, set)
	must(tb, err)
	q := &view.Request{Runs: []view.Run{{Name: "test", Source: "test.trace", Store: reader}}, Selection: w.Selection,
		Values: values, Size: scene.Size{Width: 900, Height: 600}}
	result, err := v.Compute(context.Background(), q)
	var empty *view.EmptyError
	switch {
	case errors.As(err, &empty):
		r.Empty = err
		return r
	case err != nil:
		tb.Fatalf("%s %v %s: %v", v.Name, options, w.String(), err)
	}
	r.Result, r.Notes = result, result.Notes()
	r.data, err = json.Marshal(result.Data())
	must(tb, err)
	return r
}

// suits reports whether a view can show a run at all.
func suits(v *view.View, r store.Reader) bool { return v.Needs.Missing(r) == "" }

// Check puts all views through all windows of a run.
func Check(tb testing.TB, x *Raw, seed uint64, large bool) {
	for _, v := range all.Views {
		route, ok := Routes[v.Name]
		if !ok || !suits(v, x.Reader) {
			continue
		}
		options := route.Options
		if len(options) == 0 {
			options = []map[string]string{nil}
		}
		if large {
			options = options[:1]
		}
		for i, w := range x.Windows(seed, large) {
			for _, o := range options {
				run := x.Ask(tb, v, w, o)
				route.Check(run)
				run.twins()
				if i < 2 {
					run.words()
				}
			}
		}
	}
	windows := x.Windows(seed, large)
	if large {
		windows = windows[:1]
	}
	x.Agree(tb, windows)
}
