package scene

import "math"

// Shades are laid over colours to make things look solid; they are the palette's
// section "shade": two of shadow, one of light.
const (
	shadeNone = iota
	shadeSoft
	shadeDeep
	shadeShine
	shadeDarker // deep and soft together
)

func shade(k int) Colour {
	s, _ := FindSection("shade")
	return Colour(s.Start + k - 1)
}

// smallBall is the radius in pixels below which a ball is a dot.
const smallBall = 2.5

// Flatten draws the space as marks of the plane, from far to near, for renderers without depth. Things behind others
// at the same pixel are left out, so the result is bounded by the picture, not by the number of things.
func (m *Space) Flatten() []Mark {
	p := m.Project()
	var out []Mark
	names := &Text{Size: TextSize}
	labels := Mark(names)
	if m.Bare {
		m.labelThings(&p, names, new([][4]float32))
	} else {
		marks := m.flattenAxes(&p)
		out, labels = append(out, marks[:len(marks)-1]...), marks[len(marks)-1]
	}
	if len(m.Links.From) > 0 {
		out = append(out, m.flattenLinks(&p))
	}
	switch m.Form {
	case Bars:
		out = append(out, m.flattenBars(&p))
	case Mesh:
		out = append(out, m.flattenMesh(&p))
	default:
		out = append(out, m.flattenDots(&p))
	}
	return append(out, labels)
}

// dotRadius returns the radius of dots and balls in pixels.
func (m *Space) dotRadius(p *Projection) float64 {
	return min(max(float64(m.Radius)*p.Scale, float64(m.Least), 0.9), 60)
}

// flattenLinks draws the lines between things, from far to near.
func (m *Space) flattenLinks(p *Projection) *Line {
	out := &Line{Width: max(m.Links.Width, 1)}
	type end struct{ x0, y0, x1, y1 float64 }
	var ends []end
	var depth []float64
	var fill []Colour
	for k, from := range m.Links.From {
		to := m.Links.To[k]
		if int(from) >= m.Len() || int(to) >= m.Len() || m.Look(int(from)) == None || m.Look(int(to)) == None {
			continue
		}
		var e end
		var a, b float64
		e.x0, e.y0, a = p.At(float64(m.PX[from]), float64(m.PY[from]), float64(m.PZ[from]))
		e.x1, e.y1, b = p.At(float64(m.PX[to]), float64(m.PY[to]), float64(m.PZ[to]))
		if !finite(e.x0 + e.y0 + e.x1 + e.y1) {
			continue
		}
		if m.Links.Part != nil {
			part := float64(m.Links.Part[k])
			e.x1, e.y1 = e.x0+part*(e.x1-e.x0), e.y0+part*(e.y1-e.y0)
		}
		ends, depth, fill = append(ends, e), append(depth, a+b), append(fill, m.Links.Fill[k])
	}
	for _, k := range byDepth(depth, sequence(len(ends))) {
		e := &ends[k]
		out.Add(float32(e.x0), float32(e.y0), float32(e.x1), float32(e.y1), fill[k])
	}
	return out
}

// A disc is one step of light on a ball: where its middle lies, how large it is, and a
// shade over the ball's colour.
type disc struct {
	off, radius float64
	shade       int
}

// ballDiscs are the steps of light for each detail, from the shadow to the light. The
// page has the same.
var ballDiscs = [MostDetail + 1][]disc{
	2: {{0, 1, shadeNone}},
	3: {{0, 1, shadeDeep}, {0.13, 0.8, shadeNone}, {0.36, 0.24, shadeShine}},
	4: {{0, 1, shadeDeep}, {0.07, 0.9, shadeSoft}, {0.17, 0.72, shadeNone}, {0.36, 0.24, shadeShine}},
	5: {{0, 1, shadeDeep}, {0.07, 0.9, shadeSoft}, {0.17, 0.72, shadeNone}, {0.32, 0.34, shadeShine},
		{0.38, 0.16, shadeShine}},
	6: {{0, 1, shadeDarker}, {0.04, 0.95, shadeDeep}, {0.1, 0.84, shadeSoft}, {0.19, 0.68, shadeNone},
		{0.32, 0.34, shadeShine}, {0.38, 0.16, shadeShine}},
}

func (m *Space) detail() int {
	if m.Detail < 2 || m.Detail > MostDetail {
		return 3
	}
	return m.Detail
}

func (m *Space) flattenDots(p *Projection) *Point {
	x, y, depth, index := m.places(p)
	order := byDepth(depth, sequence(len(index)))
	r := m.dotRadius(p)
	if len(order) > manyDots {
		order = m.inFront(order, x, y, r)
	}
	out := &Point{}
	discs := ballDiscs[2]
	if m.Form == Balls && r >= smallBall {
		discs = ballDiscs[m.detail()]
	}
	for _, k := range order {
		fill := m.Look(int(index[k]))
		for n, d := range discs {
			cx, cy, radius := float32(x[k]-d.off*r), float32(y[k]-d.off*r), float32(d.radius*r)
			if d.shade != shadeShine || n == 0 {
				out.Add(cx, cy, radius, fill)
			}
			switch d.shade {
			case shadeNone:
			case shadeDarker:
				out.Add(cx, cy, radius, shade(shadeDeep))
				out.Add(cx, cy, radius, shade(shadeSoft))
			default:
				out.Add(cx, cy, radius, shade(d.shade))
			}
		}
	}
	return out
}

// manyDots is how many are drawn before those are looked for that others hide.
const manyDots = 20000

// inFront leaves out dots that another hides whose middle is nearly the same.
func (m *Space) inFront(order []int32, x, y []float64, r float64) []int32 {
	cell := max(0.75, r/2)
	columns, rows := int(float64(m.W)/cell)+1, int(float64(m.H)/cell)+1
	front := make([]int32, columns*rows)
	for i := range front {
		front[i] = -1
	}
	at := func(k int32) int {
		c, w := math.Floor((x[k]-float64(m.X))/cell), math.Floor((y[k]-float64(m.Y))/cell)
		if c < 0 || w < 0 || c >= float64(columns) || w >= float64(rows) {
			return -1
		}
		return int(w)*columns + int(c)
	}
	for _, k := range order {
		if c := at(k); c >= 0 {
			front[c] = k // The last is the nearest.
		}
	}
	out := order[:0:0]
	for _, k := range order {
		if c := at(k); c >= 0 && front[c] == k {
			out = append(out, k)
		}
	}
	return out
}

func sequence(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// A face is a polygon in pixels with its shade.
type face struct {
	x, y [4]float64
}

// addFace draws a face, a little larger than it is, so that neighbours leave no seams.
func addFace(out *Polygon, f *face, fill Colour, shaded int) {
	var xs, ys [4]float32
	cx, cy := (f.x[0]+f.x[1]+f.x[2]+f.x[3])/4, (f.y[0]+f.y[1]+f.y[2]+f.y[3])/4
	for k := range 4 {
		dx, dy := f.x[k]-cx, f.y[k]-cy
		grow := 1 + 0.4/max(math.Hypot(dx, dy), 0.4)
		xs[k], ys[k] = float32(cx+dx*grow), float32(cy+dy*grow)
	}
	out.Add(xs[:], ys[:], fill)
	if shaded != shadeNone {
		out.Add(xs[:], ys[:], shade(shaded))
	}
}

// BarHeight returns the height of bar i in units of the z axis.
func (m *Space) BarHeight(i int) float64 {
	if !(m.High > m.Base) {
		return 0
	}
	share := (float64(m.Value[i]) - float64(m.Base)) / (float64(m.High) - float64(m.Base))
	return max(share, 0) * float64(m.Tall)
}

// barFaces returns the faces of bar i that can be seen, the sides first.
func (m *Space) barFaces(p *Projection, i int) [3]face {
	x, y, z := float64(m.PX[i]), float64(m.PY[i]), float64(m.PZ[i])
	hx, hy, top := float64(m.Half[0]), float64(m.Half[1]), z+m.BarHeight(i)
	// Which sides face the eye: depth grows with x by sin, with y by cos of the azimuth.
	sx, sy := -1.0, -1.0
	if p.sinA < 0 {
		sx = 1
	}
	if p.cosA < 0 {
		sy = 1
	}
	lid := top
	if p.sinE < 0 {
		lid = z
	}
	corner := func(f *face, k int, x, y, z float64) { f.x[k], f.y[k], _ = p.At(x, y, z) }
	var out [3]face
	for k, s := range [4][2]float64{{-1, 0}, {1, 0}, {1, 1}, {-1, 1}} {
		h := z + s[1]*(top-z)
		corner(&out[0], k, x+sx*hx, y+s[0]*hy, h)
		corner(&out[1], k, x+s[0]*hx, y+sy*hy, h)
	}
	for k, s := range [4][2]float64{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}} {
		corner(&out[2], k, x+s[0]*hx, y+s[1]*hy, lid)
	}
	return out
}

func (m *Space) flattenBars(p *Projection) *Polygon {
	x, y, depth, index := m.places(p)
	out := &Polygon{}
	wide := [2]float64{2 * float64(m.Half[0]) * p.stretch[0] * p.Scale, 2 * float64(m.Half[1]) * p.stretch[1] * p.Scale}
	thin := wide[0] < 1.2 && wide[1] < 1.2
	order := byDepth(depth, sequence(len(index)))
	if len(order) > manyDots { // Of bars that end at one pixel the nearest hides the others.
		for k, i := range index {
			_, y[k], _ = p.At(float64(m.PX[i]), float64(m.PY[i]), float64(m.PZ[i])+m.BarHeight(int(i)))
		}
		order = m.inFront(order, x, y, max(wide[0], wide[1], 2))
	}
	for _, k := range order {
		i := index[k]
		fill := m.Look(int(i))
		if thin {
			x, y, _ := p.At(float64(m.PX[i]), float64(m.PY[i]), float64(m.PZ[i]))
			tx, ty, _ := p.At(float64(m.PX[i]), float64(m.PY[i]), float64(m.PZ[i])+m.BarHeight(int(i)))
			out.Add([]float32{float32(x), float32(tx)}, []float32{float32(y), float32(min(ty, y-1))}, fill)
			continue
		}
		faces := m.barFaces(p, int(i))
		addFace(out, &faces[0], fill, shadeDeep)
		addFace(out, &faces[1], fill, shadeSoft)
		addFace(out, &faces[2], fill, shadeNone)
	}
	return out
}
