package kaleidoscope

import (
	"fmt"
	"math"
	"sort"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// mostDrawn bounds how many nodes a scene holds.
const mostDrawn = 60000

// A place is where a node was drawn.
type place struct {
	x, y float64
	node int32
}

// Scene draws families: a call and its calls as one filled shape, a line where
// there is only one.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", fmt.Sprintf("Kaleidoscope of %s calls on %d levels, %s drawn, painted by %s.",
		view.Thousands(int64(len(r.calls.Calls))), r.height, view.Thousands(int64(r.count)), r.request.Values.Text("paint")))
	s.AddFrame(scene.Frame{Name: "main", W: float32(size.Width), H: float32(size.Height)})
	r.scale = float64(min(size.Width, size.Height)) / float64(max(min(r.request.Size.Width, r.request.Size.Height), 1))
	d := float64(r.ring) * r.scale
	drawn, count := r.drawn, r.count
	for least := d; count > mostDrawn; {
		least /= 2 // sectors of less than two, four … pixels
		drawn, count = r.visible(least)
	}
	cx, cy := float64(size.Width)/2, float64(size.Height)/2
	r.places = r.places[:0]
	at := make([]int32, len(drawn)) // place of each node + 1
	for i, is := range drawn {
		if !is {
			continue
		}
		x, y := r.layout.At(i, d)
		r.places = append(r.places, place{cx + x, cy + y, int32(i)})
		at[i] = int32(len(r.places))
	}
	p := r.painter()
	s.AddLayer("families", 0, r.families(at, p)...)
	s.Legend = p.legend()
	s.Notes = r.Notes()
	return s
}

// families gathers each drawn node with its drawn children. Children are in the
// order of the tree, so one pass over the nodes fills the lists.
func (r *result) families(at []int32, p *painter) []scene.Mark {
	children := make([][]int32, len(r.places))
	for k, pl := range r.places {
		if up := r.layout.Tree.Parent[pl.node]; up >= 0 && at[up] > 0 {
			children[at[up]-1] = append(children[at[up]-1], int32(k))
		}
	}
	shapes, lines, leaves := &scene.Polygon{}, &scene.Line{Width: 1}, &scene.Point{}
	var xs, ys []float32
	for k, list := range children {
		me := r.places[k]
		colour := p.colour(int(me.node))
		switch {
		case len(list) == 0:
			if r.layout.Arc(int(me.node), float64(r.ring)*r.scale) >= 3 {
				leaves.Add(float32(me.x), float32(me.y), 1.5, colour)
			}
		case len(list) == 1:
			c := r.places[list[0]]
			lines.Add(float32(me.x), float32(me.y), float32(c.x), float32(c.y), colour)
		default:
			xs, ys = append(xs[:0], float32(me.x)), append(ys[:0], float32(me.y))
			for _, c := range list {
				xs, ys = append(xs, float32(r.places[c].x)), append(ys, float32(r.places[c].y))
			}
			shapes.Add(xs, ys, colour)
		}
	}
	return []scene.Mark{shapes, lines, leaves}
}

// A painter gives every call its colour.
type painter struct {
	result     *result
	paint      string
	ramp       string
	begin, end trace.Time
	groups     map[trace.LocationID]int // colour of each location, or of the group above it
	names      []string
	total      map[trace.RegionID]int // calls by region
}

func (r *result) painter() *painter {
	p := &painter{result: r, paint: r.request.Values.Text("paint"), ramp: "viridis"}
	if r.request.Values.Switch("paper") {
		p.ramp = "spectrum"
	}
	p.begin, p.end = math.MaxInt64, math.MinInt64
	p.total = map[trace.RegionID]int{}
	for _, i := range r.origin {
		c := &r.calls.Calls[i]
		if c.Region == trace.NoRegion {
			continue
		}
		p.begin, p.end = min(p.begin, c.Begin), max(p.end, c.Begin)
		p.total[c.Region]++
	}
	p.group()
	return p
}

// hues is how many locations can be told apart by colour.
const hues = 12

// group gives locations colours of their own while they can be told apart, else
// those of the highest level of the tree that has few enough.
func (p *painter) group() {
	t := p.result.request.Store().Locations()
	var used []trace.LocationID
	seen := map[trace.LocationID]bool{}
	for _, i := range p.result.origin {
		if l := p.result.calls.Calls[i].Location; l != trace.NoLocation && !seen[l] {
			seen[l] = true
		}
	}
	for id := range t.Len() {
		if seen[trace.LocationID(id)] {
			used = append(used, trace.LocationID(id))
		}
	}
	above := func(id trace.LocationID, level uint16) trace.LocationID {
		for t.Level[id] > level && t.Parent[id] != trace.NoLocation {
			id = t.Parent[id]
		}
		return id
	}
	level := uint16(0)
	for l := uint16(0); l < 64; l++ {
		groups := map[trace.LocationID]bool{}
		for _, id := range used {
			groups[above(id, l)] = true
		}
		if len(groups) > hues && l > 0 {
			break
		}
		level = l
	}
	p.groups = map[trace.LocationID]int{}
	number := map[trace.LocationID]int{}
	for _, id := range used {
		g := above(id, level)
		n, ok := number[g]
		if !ok {
			n = len(number)
			number[g] = n
			p.names = append(p.names, t.Name[g])
		}
		p.groups[id] = n
	}
}

func (p *painter) colour(i int) scene.Colour {
	c := p.result.call(i)
	if c.Region == trace.NoRegion {
		return scene.UIAggregate
	}
	switch p.paint {
	case "region":
		g := &p.result.request.Store().Regions()[c.Region]
		return scene.RegionColour(g.Name, uint8(g.Role))
	case "time", "both":
		return scene.Ramp(p.ramp, p.share(c.Begin))
	}
	return scene.LocationColour(p.groups[c.Location] % hues)
}

func (p *painter) share(t trace.Time) float64 {
	if p.end <= p.begin {
		return 0
	}
	return float64(t-p.begin) / float64(p.end-p.begin)
}

func (p *painter) legend() (out []scene.LegendEntry) {
	entry := func(label string, c scene.Colour) scene.LegendEntry {
		return scene.LegendEntry{Label: label, Colour: c, Region: scene.NoID, Parent: scene.NoID}
	}
	switch p.paint {
	case "time", "both":
		e := entry("begin", scene.Ramp(p.ramp, 0))
		e.RampEnd, e.RampLow, e.RampHigh = scene.Ramp(p.ramp, 1), view.FormatTime(p.begin), view.FormatTime(p.end)
		return append(out, e)
	case "region":
		return p.regionLegend(entry)
	}
	for n, name := range p.names {
		out = append(out, entry(name, scene.LocationColour(n%hues)))
	}
	return out
}

// mostRegions is how many regions a legend names, those with most calls first.
const mostRegions = 18

func (p *painter) regionLegend(entry func(string, scene.Colour) scene.LegendEntry) (out []scene.LegendEntry) {
	regions := p.result.request.Store().Regions()
	var ids []int
	for id := range regions {
		if p.total[trace.RegionID(id)] > 0 {
			ids = append(ids, id)
		}
	}
	sort.SliceStable(ids, func(a, b int) bool { return p.total[trace.RegionID(ids[a])] > p.total[trace.RegionID(ids[b])] })
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
