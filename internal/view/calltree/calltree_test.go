package calltree_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer/tau"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/calltree"
)

const ranks = `
region main role=compute
region work role=compute
region MPI_Wait role=communication
location machine m
  location process r0 rank=0
    0..100 main
      10..50 work
        20..30 work
        30..45 MPI_Wait
      60..90 MPI_Wait
  location process r1 rank=1
    0..100 main
      10..80 work
      80..90 MPI_Wait
  location process r2 rank=2
    0..100 main
`

const paths = `
region main role=compute
region work role=compute
region MPI_Send role=communication
location process r0 rank=0
location process r1 rank=1
metric TIME unit=ns default
profile r0 main TIME calls=1 incl=100 excl=20
profile r0 "main => work" TIME calls=2 incl=80 excl=50
profile r0 "main => work => MPI_Send" TIME calls=4 incl=30 excl=30
profile r1 main TIME calls=1 incl=100 excl=60
profile r1 "main => MPI_Send" TIME calls=8 incl=40 excl=40
profile r1 "cut => MPI_Send" TIME calls=1 incl=5 excl=5
profile r1 main TIME calls=1 incl=100 excl=60 flat
`

func TestView(t *testing.T) {
	option := func(kv ...string) map[string][]string {
		m := map[string][]string{}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i]] = []string{kv[i+1]}
		}
		return m
	}
	viewtest.Run(t, calltree.View,
		viewtest.Case{Name: "trace", Trace: ranks},
		viewtest.Case{Name: "window", Trace: ranks, Spec: view.Spec{From: "25", To: "70", Locations: []string{"r0", "r2"}}},
		viewtest.Case{Name: "bottom up", Trace: ranks, Options: option("direction", "bottom-up")},
		viewtest.Case{Name: "table", Trace: ranks, Options: option("form", "table")},
		viewtest.Case{Name: "one region", Trace: ranks, Spec: view.Spec{Regions: []string{"MPI_Wait"}}},
		viewtest.Case{Name: "below a node", Trace: ranks, Options: option("root", "1", "metric", "calls")},
		viewtest.Case{Name: "compared", Trace: ranks, Spec: view.Spec{Locations: []string{"r0"}}, Options: option("against", "rest", "form", "beside")},
		viewtest.Case{Name: "boxes of calls", Trace: ranks, Options: option("over", "calls", "form", "table")},
		viewtest.Case{Name: "profile", Trace: paths},
		viewtest.Case{Name: "profile table bottom up", Trace: paths, Options: option("form", "table", "direction", "bottom-up", "top", "3")},
	)
}

func data(t *testing.T, c viewtest.Case) (map[string]calltree.Node, calltree.Data) {
	t.Helper()
	b, err := json.Marshal(c.Compute(t, calltree.View, c.Open(t)).Data())
	if err != nil {
		t.Fatal(err)
	}
	var d calltree.Data
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	names, nodes := make([]string, len(d.Nodes)), map[string]calltree.Node{}
	for i, n := range d.Nodes {
		names[i] = n.Region
		if n.Parent != nil {
			names[i] = names[*n.Parent] + " " + n.Region
		}
		nodes[names[i]] = n
	}
	return nodes, d
}

func TestATreeOfIntervals(t *testing.T) {
	nodes, d := data(t, viewtest.Case{Trace: ranks})
	for path, want := range map[string][3]float64{ // calls, inclusive, exclusive
		"main": {3, 300, 150}, "main work": {2, 110, 85}, "main work work": {1, 10, 10}, "main work MPI_Wait": {1, 15, 15}, "main MPI_Wait": {2, 40, 40},
	} {
		if n := nodes[path]; counted(n.Calls) != want[0] || n.Inclusive != want[1] || n.Exclusive != want[2] {
			t.Errorf("%s: %+v, want %v", path, n, want)
		}
	}
	if len(nodes) != 5 || d.Total != 300 || *nodes["main work"].Q50 != 40 || *nodes["main work MPI_Wait"].Q50 != 0 {
		t.Errorf("%+v", d)
	}
}

func TestTimesAreClippedToTheWindow(t *testing.T) {
	nodes, _ := data(t, viewtest.Case{Trace: ranks, Spec: view.Spec{From: "25", To: "70", Locations: []string{"r0"}}})
	for path, want := range map[string][3]float64{
		"main": {0, 45, 10}, "main work": {0, 25, 5}, "main work work": {0, 5, 5}, "main work MPI_Wait": {1, 15, 15}, "main MPI_Wait": {1, 10, 10},
	} {
		if n := nodes[path]; counted(n.Calls) != want[0] || n.Inclusive != want[1] || n.Exclusive != want[2] {
			t.Errorf("%s: %+v, want %v", path, n, want)
		}
	}
}

func TestBottomUpKeepsAllOfTheTime(t *testing.T) {
	nodes, d := data(t, viewtest.Case{Trace: ranks, Options: map[string][]string{"direction": {"bottom-up"}}})
	if d.Total != 300 {
		t.Errorf("the roots hold %v, want 300", d.Total)
	}
	if n := nodes["MPI_Wait"]; n.Inclusive != 55 || counted(n.Calls) != 3 {
		t.Errorf("MPI_Wait %+v", n)
	}
	if a, b := nodes["MPI_Wait main"], nodes["MPI_Wait work main"]; a.Exclusive != 40 || b.Exclusive != 15 {
		t.Errorf("callers %+v %+v", a, b)
	}
}

func TestChoosingRegionsKeepsTheirCallersAndTimes(t *testing.T) {
	nodes, _ := data(t, viewtest.Case{Trace: ranks, Spec: view.Spec{Regions: []string{"MPI_Wait"}}})
	if len(nodes) != 4 || nodes["main"].Exclusive != 150 {
		t.Errorf("%+v", nodes)
	}
}

// A double click opens what lies below a box in the full width, on its own scale, and
// the topmost box leads back up. Paths stay where ids move with the selection.
func TestZoomingToANodeAndBack(t *testing.T) {
	c := viewtest.Case{Trace: ranks}
	s := c.Open(t)
	whole, d := data(t, c)
	boxes := func(root string) (view.Result, map[string]view.Fact) {
		c.Options = map[string][]string{"root": {root}}
		r := c.Compute(t, calltree.View, s)
		sc := r.Scene(scene.Size{Width: 600, Height: 300})
		out := map[string]view.Fact{}
		for x := 13.0; x < 588; x++ {
			for y := 2.0; y < 270; y += 5 {
				if f, ok, _ := view.PickAt(r, sc, x, y); ok && f.Text != "" {
					out[f.Text] = f
				}
			}
		}
		if sc == nil || len(out) == 0 {
			t.Fatalf("nothing drawn below %q", root)
		}
		return r, out
	}
	_, top := boxes("")
	work := top["main → work"]
	if work.Open["root"] != "main → work" {
		t.Fatalf("a double click on work opens %q: %+v", work.Open, work)
	}
	r, below := boxes(work.Open["root"])
	if f, ok, _ := view.PickAt(r, r.Scene(scene.Size{Width: 600, Height: 300}), 586, 5); !ok || f.Text != "main → work" {
		t.Errorf("work does not have the full width: %+v", f)
	}
	for path := range below {
		if !strings.HasPrefix(path, "main → work") {
			t.Errorf("%s is not below work", path)
		}
	}
	if up := below["main → work"].Open; up["root"] != "main" {
		t.Errorf("the topmost box leads to %q, want main", up)
	}
	_, main := boxes("main")
	if up, ok := main["main"].Open["root"]; !ok || up != "" {
		t.Errorf("the topmost box of the first level leads to %q, want the whole tree", up)
	}
	// By id and by the end of a path it is the same part, and ids are those of the whole.
	want := whole["main work"]
	for _, root := range []string{fmt.Sprint(want.ID), "work", "main > work", "#" + fmt.Sprint(want.RegionID)} {
		c.Options = map[string][]string{"root": {root}}
		_, got := data(t, c)
		if len(got.Nodes) == 0 || got.Nodes[0].ID != want.ID || got.Nodes[0].Inclusive != want.Inclusive || got.Total != want.Inclusive {
			t.Errorf("--root %q gives %+v", root, got)
		}
	}
	c.Options = map[string][]string{"root": {"nobody"}}
	_, err := calltree.View.Compute(t.Context(), c.Request(t, calltree.View, s))
	if err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("a path that is not there: %v", err)
	}
	c.Options["root"] = []string{fmt.Sprint(len(d.Nodes))}
	if _, err = calltree.View.Compute(t.Context(), c.Request(t, calltree.View, s)); err == nil {
		t.Error("an id past the last is taken")
	}
}

func TestATreeOfCallPaths(t *testing.T) {
	nodes, d := data(t, viewtest.Case{Trace: paths})
	if n := nodes["main"]; n.Inclusive != 200 || n.Exclusive != 80 || counted(n.Calls) != 2 {
		t.Errorf("main %+v", n)
	}
	if n := nodes["cut"]; n.Inclusive != 5 || n.Exclusive != 0 {
		t.Errorf("a path without numbers of its own: %+v", n)
	}
	if d.Locations != 2 || *nodes["main work"].Q98 <= *nodes["main work"].Q50 {
		t.Errorf("%+v", d)
	}
}

// The call trees of the reference implementation, path by path.
func TestCallTreesAgreeWithTheReference(t *testing.T) {
	b, err := os.ReadFile("testdata/callmatrix.json")
	if err != nil {
		t.Fatal(err)
	}
	var o struct {
		Traces []struct {
			Name      string
			End       trace.Time `json:"trace_end"`
			Processes map[string]struct {
				Events [][3]any
				Tree   []struct {
					Path  []string
					Count float64
				} `json:"call_tree"`
			}
		}
	}
	if err := json.Unmarshal(b, &o); err != nil {
		t.Fatal(err)
	}
	for _, tr := range o.Traces {
		r := viewtest.Local(t, func(w trace.Writer) {
			for name, p := range tr.Processes {
				s := w.Stream(w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: name, Rank: trace.NoRank}), trace.StreamOptions{})
				for _, e := range p.Events {
					region := w.Region(trace.Region{Name: e[2].(string)})
					if e[1].(string) == "E" {
						s.Enter(trace.Time(e[0].(float64)), region)
					} else {
						s.Leave(trace.Time(e[0].(float64)), region)
					}
				}
				for range p.Events { // what nobody leaves the oracle counts as calls, a store keeps apart
					s.Leave(tr.End, trace.NoRegion)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
		for name, p := range tr.Processes {
			if len(p.Tree) == 0 {
				continue // a process that did nothing
			}
			nodes, _ := data(t, viewtest.Case{Reader: func(testing.TB) store.Reader { return r }, Spec: view.Spec{Locations: []string{name}}})
			if len(nodes) != len(p.Tree) {
				t.Errorf("%s, process %s: %d paths, want %d", tr.Name, name, len(nodes), len(p.Tree))
			}
			for _, want := range p.Tree {
				if n := nodes[strings.Join(want.Path, " ")]; counted(n.Calls) != want.Count {
					t.Errorf("%s, process %s: %v is called %v times, want %v", tr.Name, name, want.Path, counted(n.Calls), want.Count)
				}
			}
		}
	}
}

func TestASecondRunGivesDifferences(t *testing.T) {
	c := viewtest.Case{Trace: paths}
	q := c.Request(t, calltree.View, c.Open(t))
	other := viewtest.Case{Trace: strings.ReplaceAll(paths, "incl=80", "incl=90")}
	q.Runs = append(q.Runs, view.Run{Name: "b", Store: other.Open(t)})
	result, err := calltree.View.Compute(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range result.Data().(calltree.Data).Nodes {
		want := 0.0
		if n.Region == "work" {
			want = 10
		}
		if n.Delta == nil || *n.Delta != want {
			t.Errorf("delta of %s is %v, want %v", n.Region, n.Delta, want)
		}
	}
}

func TestASmallProfileOfTAU(t *testing.T) {
	r := importertest.Import(t, tau.Format, "../../importer/tau/testdata/cpi")
	nodes, _ := data(t, viewtest.Case{Reader: func(testing.TB) store.Reader { return r }})
	root := nodes[".TAU application"]
	if root.Exclusive != (449+419)*1000 || counted(root.Calls) != 2 {
		t.Errorf("root %+v", root)
	}
}

// Few levels do not leave half of the picture blank: boxes say what they took, and the paths stand below them.
func TestFewLevelsFillThePicture(t *testing.T) {
	c := viewtest.Case{Trace: ranks}
	run := c.Open(t)
	for _, size := range []scene.Size{{Width: 600, Height: 200}, {Width: 600, Height: 420}, {Width: 1600, Height: 900}} {
		c.Size = size
		r := c.Compute(t, calltree.View, run)
		s := r.Scene(size)
		f := s.Frames[0]
		if f.H > 3*64 {
			t.Errorf("%v: three levels have %v pixels", size, f.H)
		}
		var texts []string
		for _, l := range s.Layers {
			for _, m := range l.Marks {
				if x, ok := m.(*scene.Text); ok {
					texts = append(texts, x.Text...)
				}
			}
		}
		all := strings.Join(texts, "\n")
		if !strings.Contains(all, "300 ns · 100.0 %\n3 calls") {
			t.Errorf("%v: a box does not say what it took: %q", size, texts)
		}
		if size.Height < 400 {
			continue
		}
		if len(s.Frames) != 2 || !strings.Contains(all, "exclusive") {
			t.Fatalf("%v: no table below: %q", size, texts)
		}
		rows := s.Frames[1].YScale.Rows
		if len(rows) != 5 {
			t.Errorf("%v: %d rows for 5 paths", size, len(rows))
		}
		if got, ok, _ := view.PickAt(r, s, 20, float64(rows[1].From)+8); !ok || got.Text != "main → work" {
			t.Errorf("%v: the second row is %+v", size, got)
		}
	}
}

// counted is a number of calls, -1 where calls are not counted.
func counted(calls *float64) float64 {
	if calls == nil {
		return -1
	}
	return *calls
}

// A profile of totals alone is drawn as regions side by side, by exclusive time, which add up to the whole.
func TestRegionsWithoutCallersStandAlone(t *testing.T) {
	m := storetest.NewMemory()
	loc := m.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "p0"})
	metric := m.Metric(trace.Metric{Name: "TIME", Unit: "ns"})
	for i, name := range []string{"main", "solve", "exchange"} {
		path := m.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: m.Region(trace.Region{Name: name, Role: trace.RoleCompute}), Flat: true})
		m.Profile(trace.ProfileRow{Location: loc, Path: path, Metric: metric, Calls: 1,
			Inclusive: []float64{100, 60, 30}[i], Exclusive: []float64{10, 60, 30}[i]})
	}
	c := viewtest.Case{}
	data, _ := json.Marshal(c.Compute(t, calltree.View, m.Reader()).Data())
	var got struct {
		Nodes []struct {
			Region    string
			Exclusive float64
		}
	}
	if err := json.Unmarshal(data, &got); err != nil || len(got.Nodes) != 3 {
		t.Fatalf("%v, %s", err, data)
	}
	for i, want := range []float64{60, 30, 10} {
		if n := got.Nodes[i]; n.Exclusive != want {
			t.Errorf("%+v, want %v", n, want)
		}
	}
}
