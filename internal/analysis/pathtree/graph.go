package pathtree

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Graph has each region once, and an edge for each pair of caller and callee.
type Graph struct {
	Region    []trace.RegionID
	Exclusive []float64 // of all its paths
	Inclusive []float64
	Calls     []float64
	Level     []int // least number of callers above it
	CalledBy  []int // the caller through which most comes; -1
	From, To  []int // of edges, those that carry most last
	Carried   []float64
}

// Graph joins the paths of a sorted tree by region. Takes O(nodes × depth).
func (t *Tree) Graph() *Graph {
	g := &Graph{}
	places := map[trace.RegionID]int{}
	type pair struct{ from, to int }
	carried := map[pair]*runfacts.Joined{}
	var exclusive, inclusive []runfacts.Joined
	for i := range t.Nodes {
		n := &t.Nodes[i]
		at, ok := places[n.Region]
		if !ok {
			at = len(g.Region)
			places[n.Region] = at
			g.Region, g.Calls, g.Level, g.CalledBy = append(g.Region, n.Region), append(g.Calls, 0),
				append(g.Level, int(n.Depth)), append(g.CalledBy, -1)
			exclusive, inclusive = append(exclusive, runfacts.Joined{}), append(inclusive, runfacts.Joined{})
		}
		exclusive[at].Add(t.Join, n.Exclusive)
		g.Calls[at] += n.Calls
		g.Level[at] = min(g.Level[at], int(n.Depth))
		outermost := true
		for up := n.Parent; up >= 0; up = t.Nodes[up].Parent {
			outermost = outermost && t.Nodes[up].Region != n.Region
		}
		if outermost {
			inclusive[at].Add(t.Join, n.Inclusive)
		}
		if n.Parent >= 0 {
			k := pair{places[t.Nodes[n.Parent].Region], at}
			if carried[k] == nil {
				carried[k] = &runfacts.Joined{}
			}
			carried[k].Add(t.Join, n.Inclusive)
		}
	}
	for i := range exclusive {
		g.Exclusive = append(g.Exclusive, exclusive[i].Value(t.Join))
		g.Inclusive = append(g.Inclusive, inclusive[i].Value(t.Join))
	}
	edges := make([]pair, 0, len(carried))
	for k := range carried {
		edges = append(edges, k)
	}
	slices.SortFunc(edges, func(a, b pair) int {
		return cmp.Or(cmp.Compare(carried[a].Value(t.Join), carried[b].Value(t.Join)), cmp.Compare(a.from, b.from),
			cmp.Compare(a.to, b.to))
	})
	for _, k := range edges {
		g.From, g.To = append(g.From, k.from), append(g.To, k.to)
		g.Carried = append(g.Carried, carried[k].Value(t.Join))
		if g.Level[k.from] < g.Level[k.to] { // those that carry most come last and win
			g.CalledBy[k.to] = k.from
		}
	}
	return g
}

// Most returns the regions with the most inclusive time, and their callers.
func (g *Graph) Most(most int) []bool {
	out := make([]bool, len(g.Region))
	order := make([]int, len(g.Region))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(g.Inclusive[b], g.Inclusive[a]) })
	for _, i := range order[:min(len(order), most)] {
		for up := i; up >= 0 && !out[up]; up = g.CalledBy[up] {
			out[up] = true
		}
	}
	return out
}
