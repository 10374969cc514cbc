package kaleidoscope

import (
	"fmt"
	"math"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
)

// mostDrawn bounds how many nodes a scene holds: 18 bytes each.
const mostDrawn = 60000

// A place is where a node was drawn.
type place struct {
	x, y float64
	node int32
}

// A drawing is what the scene drawn last holds.
type drawing struct {
	places []place
	lit    int
	// crowded nodes lie where another one is drawn already.
	crowded int
}

// Scene draws families: a call and its calls as one filled shape, a line where
// there is only one.
func (r *result) Scene(size scene.Size) *scene.Scene {
	paint := r.request.Values.Text("paint")
	s := scene.New(size, "", fmt.Sprintf("Kaleidoscope of %s calls on %d levels, %s drawn, painted by %s.",
		view.Thousands(int64(r.forest.calls.Len())), r.height, view.Thousands(int64(r.count)), paint))
	s.AddFrame(scene.Frame{Name: "main", W: float32(size.Width), H: float32(size.Height)})
	r.drawing = drawing{}
	scale := r.zoom.factor * float64(min(size.Width, size.Height)) / float64(max(min(r.request.Size.Width, r.request.Size.Height), 1))
	d := float64(r.ring) * scale
	half := r.zoom.factor * float64(min(size.Width, size.Height)) / 2
	cx, cy := float64(size.Width)/2-r.zoom.x*half, float64(size.Height)/2-r.zoom.y*half
	if r.zoom == (zoom{factor: 1}) && r.until >= r.forest.end {
		r.putKept(cx, cy, d, size)
	} else {
		r.putAll(cx, cy, d, size)
	}
	p := r.painter()
	s.AddLayer("families", 0, r.families(p, d)...)
	s.Legend = p.legend()
	s.Notes = r.Notes()
	return s
}

// putKept finds the places once for all paintings of an arrangement.
func (r *result) putKept(cx, cy, d float64, size scene.Size) {
	a := r.arrangement
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.size != size {
		r.putAll(cx, cy, d, size)
		a.kept, a.size = r.drawing, size
	}
	r.drawing = a.kept
}

// putAll finds the places of as many nodes as a scene may hold.
func (r *result) putAll(cx, cy, d float64, size scene.Size) {
	drawn := r.drawn
	if r.zoom.factor != 1 || size != r.request.Size {
		drawn, _ = r.visible(r.strict, d)
	}
	for least := 1.0; !r.putDrawn(drawn, d, cx, cy, size, least); drawn, _ = r.visible(r.strict, d/least) {
		least *= 2 // sectors of less than two, four … pixels
	}
}

// putDrawn finds the places of drawn nodes whose family may reach into the picture;
// false where they are too many. Of the nodes of a ring that lie within least pixels
// one is drawn, where least is more than one.
func (r *result) putDrawn(drawn []bool, d, cx, cy float64, size scene.Size, least float64) bool {
	r.places, r.crowded = nil, 0
	parent, begin := r.layout.Tree.Parent, r.forest.calls.Begin
	sight := newSight(cx, cy, size)
	var out []bool // neither its family nor what hangs below is drawn
	if !sight.all || least > 1 {
		out = make([]bool, len(drawn))
	}
	var taken rings
	for i, is := range drawn {
		if !is || begin[r.node(i)] > r.until {
			continue
		}
		if out != nil {
			p := parent[i]
			if p >= 0 && out[p] {
				out[i] = true
				continue
			}
			near, far := float64(r.layout.Level[i])*d, float64(r.layout.Level[i]+1)*d
			out[i] = near > sight.far || !sight.meets(r.layout.Start[i], r.layout.Alloc[i])
			// A node out of sight is still a corner of its parent's shape.
			if out[i] && p < 0 || far < sight.near {
				continue
			}
			if least > 1 && r.layout.Arc(i, d) < least && !taken.take(int(r.layout.Level[i]), int(r.layout.Start[i]*near*math.Pi/180/least)) {
				out[i] = true
				r.crowded++
				continue
			}
		}
		if len(r.places) == mostDrawn {
			return false
		}
		x, y := r.layout.At(i, d)
		r.places = append(r.places, place{cx + x, cy + y, int32(i)})
	}
	return true
}

// rings tell which short stretches of each ring are taken.
type rings [][]bool

// take takes a stretch; false where it was taken before.
func (r *rings) take(ring, at int) bool {
	for ring >= len(*r) {
		*r = append(*r, nil)
	}
	row := (*r)[ring]
	if at >= len(row) {
		row = append(row, make([]bool, at+1-len(row)+64)...)
		(*r)[ring] = row
	}
	free := !row[at]
	row[at] = true
	return free
}

// A sight is the part of the circles that a picture shows: between two radii and
// within an angle on both sides of a middle, in degrees.
type sight struct {
	all       bool
	near, far float64
	mid, half float64
}

func newSight(cx, cy float64, size scene.Size) sight {
	w, h := float64(size.Width), float64(size.Height)
	if cx >= 0 && cy >= 0 && cx <= w && cy <= h {
		far := math.Hypot(max(cx, w-cx), max(cy, h-cy))
		return sight{far: far, half: 180, all: far >= math.Hypot(w, h)/2 && cx == w/2 && cy == h/2}
	}
	dx, dy := max(-cx, cx-w, 0), max(-cy, cy-h, 0)
	s := sight{near: math.Hypot(dx, dy), far: math.Hypot(max(math.Abs(cx), math.Abs(w-cx)), max(math.Abs(cy), math.Abs(h-cy)))}
	s.mid = math.Atan2(h/2-cy, w/2-cx) * 180 / math.Pi
	for _, c := range [][2]float64{{0, 0}, {w, 0}, {0, h}, {w, h}} {
		s.half = max(s.half, apart(math.Atan2(c[1]-cy, c[0]-cx)*180/math.Pi, s.mid))
	}
	return s
}

// meets tells whether a sector reaches into sight.
func (s *sight) meets(start, alloc float64) bool {
	return alloc >= 180 || apart(start+alloc/2, s.mid) <= alloc/2+s.half
}

// apart is the distance of two angles, 0 to 180 degrees.
func apart(a, b float64) float64 {
	return math.Abs(math.Remainder(a-b, 360))
}

// families gathers each drawn node with its drawn children, which are in the order
// of the tree.
func (r *result) families(p *painter, d float64) []scene.Mark {
	at := map[int32]int32{} // place of each node that may have children
	for k, pl := range r.places {
		at[pl.node] = int32(k)
	}
	children := make([][]int32, len(r.places))
	for k, pl := range r.places {
		if up := r.layout.Tree.Parent[pl.node]; up >= 0 {
			if m, ok := at[up]; ok {
				children[m] = append(children[m], int32(k))
			}
		}
	}
	shapes, lines, leaves := &scene.Polygon{}, &scene.Line{Width: 1}, &scene.Point{}
	var xs, ys []float32
	for k, list := range children {
		me := r.places[k]
		colour := p.colour(int(me.node))
		flag := scene.Flag(0)
		if r.light.has(r.forest, r.node(int(me.node))) {
			r.lit++
		} else {
			flag = scene.Dimmed
		}
		switch {
		case len(list) == 0:
			if r.layout.Arc(int(me.node), d) >= 3 || flag == 0 && r.light.on {
				if flag != 0 {
					colour = scene.UIHairline
				}
				leaves.Add(float32(me.x), float32(me.y), 1.5, colour)
			}
		case len(list) == 1:
			c := r.places[list[0]]
			lines.Add(float32(me.x), float32(me.y), float32(c.x), float32(c.y), colour)
			if flag != 0 {
				lines.SetFlags(flag)
			}
		default:
			xs, ys = append(xs[:0], float32(me.x)), append(ys[:0], float32(me.y))
			for _, c := range list {
				xs, ys = append(xs, float32(r.places[c].x)), append(ys, float32(r.places[c].y))
			}
			shapes.Add(xs, ys, colour)
			if len(list) == 2 && flat(xs, ys) { // two calls on opposite sides
				lines.Add(xs[1], ys[1], xs[2], ys[2], colour)
				if flag != 0 {
					lines.SetFlags(flag)
				}
			}
			if flag != 0 {
				shapes.SetFlags(flag)
			}
		}
	}
	return []scene.Mark{shapes, lines, leaves}
}

// flat tells whether a triangle has no area to see.
func flat(x, y []float32) bool {
	double := (x[1]-x[0])*(y[2]-y[0]) - (x[2]-x[0])*(y[1]-y[0])
	return double > -2 && double < 2
}
