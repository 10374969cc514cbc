package calltree_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/calltree"
)

func twin(t *testing.T, c viewtest.Case, r store.Reader) string {
	t.Helper()
	b, err := json.Marshal(c.Compute(t, calltree.View, r).Data())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestPreparedWindowsEqualReadOnes: the tree of any window is the same from what
// is prepared and from every call, to the last digit.
func TestPreparedWindowsEqualReadOnes(t *testing.T) {
	r := viewtest.Local(t, func(w trace.Writer) { viewtest.WriteSteps(w, 3, 200_000) })
	read := struct{ store.Reader }{r}
	for _, spec := range []view.Spec{{}, {From: "10%", To: "90%"}, {From: "33%"}, {To: "1%"}, {From: "50%", To: "50.001%"}} {
		for _, over := range []string{"locations", "calls"} {
			for _, direction := range []string{"top-down", "bottom-up"} {
				c := viewtest.Case{Spec: spec, Options: map[string][]string{"over": {over}, "direction": {direction}}}
				if got, want := twin(t, c, r), twin(t, c, read); got != want {
					t.Errorf("%v over %s, %s: prepared and read differ", spec, over, direction)
				}
			}
		}
	}
}

func nodes(t *testing.T, text string) map[string]calltree.Node {
	t.Helper()
	var d calltree.Data
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	out := map[string]calltree.Node{}
	path := make([]string, len(d.Nodes))
	for i, n := range d.Nodes {
		path[i] = n.Region
		if n.Parent != nil {
			path[i] = path[*n.Parent] + ">" + n.Region
		}
		out[path[i]] = n
	}
	return out
}

// TestLocationsAreComparedByTheirMean: also paths that only the others have.
func TestLocationsAreComparedByTheirMean(t *testing.T) {
	c := viewtest.Case{Trace: ranks, Spec: view.Spec{Locations: []string{"r0"}}, Options: map[string][]string{"against": {"r1,r2"}}}
	n := nodes(t, twin(t, c, c.Open(t)))
	for path, want := range map[string][2]float64{ // inclusive here, mean there
		"main": {100, 100}, "main>work": {40, 35}, "main>work>work": {10, 0}, "main>MPI_Wait": {30, 5},
	} {
		if x := n[path]; x.Inclusive != want[0] || x.Other == nil || *x.Other != want[1] || *x.Delta != want[1]-want[0] {
			t.Errorf("%s: %+v, want %v", path, x, want)
		}
	}
	c.Options["against"] = []string{"rest"}
	if got := nodes(t, twin(t, c, c.Open(t))); *got["main>work"].Other != 35 {
		t.Errorf("the rest is %v, want 35", *got["main>work"].Other)
	}
	c.Spec.Locations, c.Options["against"] = []string{"r2"}, []string{"r0"}
	if x := nodes(t, twin(t, c, c.Open(t)))["main>work>MPI_Wait"]; x.Inclusive != 0 || *x.Other != 15 {
		t.Errorf("a path of the others alone is %+v", x)
	}
}

// TestARunIsComparedAtTheSameTimeMovedByAShift: B48.
func TestARunIsComparedAtTheSameTimeMovedByAShift(t *testing.T) {
	late := storetest.Text(t, strings.NewReplacer("0..100", "0..200", "10..80", "110..180", "80..90", "180..190").Replace(`
region main role=compute
region work role=compute
region other role=compute
location process r0 rank=0
    0..100 main
      10..80 work
      80..90 other
`))
	for _, x := range []struct{ shift, want string }{{"-100", "[70]"}, {"0", "[]"}, {"-150", "[30]"}} {
		c := viewtest.Case{Trace: ranks, Spec: view.Spec{To: "80", Locations: []string{"r1"}}, Options: map[string][]string{"shift": {x.shift}}}
		q := c.Request(t, calltree.View, c.Open(t))
		q.Runs = append(q.Runs, view.Run{Name: "late", Store: late})
		r, err := calltree.View.Compute(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := json.Marshal(r.Data())
		got := []float64{}
		if n, ok := nodes(t, string(b))["main>work"]; ok && *n.Other != 0 {
			got = append(got, *n.Other)
		}
		if fmt.Sprint(got) != x.want {
			t.Errorf("moved by %s: work of the other run is %v, want %s", x.shift, got, x.want)
		}
	}
}

// Ranks 0, 1 and 3 compute, 2 and 4 write, each on two threads: groups are compared
// by the mean of a rank, whatever is selected.
func TestTwoGroupsAreComparedByTheMeanOfARank(t *testing.T) {
	var b strings.Builder
	b.WriteString("region solve role=compute\nregion io role=io\n")
	for rank, region := range []string{"solve", "solve", "io", "solve", "io"} {
		fmt.Fprintf(&b, "location process p%d rank=%d\n  location thread a rank=%d\n    0..100 main\n      10..%d %s\n  location thread b rank=%d\n    0..60 main\n", rank, rank, rank, 50+10*rank, region, rank)
	}
	c := viewtest.Case{Trace: b.String(), Options: map[string][]string{"against": {"group:2/group:1"}}}
	r := c.Open(t)
	n := nodes(t, twin(t, c, r))
	for path, want := range map[string][3]float64{ // inclusive here, mean there, delta of the means
		"main": {320, 160, 0}, "main>io": {60 + 80, 0, -70}, "main>solve": {0, (40 + 50 + 70) / 3.0, (40 + 50 + 70) / 3.0},
	} {
		if x := n[path]; x.Inclusive != want[0] || x.Other == nil || math.Abs(*x.Other-want[1]) > 1e-9 || math.Abs(*x.Delta-want[2]) > 1e-9 {
			t.Errorf("%s: %+v, want %v", path, x, want)
		}
	}
	result := c.Compute(t, calltree.View, r)
	if notes := strings.Join(result.Notes(), "; "); !strings.Contains(notes, "means of a rank: of 2 ranks of group 2, of 3 ranks of group 1") {
		t.Errorf("notes %s", notes)
	}
}
