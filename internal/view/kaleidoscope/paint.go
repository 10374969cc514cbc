package kaleidoscope

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A painter gives every call its colour.
type painter struct {
	result     *result
	paint      string
	ramp       string
	begin, end trace.Time         // of the spectrum
	scale      scale              // of depth, duration or children
	groups     []int32            // colour of each location, see group.go
	names      []string           // of the colours
	tops       []trace.LocationID // of the colours: the first of their groups
	restName   string             // of locations without a hue
	hues       []scene.Colour     // of groups
	regions    []atomic.Uint32    // colours of regions that were asked for, plus one
	shared     string             // meaning of colours of locations if they are too many

	// Drawn so far: colours of locations, and square pixels of each region.
	seen  map[int32]bool
	marks map[trace.RegionID]float64
}

func (r *result) ramp() string {
	if r.paper {
		return "spectrum"
	}
	return r.request.Values.Text("palette")
}

// spectrum is the time over which colours run: when the first and the last call of the tree, or of the subtree, begin.
func (r *result) spectrum() (begin, end trace.Time) {
	if r.root < 0 {
		return r.forest.begin, r.forest.end
	}
	if r.forest.calls.Joined() { // of one lane, whose calls come by their begin
		last := int32(r.detail.outline.Len() - 1)
		return r.forest.node(r.detail.node(0)).Begin, r.forest.node(r.detail.node(last)).Begin
	}
	all := r.forest.calls.Begin
	node, n := r.node, r.layout.Tree.Len()
	if r.detail != nil {
		node, n = func(i int) int32 { return r.detail.node(int32(i)) }, r.detail.outline.Len()
	}
	begin, end = all[node(0)], all[node(0)]
	for i := range n {
		end = max(end, all[node(i)])
	}
	return begin, end
}

// timeLimit describes how much time one colour is: calls of the same colour need not have begun together.
func (r *result) timeLimit() string {
	begin, end := r.spectrum()
	colours := scene.RampSection(r.ramp()).Length
	switch r.paint {
	case "time":
	case "both":
		colours = scene.LocationShades()
	default:
		return ""
	}
	if end-begin < trace.Time(colours) {
		return ""
	}
	return fmt.Sprintf("one colour is %s: equal colours are not equal times",
		view.FormatTime((end-begin)/trace.Time(colours-1)))
}

// painter begins the spectrum anew for a subtree.
func (r *result) painter(ctx context.Context) (*painter, error) {
	p := &painter{result: r, paint: r.paint, ramp: r.ramp()}
	p.begin, p.end = r.spectrum()
	var err error
	if p.scale, err = r.forest.scaleOf(ctx, p.paint); err != nil {
		return nil, err
	}
	if p.paint == "location" || p.paint == "both" || p.paint == "processor" {
		p.group()
		for k := range p.names {
			p.hues = append(p.hues, p.groupColour(k))
		}
	}
	if p.paint == "region" {
		p.regions = make([]atomic.Uint32, len(r.forest.regions))
	}
	return p.clean(), nil
}

// clean forgets what was drawn.
func (p *painter) clean() *painter {
	p.seen, p.marks = map[int32]bool{}, map[trace.RegionID]float64{}
	return p
}

// regionColour is the colour of a region. Names are compared once for each.
func (p *painter) regionColour(id trace.RegionID) scene.Colour {
	if c := p.regions[id].Load(); c != 0 {
		return scene.Colour(c - 1)
	}
	c := p.result.colours.Of(&p.result.forest.regions[id])
	p.regions[id].Store(uint32(c) + 1)
	return c
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return view.Thousands(int64(n)) + " " + many
}

func mostFirst[N int | float64](count map[trace.RegionID]N) []trace.RegionID {
	return slices.SortedFunc(maps.Keys(count), func(a, b trace.RegionID) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
}

func (p *painter) colour(i int) scene.Colour { return p.colourOf(p.result.nodeOf(i)) }

// facts are those that a painting takes of a call.
func (r *result) facts() (f invocation.Facts) {
	switch r.paint {
	case "region":
		f = invocation.OfRegion
	case "time", "both", "duration":
		f = invocation.OfTime
	case "depth", "children":
		f = invocation.OfLevel
	}
	if r.until < r.forest.end {
		f |= invocation.OfTime
	}
	if r.light.on {
		f |= invocation.OfRegion | invocation.OfTime
	}
	return f
}

// colourOf returns the colour of a node of the forest.
func (p *painter) colourOf(n *invocation.Node) scene.Colour {
	if n.Region == trace.NoRegion {
		return scene.UIAggregate
	}
	switch p.paint {
	case "region":
		return p.regionColour(n.Region)
	case "time", "depth", "duration", "children":
		return scene.Ramp(p.ramp, p.magnitude(n))
	case "processor":
		return p.hue(p.result.forest.ranBy(n.Location), 0)
	}
	return p.hue(n.Location, p.share(n.Begin))
}

// saw notes that a mark that looks like node i takes so many square pixels, for the legend.
func (p *painter) saw(i int32, area float64) { p.sawNode(p.result.nodeOf(int(i)), area) }

// seen is at most the area of the picture: marks reach far out of it.
func (d *drawing) seen(area float64) float64 { return min(area, float64(d.size.Width*d.size.Height)) }

func (p *painter) sawNode(n *invocation.Node, area float64) {
	switch {
	case n.Region == trace.NoRegion:
	case p.paint == "region":
		p.marks[n.Region] += area
	case p.paint == "processor":
		p.seen[p.groups[p.result.forest.ranBy(n.Location)]] = true
	case p.paint == "location" || p.paint == "both":
		p.seen[p.groups[n.Location]] = true
	}
}

func (p *painter) share(t trace.Time) float64 {
	if p.end <= p.begin {
		return 0
	}
	return min(max(float64(t-p.begin)/float64(p.end-p.begin), 0), 1)
}

// ramps reports whether colours are magnitudes.
func (p *painter) ramps() bool { return p.paint == "time" || p.scale.text != nil }

// magnitude of a node, as a share of the ramp.
func (p *painter) magnitude(n *invocation.Node) float64 {
	if p.paint == "time" {
		return p.share(n.Begin)
	}
	return p.scale.share(p.result.forest.value(p.paint, n))
}

func (p *painter) legend() (out []scene.LegendEntry) {
	ramp := func(from, to scene.Colour) scene.LegendEntry {
		e := plot.Key("begin", from)
		e.RampEnd, e.RampLow, e.RampHigh = to, view.FormatTime(p.begin), view.FormatTime(p.end)
		return e
	}
	switch p.paint {
	case "time":
		return append(out, ramp(scene.Ramp(p.ramp, 0), scene.Ramp(p.ramp, 1)))
	case "depth", "duration", "children":
		return append(out, p.scale.key(p.paint, p.ramp))
	case "region":
		return p.regionLegend()
	}
	for n, name := range p.names {
		switch {
		case !p.seen[int32(n)]:
		case p.paint == "both":
			out = append(out, plot.Key(name, scene.LocationTimeColour(n, 0.5)))
		default:
			out = append(out, plot.Key(name, p.groupColour(n)))
		}
	}
	if p.seen[rest] {
		out = append(out, plot.Key(p.restName, scene.UIAggregate))
	}
	if p.paint == "both" {
		out = append(out, ramp(scene.LocationTimeColour(0, 0), scene.LocationTimeColour(0, 1)))
	}
	return out
}

// mostRegions is how many regions a legend names, those with the largest part of the picture first.
const mostRegions = 18

// regionLegend names regions; those that share the colour of another one come last.
func (p *painter) regionLegend() (out []scene.LegendEntry) {
	regions := p.result.request.Store().Regions()
	var repeated []scene.LegendEntry
	seen := map[scene.Colour]bool{}
	for _, id := range mostFirst(p.marks) {
		e := plot.Key(regions[id].Name, p.result.colours.Of(&regions[id]))
		e.Region = uint32(id)
		if seen[e.Colour] {
			repeated = append(repeated, e)
			continue
		}
		seen[e.Colour] = true
		out = append(out, e)
	}
	out = append(out, repeated...)
	if more := len(out) - mostRegions; more > 0 {
		out = append(out[:mostRegions], plot.Key(fmt.Sprintf("+ %d more", more), scene.None))
	}
	return out
}
