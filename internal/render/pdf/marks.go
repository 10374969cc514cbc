package pdf

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"

	"codeberg.org/go-pdf/fpdf"

	"github.com/parallax-hpc/parallax/internal/scene"
)

func (p *page) rects(m *scene.Rect) {
	for _, run := range m.Runs() {
		if fill := p.look(run.Fill, run.Flags); run.Fill != scene.None && fill.A > 0 {
			p.withAlpha(fill, func() {
				p.fillColour(fill)
				p.rectPath(m, run.Index, 0)
				p.op("f\n")
			})
		}
		if run.Flags&scene.Aggregated != 0 {
			p.hatch(scene.AggregatedStep, scene.AggregatedLine, true, func() box { return p.rectPath(m, run.Index, scene.AggregatedLeast) })
		}
		if run.Flags&scene.Hatched != 0 {
			p.hatch(scene.HatchedStep, scene.HatchedLine, false, func() box { return p.rectPath(m, run.Index, 0) })
		}
		if run.Flags&scene.Outlined != 0 {
			edge := p.look(scene.UIOutline, run.Flags)
			p.withAlpha(edge, func() {
				p.strokeColour(edge)
				p.op("1 w")
				p.outlinePath(m, run.Index)
				p.op("S\n")
			})
		}
	}
}

// A box is the extent of what was written.
type box struct{ x0, y0, x1, y1 float32 }

func (b *box) add(x, y float32) {
	if *b == (box{}) {
		*b = box{x, y, x, y}
	}
	*b = box{min(b.x0, x), min(b.y0, y), max(b.x1, x), max(b.y1, y)}
}

func (p *page) rectPath(m *scene.Rect, index []int32, least float32) (all box) {
	for _, i := range index {
		x, y, w, h, ok := m.DrawnRect(int(i))
		if !ok || w < least || h < least {
			continue
		}
		all.add(x, y)
		all.add(x+w, y+h)
		p.num(float64(x)).num(float64(y)).num(float64(w)).num(float64(h)).op("re\n")
	}
	return all
}

func (p *page) outlinePath(m *scene.Rect, index []int32) {
	for _, i := range index {
		if x, y, w, h, ok := m.DrawnRect(int(i)); ok {
			inset := min(0.5, w/2, h/2)
			p.num(float64(x + inset)).num(float64(y + inset)).num(float64(w - 2*inset)).num(float64(h - 2*inset)).op("re\n")
		}
	}
}

// hatch draws diagonal lines inside a path. All lines lie on one raster over the
// page, so that neighbours continue each other.
func (p *page) hatch(step, width float64, rising bool, path func() box) {
	c := scene.UIHatch.RGBA(p.theme)
	p.withAlpha(c, func() {
		p.op("q")
		mark := len(p.b)
		b := path()
		if len(p.b) == mark {
			p.op("Q")
			return
		}
		p.op("W n")
		p.strokeColour(c)
		p.num(width).op("w")
		x0, y0 := max(float64(b.x0), 0), max(float64(b.y0), 0)
		x1, y1 := min(float64(b.x1), p.width/points), min(float64(b.y1), p.height/points)
		// Lines are x + y = d where they rise, x - y = d where they fall.
		low, high := x0+y0, x1+y1
		if !rising {
			low, high = x0-y1, x1-y0
		}
		apart := step * math.Sqrt2
		for k := math.Floor(low / apart); k*apart <= high; k++ {
			d := k*apart + width/2*math.Sqrt2
			if rising {
				p.num(d - y0).num(y0).op("m").num(d - y1).num(y1).op("l\n")
			} else {
				p.num(d + y0).num(y0).op("m").num(d + y1).num(y1).op("l\n")
			}
		}
		p.op("S Q\n")
	})
}

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
		if b := extent(xs, ys); flags&scene.Aggregated != 0 && b.x1-b.x0 >= scene.AggregatedLeast && b.y1-b.y0 >= scene.AggregatedLeast {
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
	p.doc.SetFont(family, style, float64(size)*points)
	for i, s := range m.Text {
		c := p.look(m.Fill[i], 0)
		s = drawn(s)
		if s == "" || c.A == 0 || !scene.Drawable(m.X[i], m.Y[i]) {
			continue
		}
		along := 0.0
		if m.Anchor != nil && m.Anchor[i] != scene.Start {
			along = -float64(scene.TextWidth(s, size, m.Bold)) * points
			if m.Anchor[i] == scene.Middle {
				along /= 2
			}
		}
		x, y := float64(m.X[i])*points, float64(m.Y[i])*points
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

// Up to so many cells an image is drawn as rectangles, which stay sharp everywhere.
const rectCells = 20000

func (p *page) image(m *scene.Image) {
	if !scene.Drawable(m.X, m.Y, m.W, m.H) || !(m.W > 0) || !(m.H > 0) || m.Len() == 0 {
		return
	}
	if m.Len() <= rectCells {
		p.rects(m.Rects())
		return
	}
	picture := image.NewNRGBA(image.Rect(0, 0, m.Columns, m.Rows))
	for i, c := range m.Cells {
		v := color.NRGBA{}
		if c != scene.None {
			v = c.RGBA(p.theme)
		}
		picture.SetNRGBA(i%m.Columns, i/m.Columns, v)
	}
	var data bytes.Buffer
	if err := png.Encode(&data, picture); err != nil {
		return // Only a picture too large fails, and the scene was checked.
	}
	p.images++
	name := fmt.Sprintf("image%d", p.images)
	options := fpdf.ImageOptions{ImageType: "PNG"}
	p.doc.RegisterImageOptionsReader(name, options, &data)
	p.flush()
	p.doc.ImageOptions(name, float64(m.X)*points, float64(m.Y)*points, float64(m.W)*points, float64(m.H)*points, false, options, 0, "")
}
