package kaleidoscope

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/view"
)

// lastLevel is the outermost level that an item is drawn on.
func (r *sunburst) lastLevel(it *invocation.Item) int32 {
	if it.Merged {
		return it.Deepest
	}
	return it.Level + r.sight.Band - 1
}

// Scene draws each path as a sector of its ring, and runs of paths that are narrower than a pixel as one.
func (r *sunburst) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", "")
	s.AddFrame(scene.Frame{Name: "call paths", W: float32(size.Width), H: float32(size.Height)})
	r.look(size)
	r.scale = newScale(r.paint, r.format)
	for i := range r.shown.paths {
		r.scale.add(r.painted(int32(i)))
	}
	sectors := &scene.Polygon{}
	seen := map[int32]float64{} // of regions, in what is drawn of them
	for k := range r.items {
		it := &r.items[k]
		colour, flag := r.colourOf(it.First), r.flagOf(it.First)
		if it.Merged {
			colour, flag = r.mixed(it)
		} else if p := &r.shown.paths[it.First]; p.region >= 0 {
			seen[p.region] += it.Alloc
		}
		from, to := r.d*float64(it.Level), r.d*float64(r.lastLevel(it)+1)
		xs, ys := wedge(it, from, to, r.cx, r.cy, &r.sight)
		addPolygon(sectors, xs, ys, colour, flag, size)
	}
	s.AddLayer("sectors", 0, sectors)
	level, turned := r.labels()
	s.AddLayer("labels", 0, level, turned)
	if len(r.items) == 0 {
		s.AddLayer("beyond", 0, beyondCalls(size))
	}
	whole := &scene.Rect{}
	whole.AddAim(0, 0, float32(size.Width), float32(size.Height), s.Place(ofPicture, size.Width, size.Height))
	s.AddLayer("paths", 0, whole)
	s.Terms, s.Legend, s.Notes = r.trail(), r.legend(seen), r.Notes()
	of := ""
	if r.two() {
		of = fmt.Sprintf(" of %s and %s", r.names[0], r.names[1])
	}
	s.Description = fmt.Sprintf("Kaleidoscope of %s call paths%s on %d rings, as wide as their %s, painted by %s; %s "+
		"sectors are drawn.", view.Thousands(int64(len(r.whole.paths)-1)), of, r.outline.Height, r.whole.metric.Name,
		r.paint, view.Thousands(int64(len(r.items))))
	return s
}

// painted is the value of a path that its colour shows, if that is a magnitude.
func (r *sunburst) painted(i int32) float64 {
	switch r.paint {
	case "depth":
		return float64(r.outline.Level(i))
	case "duration":
		return r.shown.paths[i].share
	case "children":
		return float64(r.callees(i))
	}
	return 0
}

func (r *sunburst) callees(i int32) (n int) {
	for c, end := i+1, r.outline.End(i); c < end; c = r.outline.End(c) {
		n++
	}
	return n
}

// colourOf returns the colour of a path that is shown.
func (r *sunburst) colourOf(i int32) scene.Colour {
	p := &r.shown.paths[i]
	switch r.paint {
	case "region":
		if p.region < 0 {
			return scene.UIAggregate
		}
		return r.colours.Of(&r.whole.regions[p.region])
	case "change":
		return scene.Ramp("diverging", 0.5+r.whole.paths[r.origin[i]].change()/2)
	}
	return scene.Ramp(r.request.Values.Text("palette"), r.scale.share(r.painted(i)))
}

func (r *sunburst) flagOf(i int32) scene.Flag {
	if region := r.shown.paths[i].region; r.chosen != nil &&
		(region < 0 || int(region) >= len(r.chosen) || !r.chosen[region]) {
		return scene.Dimmed
	}
	return 0
}

// mixed is the colour of most that a merged sector stands for; grey if none has half of it. Of changes it is that of
// the sums.
func (r *sunburst) mixed(it *invocation.Item) (scene.Colour, scene.Flag) {
	of, total, flag := map[scene.Colour]float64{}, 0.0, scene.Dimmed
	var sum path
	invocation.Sample(it.First, it.End, mostMixed, func(i int32) {
		p := &r.whole.paths[r.origin[i]]
		of[r.colourOf(i)] += r.own[i]
		total += r.own[i]
		sum.inclusive, sum.other = sum.inclusive+p.exclusive, sum.other+p.otherOwn
		flag &= r.flagOf(i)
	})
	if r.paint == "change" {
		return scene.Ramp("diverging", 0.5+sum.change()/2), flag
	}
	for c, own := range of {
		if 2*own > total {
			return c, flag
		}
	}
	return scene.UIAggregate, flag
}

// legend names the regions with the widest sectors, or the ends of the scale.
func (r *sunburst) legend(seen map[int32]float64) (out []scene.LegendEntry) {
	switch r.paint {
	case "change":
		return []scene.LegendEntry{plot.RampKey(r.whole.metric.Name, "diverging", "less in "+r.names[1],
			"more in "+r.names[1])}
	case "depth", "duration", "children":
		return []scene.LegendEntry{r.scale.key(r.paint, r.request.Values.Text("palette"))}
	}
	ids := make([]int32, 0, len(seen))
	for id := range seen {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b int32) int { return cmp.Or(cmp.Compare(seen[b], seen[a]), cmp.Compare(a, b)) })
	own := len(r.request.Store().Regions())
	for _, id := range ids[:min(len(ids), mostRegions)] {
		g := &r.whole.regions[id]
		e := plot.Key(g.Name, r.colours.Of(g))
		if int(id) < own {
			e.Region = uint32(id)
		}
		out = append(out, e)
	}
	if more := len(ids) - len(out); more > 0 {
		out = append(out, plot.Key(fmt.Sprintf("+ %d more", more), scene.None))
	}
	return out
}

// labels writes names into sectors that have room for them: level, or upwards where that is longer.
func (r *sunburst) labels() (level, turned *scene.Text) {
	n := newNames(circles{&r.sight, r.size, r.cx, r.cy, r.d})
	var list []named
	for k := range r.items {
		if it := &r.items[k]; !it.Merged {
			list = append(list, named{it, r.name(it.First), scene.InkFor(r.colourOf(it.First), r.flagOf(it.First))})
		}
	}
	n.write(list)
	return n.level, n.turned
}
