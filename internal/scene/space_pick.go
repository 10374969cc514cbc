package scene

import "math"

// pickReach is how far in pixels from a dot the pointer may be.
const pickReach = 6

// Pick returns the thing at a pixel: the nearest to the eye that covers it, or else,
// of dots, the one whose middle is closest. It takes one pass over all things.
func (m *Space) Pick(x, y float64) (index int, ok bool) {
	p := m.Project()
	switch m.Form {
	case Bars:
		return m.pickBar(&p, x, y)
	case Mesh:
		return m.pickMesh(&p, x, y)
	}
	r := m.dotRadius(&p)
	best, depth := -1, math.Inf(1)
	near, close := -1, float64(pickReach*pickReach)
	for i := range m.PX {
		px, py, d := p.At(float64(m.PX[i]), float64(m.PY[i]), float64(m.PZ[i]))
		away := (px-x)*(px-x) + (py-y)*(py-y)
		if !(away <= max(r*r, pickReach*pickReach)) || m.Look(i) == None {
			continue
		}
		// Things of one place: the last is drawn on top.
		if away <= r*r && d <= depth {
			best, depth = i, d
		}
		if away <= close {
			near, close = i, away
		}
	}
	if best < 0 {
		best = near
	}
	return best, best >= 0
}

func (m *Space) pickBar(p *Projection, x, y float64) (int, bool) {
	best, depth := -1, math.Inf(1)
	wide := (float64(m.Half[0])*p.stretch[0] + float64(m.Half[1])*p.stretch[1]) * p.Scale
	for i := range m.PX {
		px, py, d := p.At(float64(m.PX[i]), float64(m.PY[i]), float64(m.PZ[i]))
		high := m.BarHeight(i) * p.stretch[2] * p.Scale
		if !(d <= depth) || math.Abs(px-x) > wide || math.Abs(py-y) > wide+high || m.Look(i) == None {
			continue // Most bars are nowhere near.
		}
		faces := m.barFaces(p, i)
		for k := range faces {
			if faces[k].holds(x, y) {
				best, depth = i, d
			}
		}
	}
	return best, best >= 0
}

// pickMesh returns the corner nearest to the pixel of the piece in front.
func (m *Space) pickMesh(p *Projection, x, y float64) (int, bool) {
	best, depth := -1, math.Inf(1)
	m.quads(p, func(q *quad) {
		if !(q.depth <= depth) || !q.face.holds(x, y) {
			return
		}
		depth = q.depth
		if q.near >= 0 {
			best = int(q.near)
			return
		}
		close := math.Inf(1)
		for k, i := range q.corner {
			if d := math.Hypot(q.face.x[k]-x, q.face.y[k]-y); d < close {
				best, close = int(i), d
			}
		}
	})
	return best, best >= 0
}

// holds reports whether a pixel is in a face, by counting edges to its left.
func (f *face) holds(x, y float64) bool {
	inside := false
	for i, j := 0, 3; i < 4; j, i = i, i+1 {
		if (f.y[i] > y) != (f.y[j] > y) && x < (f.x[j]-f.x[i])*(y-f.y[i])/(f.y[j]-f.y[i])+f.x[i] {
			inside = !inside
		}
	}
	return inside
}
