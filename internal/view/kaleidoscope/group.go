package kaleidoscope

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// hues is how many locations can be distinguished by colour.
const hues = 12

// group gives locations colours of their own while they can be distinguished, else those of
// the deepest level of the tree that has few enough groups. If nearly all calls are in
// one group, which says nothing, the next level is taken with its largest groups, or
// runs of neighbours if they are similar.
func (p *painter) group() {
	t, f := p.result.request.Store().Locations(), p.result.forest
	weight := make([]int, t.Len())
	total := 0
	f.calls.Locations(func(id trace.LocationID, calls int) {
		if p.paint == "processor" && f.processor != nil {
			if id = f.processor[id]; id == trace.NoLocation {
				p.restName = "no processor"
				return
			}
		}
		weight[id], total = weight[id]+calls, total+calls
	})
	var used []trace.LocationID
	for id, n := range weight {
		if n > 0 {
			used = append(used, trace.LocationID(id))
		}
	}
	var best []locationGroup
	for level := uint16(0); ; level++ {
		groups, deeper := groupsAt(t, used, weight, level)
		if len(groups) <= hues {
			best = groups
			if deeper {
				continue
			}
			break
		}
		if len(best) == 0 || share(largest(best, 1), total) > 0.9 {
			if !alike(groups) && share(largest(groups, hues), total) > 0.6 {
				p.largest(groups)
				return
			}
			best = groups
		}
		break
	}
	p.neighbours(best)
}

// newGroups gives every location the colour of no hue, until it has one.
func (p *painter) newGroups() {
	p.groups = make([]int32, p.result.request.Store().Locations().Len())
	for id := range p.groups {
		p.groups[id] = rest
	}
}

// A locationGroup is a subtree with the number of its calls.
type locationGroup struct {
	top   trace.LocationID
	calls int
}

// groupsAt returns the subtrees at a level that hold calls, in order; deeper reports whether there is a level below.
func groupsAt(t *store.Tree, used []trace.LocationID, weight []int, level uint16) (groups []locationGroup,
	deeper bool) {
	for _, id := range used {
		g := id
		for t.Level[g] > level && t.Parent[g] != trace.NoLocation {
			g = t.Parent[g]
		}
		deeper = deeper || g != id
		if n := len(groups); n == 0 || groups[n-1].top != g {
			groups = append(groups, locationGroup{top: g})
		}
		groups[len(groups)-1].calls += weight[id]
	}
	return groups, deeper
}

// largest is how many calls the n largest groups hold.
func largest(groups []locationGroup, n int) (calls int) {
	sorted := slices.SortedFunc(slices.Values(groups), func(a, b locationGroup) int { return b.calls - a.calls })
	for _, g := range sorted[:min(n, len(sorted))] {
		calls += g.calls
	}
	return calls
}

// alike reports whether no group has many more calls than most: ranks of one program,
// none of which is worth more than another.
func alike(groups []locationGroup) bool {
	sizes := make([]int, len(groups))
	for k, g := range groups {
		sizes[k] = g.calls
	}
	slices.Sort(sizes)
	return sizes[len(sizes)-1] <= 3*sizes[len(sizes)/2]
}

func share(part, whole int) float64 { return float64(part) / float64(max(whole, 1)) }

// neighbours gives groups their colours in order; past the last hue runs of them
// share one.
func (p *painter) neighbours(groups []locationGroup) {
	t := p.result.request.Store().Locations()
	each := (len(groups) + hues - 1) / hues
	p.newGroups()
	for k, g := range groups {
		if k%each == 0 {
			name := t.Name[g.top]
			if last := groups[min(k+each, len(groups))-1].top; last != g.top {
				name += " … " + t.Name[last]
			}
			p.names, p.tops = append(p.names, name), append(p.tops, g.top)
		}
		p.fill(g.top, int32(k/each))
	}
	if each > 1 {
		p.shared = fmt.Sprintf("%s %s share %d colours, neighbours %d to one",
			view.Thousands(int64(len(groups))), word(t, groups), len(p.names), each)
	}
}

// word names the groups: the kind of location, if all are of one, for many.
func word(t *store.Tree, groups []locationGroup) string {
	kind := t.Kind[groups[0].top]
	for _, g := range groups {
		if t.Kind[g.top] != kind {
			return "locations"
		}
	}
	if strings.HasSuffix(string(kind), "s") {
		return string(kind) + "es"
	}
	return string(kind) + "s"
}

// rest is the place of the colour of all that have none of their own: no hue at
// all, so that it cannot be taken for one of them.
const rest = -1

// largest gives the largest groups colours of their own, in their order in the
// tree, and all others one that is no hue.
func (p *painter) largest(groups []locationGroup) {
	t := p.result.request.Store().Locations()
	sorted := slices.SortedStableFunc(slices.Values(groups), func(a, b locationGroup) int { return b.calls - a.calls })
	large := map[trace.LocationID]bool{}
	for _, g := range sorted[:hues] {
		large[g.top] = true
	}
	p.newGroups()
	for _, g := range groups {
		if !large[g.top] {
			continue
		}
		p.fill(g.top, int32(len(p.names)))
		p.names, p.tops = append(p.names, t.Name[g.top]), append(p.tops, g.top)
	}
	p.restName = view.Thousands(int64(len(groups)-hues)) + " others"
	p.shared = fmt.Sprintf("the %d %s with most calls have a colour each, %s are grey", hues, word(t, groups),
		p.restName)
}

func (p *painter) fill(top trace.LocationID, colour int32) {
	for id := top; id <= p.result.request.Store().Locations().Last[top]; id++ {
		p.groups[id] = colour
	}
}

// hue is the colour of a location, at a share of the time where both are painted.
func (p *painter) hue(id trace.LocationID, at float64) scene.Colour {
	k := int(p.groups[id])
	switch {
	case k == rest:
		return scene.UIAggregate
	case p.paint == "both":
		return scene.LocationTimeColour(k, at)
	}
	return p.hues[k]
}

// groupColour is that of a group: a service has its own, the same in every view.
func (p *painter) groupColour(k int) scene.Colour {
	if c, ok := p.result.colours.OfService(p.tops[k]); ok {
		return c
	}
	return scene.LocationColour(k)
}
