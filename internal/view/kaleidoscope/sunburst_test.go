package kaleidoscope_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/kaleidoscope"
)

const paths = `
region main role=compute
region work role=compute
region MPI_Send role=communication
location process r0 rank=0
location process r1 rank=1
metric TIME unit=ns
profile r0 main TIME calls=1 incl=100 excl=20
profile r0 "main => work" TIME calls=2 incl=80 excl=50
profile r0 "main => work => MPI_Send" TIME calls=4 incl=30 excl=30
profile r1 main TIME calls=1 incl=100 excl=60
profile r1 "main => MPI_Send" TIME calls=8 incl=40 excl=40
`

const later = `
region MPI_Send role=communication
region main role=compute
region sort role=compute
location process r0 rank=0
metric TIME unit=ns
profile r0 main TIME calls=1 incl=300 excl=80
profile r0 "main => MPI_Send" TIME calls=8 incl=20 excl=20
profile r0 "main => sort" TIME calls=8 incl=200 excl=200
`

var ofPaths = map[string][]string{"tree": {"paths"}}

func pathData(t *testing.T, c viewtest.Case) kaleidoscope.PathData {
	t.Helper()
	if c.Size == (scene.Size{}) {
		c.Size = square
	}
	return viewtest.Decoded[kaleidoscope.PathData](t, c.Compute(t, kaleidoscope.View, c.Open(t)))
}

func TestCallPathsAreDrawn(t *testing.T) {
	viewtest.Run(t, kaleidoscope.View,
		viewtest.Case{Name: "profile", Trace: paths, Size: square},
		viewtest.Case{Name: "paths of calls", Trace: calls, Size: square, Options: ofPaths},
		viewtest.Case{Name: "change", Trace: paths, Others: []string{later}, Size: square},
	)
}

// With 240 ns in all, work has 80: a third of the circle, after the 80 that main has by itself.
func TestSectorsAreSharesOfTheMetric(t *testing.T) {
	want := map[string][2]float64{"main": {0, 360}, "work": {144, 144}, "MPI_Send below work": {234, 54},
		"MPI_Send below main": {288, 72}}
	d := pathData(t, viewtest.Case{Trace: paths})
	if d.Total != 200 || d.Metric != "TIME" || len(d.Nodes) != 4 {
		t.Fatalf("%d nodes, %v of %q in all", len(d.Nodes), d.Total, d.Metric)
	}
	region := map[int32]string{}
	for _, n := range d.Nodes {
		region[n.ID] = n.Region
		name := n.Region
		if name == "MPI_Send" {
			name += " below " + region[*n.Parent]
		}
		if w := want[name]; math.Abs(n.Start-w[0]) > 1e-9 || math.Abs(n.Alloc-w[1]) > 1e-9 {
			t.Errorf("%s lies at %v, %v wide, want %v", name, n.Start, n.Alloc, w)
		}
	}
}

// valuesOf adds up the metric of a profile by call path, directly from its rows.
func valuesOf(t *testing.T, r store.Reader) map[string]float64 {
	t.Helper()
	metric, err := runfacts.ChooseMetric(r, "")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	all := r.CallPaths()
	err = r.Profile(context.Background(), nil, func(rows []trace.ProfileRow) error {
		for _, x := range rows {
			if x.Metric != metric.ID || x.Exclusive == 0 || all[x.Path].Flat { // flat: totals again
				continue
			}
			path := ""
			for id := x.Path; id != trace.NoCallPath; id = all[id].Parent {
				path = "/" + r.Regions()[all[id].Region].Name + path
			}
			out[path] += x.Exclusive
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Every value of a Go, a Java, a Callgrind and an HPCToolkit profile is in the picture once.
func TestEveryValueOfAProfileIsDrawnOnce(t *testing.T) {
	for _, file := range [][]string{{"data", "go-compile", "gocompile.cpu.pprof"},
		{"data", "readers", "jfr-counts", "dump1.jfr.gz"}, {"data", "readers3", "valgrind", "vg.callgrind.out"},
		{"data", "readers", "hpctoolkit", "ping-pong"}} {
		t.Run(file[len(file)-1], func(t *testing.T) {
			r := viewtest.Import(t, file...)
			want, total := map[string]float64{}, 0.0
			for path, v := range valuesOf(t, r) {
				want[path] = v
				total += v
			}
			d := pathData(t, viewtest.Case{Reader: func(testing.TB) store.Reader { return r },
				Options: map[string][]string{"all": {"true"}}})
			names, own := map[int32]string{}, map[int32]float64{}
			for _, n := range d.Nodes {
				up := ""
				if n.Parent != nil {
					up = names[*n.Parent]
					own[*n.Parent] -= n.Alloc
				}
				if names[n.ID] = up; n.ID > 0 {
					names[n.ID] = strings.Join(append([]string{up}, append(n.Through, n.Region)...), "/")
				}
				own[n.ID] += n.Alloc
			}
			got := map[string]float64{}
			for id, degrees := range own {
				got[names[id]] += degrees / 360 * total
			}
			for path, v := range want {
				if math.Abs(got[path]-v) > 1e-9*total {
					t.Errorf("%s: %v, want %v of %v", path, got[path], v, total)
				}
			}
			if len(want) == 0 {
				t.Error("nothing was compared")
			}
		})
	}
}

// What is drawn, what hands on all it has, and what merged sectors stand for are all paths.
func TestNoCallPathIsLeftOutInSilence(t *testing.T) {
	r := viewtest.Import(t, "data", "go-compile", "gocompile.cpu.pprof")
	of := func(options map[string][]string) kaleidoscope.PathData {
		return pathData(t, viewtest.Case{Reader: func(testing.TB) store.Reader { return r }, Options: options})
	}
	all := of(map[string][]string{"all": {"true"}})
	d := of(nil)
	drawn, merged := 0, 0
	seen := map[int32]bool{}
	for _, n := range d.Nodes {
		drawn++
		seen[n.ID] = true
	}
	var big kaleidoscope.PathSector
	for _, m := range d.Merged {
		if merged += m.Paths; m.Paths > big.Paths {
			big = m
		}
		sum := 0.0
		for _, s := range m.Mix {
			sum += s.Share
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("the mix of a sector adds up to %v", sum)
		}
	}
	through := 0
	for _, n := range d.Nodes {
		through += len(n.Through)
	}
	if len(all.Nodes) != all.Paths+1 || drawn+merged+through > all.Paths+1 || merged == 0 {
		t.Fatalf("%d nodes, %d merged, %d callers, of %d paths", drawn, merged, through, all.Paths)
	}
	opened := 0
	for _, factor := range []int{8, 64, 512} {
		z := of(map[string][]string{"zoom": {fmt.Sprintf("%d,%g,%g", factor, big.X, big.Y)}})
		for _, n := range z.Nodes {
			if !seen[n.ID] {
				opened++
				seen[n.ID] = true
			}
		}
	}
	if opened < big.Paths/2 {
		t.Errorf("zooming into a sector of %d paths draws %d more", big.Paths, opened)
	}
}

// Two runs are one picture: each path has the value of either run, also where only one has it.
func TestTwoRunsAreOnePictureOfTheChange(t *testing.T) {
	d := pathData(t, viewtest.Case{Trace: paths, Others: []string{later}})
	got := map[string][2]float64{}
	region := map[int32]string{}
	for _, n := range d.Nodes {
		region[n.ID] = n.Region
		name := n.Region
		if n.Parent != nil {
			name = region[*n.Parent] + " > " + name
		}
		got[name] = [2]float64{n.Inclusive, *n.Other}
	}
	want := map[string][2]float64{"main": {200, 300}, "main > work": {80, 0}, "work > MPI_Send": {30, 0},
		"main > MPI_Send": {40, 20}, "main > sort": {0, 200}}
	if len(got) != len(want) || *d.Other != 300 {
		t.Errorf("%v, want %v", got, want)
	}
	for name, w := range want {
		if got[name] != w {
			t.Errorf("%s: %v, want %v", name, got[name], w)
		}
	}
}

// The call paths of a trace have the time that its calls have.
func TestPathsOfATraceHaveTheTimeOfItsCalls(t *testing.T) {
	r := viewtest.Import(t, "data", "otf2-hpl16-deep-a")
	open := func(testing.TB) store.Reader { return r }
	d := pathData(t, viewtest.Case{Reader: open, Options: map[string][]string{"tree": {"paths"}, "all": {"true"}}})
	counted, whole := 0.0, 0.0
	for _, n := range d.Nodes {
		counted += *n.Calls
		whole += n.Exclusive
	}
	calls := data(t, viewtest.Case{Reader: open}).Calls
	if int(counted) != calls-1 || whole == 0 || math.Abs(whole-d.Total) > 1e-6*d.Total {
		t.Errorf("%v calls in paths of %d, %v ns of %v", counted, calls-1, whole, d.Total)
	}
}

func TestCallPathsComeByNameIfAsked(t *testing.T) {
	d := pathData(t, viewtest.Case{Trace: paths, Options: map[string][]string{"order": {"name"}}})
	var names []string
	for _, n := range d.Nodes {
		if n.Level == 1 {
			names = append(names, n.Region)
		}
	}
	if !slices.Equal(names, []string{"MPI_Send", "work"}) {
		t.Error(names)
	}
	calls := data(t, viewtest.Case{Trace: calls, Options: map[string][]string{"order": {"name"}}})
	if len(calls.Nodes) != 7 {
		t.Errorf("%d calls", len(calls.Nodes))
	}
}

func TestPathsHaveNoTimeToBePaintedBy(t *testing.T) {
	for _, options := range []map[string][]string{{"paint": {"time"}}, {"order": {"rank"}}, {"zoom": {"1/2/3"}}} {
		c := viewtest.Case{Trace: paths, Options: options}
		if _, err := view.Ask(context.Background(), kaleidoscope.View, c.Request(t, kaleidoscope.View, c.Open(t))); err == nil {
			t.Errorf("%v is taken", options)
		}
	}
}

// Colours by depth run from the root to the deepest call, those by duration and callees from least to most.
func TestCallsArePaintedByMagnitude(t *testing.T) {
	for paint, want := range map[string][2]string{"depth": {"1", "3"}, "duration": {"8.00 ns", "100 ns"},
		"children": {"2", "2"}} {
		c := viewtest.Case{Trace: calls, Size: square, Options: map[string][]string{"paint": {paint}}}
		s := c.Compute(t, kaleidoscope.View, c.Open(t)).Scene(square)
		if len(s.Legend) != 1 || s.Legend[0].RampLow != want[0] || s.Legend[0].RampHigh != want[1] {
			t.Errorf("%s: legend %+v, want %v", paint, s.Legend, want)
		}
	}
}

// The cursor tells of the path below it: the middle is main, the ring around it what main calls.
func TestHoveringShowsTheCallPath(t *testing.T) {
	c := viewtest.Case{Trace: paths, Size: square}
	r := c.Compute(t, kaleidoscope.View, c.Open(t))
	s := r.Scene(square)
	for at, want := range map[[2]float64]string{{200, 200}: "main", {110, 230}: "work", {270, 130}: "MPI_Send"} {
		it, ok := s.ItemAt(at[0], at[1])
		if !ok {
			t.Fatalf("nothing is at %v", at)
		}
		f, ok := r.(view.Facts).Fact(it)
		if !ok || f.Title != want || len(f.Lines) < 4 {
			t.Errorf("at %v: %v %+v, want %s", at, ok, f, want)
		}
	}
}

// A zoom that names a region draws the widest path of it in the middle, among calls its widest call.
func TestAZoomFindsTheWidestSectorOfARegion(t *testing.T) {
	for _, c := range []struct {
		text, region string
		options      map[string][]string
	}{
		{paths, "MPI_Send", map[string][]string{"zoom": {"region:MPI_Send"}}},
		{paths, "MPI_Send", map[string][]string{"zoom": {"region:MPI_*"}}},
	} {
		k := viewtest.Case{Trace: c.text, Size: square, Options: c.options}
		r := k.Compute(t, kaleidoscope.View, k.Open(t))
		s := r.Scene(square)
		zoom := ""
		for _, term := range s.Terms {
			if term.Name == "zoom" {
				zoom = term.Text
			}
		}
		if zoom == "" || strings.HasPrefix(zoom, "1,0,0") {
			t.Errorf("%v: the page is told the zoom %q", c.options, zoom)
		}
		it, ok := s.ItemAt(float64(square.Width)/2, float64(square.Height)/2)
		f, told := r.(view.Facts).Fact(it)
		if !ok || !told || f.Title != c.region {
			t.Errorf("%v: in the middle is %q, want %s", c.options, f.Title, c.region)
		}
	}
	zoomTo := func(text string) string {
		c := viewtest.Case{Trace: calls, Size: square, Options: map[string][]string{"zoom": {text}}}
		terms := c.Compute(t, kaleidoscope.View, c.Open(t)).Scene(square).Terms
		return terms[len(terms)-1].Text
	}
	if a, b := zoomTo("region:f"), zoomTo("#3"); a != b || a == "" {
		t.Errorf("the zoom to f is %s, that to the f with two calls %s", a, b)
	}
	for _, text := range []string{paths, calls} {
		c := viewtest.Case{Trace: text, Size: square, Options: map[string][]string{"zoom": {"region:nothing"}}}
		if _, err := kaleidoscope.View.Compute(t.Context(), c.Request(t, kaleidoscope.View, c.Open(t))); err == nil {
			t.Error("a region that the run does not have is found")
		}
	}
}
