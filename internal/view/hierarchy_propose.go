package view

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/ranks"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// mostFlat is how many places of a hierarchy may lie side by side before groups
// are put in: more cells than that are read as texture, and nothing can be aggregated
// but all of them.
const mostFlat = 128

// mostBlocks is how many of the blocks that are put in lie side by side.
const mostBlocks = 64

// Finders are the kernels that find groups of locations.
type Finders struct {
	Alike     GroupFinder
	Groupings GroupingFinder
}

// A Grouped is a hierarchy of locations, and the groupings that it was chosen from.
type Grouped struct {
	*Hierarchy
	Groupings []Grouping
	Note      string // says which groups are not those of the source's tree
}

// Hierarchy makes the hierarchy that --hierarchy asks for, or that of an arrangement.
// Unless the user asks for the source's tree as it is, another grouping that explains
// much more of how ranks differ takes its place; where the tree is flat, groups are put
// in: by host, place in a topology, name, rank, or likeness.
func (r *Request) Hierarchy(ctx context.Context, a Arranged, f Finders, holds []bool) (out Grouped, err error) {
	rule := r.Values.Text("hierarchy")
	h, err := HierarchyOf(a.Arrangement(), rule, r.Store().Locations(), r.Selection.Locations, holds)
	if err != nil {
		return out, err
	}
	found, err := ScoresOfRun(f.Groupings).Of(ctx, &r.Runs[0])
	if err != nil {
		return out, err
	}
	own := a.Arrangement() == nil && ownTree(rule)
	out = Grouped{Hierarchy: h, Groupings: found.list()}
	level := r.Values.Text("group") // a level by name is one of the source's tree
	if !own || rule == "tree" || level != "" && level != "optimal" && level != "all" {
		out.use(0, own)
		return out, nil
	}
	if k := found.leading(); k > 0 {
		groups, err := groupingsOf(ctx, &r.Runs[0], f.Groupings)
		if err != nil {
			return out, err
		}
		grouped := groups.hierarchy(k, r.Store().Locations(), r.Selection.Locations, holds)
		if grouped.Leaves == h.Leaves { // not if overlays are selected
			out.Hierarchy, out.Note = grouped, found.note(k)
			out.use(k, true)
			return out, nil
		}
	}
	out.use(0, true)
	if h.Leaves > mostFlat {
		p := &proposer{ctx: ctx, run: &r.Runs[0], find: f.Alike, old: h}
		out.Hierarchy, out.Note, err = p.rebuild()
	}
	return out, err
}

// A proposer puts groups into a hierarchy.
type proposer struct {
	ctx   context.Context
	run   *Run
	find  GroupFinder
	old   *runfacts.Hierarchy
	h     *runfacts.Hierarchy
	said  []string
	alike *Arrangement // once it was asked for
}

// A nest is a group that is put in: others, or nodes of the old hierarchy.
type nest struct {
	name string
	kids []*nest
	node int32 // if there are no kids
}

func (p *proposer) rebuild() (*runfacts.Hierarchy, string, error) {
	o := p.old
	p.h = &runfacts.Hierarchy{Tree: o.Tree, LeafOf: slices.Repeat([]int32{-1}, len(o.LeafOf)), Leaves: o.Leaves,
		Made: map[int32]string{}}
	p.h.Grow(o.Len())
	err := p.walk(0, -1)
	if err != nil || len(p.said) == 0 {
		return o, "", err
	}
	p.h.Close()
	return p.h, fmt.Sprintf("%s; --hierarchy tree leaves them as they are", p.said[0]), nil
}

// walk copies a node and its descendants, with groups if it is flat.
func (p *proposer) walk(i, parent int32) error {
	o := p.old
	at := p.h.Add(parent, o.Location[i], o.Self[i])
	if name := o.Made[i]; name != "" {
		p.h.Made[at] = name
	}
	if o.Last[i] == i {
		p.h.LeafOf[o.Location[i]] = at
		return nil
	}
	flat := 0
	for c := i + 1; c <= o.Last[i]; c = o.Last[c] + 1 {
		flat++
	}
	if flat > mostFlat {
		nests, children := make([]nest, 0, flat), make([]*nest, 0, flat)
		for c := i + 1; c <= o.Last[i]; c = o.Last[c] + 1 {
			nests = append(nests, nest{node: c})
			children = append(children, &nests[len(nests)-1])
		}
		groups, by, err := p.group(children)
		if err != nil {
			return err
		}
		if groups != nil {
			kind := o.Kind(children[0].node)
			p.said = append(p.said,
				fmt.Sprintf("%s lie beside each other and are grouped by %s", Count(len(children), kind), by))
			return p.emit(groups, at)
		}
	}
	for c := i + 1; c <= o.Last[i]; c = o.Last[c] + 1 {
		if err := p.walk(c, at); err != nil {
			return err
		}
	}
	return nil
}

func (p *proposer) emit(list []*nest, parent int32) error {
	for _, n := range list {
		if n.kids == nil {
			if err := p.walk(n.node, parent); err != nil {
				return err
			}
			continue
		}
		at := p.h.Add(parent, trace.NoLocation, false)
		p.h.Made[at] = n.name
		if err := p.emit(n.kids, at); err != nil {
			return err
		}
	}
	return nil
}

// group finds groups of nodes by the first property that distinguishes them and is not
// their own name: by says which.
func (p *proposer) group(list []*nest) (groups []*nest, by string, err error) {
	t := p.old.Tree
	location := func(n *nest) trace.LocationID { return p.old.Location[n.node] }
	for _, n := range list {
		if location(n) == trace.NoLocation {
			return nil, "", nil
		}
	}
	for _, key := range ranks.HostAttributes {
		if g := divide(list, func(n *nest) string { return runfacts.Attribute(t, location(n), key) }); g != nil {
			return blocked(g, key+"s"), "the attribute " + key, nil
		}
	}
	for _, top := range p.run.Store.Topologies() {
		if g := p.byTopology(&top, list); g != nil {
			return blocked(g, "places"), "their place in the topology " + top.Name, nil
		}
	}
	for _, sep := range []string{"/", ".", ":", "-", "_"} {
		g := divide(list, func(n *nest) string {
			name := t.Name[location(n)]
			if k := strings.LastIndex(name, sep); k > 0 {
				return name[:k]
			}
			return ""
		})
		if g != nil {
			return blocked(g, "names"), fmt.Sprintf("their names up to %q", sep), nil
		}
	}
	if g := p.byRank(list); g != nil {
		return g, fmt.Sprintf("blocks of %d ranks", blockSize(len(list))), nil
	}
	if g, err := p.byLikeness(list); err != nil || g != nil {
		return g, "how alike they behave", err
	}
	return blocked(list, ""), fmt.Sprintf("blocks of %d in their order", blockSize(len(list))), nil
}

// divide groups nodes by a name, in the order of their first members. Names must distinguish at least two groups, of
// two members on average, and every node has one.
func divide(list []*nest, name func(*nest) string) []*nest {
	return divideBy(list, func(n *nest) (string, bool) { key := name(n); return key, key != "" },
		func(key string) string { return key })
}

// divideBy is divide by any key: false if a node has none.
func divideBy[K comparable](list []*nest, keyOf func(*nest) (K, bool), name func(K) string) []*nest {
	at := map[K]*nest{}
	var out []*nest
	for _, n := range list {
		key, ok := keyOf(n)
		if !ok {
			return nil
		}
		g := at[key]
		if g == nil {
			g = &nest{name: name(key)}
			at[key], out = g, append(out, g)
		}
		g.kids = append(g.kids, n)
	}
	if len(out) < 2 || len(out) > len(list)/2 {
		return nil
	}
	return out
}

// blockSize makes as many blocks as a block has members, or three such levels.
func blockSize(n int) int {
	root := math.Sqrt(float64(n))
	if n > mostBlocks*mostBlocks {
		root = math.Cbrt(float64(n))
	}
	return 1 << int(math.Round(math.Log2(root)))
}

// blocked puts blocks of neighbours over a list while it is too long; the parameter what
// names their kind.
func blocked(list []*nest, what string) []*nest {
	for first := what == ""; len(list) > mostBlocks || first; first = false {
		size := blockSize(len(list))
		var out []*nest
		for from := 0; from < len(list); from += size {
			to := min(from+size, len(list))
			out = append(out,
				&nest{name: strings.TrimSpace(fmt.Sprintf("%s %d-%d", what, from+1, to)), kids: list[from:to]})
		}
		list = out
	}
	return list
}

// byRank makes blocks of ranks, where every node has one of its own.
func (p *proposer) byRank(list []*nest) []*nest {
	t := p.old.Tree
	rank := func(n *nest) int { return int(t.Rank[p.old.Location[n.node]]) }
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b *nest) int { return cmp.Compare(rank(a), rank(b)) })
	for i, n := range sorted {
		if rank(n) < 0 || i > 0 && rank(n) == rank(sorted[i-1]) {
			return nil
		}
	}
	for size := blockSize(len(list)); len(sorted) > mostBlocks ||
		size == blockSize(len(list)); size *= blockSize(len(list)) {
		first := func(n *nest) int { // the rank that its block begins with
			for n.kids != nil {
				n = n.kids[0]
			}
			return rank(n) / size * size
		}
		var out []*nest
		for _, n := range sorted {
			if k := len(out); k == 0 || first(out[k-1].kids[0]) != first(n) {
				out = append(out, &nest{name: fmt.Sprintf("ranks %d-%d", first(n), first(n)+size-1)})
			}
			g := out[len(out)-1]
			g.kids = append(g.kids, n)
		}
		sorted = out
	}
	return sorted
}

// byTopology nests nodes by all coordinates but the last, where every node has a place.
func (p *proposer) byTopology(top *trace.Topology, list []*nest) []*nest {
	if len(top.Dims) < 2 {
		return nil
	}
	t := p.old.Tree
	place := make([]int32, t.Len()) // by location: its coordinate, plus one
	for i, c := range top.Coordinates {
		place[c.Location] = int32(i) + 1
		for up := t.Parent[c.Location]; up != trace.NoLocation && t.Rank[up] == t.Rank[c.Location] &&
			t.Rank[up] >= 0; up = t.Parent[up] {
			if place[up] == 0 {
				place[up] = int32(i) + 1
			}
		}
	}
	var nested func(list []*nest, dim int) []*nest
	nested = func(list []*nest, dim int) []*nest {
		if dim >= len(top.Dims)-1 {
			return list
		}
		groups := divideBy(list, func(n *nest) (int, bool) {
			k := place[p.old.Location[n.node]]
			if k == 0 || dim >= len(top.Coordinates[k-1].At) {
				return 0, false
			}
			return top.Coordinates[k-1].At[dim], true
		}, func(x int) string {
			if dim < len(top.DimNames) && top.DimNames[dim] != "" {
				return fmt.Sprintf("%s %d", top.DimNames[dim], x)
			}
			return fmt.Sprintf("dimension %d at %d", dim+1, x)
		})
		if groups == nil {
			return nested(list, dim+1)
		}
		for _, g := range groups {
			g.kids = nested(g.kids, dim+1)
		}
		return groups
	}
	if out := nested(list, 0); len(out) < len(list) {
		return out
	}
	return nil
}

// byLikeness makes groups of nodes that behave alike.
func (p *proposer) byLikeness(list []*nest) ([]*nest, error) {
	if p.find == nil {
		return nil, nil
	}
	if p.alike == nil {
		var err error
		if p.alike, err = usualArranging().find(p.ctx, p.run, p.find); err != nil {
			return nil, err
		}
	}
	groups := divide(list, func(n *nest) string {
		if g := p.alike.Group(p.old.Location[n.node]); g >= 0 {
			return p.alike.Groups[g].Name
		}
		return "no group"
	})
	for _, g := range groups {
		g.kids = blocked(g.kids, "members")
	}
	return groups, nil
}
