package kaleidoscope

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	// reach is how far from a node it is still picked where nothing is drawn, in pixels.
	reach = 24
	// slack is how far from a line or a leaf that is.
	slack = 3
)

// ofPicture is the item kind of the whole picture, A wide and B high: calls are small, so the
// page asks for a place in it.
const ofPicture = 1

// Fact returns the call that is drawn at a place: of leaves, lines, bands and shapes the
// one on top, by its outline. If nothing is drawn there, it returns the nearest node.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	if it.Of != ofPicture {
		return view.Fact{}, false
	}
	if size := (scene.Size{Width: int(it.A), Height: int(it.B)}); r.size != size {
		r.Scene(size)
	}
	x, y := it.Place()
	p := point{x * float64(it.A), y * float64(it.B)}
	if r.lone() {
		return r.fact(0), distance(point{r.cx, r.cy}, p) <= r.loneRadius()
	}
	k := r.leafAt(p)
	if k < 0 {
		k = r.lineAt(p)
	}
	if k < 0 {
		k = r.sectorUnder(p)
	}
	if k < 0 {
		k = r.shapeAt(p)
	}
	if k < 0 {
		k = r.groundUnder(p)
	}
	if k < 0 {
		if r.near == nil {
			r.near = newNearest(r)
		}
		k = r.near.find(p)
	}
	if k < 0 {
		return view.Fact{}, false
	}
	return r.fact(int(r.places[k].node)), true
}

func distance(a, b point) float64 { return math.Hypot(a.x-b.x, a.y-b.y) }

// leafAt returns the leaf whose point is at p, the nearest one; -1 for none.
func (r *result) leafAt(p point) int32 {
	best, near := int32(-1), float64(slack)
	for k := range r.families {
		f := &r.families[k]
		if len(f.children) > 0 || !r.drawsLeaf(f) || f.mix != nil || r.fillsSector(f) {
			continue
		}
		if far := distance(r.at(f.place), p); far <= near {
			best, near = f.place, far
		}
	}
	return best
}

// lineAt returns the call whose line is at p; at the end of a line, or where that has
// a colour of its own, the call at its end.
func (r *result) lineAt(p point) int32 {
	best, near := int32(-1), float64(slack)
	for k := range r.families {
		f := &r.families[k]
		if len(f.children) != 1 {
			continue
		}
		a, b := r.at(f.place), r.at(f.children[0])
		if p.x < min(a.x, b.x)-slack || p.x > max(a.x, b.x)+slack || p.y < min(a.y, b.y)-slack ||
			p.y > max(a.y, b.y)+slack {
			continue
		}
		dx, dy := b.x-a.x, b.y-a.y
		share := 0.0
		if length := dx*dx + dy*dy; length > 0 {
			share = min(max(((p.x-a.x)*dx+(p.y-a.y)*dy)/length, 0), 1)
		}
		if far := distance(point{a.x + share*dx, a.y + share*dy}, p); far <= near {
			best, near = f.place, far
			if distance(b, p) <= slack || share >= tail && r.hasTail(f) {
				best = f.children[0]
			}
		}
	}
	return best
}

// shapeAt returns the call whose shape is at p, of several the one drawn last; in its
// outer band the call that it made there.
func (r *result) shapeAt(p point) int32 {
	for i := len(r.families) - 1; i >= 0; i-- {
		f := &r.families[i]
		if len(f.children) < 2 {
			continue
		}
		if k, band, ok := r.under(f, p); ok && band {
			return f.children[k]
		} else if ok {
			return f.place
		}
	}
	return -1
}

// under reports whether a point is in a family's shape: below the edge of which
// child, and whether in its part of the band. The shape is made of triangles
// between the call and parts of the edge; where calls lie so far apart that
// triangles overlap, they take away from each other, as corners do in a filled shape.
func (d *drawing) under(f *family, p point) (child int, band, inside bool) {
	top := d.at(f.place)
	dx, dy := p.x-top.x, p.y-top.y
	for k := range f.children {
		e := d.edge(f, k)
		for s := range 2 {
			a, b := point{e[s].x - top.x, e[s].y - top.y}, point{e[s+1].x - top.x, e[s+1].y - top.y}
			area := a.x*b.y - a.y*b.x
			if area == 0 {
				continue
			}
			// p = u·a + v·b; inside where u, v ≥ 0 and u + v ≤ 1. A line where two triangles meet
			// belongs to one of them.
			u, v := (dx*b.y-dy*b.x)/area, (a.x*dy-a.y*dx)/area
			if u < 0 || v <= 0 || u+v > 1 {
				continue
			}
			inside = !inside
			// The band lies beyond the line between the inner ends of both rays.
			if u > d.below(a)*(1-v/max(d.below(b), 1e-9)) {
				child, band = k, d.band > 0
			}
		}
	}
	return child, band, inside
}

// below is the share of the way from a call to the edge that is not band.
func (d *drawing) below(edge point) float64 {
	return max(1-d.band/math.Hypot(edge.x, edge.y), 0)
}

// nearest finds nodes by their ring.
type nearest struct {
	r     *result
	rings [][]int32 // places
}

func newNearest(r *result) *nearest {
	n := &nearest{r: r}
	for k, p := range r.places {
		level := int(r.layout.Level[p.node])
		for level >= len(n.rings) {
			n.rings = append(n.rings, nil)
		}
		n.rings[level] = append(n.rings[level], int32(k))
	}
	return n
}

// find returns the nearest node within reach, beginning at the ring nearest to p and
// going on to both sides while a ring can hold a nearer one.
func (n *nearest) find(p point) int32 {
	best, near := int32(-1), float64(reach)
	far := distance(point{n.r.cx, n.r.cy}, p)
	first := int(min(math.Round(far/max(n.r.d, 1e-9)), float64(len(n.rings))))
	look := func(ring int) bool {
		if math.Abs(float64(ring)*n.r.d-far) > near {
			return false
		}
		if ring < 0 || ring >= len(n.rings) {
			return true
		}
		for _, k := range n.rings[ring] {
			if d := distance(n.r.at(k), p); d < near {
				best, near = k, d
			}
		}
		return true
	}
	for ring := first; ring <= len(n.rings) && look(ring); ring++ {
	}
	for ring := first - 1; ring >= 0 && look(ring); ring-- {
	}
	return best
}
