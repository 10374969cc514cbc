package pdf

import "github.com/parallax-hpc/parallax/internal/scene"

func lineWidth(v float32) float32 {
	if !(v > 0) || v > 1000 {
		return 1
	}
	return v
}

func (p *page) lines(m *scene.Line) {
	width := lineWidth(m.Width)
	p.num(float64(width)).op("w\n")
	for i := range m.X0 {
		flags := scene.FlagsOf(m.Flags, i)
		c := p.look(m.Stroke[i], flags)
		x0, y0, x1, y1 := m.X0[i], m.Y0[i], m.X1[i], m.Y1[i]
		if c.A == 0 || !scene.Drawable(x0, y0, x1, y1) {
			continue
		}
		head, sx, sy, arrow := scene.ArrowHead(x0, y0, x1, y1, width)
		if arrow = arrow && flags&scene.Arrow != 0; arrow {
			x1, y1 = sx, sy
		}
		x0, y0, x1, y1 = scene.SnapLine(x0, y0, x1, y1, width)
		p.withAlpha(c, func() {
			p.strokeColour(c)
			if flags&scene.Dashed != 0 {
				p.op("[4 3] 0 d")
			}
			p.at(x0, y0, "m").at(x1, y1, "l S\n")
			if flags&scene.Dashed != 0 {
				p.op("[] 0 d")
			}
			if arrow {
				p.fillColour(c)
				p.at(head[0][0], head[0][1], "m").at(head[1][0], head[1][1], "l").at(head[2][0], head[2][1], "l h f\n")
			}
		})
	}
}

// paths breaks a path where a point cannot be drawn.
func (p *page) paths(m *scene.Path) {
	p.num(float64(lineWidth(m.Width))).op("w 1 j\n")
	for i := range m.Len() {
		c := p.look(m.Stroke[i], 0)
		xs, ys := m.Points(i)
		if c.A == 0 {
			continue
		}
		p.withAlpha(c, func() {
			p.strokeColour(c)
			op := "m"
			for j := range xs {
				if !scene.Drawable(xs[j], ys[j]) {
					op = "m"
					continue
				}
				p.at(xs[j], ys[j], op)
				op = "l"
			}
			p.op("S\n")
		})
	}
}

func (p *page) polygons(m *scene.Polygon) {
	p.op("1 w\n")
	for i := range m.Len() {
		xs, ys := m.Corners(i)
		flags := scene.FlagsOf(m.Flags, i)
		fill := p.look(m.Fill[i], flags)
		if len(xs) < 2 || !scene.Drawable(xs...) || !scene.Drawable(ys...) {
			continue
		}
		path := func() (b box) {
			for j := range xs {
				b.add(xs[j], ys[j])
			}
			p.outline(xs, ys)
			return b
		}
		if len(xs) == 2 {
			p.strokeColour(fill)
			path()
			p.op("S\n")
			continue
		}
		if fill.A > 0 {
			p.withAlpha(fill, func() {
				p.fillColour(fill)
				path()
				p.op("f\n")
			})
		}
		if b := extent(xs, ys); flags&scene.Aggregated != 0 && b.x1-b.x0 >= scene.AggregatedLeast &&
			b.y1-b.y0 >= scene.AggregatedLeast {
			p.hatch(scene.AggregatedStep, scene.AggregatedLine, true, path)
		}
		if flags&scene.Hatched != 0 {
			p.hatch(scene.HatchedStep, scene.HatchedLine, false, path)
		}
		if edge := p.look(scene.UIOutline, flags); flags&scene.Outlined != 0 {
			p.withAlpha(edge, func() {
				p.strokeColour(edge)
				path()
				p.op("S\n")
			})
		}
	}
}

func extent(xs, ys []float32) (b box) {
	for i := range xs {
		b.add(xs[i], ys[i])
	}
	return b
}

func (p *page) points(m *scene.Point) {
	for i := range m.X {
		c := p.look(m.Fill[i], 0)
		x, y, r := m.X[i], m.Y[i], m.R[i]
		if c.A == 0 || !scene.Drawable(x, y, r) || !(r > 0) {
			continue
		}
		shape := scene.Disc
		if m.Shape != nil {
			shape = m.Shape[i]
		}
		p.withAlpha(c, func() {
			p.fillColour(c)
			corners := scene.ShapeOutline(shape)
			if corners == nil {
				p.disc(x, y, r)
				return
			}
			for j, corner := range corners {
				p.at(x+corner[0]*r, y+corner[1]*r, map[bool]string{true: "m", false: "l"}[j == 0])
			}
			p.op("h f\n")
		})
	}
}

// disc draws four curves that stay within a thousandth of a circle.
func (p *page) disc(x, y, r float32) {
	const bend = 0.5522847
	k := r * bend
	p.at(x+r, y, "m")
	for _, c := range [][6]float32{
		{x + r, y + k, x + k, y + r, x, y + r}, {x - k, y + r, x - r, y + k, x - r, y},
		{x - r, y - k, x - k, y - r, x, y - r}, {x + k, y - r, x + r, y - k, x + r, y},
	} {
		for _, v := range c {
			p.num(float64(v))
		}
		p.op("c")
	}
	p.op("f\n")
}
