// Package pathtree merges the calls of many locations into one tree of call paths: each node is a region below its
// callers, with its calls and its time. Trees are turned round, cut, folded, ordered, and compared with others.
//
// There may be a node for every call of a run. So nodes are small, a tree is changed in place where no other needs it,
// and each step asks for its memory (memory.Room) before it takes it.
package pathtree

import (
	"context"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/quantile"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Tree is a merged call tree. Once sorted it is in preorder.
type Tree struct {
	Nodes     []Node
	Regions   []trace.Region // those of the run first, then those that folding or another run added
	Locations int            // that hold values
	Join      trace.Join     // how values become one
	Measure   callgraph.Measure
	Alone     bool    // regions whose callers are not known: inclusive is exclusive
	whole     float64 // total, if the roots overlap; else 0
	Gaps      Gaps
}

// Gaps are what the source does not say, or what is not kept of it.
type Gaps struct {
	Unended   bool // calls without an end are paths of their own
	Beside    bool // calls of one caller ran at the same time, so they may add up to more than it
	NoValues  bool // there are too many values of single locations for quantiles
	Estimated int  // paths that have the sum of what they call, since the source has no number of them
}

// A Node is a call path, or in a tree turned round a chain of callers.
type Node struct {
	Parent                      int32 // -1 at the top
	Depth                       int32
	Region                      trace.RegionID
	Context                     bool // shown only because something below it is selected
	Cut                         bool // the source says nothing of it: a path that was cut at its callers
	Calls, Inclusive, Exclusive float64
	values                      []float64        // inclusive of each location that has some; nil: not kept
	Each                        *quantile.Sketch // over calls; nil: not asked for
	Other, OtherCalls           float64          // of the other side of a comparison
}

const nodeBytes = int64(unsafe.Sizeof(Node{}))

// like returns a tree of the same run and kind without nodes.
func (t *Tree) like() *Tree {
	return &Tree{Regions: t.Regions, Locations: t.Locations, Join: t.Join, Measure: t.Measure, whole: t.whole}
}

// Name is the name of a node's region.
func (t *Tree) Name(n *Node) string { return t.Regions[n.Region].Name }

// Total returns the value of all roots together.
func (t *Tree) Total() float64 {
	if t.whole > 0 {
		return t.whole
	}
	var total runfacts.Joined
	for i := range t.Nodes {
		if t.Nodes[i].Parent < 0 {
			total.Add(t.Join, t.Nodes[i].Inclusive)
		}
	}
	return total.Value(t.Join)
}

// Last returns the last node below each node of a sorted tree: the next sibling follows it. Takes O(nodes).
func (t *Tree) Last() []int32 {
	last := make([]int32, len(t.Nodes))
	for i := len(last) - 1; i >= 0; i-- {
		last[i] = max(last[i], int32(i))
		if p := t.Nodes[i].Parent; p >= 0 {
			last[p] = max(last[p], last[i])
		}
	}
	return last
}

// Matching counts the nodes with part of a name, in any case, and adds up their time. Callees count for their caller:
// of nested ones the time of the outermost is taken.
func (t *Tree) Matching(part string) (count int, inclusive float64) {
	inside := make([]bool, len(t.Nodes))
	for i := range t.Nodes {
		n := &t.Nodes[i]
		mine := HasName(&t.Regions[n.Region], part)
		up := n.Parent >= 0 && inside[n.Parent]
		if inside[i] = mine || up; mine {
			if count++; !up {
				inclusive += n.Inclusive
			}
		}
	}
	return count, inclusive
}

// HasName reports whether the name of a region contains a text in small letters.
func HasName(g *trace.Region, part string) bool {
	return strings.Contains(strings.ToLower(g.Name), part)
}

var quantiles = [5]float64{0.02, 0.25, 0.5, 0.75, 0.98}

// Quantiles returns the quantiles of a node over its calls, or over locations, between two values in proportion. Of
// sums, locations without the path count as 0.
func (t *Tree) Quantiles(n *Node) (q [5]float64, ok bool) {
	if t.Measure != callgraph.Totals {
		if n.Each == nil {
			return q, false
		}
		return n.Each.Box(), true
	}
	if n.values == nil || t.Locations == 0 {
		return q, false
	}
	sorted := slices.Clone(n.values)
	slices.Sort(sorted)
	zeros := max(t.Locations-len(sorted), 0)
	if t.Join != trace.JoinSum {
		zeros = 0 // a location without the path has no maximum, rather than one of 0
	}
	negative, _ := slices.BinarySearch(sorted, 0)
	value := func(i int) float64 { // of the list with its zeros in place
		switch {
		case i < negative:
			return sorted[i]
		case i < negative+zeros:
			return 0
		}
		return sorted[min(i-zeros, len(sorted)-1)]
	}
	last := zeros + len(sorted) - 1
	for k, p := range quantiles {
		at := p * float64(last)
		i := int(math.Floor(at))
		q[k] = value(i) + (at-float64(i))*(value(min(i+1, last))-value(i))
	}
	return q, true
}

// add appends a node. A long list asks for room before it grows.
func (t *Tree) add(ctx context.Context, n Node) (int32, error) {
	if len(t.Nodes) == cap(t.Nodes) {
		size := max(256, cap(t.Nodes)/2*3)
		if err := memory.Room(ctx, int64(size)*nodeBytes); err != nil {
			return 0, err
		}
		t.Nodes = append(make([]Node, 0, size), t.Nodes...)
	}
	t.Nodes = append(t.Nodes, n)
	return int32(len(t.Nodes) - 1), nil
}

// addValues adds the numbers of one node to those of another.
func (n *Node) addValues(m *Node) {
	n.Calls += m.Calls
	n.Inclusive += m.Inclusive
	n.Exclusive += m.Exclusive
}

// stopped reports, once in so many nodes, whether the request was cancelled.
func stopped(ctx context.Context, i int) error {
	if i%4096 == 0 && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
