package callgraph

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/quantile"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// The vectors come from an independent program in exact arithmetic.
type vectors struct {
	Quantiles []struct {
		Values []int64
		Box    []string
	}
	Traces []struct {
		Name      string
		Processes map[string]*process
	}
	Inlining struct {
		Events   [][]any
		Variants []struct {
			Inlined []string
			Matrix  [][]any
			Dynamic [][]any    `json:"closure_dynamic"`
			Static  [][]string `json:"closure_static"`
		}
	}
	Ghost struct {
		Events  [][]any
		Static  bool `json:"static_has_x_g"`
		Dynamic bool `json:"dynamic_has_x_g"`
	} `json:"ghost_path"`
	Geometry struct {
		Parts  []float64
		Scales []float64 `json:"ring_scales"`
		Slices []struct {
			N       int
			Outline [][][2]float64
			Of      []int       `json:"outline_of"`
			Area    [][]float64 `json:"cell_area"`
		}
		N4     [][][2]float64 `json:"polygons_n4_slice0"`
		N3     [][][2]float64 `json:"polygons_n3_slice1"`
		Locate []struct {
			X, Y float64
			N    int
			At   [2]int `json:"slice_ring"`
		}
	}
}

type process struct {
	Events   [][]any
	Problems map[string]int64
	Calls    [][]any
	Profile  map[string]bucket
	Matrix   []bucket
	Tree     []struct {
		Path  []string
		Count int64
	} `json:"call_tree"`
	Static  [][2]string `json:"closure_static"`
	Dynamic []bucket    `json:"closure_dynamic"`
}

type bucket struct {
	Caller, Callee string
	Count          int64
	InclusiveTotal int64    `json:"inclusive_total"`
	ExclusiveTotal int64    `json:"exclusive_total"`
	InclusiveBox   []string `json:"inclusive_box"`
	ExclusiveBox   []string `json:"exclusive_box"`
	Outermost      int64    `json:"inclusive_outermost_total"`
}

func load(t *testing.T) *vectors {
	t.Helper()
	b, err := os.ReadFile("testdata/callmatrix.json")
	if err != nil {
		t.Fatal(err)
	}
	v := &vectors{}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
	return v
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("%q is no number", s)
	}
	f, _ := r.Float64()
	return f
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, math.Abs(a), math.Abs(b)) }

// A run is a trace in the reference store with the nodes of its regions.
type run struct {
	reader    store.Reader
	nodes     []Node
	of        []int32
	locations []trace.LocationID // by process
}

// replay writes enters and leaves as an importer does; all repairs are the store's, but
// that calls which nobody leaves are left at the last time of all: the oracle counts them
// as calls, a store keeps them apart.
func replay(t *testing.T, processes map[string][][]any) *run {
	t.Helper()
	m := storetest.NewMemory()
	names := make([]string, 0, len(processes))
	for p := range processes {
		names = append(names, p)
	}
	slices.Sort(names)
	last := trace.Time(0)
	for _, events := range processes {
		for _, e := range events {
			last = max(last, trace.Time(e[0].(float64)))
		}
	}
	for rank, p := range names {
		var open []any
		id := m.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: p, Rank: rank})
		s := m.Stream(id, trace.StreamOptions{})
		for _, e := range processes[p] {
			at, region := trace.Time(e[0].(float64)), m.Region(trace.Region{Name: e[2].(string)})
			if e[1] == "E" {
				s.Enter(at, region)
				open = append(open, e[2])
			} else {
				s.Leave(at, region)
				for i := len(open) - 1; i >= 0; i-- {
					if open[i] == e[2] {
						open = open[:i]
						break
					}
				}
			}
		}
		for range open {
			s.Leave(last, trace.NoRegion)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	r := &run{reader: m.Reader()}
	r.nodes, r.of = Nodes(r.reader.Regions(), false)
	for i := range names {
		r.locations = append(r.locations, trace.LocationID(i))
	}
	return r
}

func (r *run) scan(ids []trace.LocationID, f func(*trace.DigestedLane) error) error {
	return store.Digests(context.Background(), r.reader, DigestName, store.Window{End: r.reader.Info().End, Locations: ids}, f)
}

func (r *run) rows(ids []trace.LocationID, f func(*trace.Columns) error) error {
	return r.reader.Intervals(context.Background(), store.Window{End: r.reader.Info().End, Locations: ids}, f)
}

func (r *run) name(n int32) string {
	if n == Root {
		return ""
	}
	return r.nodes[n].Name
}

func (r *run) gather(t *testing.T, o Options) map[string]Row {
	t.Helper()
	o.Node, o.Nodes = r.of, len(r.nodes)
	rows, err := Gather(&Plan{Options: o, Locations: r.locations}, r.scan)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]Row{}
	for _, x := range rows {
		out[fmt.Sprintf("%d %s>%s", x.Owner, r.name(x.Caller), r.name(x.Callee))] = x
	}
	return out
}

func checkBox(t *testing.T, what string, got [5]float64, want []string) {
	t.Helper()
	for i := range got {
		if w := number(t, want[i]); !near(got[i], w) {
			t.Errorf("%s: quantile %v is %v, want %v", what, quantile.Box[i], got[i], w)
		}
	}
}

func TestQuantilesOfTheOracle(t *testing.T) {
	for _, c := range load(t).Quantiles {
		var s quantile.Sketch
		for _, v := range c.Values {
			s.Add(v)
		}
		checkBox(t, fmt.Sprint(c.Values), s.Box(), c.Box)
	}
}

func TestTracesOfTheOracle(t *testing.T) {
	for _, c := range load(t).Traces {
		t.Run(c.Name, func(t *testing.T) {
			events := map[string][][]any{}
			for p, x := range c.Processes {
				events[p] = x.Events
			}
			r := replay(t, events)
			incl, excl := r.gather(t, Options{Measure: Inclusive}), r.gather(t, Options{Measure: Exclusive})
			profile := r.gather(t, Options{Measure: Inclusive, Profile: true})
			profileExcl := r.gather(t, Options{Measure: Exclusive, Profile: true})
			dynamic := r.gather(t, Options{Closure: true})
			pairs, calls, closed := 0, 0, 0
			for p, want := range c.Processes {
				k, _ := strconv.Atoi(p)
				for _, b := range want.Matrix {
					key := fmt.Sprintf("%d %s>%s", k, b.Caller, b.Callee)
					checkRow(t, key, incl[key], excl[key], b)
				}
				for f, b := range want.Profile {
					key := fmt.Sprintf("%d >%s", k, f)
					checkRow(t, key, profile[key], profileExcl[key], b)
					if got := profile[key].Outermost; got != float64(b.Outermost) {
						t.Errorf("%s: outermost %v, want %v", key, got, b.Outermost)
					}
				}
				for _, b := range want.Dynamic {
					key := fmt.Sprintf("%d %s>%s", k, b.Caller, b.Callee)
					if x := dynamic[key]; x.Count != float64(b.Count) || x.Inclusive != float64(b.InclusiveTotal) {
						t.Errorf("closure %s: %+v, want %+v", key, x, b)
					}
				}
				pairs, calls, closed = pairs+len(want.Matrix), calls+len(want.Profile), closed+len(want.Dynamic)
				r.checkCalls(t, k, want)
				r.checkTree(t, k, want)
				r.checkStatic(t, k, want, incl)
			}
			if len(incl) != pairs || len(profile) != calls || len(dynamic) != closed {
				t.Errorf("%d pairs, %d regions, %d in the closure; want %d, %d, %d", len(incl), len(profile), len(dynamic), pairs, calls, closed)
			}
			r.checkRepairs(t, c.Processes)
		})
	}
}

func checkRow(t *testing.T, key string, incl, excl Row, want bucket) {
	t.Helper()
	if incl.Count != float64(want.Count) || incl.Inclusive != float64(want.InclusiveTotal) || incl.Exclusive != float64(want.ExclusiveTotal) {
		t.Errorf("%s: %+v, want %+v", key, incl, want)
	}
	if !near(incl.Mean, float64(want.InclusiveTotal)/float64(want.Count)) {
		t.Errorf("%s: mean %v", key, incl.Mean)
	}
	checkBox(t, key+" inclusive", incl.Box, want.InclusiveBox)
	checkBox(t, key+" exclusive", excl.Box, want.ExclusiveBox)
}

// checkCalls holds every call against the rows, one by one.
func (r *run) checkCalls(t *testing.T, p int, want *process) {
	t.Helper()
	i := 0
	_ = r.rows(r.locations[p:p+1], func(c *trace.Columns) error {
		for k := range c.Begin {
			caller := ""
			if c.Parent[k] >= 0 {
				caller = r.reader.Regions()[c.Region[int(c.Parent[k])-c.First]].Name
			}
			got := fmt.Sprint(r.reader.Regions()[c.Region[k]].Name, " ", caller, " ", c.Begin[k], c.End(k), c.Duration[k], c.Exclusive[k])
			w := want.Calls[i]
			if exp := fmt.Sprint(w[0], " ", w[1], " ", w[2], w[3], w[4], w[5]); got != exp {
				t.Errorf("call %d of %d: %s, want %s", i, p, got, exp)
			}
			i++
		}
		return nil
	})
	if i != len(want.Calls) {
		t.Errorf("process %d: %d calls, want %d", p, i, len(want.Calls))
	}
}

func (r *run) checkTree(t *testing.T, p int, want *process) {
	t.Helper()
	w := store.Window{End: r.reader.Info().End, Locations: []trace.LocationID{r.locations[p]}}
	c := &PathCollector{End: w.End + 1, Measure: Totals, Regions: len(r.reader.Regions())}
	if err := store.Digests(context.Background(), r.reader, DigestName, w, c.Add); err != nil {
		t.Fatal(err)
	}
	tree, err := c.Paths(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for i := range tree.Region {
		var path []string
		for k := int32(i); k >= 0; k = tree.Parent[k] {
			path = append([]string{r.reader.Regions()[tree.Region[k]].Name}, path...)
		}
		got[strings.Join(path, ";")] = tree.Calls[i]
	}
	for _, x := range want.Tree {
		if n := got[strings.Join(x.Path, ";")]; n != x.Count {
			t.Errorf("path %v: %d calls, want %d", x.Path, n, x.Count)
		}
	}
	if len(got) != len(want.Tree) {
		t.Errorf("%d paths, want %d", len(got), len(want.Tree))
	}
}

func (r *run) checkStatic(t *testing.T, p int, want *process, rows map[string]Row) {
	t.Helper()
	var pairs []Pair
	for _, x := range rows {
		if x.Owner == int32(p) {
			pairs = append(pairs, x.Pair)
		}
	}
	got := [][2]string{}
	for _, x := range Reachable(pairs) {
		got = append(got, [2]string{r.name(x.Caller), r.name(x.Callee)})
	}
	slices.SortFunc(got, func(a, b [2]string) int { return strings.Compare(a[0]+"\x00"+a[1], b[0]+"\x00"+b[1]) })
	if fmt.Sprint(got) != fmt.Sprint(want.Static) {
		t.Errorf("static closure %v, want %v", got, want.Static)
	}
}

// checkRepairs: calls that were closed by force or at the end, and leaves of
// nothing, are counted in the import report.
func (r *run) checkRepairs(t *testing.T, processes map[string]*process) {
	t.Helper()
	want := int64(0)
	for _, p := range processes {
		for what, n := range p.Problems {
			if what != "open" { // replay leaves them
				want += n
			}
		}
	}
	got := int64(0)
	for _, e := range r.reader.Info().Report {
		got += e.Count
	}
	if got != want {
		t.Errorf("report %v counts %d, want %d", r.reader.Info().Report, got, want)
	}
}

func TestTheDynamicClosureSurvivesInlining(t *testing.T) {
	v := load(t).Inlining
	for _, c := range v.Variants {
		var events [][]any
		for _, e := range v.Events {
			if !slices.Contains(c.Inlined, e[2].(string)) {
				events = append(events, e)
			}
		}
		r := replay(t, map[string][][]any{"0": events})
		for closure, want := range map[bool][][]any{false: c.Matrix, true: c.Dynamic} {
			got := r.gather(t, Options{Closure: closure})
			if len(got) != len(want) {
				t.Errorf("without %v: %d pairs, want %d", c.Inlined, len(got), len(want))
			}
			for _, w := range want {
				x := got[fmt.Sprintf("0 %s>%s", w[0], w[1])]
				if x.Count != w[2].(float64) || closure && x.Inclusive != w[3].(float64) {
					t.Errorf("without %v: %v: %+v", c.Inlined, w, x)
				}
			}
		}
	}
}

func TestTheStaticClosureMayClaimAChainThatNeverHappened(t *testing.T) {
	v := load(t).Ghost
	r := replay(t, map[string][][]any{"0": v.Events})
	var pairs []Pair
	for _, x := range r.gather(t, Options{}) {
		pairs = append(pairs, x.Pair)
	}
	static := slices.ContainsFunc(Reachable(pairs), func(p Pair) bool { return r.name(p.Caller) == "x" && r.name(p.Callee) == "g" })
	_, dynamic := r.gather(t, Options{Closure: true})["0 x>g"]
	if static != v.Static || dynamic != v.Dynamic {
		t.Errorf("x calls g: static %v, dynamic %v; want %v, %v", static, dynamic, v.Static, v.Dynamic)
	}
}

func TestACallerAndAPathChooseCalls(t *testing.T) {
	r := replay(t, map[string][][]any{"0": {
		{0.0, "E", "main"}, {1.0, "E", "a"}, {2.0, "E", "send"}, {3.0, "L", "send"}, {4.0, "L", "a"},
		{5.0, "E", "b"}, {6.0, "E", "a"}, {7.0, "E", "send"}, {9.0, "L", "send"}, {10.0, "L", "a"}, {11.0, "L", "b"}, {12.0, "L", "main"},
	}})
	set := func(names ...string) []bool {
		out := make([]bool, len(r.nodes)+1)
		out[0] = slices.Contains(names, "")
		for i, n := range r.nodes {
			out[i+1] = slices.Contains(names, n.Name)
		}
		return out
	}
	for name, c := range map[string]struct {
		o    Options
		want map[string]float64
	}{
		"one caller":       {Options{Callers: set("a")}, map[string]float64{"0 a>send": 2}},
		"the root":         {Options{Callers: set("")}, map[string]float64{"0 >main": 1}},
		"a path":           {Options{Path: [][]bool{set("b"), set("a")}}, map[string]float64{"0 a>send": 1}},
		"a path from root": {Options{Path: [][]bool{set(""), set("main")}}, map[string]float64{"0 main>a": 1, "0 main>b": 1}},
		"under a caller":   {Options{Callers: set("main"), Closure: true}, map[string]float64{"0 main>a": 2, "0 main>b": 1, "0 main>send": 2}},
		"as a profile":     {Options{Callers: set("main", "b"), Profile: true}, map[string]float64{"0 >a": 2, "0 >b": 1}},
	} {
		got := r.gather(t, c.o)
		if len(got) != len(c.want) {
			t.Errorf("%s: %v", name, got)
		}
		for k, n := range c.want {
			if got[k].Count != n {
				t.Errorf("%s: %s has %v calls, want %v", name, k, got[k].Count, n)
			}
		}
	}
}
