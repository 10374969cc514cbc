package calltree

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// folded is a name without the number of a step: between runs the steps 3 to 5 of one
// are those 7 to 9 of the other. Only annotations are numbered so.
func folded(g *trace.Region) string {
	if g.Role == trace.RoleAnnotation {
		if s := trace.Stem(g.Name); s != "" && s != g.Name {
			return s + "…"
		}
	}
	return g.Name
}

// matchable makes a tree that is matched with that of another run. Paths were collected in the order of lanes, which is
// never the same: sorted, the first of several that share a name always is.
func (t *tree) matchable(ctx context.Context, regions []trace.Region) (*tree, []trace.Region, error) {
	if err := t.sort(ctx, regions, func(n *node) float64 { return n.inclusive }); err != nil {
		return nil, nil, err
	}
	if t.how != trace.JoinSum {
		return t, regions, nil
	}
	return t.fold(ctx, regions)
}

// fold joins calls of numbered steps below the same caller, and everything below them by
// name. Regions that stand for several steps are added to the list. O(nodes).
func (t *tree) fold(ctx context.Context, regions []trace.Region) (*tree, []trace.Region, error) {
	any := false
	for i := range regions {
		any = any || folded(&regions[i]) != regions[i].Name
	}
	if !any {
		return t, regions, nil
	}
	type key struct {
		parent int32
		name   string
	}
	out := &tree{locations: t.locations, notes: t.notes, whole: t.whole, how: t.how}
	regions = append([]trace.Region(nil), regions...)
	stands := map[string]trace.RegionID{} // of a folded name
	index := map[key]int32{}
	place := make([]int32, len(t.nodes))
	for i := range t.nodes { // parents come first
		if err := stopped(ctx, i); err != nil {
			return nil, nil, err
		}
		n := t.nodes[i]
		if n.parent >= 0 {
			n.parent = place[n.parent]
		}
		name := folded(&regions[n.region])
		if name != regions[n.region].Name {
			id, ok := stands[name]
			if !ok {
				g := regions[n.region]
				g.Name = name
				id = trace.RegionID(len(regions))
				regions = append(regions, g)
				stands[name] = id
			}
			n.region = id
		}
		at, ok := index[key{n.parent, name}]
		if !ok {
			n.each = nil
			at, err := out.add(ctx, n)
			if err != nil {
				return nil, nil, err
			}
			place[i], index[key{n.parent, name}] = at, at
			continue
		}
		place[i] = at
		m := &out.nodes[at]
		m.calls += n.calls
		m.inclusive += n.inclusive
		m.exclusive += n.exclusive
		m.values = nil
		m.cut = m.cut && n.cut
	}
	return out, regions, nil
}
