package kaleidoscope

import (
	"fmt"
	"slices"
	"sort"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A painter gives every call its colour.
type painter struct {
	result     *result
	paint      string
	ramp       string
	begin, end trace.Time // of the spectrum
	groups     []int32    // colour of each location
	names      []string   // of the colours
}

// painter begins the spectrum anew for a subtree.
func (r *result) painter() *painter {
	p := &painter{result: r, paint: r.request.Values.Text("paint"), ramp: "viridis", begin: r.forest.begin, end: r.forest.end}
	if r.strict {
		p.ramp = "spectrum"
	}
	if r.request.Values.Text("root") != "" {
		begin := r.forest.calls.Begin
		p.begin, p.end = begin[r.node(0)], begin[r.node(0)]
		for i := range r.drawn {
			p.end = max(p.end, begin[r.node(i)])
		}
	}
	if p.paint == "location" || p.paint == "both" {
		p.group()
	}
	return p
}

// hues is how many locations can be told apart by colour.
const hues = 12

// group gives locations colours of their own while they can be told apart, else
// those of the deepest level of the tree that has few enough groups. Where that
// says nothing, because nearly all calls are in one group, the next level is taken
// with its largest groups, or runs of neighbours where they are alike.
func (p *painter) group() {
	t := p.result.request.Store().Locations()
	weight := make([]int, t.Len())
	var used []trace.LocationID
	total := 0
	p.result.forest.calls.Locations(func(id trace.LocationID, calls int) {
		if weight[id] == 0 {
			used = append(used, id)
		}
		weight[id], total = weight[id]+calls, total+calls
	})
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
			if share(largest(groups, hues-1), total) > 0.6 {
				p.largest(groups)
				return
			}
			best = groups
		}
		break
	}
	p.neighbours(best)
}

// A locationGroup is a subtree with the number of its calls.
type locationGroup struct {
	top   trace.LocationID
	calls int
}

// groupsAt gives the subtrees at a level that hold calls, in order; deeper tells
// whether there is a level below.
func groupsAt(t *store.Tree, used []trace.LocationID, weight []int, level uint16) (groups []locationGroup, deeper bool) {
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

func share(part, whole int) float64 { return float64(part) / float64(max(whole, 1)) }

// neighbours gives groups their colours in order; past the last hue runs of them
// share one.
func (p *painter) neighbours(groups []locationGroup) {
	t := p.result.request.Store().Locations()
	each := (len(groups) + hues - 1) / hues
	p.groups = make([]int32, t.Len())
	for k, g := range groups {
		if k%each == 0 {
			name := t.Name[g.top]
			if last := groups[min(k+each, len(groups))-1].top; last != g.top {
				name += " … " + t.Name[last]
			}
			p.names = append(p.names, name)
		}
		p.fill(g.top, int32(k/each))
	}
}

// largest gives the largest groups colours of their own and the others the last one.
func (p *painter) largest(groups []locationGroup) {
	t := p.result.request.Store().Locations()
	sorted := slices.SortedStableFunc(slices.Values(groups), func(a, b locationGroup) int { return b.calls - a.calls })
	p.groups = make([]int32, t.Len())
	for k, g := range sorted {
		if k < hues-1 {
			p.names = append(p.names, t.Name[g.top])
		}
		p.fill(g.top, int32(min(k, hues-1)))
	}
	p.names = append(p.names, fmt.Sprintf("%d others", len(sorted)-hues+1))
}

func (p *painter) fill(top trace.LocationID, colour int32) {
	for id := top; id <= p.result.request.Store().Locations().Last[top]; id++ {
		p.groups[id] = colour
	}
}

func (p *painter) colour(i int) scene.Colour {
	calls, node := p.result.forest.calls, p.result.node(i)
	region := calls.Region[node]
	if region == trace.NoRegion {
		return scene.UIAggregate
	}
	switch p.paint {
	case "region":
		g := &p.result.request.Store().Regions()[region]
		return scene.RegionColour(g.Name, uint8(g.Role))
	case "time":
		return scene.Ramp(p.ramp, p.share(calls.Begin[node]))
	case "both":
		return scene.LocationTimeColour(int(p.groups[calls.Location(node)]), p.share(calls.Begin[node]))
	}
	return scene.LocationColour(int(p.groups[calls.Location(node)]))
}

func (p *painter) share(t trace.Time) float64 {
	if p.end <= p.begin {
		return 0
	}
	return min(max(float64(t-p.begin)/float64(p.end-p.begin), 0), 1)
}

func entry(label string, c scene.Colour) scene.LegendEntry {
	return scene.LegendEntry{Label: label, Colour: c, Region: scene.NoID, Parent: scene.NoID}
}

func (p *painter) legend() (out []scene.LegendEntry) {
	ramp := func(from, to scene.Colour) scene.LegendEntry {
		e := entry("begin", from)
		e.RampEnd, e.RampLow, e.RampHigh = to, view.FormatTime(p.begin), view.FormatTime(p.end)
		return e
	}
	switch p.paint {
	case "time":
		return append(out, ramp(scene.Ramp(p.ramp, 0), scene.Ramp(p.ramp, 1)))
	case "region":
		return p.regionLegend()
	case "both":
		for n, name := range p.names {
			out = append(out, entry(name, scene.LocationTimeColour(n, 0.5)))
		}
		return append(out, ramp(scene.LocationTimeColour(0, 0), scene.LocationTimeColour(0, 1)))
	}
	for n, name := range p.names {
		out = append(out, entry(name, scene.LocationColour(n)))
	}
	return out
}

// mostRegions is how many regions a legend names, those with most calls first.
const mostRegions = 18

func (p *painter) regionLegend() (out []scene.LegendEntry) {
	regions, total := p.result.request.Store().Regions(), p.result.forest.byRegion
	var ids []int
	for id := range regions {
		if total[id] > 0 {
			ids = append(ids, id)
		}
	}
	sort.SliceStable(ids, func(a, b int) bool { return total[ids[a]] > total[ids[b]] })
	for k, id := range ids {
		if k == mostRegions {
			return append(out, entry(fmt.Sprintf("+ %d more", len(ids)-k), scene.None))
		}
		e := entry(regions[id].Name, scene.RegionColour(regions[id].Name, uint8(regions[id].Role)))
		e.Region = uint32(id)
		out = append(out, e)
	}
	return out
}
