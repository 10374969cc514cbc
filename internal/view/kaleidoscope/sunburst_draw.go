package kaleidoscope

import (
	"cmp"
	"fmt"
	"math"
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

const (
	// mostNamed bounds how many sectors are looked at for a name: the largest ones.
	mostNamed = 160
	// leastName is the least width of a name, in pixels.
	leastName = 26
	// halfLine is half the height of a name.
	halfLine = scene.TextSize * 0.55
)

// labels writes names into sectors that have room for them: level, or upwards where that is longer.
func (r *sunburst) labels() (level, turned *scene.Text) {
	level, turned = &scene.Text{Size: scene.TextSize}, &scene.Text{Size: scene.TextSize, Turned: true}
	if r.d*float64(r.sight.Band) < 2*halfLine+2 {
		return level, turned
	}
	var large []int
	for k := range r.items {
		it := &r.items[k]
		if !it.Merged && it.Alloc*math.Pi/180*r.d*(float64(it.Level)+0.5) > 2*halfLine {
			large = append(large, k)
		}
	}
	slices.SortStableFunc(large, func(a, b int) int { return cmp.Compare(r.items[b].Alloc, r.items[a].Alloc) })
	for _, k := range large[:min(len(large), mostNamed)] {
		it := &r.items[k]
		name := r.name(it.First)
		need := float64(scene.TextWidth(name, scene.TextSize, false))/2 + 3
		at, half, up := r.room(it, need)
		short := scene.Shorten(name, float32(2*half-4), scene.TextSize)
		if half < need && (2*half < leastName || short == "") {
			continue
		}
		ink := scene.InkFor(r.colourOf(it.First), r.flagOf(it.First))
		if up {
			turned.Add(float32(at.x)+scene.TextSize*0.35, float32(at.y), short, ink, scene.Middle)
		} else {
			level.Add(float32(at.x), float32(at.y)+scene.TextSize*0.35, short, ink, scene.Middle)
		}
	}
	return level, turned
}

// room finds the place in a sector with most room for a line of text, at most as much as it needs.
func (r *sunburst) room(it *invocation.Item, need float64) (at point, half float64, up bool) {
	near, far := r.d*float64(it.Level), r.d*float64(it.Level+r.sight.Band)
	if it.Level == 0 {
		near = 0
	}
	const steps = 36
	angles := []float64{}
	for _, axis := range []float64{90, 270, 0, 180, 360} { // where a ring runs level or upwards
		if axis > it.Start && axis < it.Start+it.Alloc {
			angles = append(angles, axis)
		}
	}
	for k := range steps {
		angles = append(angles, it.Start+it.Alloc*(float64(k)+0.5)/steps)
	}
	for _, angle := range angles {
		angle *= math.Pi / 180
		sin, cos := math.Sincos(angle)
		mid := (near + far) / 2
		for _, radius := range []float64{mid, near + halfLine + 1.2, mid - 0.15*(far-near), mid + 0.15*(far-near)} {
			if it.Level == 0 {
				radius = 0
			}
			p := point{r.cx + radius*cos, r.cy + radius*sin} // nearest to the root a line bends least out of its ring
			for _, isUp := range []bool{false, true} {
				if h := r.widestIn(it, p, isUp, need); h > half+1 {
					at, half, up = p, h, isUp
				}
			}
			if half >= need {
				return at, half, up
			}
		}
	}
	if r.sight.Near == 0 {
		return at, half, up
	}
	for _, p := range placesIn(r.size) { // of a sector much larger than the picture
		if h := r.widestIn(it, p, false, need); h > half+1 {
			at, half, up = p, h, false
		}
		if half >= need {
			break
		}
	}
	return at, half, up
}

// widestIn is half the length of the longest line about a point that is in a sector and in the picture.
func (r *sunburst) widestIn(it *invocation.Item, p point, up bool, need float64) float64 {
	low, high := 0.0, need
	if r.holds(it, p, up, need) {
		return need
	}
	for range 6 {
		if half := (low + high) / 2; r.holds(it, p, up, half) {
			low = half
		} else {
			high = half
		}
	}
	return low
}

func (r *sunburst) holds(it *invocation.Item, p point, up bool, half float64) bool {
	for _, a := range []float64{-1, -0.5, 0, 0.5, 1} {
		for _, b := range []float64{-halfLine, halfLine} {
			q := point{p.x + a*half, p.y + b}
			if up {
				q = point{p.x + b, p.y + a*half}
			}
			if !r.inside(it, q) {
				return false
			}
		}
	}
	return true
}

// inside reports whether a point is in a sector and in the picture, a pixel from their edges.
func (r *sunburst) inside(it *invocation.Item, p point) bool {
	if p.x < 2 || p.y < 2 || p.x > float64(r.size.Width)-2 || p.y > float64(r.size.Height)-2 {
		return false
	}
	dx, dy := p.x-r.cx, p.y-r.cy
	radius := math.Hypot(dx, dy)
	if it.Level > 0 && radius < r.d*float64(it.Level)+1 || radius > r.d*float64(it.Level+r.sight.Band)-1 {
		return false
	}
	if it.Alloc >= 360 {
		return true
	}
	angle := math.Mod(math.Atan2(dy, dx)*180/math.Pi+360, 360)
	edge := 180 / math.Pi * 1.5 / max(radius, 1)
	return angle >= it.Start+edge && angle <= it.Start+it.Alloc-edge
}
