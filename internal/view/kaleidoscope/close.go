package kaleidoscope

import (
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// leastClose is how far apart rings are at least, in pixels, for a zoomed picture to be a closer look.
const leastClose = 24

// isClose reports whether the picture is of a few rings only. Between the shapes of calls there is more and more room
// then, up to a whole picture of nothing: so each call has its sector of its ring, faint below its shape.
func (r *result) isClose() bool {
	return r.detail != nil && r.zoom.factor > 1 && r.sight.Band == 1 && r.d >= leastClose
}

// beyondCalls says in the middle of a picture that is zoomed to a place without calls how one gets back.
func beyondCalls(size scene.Size) *scene.Text {
	const words = "No call is here: the tree ends further in. Zoom out, or choose a caller."
	text := &scene.Text{Size: scene.TextSize}
	shown := scene.Shorten(words, float32(size.Width-16), scene.TextSize)
	text.Add(float32(size.Width)/2, float32(size.Height)/2, shown, scene.UITextMuted, scene.Middle)
	return text
}

// hasGround reports whether the sector of a call is drawn below its shape.
func (r *result) hasGround(f *family) bool {
	if f.mix != nil || !r.isClose() || r.fillsSector(f) {
		return false
	}
	it := &r.items[r.places[f.place].node]
	return it.Level > 0 && it.Alloc*math.Pi/180*r.d*float64(it.Level+1) >= leastGround
}

// leastGround is how wide such a sector is at least, in pixels.
const leastGround = 4

// drawGrounds draws the sectors of calls that made others.
func (r *result) drawGrounds() *scene.Polygon {
	grounds := &scene.Polygon{}
	if !r.isClose() {
		return grounds
	}
	for k := range r.families {
		if f := &r.families[k]; r.hasGround(f) {
			it := &r.items[r.places[f.place].node]
			xs, ys := wedge(it, r.d*float64(it.Level), r.d*float64(it.Level+1), r.cx, r.cy, &r.sight)
			addPolygon(grounds, xs, ys, f.colour, scene.Dimmed, r.size)
		}
	}
	return grounds
}

// groundUnder returns the call whose sector is at a place; -1 for none.
func (r *result) groundUnder(p point) int32 {
	if !r.isClose() {
		return -1
	}
	radius := distance(point{r.cx, r.cy}, p)
	angle := math.Mod(math.Atan2(p.y-r.cy, p.x-r.cx)*180/math.Pi+360, 360)
	return int32(slices.IndexFunc(r.families, func(f family) bool {
		it := &r.items[r.places[f.place].node]
		return r.hasGround(&f) && radius >= r.d*float64(it.Level) && radius < r.d*float64(it.Level+1) &&
			angle >= it.Start && angle < it.Start+it.Alloc
	}))
}

// labels names calls: large shapes first, then sectors that have room for a name and whose shapes have none.
func (r *result) labels() []scene.Mark {
	text := newNames(circles{&r.sight, r.size, r.cx, r.cy, r.d})
	labelFamilies(&r.drawing, text, r.regionName)
	if r.isClose() {
		var list []named
		for k := range r.families {
			f := &r.families[k]
			me := r.places[f.place].node
			switch {
			case f.named || f.mix != nil:
			case r.fillsSector(f):
				list = append(list, named{&r.items[me], r.regionName(me), scene.InkFor(f.colour, f.flag)})
			case len(f.children) < 2 && r.hasGround(f):
				list = append(list, named{&r.items[me], r.regionName(me), scene.UIText})
			}
		}
		text.write(list)
	}
	return []scene.Mark{text.level, text.turned}
}
