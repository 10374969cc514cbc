package pathtree

import (
	"context"
	"slices"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// withoutNumber is a name without the number of a step: between runs the steps 3 to 5 of one
// are those 7 to 9 of the other. Only annotations are numbered so.
func withoutNumber(g *trace.Region) string {
	if g.Role == trace.RoleAnnotation {
		if s := trace.Stem(g.Name); s != "" && s != g.Name {
			return s + "…"
		}
	}
	return g.Name
}

// Matchable makes a tree that is matched with that of another run. Paths were collected in the order of lanes, which is
// never the same: sorted, the first of several that share a name always is. Numbered steps are one.
func (t *Tree) Matchable(ctx context.Context) (*Tree, error) {
	if err := t.Sort(ctx, ByInclusive); err != nil {
		return nil, err
	}
	if t.Join != trace.JoinSum {
		return t, nil
	}
	return t.foldSteps(ctx)
}

// A named path is a name below a node.
type namedPath struct {
	parent int32
	name   string
}

// foldSteps joins calls of numbered steps below the same caller, and everything below them by
// name. Regions that stand for several steps are added to the list. O(nodes).
func (t *Tree) foldSteps(ctx context.Context) (*Tree, error) {
	numbered := func(g trace.Region) bool { return withoutNumber(&g) != g.Name }
	if !slices.ContainsFunc(t.Regions, numbered) {
		return t, nil
	}
	out := t.like()
	out.Regions = slices.Clone(t.Regions)
	stands := map[string]trace.RegionID{} // of a name without number
	nodes := map[namedPath]int32{}
	place := make([]int32, len(t.Nodes))
	for i := range t.Nodes { // parents come first
		if err := stopped(ctx, i); err != nil {
			return nil, err
		}
		n := t.Nodes[i]
		if n.Parent >= 0 {
			n.Parent = place[n.Parent]
		}
		name := withoutNumber(&t.Regions[n.Region])
		if name != t.Name(&n) {
			id, ok := stands[name]
			if !ok {
				id = trace.RegionID(len(out.Regions))
				g := t.Regions[n.Region]
				g.Name = name
				out.Regions = append(out.Regions, g)
				stands[name] = id
			}
			n.Region = id
		}
		at, ok := nodes[namedPath{n.Parent, name}]
		if !ok {
			n.Each = nil
			at, err := out.add(ctx, n)
			if err != nil {
				return nil, err
			}
			place[i], nodes[namedPath{n.Parent, name}] = at, at
			continue
		}
		place[i] = at
		m := &out.Nodes[at]
		m.addValues(&n)
		m.values = nil
		m.Cut = m.Cut && n.Cut
	}
	return out, nil
}

// Compare puts the times of another tree beside those of this one, as Other; paths that only the other has are added.
// Within a run paths are matched by their regions, between runs by the names of those.
func (t *Tree) Compare(ctx context.Context, other *Tree, anotherRun bool) error {
	name := func(g *trace.Region, id trace.RegionID) string {
		if anotherRun {
			return g.Name
		}
		return strconv.Itoa(int(id))
	}
	nodes := map[namedPath]int32{}
	for i := range t.Nodes {
		if err := stopped(ctx, i); err != nil {
			return err
		}
		n := &t.Nodes[i]
		k := namedPath{n.Parent, name(&t.Regions[n.Region], n.Region)}
		if _, ok := nodes[k]; !ok {
			nodes[k] = int32(i)
		}
	}
	regions := map[string]trace.RegionID{}
	if anotherRun {
		t.Regions = slices.Clone(t.Regions)
		for id := range t.Regions {
			if _, ok := regions[t.Regions[id].Name]; !ok {
				regions[t.Regions[id].Name] = trace.RegionID(id)
			}
		}
	}
	place := make([]int32, len(other.Nodes))
	values := make([]runfacts.Joined, len(t.Nodes))
	for i := range other.Nodes {
		if err := stopped(ctx, i); err != nil {
			return err
		}
		n := &other.Nodes[i]
		parent := n.Parent
		if parent >= 0 {
			parent = place[parent]
		}
		k := namedPath{parent, name(&other.Regions[n.Region], n.Region)}
		at, ok := nodes[k]
		if !ok {
			region := n.Region
			if anotherRun {
				if region, ok = regions[k.name]; !ok {
					region = trace.RegionID(len(t.Regions))
					t.Regions = append(t.Regions, other.Regions[n.Region])
					regions[k.name] = region
				}
			}
			var err error
			if at, err = t.add(ctx, Node{Parent: parent, Region: region}); err != nil {
				return err
			}
			nodes[k] = at
		}
		place[i] = at
		for int(at) >= len(values) {
			values = append(values, runfacts.Joined{})
		}
		values[at].Add(t.Join, n.Inclusive)
		t.Nodes[at].Other = values[at].Value(t.Join)
		t.Nodes[at].OtherCalls += n.Calls
	}
	return nil
}
