package scene

import "math"

// A quad is a piece of a mesh.
type quad struct {
	corner [4]int32
	face   face
	depth  float64
	fill   Colour
	shade  int
}

// MeshStep is how many rows and columns a piece of the mesh spans: one, or more
// where pieces would be smaller than pixels.
func (m *Space) MeshStep() int {
	if m.Columns < 2 {
		return 1
	}
	pieces := float64(m.Len())
	most := max(20000, float64(m.W)*float64(m.H)/8)
	return int(math.Ceil(math.Sqrt(max(pieces/most, 1))))
}

// quads calls f for each piece of the mesh that is shown.
func (m *Space) quads(p *Projection, f func(*quad)) {
	if m.Columns < 2 {
		return
	}
	step := m.MeshStep()
	rows := (m.Len() + m.Columns - 1) / m.Columns
	next := func(v, end int) int { return min(v+step, end) }
	var q quad
	for r := 0; r < rows-1; r = next(r, rows-1) {
		for c := 0; c < m.Columns-1; c = next(c, m.Columns-1) {
			down, right := next(r, rows-1), next(c, m.Columns-1)
			q.corner = [4]int32{int32(r*m.Columns + c), int32(r*m.Columns + right), int32(down*m.Columns + right), int32(down*m.Columns + c)}
			if m.fillQuad(p, &q, float64(step)) {
				f(&q)
			}
		}
	}
}

// fillQuad computes a piece; false where a corner is hidden or a joint too long.
func (m *Space) fillQuad(p *Projection, q *quad, step float64) bool {
	var at [4][3]float64
	value := 0.0
	for k, i := range q.corner {
		if int(i) >= m.Len() || m.Look(int(i)) == None {
			return false
		}
		at[k] = [3]float64{float64(m.PX[i]), float64(m.PY[i]), float64(m.PZ[i])}
		value += float64(m.Value[i]) / 4
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
	if len(m.Fill) > 0 {
		q.fill = m.Fill[q.corner[0]]
		return true
	}
	share := 0.0
	if m.High > m.Low {
		share = (value - float64(m.Low)) / (float64(m.High) - float64(m.Low))
	}
	q.fill = Ramp(m.Ramp, share)
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
