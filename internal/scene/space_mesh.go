package scene

import "math"

// A quad is a piece of a mesh.
type quad struct {
	corner [4]int32
	face   face
	depth  float64
	fills  [4]Colour // of the corners
	fill   Colour
	shade  int
	near   int32 // the thing that it is of; -1: see corner
}

// parts calls f for the piece as one where its corners have one colour, or else for the
// part of each corner.
func (q *quad) parts(f func(*quad)) {
	if q.fills[0] == q.fills[1] && q.fills[0] == q.fills[2] && q.fills[0] == q.fills[3] {
		q.fill, q.near = q.fills[0], -1
		f(q)
		return
	}
	mx, my := (q.face.x[0]+q.face.x[1]+q.face.x[2]+q.face.x[3])/4, (q.face.y[0]+q.face.y[1]+q.face.y[2]+q.face.y[3])/4
	for k := range 4 {
		next, last := (k+1)%4, (k+3)%4
		part := quad{corner: q.corner, depth: q.depth, fill: q.fills[k], shade: q.shade, near: q.corner[k]}
		part.face.x = [4]float64{q.face.x[k], (q.face.x[k] + q.face.x[next]) / 2, mx,
			(q.face.x[k] + q.face.x[last]) / 2}
		part.face.y = [4]float64{q.face.y[k], (q.face.y[k] + q.face.y[next]) / 2, my,
			(q.face.y[k] + q.face.y[last]) / 2}
		f(&part)
	}
}

// MeshStep returns the number of rows and columns a piece of the mesh spans: one, or more
// where pieces would be smaller than pixels.
func (m *Space) MeshStep() int {
	if m.Columns < 2 {
		return 1
	}
	pieces := float64(m.Len())
	most := max(20000, float64(m.W)*float64(m.H)/16)
	return int(math.Ceil(math.Sqrt(max(pieces/most, 1))))
}

// odd returns the thing that stands for those from row r and column c on, step of them each
// way: the one whose value differs most from their mean, so that a peak is not lost.
func (m *Space) odd(r, c, rows, step int) int {
	first := r*m.Columns + c
	if step <= 1 {
		return first
	}
	mean, n := 0.0, 0
	each := func(f func(i int, v float64)) {
		for y := r; y < min(r+step, rows); y++ {
			for x := c; x < min(c+step, m.Columns); x++ {
				if i := y*m.Columns + x; i < m.Len() && m.Look(i) != None {
					f(i, float64(m.Value[i]))
				}
			}
		}
	}
	each(func(_ int, v float64) { mean, n = mean+v, n+1 })
	mean /= float64(n)
	best, far := first, -1.0
	each(func(i int, v float64) {
		if d := math.Abs(v - mean); d > far {
			best, far = i, d
		}
	})
	return best
}

// quads calls f for each piece of the mesh that is shown. Between four things of
// different colours each has the part next to it: a peak has its own colour, not one
// mixed from those around it.
func (m *Space) quads(p *Projection, f func(*quad)) {
	if m.Columns < 2 {
		return
	}
	step := m.MeshStep()
	rows := (m.Len() + m.Columns - 1) / m.Columns
	next := func(v, end int) int { return min(v+step, end) }
	var q quad
	var known map[[2]int]int // the thing for a block; a corner is asked for four times
	odd := func(r, c int) int {
		if step <= 1 {
			return r*m.Columns + c
		}
		k := [2]int{r, c}
		i, ok := known[k]
		if !ok {
			i = m.odd(r, c, rows, step)
			known[k] = i
		}
		return i
	}
	if step > 1 {
		known = map[[2]int]int{}
	}
	for r := 0; r < rows-1; r = next(r, rows-1) {
		for c := 0; c < m.Columns-1; c = next(c, m.Columns-1) {
			down, right := next(r, rows-1), next(c, m.Columns-1)
			q.corner = [4]int32{int32(odd(r, c)), int32(odd(r, right)), int32(odd(down, right)), int32(odd(down, c))}
			if m.fillQuad(p, &q, float64(step)) {
				q.parts(f)
			}
		}
	}
}

// fillQuad computes a piece; false where a corner is hidden or a joint too long.
func (m *Space) fillQuad(p *Projection, q *quad, step float64) bool {
	var at [4][3]float64
	for k, i := range q.corner {
		if int(i) >= m.Len() {
			return false
		}
		if q.fills[k] = m.Look(int(i)); q.fills[k] == None {
			return false
		}
		at[k] = [3]float64{float64(m.PX[i]), float64(m.PY[i]), float64(m.PZ[i])}
	}
	q.depth = 0
	var view [4][3]float64
	for k := range 4 {
		x, y, d := p.At(at[k][0], at[k][1], at[k][2])
		if !finite(x) || !finite(y) {
			return false
		}
		q.face.x[k], q.face.y[k], view[k] = x, y, [3]float64{x, y, d}
		q.depth += d / 4
	}
	if m.Gap > 0 {
		for k := range 4 {
			if apart(view[k], view[(k+1)%4]) > float64(m.Gap)*step*p.Scale {
				return false
			}
		}
	}
	q.shade = shadeOf(view)
	return true
}

func apart(a, b [3]float64) float64 {
	return math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
}

// shadeOf lights a piece from the upper left, in front; corners are in pixels and depth.
func shadeOf(v [4][3]float64) int {
	var a, b [3]float64
	for k := range 3 {
		a[k], b[k] = v[2][k]-v[0][k], v[3][k]-v[1][k]
	}
	n := [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
	length := math.Sqrt(n[0]*n[0] + n[1]*n[1] + n[2]*n[2])
	if length == 0 {
		return shadeNone
	}
	if n[2] > 0 { // towards the eye
		length = -length
	}
	light := (-0.38*n[0] - 0.58*n[1] - 0.72*n[2]) / length
	switch {
	case light > 0.72:
		return shadeNone
	case light > 0.42:
		return shadeSoft
	}
	return shadeDeep
}

func (m *Space) flattenMesh(p *Projection) *Polygon {
	var all []quad
	var depth []float64
	m.quads(p, func(q *quad) { all, depth = append(all, *q), append(depth, q.depth) })
	out := &Polygon{}
	for _, k := range byDepth(depth, sequence(len(all))) {
		q := &all[k]
		addFace(out, &q.face, q.fill, q.shade)
	}
	return out
}
