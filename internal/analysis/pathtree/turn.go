package pathtree

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/quantile"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// mostCallers bounds the chains of callers of a tree turned round.
const mostCallers = 64

// BottomUp returns the tree from regions to their callers. The time of a node is the
// time that the region of its root spent itself when it was called through the
// chain; its own time is that of chains that end there. Takes O(nodes × depth).
func (t *Tree) BottomUp(ctx context.Context) (*Tree, error) {
	out := t.like()
	paths := newIndex(out)
	inclusive, exclusive := joiner{how: t.Join}, joiner{how: t.Join}
	for i := range t.Nodes {
		if err := stopped(ctx, i); err != nil {
			return nil, err
		}
		leaf := &t.Nodes[i]
		if leaf.Exclusive == 0 && leaf.Calls == 0 {
			continue
		}
		at := int32(-1)
		for up, n := int32(i), 0; up >= 0 && n < mostCallers; up, n = t.Nodes[up].Parent, n+1 {
			id, err := paths.child(ctx, at, t.Nodes[up].Region)
			if err != nil {
				return nil, err
			}
			x := &out.Nodes[id]
			x.Calls += leaf.Calls
			inclusive.add(id, &x.Inclusive, leaf.Exclusive)
			if leaf.Each != nil {
				if x.Each == nil {
					x.Each = &quantile.Sketch{}
				}
				x.Each.Merge(leaf.Each)
			}
			if t.Nodes[up].Parent < 0 {
				exclusive.add(id, &x.Exclusive, leaf.Exclusive)
			}
			at = id
		}
	}
	return out, nil
}

// A joiner puts values of nodes together. Sums need nothing next to the number itself.
type joiner struct {
	how  trace.Join
	many []runfacts.Joined
}

func (j *joiner) add(id int32, to *float64, v float64) {
	if j.how == trace.JoinSum {
		*to += v
		return
	}
	for int(id) >= len(j.many) {
		j.many = append(j.many, runfacts.Joined{})
	}
	j.many[id].Add(j.how, v)
	*to = j.many[id].Value(j.how)
}

// Around returns a tree whose root is one region: its callees come first, and after them, from the node given on, its
// callers. In a recursion the outermost call counts, so that the root has the region's inclusive time; the time of a
// caller is the region's time when called through it. Values must add up. Takes O(nodes × depth).
func (t *Tree) Around(ctx context.Context, region trace.RegionID, weight func(*Node) float64) (out *Tree, callers int,
	err error) {
	below, above := t.like(), t.like()
	for _, x := range []*Tree{below, above} {
		x.Nodes = []Node{{Parent: -1, Region: region}}
	}
	down, up := newIndex(below), newIndex(above)
	place := make([]int32, len(t.Nodes)) // in below; -1: not below the region
	for i := range t.Nodes {
		if err := stopped(ctx, i); err != nil {
			return nil, 0, err
		}
		n := &t.Nodes[i]
		place[i] = -1
		switch p := n.Parent; {
		case p >= 0 && place[p] >= 0:
			if place[i], err = down.child(ctx, place[p], n.Region); err != nil {
				return nil, 0, err
			}
		case n.Region == region:
			place[i] = 0
			above.Nodes[0].addValues(n)
			at := int32(0)
			for c, k := n.Parent, 0; c >= 0 && k < mostCallers; c, k = t.Nodes[c].Parent, k+1 {
				if at, err = up.child(ctx, at, t.Nodes[c].Region); err != nil {
					return nil, 0, err
				}
				above.Nodes[at].addValues(n)
			}
		}
		if place[i] >= 0 {
			below.Nodes[place[i]].addValues(n)
		}
	}
	for _, x := range []*Tree{below, above} {
		if err := x.Sort(ctx, weight); err != nil {
			return nil, 0, err
		}
	}
	callers = len(below.Nodes)
	for _, n := range above.Nodes[1:] { // after the root, which both have
		if n.Parent > 0 {
			n.Parent += int32(callers) - 1
		}
		if _, err := below.add(ctx, n); err != nil {
			return nil, 0, err
		}
	}
	return below, callers, nil
}
