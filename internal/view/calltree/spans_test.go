package calltree_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/calltree"
)

// nodesOf computes the whole call tree of a run.
func nodesOf(t *testing.T, r store.Reader) []calltree.Node {
	t.Helper()
	var d calltree.Data
	c := viewtest.Case{Reader: func(testing.TB) store.Reader { return r }}
	b, err := json.Marshal(c.Compute(t, calltree.View, r).Data())
	if err == nil {
		err = json.Unmarshal(b, &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d.Nodes
}

// The path of every span is the chain of its parents by id, and its exclusive time its
// duration less the union of its children, whatever runs beside what.
func TestSpansAreCalledByTheirParents(t *testing.T) {
	for _, format := range viewtest.SpanFormats {
		for seed := range uint64(3) {
			spans := viewtest.RandomSpans(seed, 60)
			r := viewtest.ImportBytes(t, "x.json", viewtest.WriteSpans(format, spans))
			nodes := nodesOf(t, r)
			if len(nodes) != len(spans) {
				t.Fatalf("%s, seed %d: %d paths, want one for each of %d spans", format, seed, len(nodes), len(spans))
			}
			for _, n := range nodes {
				var i int
				fmt.Sscanf(n.Region, "s%d", &i)
				caller, want := "none", "none"
				if n.Parent != nil {
					caller = nodes[*n.Parent].Region
				}
				if p := spans[i].Parent; p >= 0 {
					want = fmt.Sprint("s", p)
				}
				if caller != want {
					t.Errorf("%s, seed %d: %s is called by %s, want %s", format, seed, n.Region, caller, want)
				}
				s := spans[i]
				free := int64(0)
				for us := s.Begin; us < s.End; us++ {
					if !slices.ContainsFunc(spans, func(c viewtest.Span) bool { return c.Parent == i && c.Begin <= us && us < c.End }) {
						free++
					}
				}
				if n.Exclusive != float64(1000*free) || n.Inclusive != float64(1000*(s.End-s.Begin)) {
					t.Errorf("%s, seed %d: %s has %v ns of its own in %v, want %d µs", format, seed, n.Region, n.Exclusive, n.Inclusive, free)
				}
			}
		}
	}
}

// The spans of SmartThings' web install: calls by path as ids tell, from service to service.
func TestRealSpansAreCalledByTheirParents(t *testing.T) {
	r := viewtest.Import(t, "data", "public", "zipkin", "smartthings", "smartthings-mobile-web-install.json")
	want := map[string]int{}
	for _, s := range viewtest.ReadSpans(t, r) {
		path := r.Regions()[s.Region].Name
		for up := s.Parent; up != nil; up = up.Parent {
			path = r.Regions()[up.Region].Name + " > " + path
		}
		want[path]++
	}
	got := map[string]int{}
	nodes := nodesOf(t, r)
	for _, n := range nodes {
		path := []string{n.Region}
		for up := n.Parent; up != nil; up = nodes[*up].Parent {
			path = append(path, nodes[*up].Region)
		}
		slices.Reverse(path)
		if counted(n.Calls) > 0 {
			got[strings.Join(path, " > ")] += int(counted(n.Calls))
		}
	}
	if !maps.Equal(got, want) {
		for path, n := range want {
			if got[path] != n {
				t.Errorf("%d calls of %s, want %d", got[path], path, n)
			}
		}
		for path, n := range got {
			if want[path] == 0 {
				t.Errorf("%d calls of %s, want none", n, path)
			}
		}
	}
}
