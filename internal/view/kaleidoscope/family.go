package kaleidoscope

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// A family is a drawn node with its drawn children, by their places, in the order
// of the tree.
type family struct {
	place    int32
	children []int32
	colour   scene.Colour
	flag     scene.Flag
	mix      *mix // of merged calls
	named    bool
}

// bandWidth is how wide the children's part of a family is; 0 if rings are so
// near that it could not be seen.
func bandWidth(d float64) float64 {
	if d < 5 {
		return 0
	}
	return min(0.3*d, 9)
}

// tail is the share of a line from which on it has the colour of the call at its end.
const tail = 0.7

// gather finds the families of the places.
func (r *result) gather(p *painter) {
	at := make(map[int32]int32, len(r.places)) // place of each node
	for k, pl := range r.places {
		at[pl.node] = int32(k)
	}
	r.families = make([]family, len(r.places))
	for k, pl := range r.places {
		f := &r.families[k]
		f.place = int32(k)
		if r.isMerged(int(pl.node)) {
			f.mix = r.mixes[pl.node]
		}
		if f.mix != nil {
			f.colour = f.mix.colour
		} else {
			f.colour = p.colour(int(pl.node))
		}
		if f.mix != nil && f.mix.lit || f.mix == nil && r.light.has(r.nodeOf(int(pl.node))) {
			r.lit++
		} else {
			f.flag = scene.Dimmed
		}
		if up := r.layout.Tree.Parent[pl.node]; up >= 0 {
			if m, ok := at[up]; ok {
				r.families[m].children = append(r.families[m].children, int32(k))
			}
		}
	}
}

// draw returns the marks of all families: shapes, bands over them, lines, leaves.
func (r *result) draw(p *painter) []scene.Mark {
	r.gather(p)
	shapes, bands, lines, leaves := &scene.Polygon{}, &scene.Polygon{}, &scene.Line{Width: 1}, &scene.Point{}
	if r.lone() {
		r.drawLone(p, shapes)
		return []scene.Mark{shapes}
	}
	for k := range r.families {
		f := &r.families[k]
		me := r.places[f.place]
		switch len(f.children) {
		case 0:
			r.drawLeaf(p, leaves, f)
		case 1:
			r.drawLine(p, lines, f)
		default:
			xs, ys := r.corners(f)
			addPolygon(shapes, xs, ys, f.colour, f.flag, r.size)
			p.saw(me.node, r.seen(r.area(f)))
			if len(xs) == 3 && flat(xs, ys) { // two calls on opposite sides
				r.addLine(lines, float64(xs[1]), float64(ys[1]), float64(xs[2]), float64(ys[2]), f.colour, f.flag)
			}
			if r.band > 0 {
				r.drawBand(p, bands, f)
			}
		}
	}
	sectors, rest := r.drawMerged(p)
	return []scene.Mark{shapes, bands, sectors, rest, lines, leaves}
}

// corners of a family's shape: the call itself, then its calls.
func (r *result) corners(f *family) (xs, ys []float32) {
	me := r.places[f.place]
	xs, ys = append(xs, float32(me.x)), append(ys, float32(me.y))
	if x, y, cut := r.cutAt(f, 0); cut {
		xs, ys = append(xs, x), append(ys, y)
	}
	for _, c := range f.children {
		xs, ys = append(xs, float32(r.places[c].x)), append(ys, float32(r.places[c].y))
	}
	if x, y, cut := r.cutAt(f, 1); cut {
		xs, ys = append(xs, x), append(ys, y)
	}
	return xs, ys
}

// cutAt is where the shape of a call ends whose first (0) or last (1) calls are out of sight.
func (r *result) cutAt(f *family, end int) (x, y float32, cut bool) {
	if r.detail == nil || r.sight.Half >= 180 || len(f.children) == 0 {
		return 0, 0, false
	}
	l, me := r.layout, r.places[f.place].node
	child := r.places[f.children[end*(len(f.children)-1)]].node
	angle, of := l.Start[child]+float64(end)*l.Alloc[child], l.Start[me]+float64(end)*l.Alloc[me]
	if math.Abs(angle-of) < 1e-9*l.Alloc[me] {
		return 0, 0, false
	}
	sin, cos := math.Sincos(angle * math.Pi / 180)
	radius := r.d * float64(l.Level[child])
	return float32(r.cx + radius*cos), float32(r.cy + radius*sin), true
}

// leafRadius is the size of a call that made none.
const leafRadius = 1.5

// drawsLeaf reports whether a node without drawn children has a point of its own.
func (r *result) drawsLeaf(f *family) bool {
	return r.layout.Arc(int(r.places[f.place].node), r.d) >= 3 || f.flag == 0 && r.light.on
}

func (r *result) drawLeaf(p *painter, leaves *scene.Point, f *family) {
	if !r.drawsLeaf(f) || f.mix != nil || r.fillsSector(f) {
		return
	}
	me, colour := r.places[f.place], f.colour
	if f.flag != 0 {
		colour = scene.UIHairline
	}
	leaves.Add(float32(me.x), float32(me.y), leafRadius, colour)
	p.saw(me.node, math.Pi*leafRadius*leafRadius)
}

func (r *result) addLine(lines *scene.Line, x1, y1, x2, y2 float64, colour scene.Colour, flag scene.Flag) {
	x1, y1, x2, y2, ok := clipLine(x1, y1, x2, y2, r.size)
	if !ok {
		return
	}
	lines.Add(float32(x1), float32(y1), float32(x2), float32(y2), colour)
	if flag != 0 {
		lines.SetFlags(flag)
	}
}

// drawLine draws a call with one call. If that call made none itself, only the end of
// the line stands for it.
func (r *result) drawLine(p *painter, lines *scene.Line, f *family) {
	me, child := r.places[f.place], &r.families[f.children[0]]
	c := r.places[child.place]
	p.saw(me.node, r.seen(math.Hypot(c.x-me.x, c.y-me.y)))
	if !r.hasTail(f) {
		r.addLine(lines, me.x, me.y, c.x, c.y, f.colour, f.flag)
		return
	}
	x, y := me.x+tail*(c.x-me.x), me.y+tail*(c.y-me.y)
	r.addLine(lines, me.x, me.y, x, y, f.colour, f.flag)
	r.addLine(lines, x, y, c.x, c.y, child.colour, child.flag)
	p.saw(c.node, r.seen(math.Hypot(c.x-x, c.y-y)))
}

// hasTail reports whether the end of a line has its own colour.
func (r *result) hasTail(f *family) bool {
	child := &r.families[f.children[0]]
	return r.band > 0 && len(child.children) == 0 && (child.colour != f.colour || child.flag != f.flag)
}

// flat reports whether a triangle has no area to see.
func flat(x, y []float32) bool {
	double := (x[1]-x[0])*(y[2]-y[0]) - (x[2]-x[0])*(y[1]-y[0])
	return double > -2 && double < 2
}

// A point of the picture.
type point struct{ x, y float64 }

func middle(a, b point) point { return point{(a.x + b.x) / 2, (a.y + b.y) / 2} }

func (d *drawing) at(k int32) point { return point{d.places[k].x, d.places[k].y} }

// edge is the part of a family's outer edge that belongs to its k-th child: from
// half way to the one before to half way to the one after.
func (d *drawing) edge(f *family, k int) [3]point {
	me := d.at(f.children[k])
	from, to := me, me
	if k > 0 {
		from = middle(d.at(f.children[k-1]), me)
	}
	if k+1 < len(f.children) {
		to = middle(me, d.at(f.children[k+1]))
	}
	return [3]point{from, me, to}
}

// inner is where the band below a point of the edge ends, towards the call.
func inner(p, top point, width float64) point {
	dx, dy := top.x-p.x, top.y-p.y
	if far := math.Hypot(dx, dy); far > width {
		return point{p.x + dx/far*width, p.y + dy/far*width}
	}
	return top
}

// A stripe is a run of children whose part of the band looks alike.
type stripe struct {
	look
	edge  []point
	node  int32 // one of them
	calls int
}

// length of its edge.
func (s *stripe) length() (sum float64) {
	for k := 1; k < len(s.edge); k++ {
		sum += distance(s.edge[k-1], s.edge[k])
	}
	return sum
}

// A look is how a part of the band looks.
type look struct {
	colour scene.Colour
	flag   scene.Flag
}

// A debt says how many calls of each look were not drawn because another had their
// pixel, less those that got more than their share.
type debt map[look]*struct {
	calls int
	node  int32 // one of them
}

// drawBand draws the outer part of a shape in the colours of the children. If several
// share a pixel one look is drawn, the one that was left out most so far, so that each
// has its share of the band.
func (r *result) drawBand(p *painter, bands *scene.Polygon, f *family) {
	var run stripe
	end := func() {
		if len(run.edge) > 1 && run.look != (look{f.colour, f.flag}) {
			r.addStripe(bands, r.at(f.place), &run)
			p.saw(run.node, r.seen(r.band*run.length()))
		}
	}
	owed := debt{}
	for k := 0; k < len(f.children); {
		s, next := r.pixel(f, k, owed)
		if k > 0 && s.look == run.look {
			run.edge = append(run.edge, s.edge[1:]...)
		} else {
			end()
			run = s
		}
		k = next
	}
	end()
}

// pixel gathers children from the k-th on until they take a pixel together.
func (r *result) pixel(f *family, k int, owed debt) (s stripe, next int) {
	for next = k; next < len(f.children); {
		child := &r.families[f.children[next]]
		e := r.edge(f, next)
		if next == k {
			s.edge = append(s.edge, e[0])
		}
		l := look{child.colour, child.flag}
		if owed[l] == nil {
			owed[l] = &struct {
				calls int
				node  int32
			}{}
		}
		owed[l].calls++
		owed[l].node = r.places[child.place].node
		if next == k || owed[l].calls > owed[s.look].calls {
			s.look, s.node = l, owed[l].node
		}
		s.edge = append(s.edge, e[1], e[2])
		s.calls++
		next++
		if math.Hypot(e[2].x-s.edge[0].x, e[2].y-s.edge[0].y) >= 1 {
			break
		}
	}
	owed[s.look].calls -= s.calls
	return s, next
}

func (r *result) addStripe(bands *scene.Polygon, top point, s *stripe) {
	var xs, ys []float32
	add := func(p point) { xs, ys = append(xs, float32(p.x)), append(ys, float32(p.y)) }
	for _, p := range s.edge {
		add(p)
	}
	for k := len(s.edge) - 1; k >= 0; k-- {
		add(inner(s.edge[k], top, r.band))
	}
	addPolygon(bands, xs, ys, s.colour, s.flag, r.size)
}
