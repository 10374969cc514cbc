package scene

import "math"

// A Projection turns places in a space into pixels. There is no perspective, so
// that lengths along an axis can be compared. web/src/scene/space has the same.
type Projection struct {
	sinA, cosA, sinE, cosE float64
	middle, stretch        [3]float64
	cx, cy                 float64
	Scale                  float64 // pixels for a unit of the box
}

// spaceMargin returns the room for labels next to the box, in pixels, across and down: as much as
// they need, and in small pictures a share, since the things are worth more than all labels.
func (m *Space) spaceMargin() (across, down float64) {
	if m.Bare && len(m.Labels) > 0 {
		return 28, 44 // names stand above the things, and reach over those at the right
	}
	if m.Bare {
		return 16, 16
	}
	return min(128, 0.24*float64(m.W)), min(92, 0.26*float64(m.H))
}

// Project returns the projection of a space by its camera.
func (m *Space) Project() Projection {
	var p Projection
	p.sinA, p.cosA = math.Sincos(m.Camera.Azimuth * math.Pi / 180)
	p.sinE, p.cosE = math.Sincos(m.Camera.Elevation * math.Pi / 180)
	var length [3]float64
	for a := range 3 {
		x := &m.Axes[a]
		p.middle[a], p.stretch[a] = (x.Begin+x.End)/2, x.stretch()
		length[a] = x.Length()
	}
	side := float64(min(m.W, m.H))
	// The box fits whatever the azimuth, so that turning it does not change its size.
	across := math.Hypot(length[0], length[1])
	down := across*math.Abs(p.sinE) + length[2]*p.cosE
	p.Scale = side / 4
	if across > 0 || down > 0 {
		beside, below := m.spaceMargin()
		p.Scale = min((float64(m.W)-beside)/max(across, 1e-30), (float64(m.H)-below)/max(down, 1e-30))
	}
	p.Scale *= m.Camera.Zoom
	p.cx = float64(m.X) + float64(m.W)/2 + m.Camera.PanX*side
	p.cy = float64(m.Y) + float64(m.H)/2 + m.Camera.PanY*side
	return p
}

// FacePlane turns the camera to dots that are in a plane or on a line, straight and as near as all of them allow. A
// space with depth is left as it is.
func (m *Space) FacePlane() {
	if m.Form != Dots && m.Form != Balls {
		return
	}
	x, y, z := m.Axes[0].Length(), m.Axes[1].Length(), m.Axes[2].Length()
	across, up := x, z
	c := Camera{Zoom: 1}
	switch {
	case z == 0: // from above
		c.Elevation, up = 90, y
	case y == 0: // from the front
	case x == 0: // from the side
		c.Azimuth, across = 270, y
	default:
		return
	}
	if across == 0 && up == 0 {
		return
	}
	m.Camera = c
	p := m.Project()
	beside, below := m.spaceMargin()
	fit := min((float64(m.W)-beside)/max(across, 1e-30), (float64(m.H)-below)/max(up, 1e-30)) / p.Scale
	m.Camera.Zoom = min(max(math.Floor(fit*1000)/1000, 1), 200)
}

// At returns the pixel of a place, and its depth, which grows away from the eye in
// pixels.
func (p *Projection) At(x, y, z float64) (px, py, depth float64) {
	x, y, z = (x-p.middle[0])*p.stretch[0], (y-p.middle[1])*p.stretch[1], (z-p.middle[2])*p.stretch[2]
	u, w := x*p.cosA-y*p.sinA, x*p.sinA+y*p.cosA
	return p.cx + u*p.Scale, p.cy - (z*p.cosE+w*p.sinE)*p.Scale, (w*p.cosE - z*p.sinE) * p.Scale
}

// byDepth orders n things from far to near, things of about one depth as they
// come: a counting sort, so it takes one pass over a million.
func byDepth(depths []float64, keep []int32) []int32 {
	if len(keep) == 0 {
		return nil
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, d := range depths {
		lo, hi = min(lo, d), max(hi, d)
	}
	const steps = 1 << 16
	factor := 0.0
	if hi > lo {
		factor = (steps - 1) / (hi - lo)
	}
	var count [steps + 1]int32
	key := make([]uint16, len(depths))
	for i, d := range depths {
		key[i] = uint16((hi - d) * factor)
		count[int(key[i])+1]++
	}
	for i := range steps {
		count[i+1] += count[i]
	}
	out := make([]int32, len(keep))
	for i, k := range key {
		out[count[k]] = keep[i]
		count[k]++
	}
	return out
}

// places returns pixel and depth of all things that are shown, and which they are.
func (m *Space) places(p *Projection) (x, y, depth []float64, index []int32) {
	n := m.Len()
	x, y, depth, index = make([]float64, 0, n), make([]float64, 0, n), make([]float64, 0, n), make([]int32, 0, n)
	for i := range n {
		if m.Look(i) == None {
			continue
		}
		px, py, d := p.At(float64(m.PX[i]), float64(m.PY[i]), float64(m.PZ[i]))
		if !finite(px) || !finite(py) {
			continue
		}
		x, y, depth, index = append(x, px), append(y, py), append(depth, d), append(index, int32(i))
	}
	return x, y, depth, index
}
