package scene

import "math"

// flattenAxes draws the three walls behind everything with a grid at the ticks,
// and labels along the outline of the box: lines first, texts last.
func (m *Space) flattenAxes(p *Projection) []Mark {
	grid, edges, text := &Line{Width: 1}, &Line{Width: 1}, &Text{Size: TextSize}
	far := m.farSides(p)
	end := func(a int, side bool) float64 {
		if side {
			return m.Axes[a].End
		}
		return m.Axes[a].Begin
	}
	line := func(to *Line, from, until [3]float64, c Colour) {
		x0, y0, _ := p.At(from[0], from[1], from[2])
		x1, y1, _ := p.At(until[0], until[1], until[2])
		if math.Hypot(x1-x0, y1-y0) > 0.5 {
			to.Add(float32(x0), float32(y0), float32(x1), float32(y1), c)
		}
	}
	for b := range 3 { // lines along b, on the two walls behind that hold it
		c, d := (b+1)%3, (b+2)%3
		for _, s := range [4][2]bool{{false, false}, {false, true}, {true, false}, {true, true}} {
			if s[0] != far[c] && s[1] != far[d] || m.Axes[b].Length() == 0 {
				continue
			}
			var from [3]float64
			from[b], from[c], from[d] = m.Axes[b].Begin, end(c, s[0]), end(d, s[1])
			until := from
			until[b] = m.Axes[b].End
			line(edges, from, until, UIAxis)
		}
		for _, t := range m.Axes[b].Ticks { // lines across b at its ticks
			for _, w := range [2][2]int{{c, d}, {d, c}} { // along w[0], on the wall of w[1]
				var from [3]float64
				from[b], from[w[1]], from[w[0]] = t.At, end(w[1], far[w[1]]), m.Axes[w[0]].Begin
				until := from
				until[w[0]] = m.Axes[w[0]].End
				line(grid, from, until, UIHairline)
			}
		}
	}
	var taken [][4]float32
	m.labelAxes(p, far, edges, text, &taken)
	m.labelThings(p, text, &taken)
	return []Mark{grid, edges, text}
}

// farSides returns for each axis whether the wall at its end is the one behind.
func (m *Space) farSides(p *Projection) [3]bool {
	return [3]bool{p.sinA >= 0, p.cosA >= 0, p.sinE < 0} // the signs of depth along the axes, see At
}

// labelAxes writes ticks and names along one edge of each axis that is on the
// outline of the box. Labels that would overlap are left out.
func (m *Space) labelAxes(p *Projection, far [3]bool, edges *Line, text *Text, taken *[][4]float32) {
	for b := range 3 {
		axis := &m.Axes[b]
		c, d := (b+1)%3, (b+2)%3
		best := labelEdge{}
		for _, near := range []int{c, d} { // one of the two walls is in front, the other behind
			var at [3]float64
			for _, a := range []int{c, d} {
				if at[a] = m.Axes[a].Begin; (a == near) != far[a] {
					at[a] = m.Axes[a].End
				}
			}
			at[b] = axis.Begin
			e := labelEdge{from: at}
			e.x0, e.y0, _ = p.At(at[0], at[1], at[2])
			at[b] = axis.End
			e.x1, e.y1, _ = p.At(at[0], at[1], at[2])
			e.rank = e.y0 + e.y1 - 1e-3*(e.x0+e.x1) // the lower one, of two side by side the left one
			if b == 2 {
				e.rank = -e.x0 - e.x1 // the left one
			}
			if near == c || e.rank > best.rank+1e-6 {
				best = e
			}
		}
		m.labelEdge(p, b, &best, edges, text, taken)
	}
}

// labelThings writes names next to the things they belong to: above, or to a side, where no
// other name and no thing is in the way.
func (m *Space) labelThings(p *Projection, text *Text, taken *[][4]float32) {
	if len(m.Labels) == 0 {
		return
	}
	r := m.dotRadius(p)
	for i := range min(m.Len(), mostNamed) {
		if x, y, _ := p.At(float64(m.PX[i]), float64(m.PY[i]), float64(m.PZ[i])); m.Look(i) != None && finite(x+y) {
			*taken = append(*taken,
				[4]float32{float32(x - 0.8*r), float32(y - 0.8*r), float32(x + 0.8*r), float32(y + 0.8*r)})
		}
	}
	for _, l := range m.Labels {
		i := int(l.Thing)
		if i >= m.Len() || m.Look(i) == None {
			continue
		}
		x, y, _ := p.At(float64(m.PX[i]), float64(m.PY[i]), float64(m.PZ[i]))
		if !finite(x + y) {
			continue
		}
		w := float64(TextWidth(l.Text, TextSize, false))
		// Above, it may move to a side so that it is within the picture.
		left, right := float64(m.X)+w/2+3, float64(m.X+m.W)-w/2-3
		above := x
		if m.Bare { // the name of a block, which begins where its first thing does
			above += w/2 - r
		}
		for _, at := range [4][2]float64{{min(max(above, left), max(left, right)), y - r - 5},
			{x + r + 5 + w/2, y + 4}, {x - r - 5 - w/2, y + 4},
			{x, y + r + 13}} {
			box := [4]float32{float32(at[0] - w/2 - 3), float32(at[1] - 11), float32(at[0] + w/2 + 3),
				float32(at[1] + 4)}
			if box[0] < m.X || box[1] < m.Y || box[2] > m.X+m.W || box[3] > m.Y+m.H || overlaps(*taken, box) {
				continue
			}
			*taken = append(*taken, box)
			text.Add(float32(at[0]), float32(at[1]), l.Text, UIText, Middle)
			break
		}
	}
}

// mostNamed is of how many things names keep clear.
const mostNamed = 400

func overlaps(taken [][4]float32, box [4]float32) bool {
	for _, t := range taken {
		if box[0] < t[2] && t[0] < box[2] && box[1] < t[3] && t[1] < box[3] {
			return true
		}
	}
	return false
}

type labelEdge struct {
	from           [3]float64
	x0, y0, x1, y1 float64
	rank           float64
}

// inwards returns how far the middles of the outermost dots are inside an edge along axis b, in pixels
// against the direction given: the box holds them whole, so it is their radius on each axis.
func (m *Space) inwards(p *Projection, b int, at [3]float64, ox, oy float64) (far float64) {
	x0, y0, _ := p.At(at[0], at[1], at[2])
	for a := range 3 {
		if a == b || m.Axes[a].Length() == 0 {
			continue
		}
		to := at
		to[a] += float64(m.Radius) / m.Axes[a].stretch()
		x1, y1, _ := p.At(to[0], to[1], to[2])
		far += math.Abs((x1-x0)*ox + (y1-y0)*oy)
	}
	return far
}

// labelEdge writes ticks and the name of axis b along an edge.
func (m *Space) labelEdge(p *Projection, b int, e *labelEdge, edges *Line, text *Text, taken *[][4]float32) {
	axis := &m.Axes[b]
	length := math.Hypot(e.x1-e.x0, e.y1-e.y0)
	if length < 24 || !finite(length) {
		return
	}
	// Outwards: across the edge, away from the middle of the box.
	ox, oy := (e.y0-e.y1)/length, (e.x1-e.x0)/length
	if ox*((e.x0+e.x1)/2-p.cx)+oy*((e.y0+e.y1)/2-p.cy) < 0 {
		ox, oy = -ox, -oy
	}
	anchor, shift := Middle, 0.5
	switch {
	case ox > 0.35:
		anchor, shift = Start, 0
	case ox < -0.35:
		anchor, shift = End, 1
	}
	put := func(x, y float64, s string, fill Colour) float64 {
		w := float64(TextWidth(s, TextSize, false))
		base := y + 4 + 4*oy
		box := [4]float32{float32(x - shift*w - 3), float32(base - 11), float32(x - shift*w + w + 3), float32(base + 4)}
		if m.Camera.Zoom <= 1 && (box[0] < m.X-3 || box[1] < m.Y-2 || box[2] > m.X+m.W+3 || box[3] > m.Y+m.H+2) {
			return 0 // half a label says the wrong thing
		}
		if overlaps(*taken, box) {
			return 0
		}
		*taken = append(*taken, box)
		text.Add(float32(x), float32(base), s, fill, anchor)
		return w
	}
	wide, clear := 0.0, 0.0
	if m.Form == Dots || m.Form == Balls {
		clear = max(m.dotRadius(p)-m.inwards(p, b, e.from, ox, oy), 0) // as far as things reach over the edge
	}
	for _, t := range axis.Ticks {
		at := e.from
		at[b] = t.At
		x, y, _ := p.At(at[0], at[1], at[2])
		edges.Add(float32(x), float32(y), float32(x+(clear+4)*ox), float32(y+(clear+4)*oy), UIAxis)
		wide = max(wide, put(x+(clear+8)*ox, y+(clear+8)*oy, t.Label, UITextMuted))
	}
	if b == 2 { // over its upper end, since there is little room next to it
		x, y := e.x1, e.y1
		if e.y0 < y {
			x, y = e.x0, e.y0
		}
		anchor, shift = Middle, 0.5
		put(x, y-16-4*oy, axis.Label, UIText)
		return
	}
	// The name stands beyond the labels, further out where others are in its way.
	for away := clear + 22 + math.Abs(ox)*wide; away < clear+80 && axis.Label != ""; away += 14 {
		if put((e.x0+e.x1)/2+away*ox, (e.y0+e.y1)/2+away*oy, axis.Label, UIText) > 0 {
			return
		}
	}
}
