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
			p.hatch(scene.AggregatedStep, scene.AggregatedLine, true,
				func() box { return p.rectPath(m, run.Index, scene.AggregatedLeast) })
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

// A box is the extent of the written marks.
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
			p.num(float64(x + inset)).num(float64(y + inset)).num(float64(w - 2*inset)).num(float64(h - 2*
				inset)).op("re\n")
		}
	}
}

// hatch draws diagonal lines inside a path. All lines are on one raster over the
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
		x1, y1 := min(float64(b.x1), p.width/p.unit), min(float64(b.y1), p.height/p.unit)
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
	p.doc.ImageOptions(name, float64(m.X)*p.unit, float64(m.Y)*p.unit, float64(m.W)*p.unit, float64(m.H)*p.unit, false,
		options, 0, "")
}
