package pdf

import "github.com/parallax-hpc/parallax/internal/scene"

func (p *page) texts(m *scene.Text) {
	size := m.Size
	if !(size > 0) || size > 500 {
		size = 12
	}
	style := ""
	if m.Bold {
		style = "B"
	}
	p.flush()
	// The library believes that a font lasts; here it ends with the layer's state. A
	// change of size makes it write the font again.
	p.doc.SetFont(family, style, 1)
	p.doc.SetFont(family, style, float64(size)*p.unit)
	for i, s := range m.Text {
		c := p.look(m.Fill[i], 0)
		s = drawn(s)
		if s == "" || c.A == 0 || !scene.Drawable(m.X[i], m.Y[i]) {
			continue
		}
		along := 0.0
		if m.Anchor != nil && m.Anchor[i] != scene.Start {
			along = -float64(scene.TextWidth(s, size, m.Bold)) * p.unit
			if m.Anchor[i] == scene.Middle {
				along /= 2
			}
		}
		x, y := float64(m.X[i])*p.unit, float64(m.Y[i])*p.unit
		p.doc.SetTextColor(int(c.R), int(c.G), int(c.B))
		if !m.Turned {
			p.doc.Text(x+along, y, s)
			continue
		}
		p.op("q 0 1 -1 0").num(x).num(p.height - y).op("cm")
		p.flush()
		p.doc.Text(along, p.height, s)
		p.doc.RawWriteStr("Q")
	}
}
