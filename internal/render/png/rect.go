package png

import (
	"image"
	"image/color"

	"github.com/parallax-hpc/parallax/internal/scene"
)

func (c *canvas) rects(m *scene.Rect) {
	hatch := scene.UIHatch.RGBA(c.theme)
	for i := range m.X {
		x, y, w, h, ok := m.DrawnRect(i)
		if !ok {
			continue
		}
		flags := scene.FlagsOf(m.Flags, i)
		r := c.snapped(x, y, w, h)
		c.fillRect(r, c.look(m.Fill[i], flags))
		if flags == 0 {
			continue
		}
		if flags&scene.Aggregated != 0 && w >= scene.AggregatedLeast && h >= scene.AggregatedLeast {
			c.paintRect(r, hatch, c.hatch(scene.AggregatedStep, scene.AggregatedLine, true))
		}
		if flags&scene.Hatched != 0 {
			c.paintRect(r, hatch, c.hatch(scene.HatchedStep, scene.HatchedLine, false))
		}
		if flags&scene.Outlined != 0 {
			c.outlineRect(r, c.look(scene.UIOutline, flags))
		}
	}
}

func (c *canvas) paintRect(r image.Rectangle, fill color.NRGBA, paint func(x, y int) float32) {
	r = r.Intersect(c.clip)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c.dot(x, y, fill, paint(x, y))
		}
	}
}

// outlineRect draws hairlines inside the edges.
func (c *canvas) outlineRect(r image.Rectangle, stroke color.NRGBA) {
	t := int(c.scale)
	if r.Dx() <= 2*t || r.Dy() <= 2*t {
		c.fillRect(r, stroke)
		return
	}
	c.fillRect(image.Rect(r.Min.X, r.Min.Y, r.Max.X, r.Min.Y+t), stroke)
	c.fillRect(image.Rect(r.Min.X, r.Max.Y-t, r.Max.X, r.Max.Y), stroke)
	c.fillRect(image.Rect(r.Min.X, r.Min.Y+t, r.Min.X+t, r.Max.Y-t), stroke)
	c.fillRect(image.Rect(r.Max.X-t, r.Min.Y+t, r.Max.X, r.Max.Y-t), stroke)
}

// image draws each cell on whole pixels; a shrunk image shows the cell at the middle of each pixel.
func (c *canvas) image(m *scene.Image) {
	if !scene.Drawable(m.X, m.Y, m.W, m.H) || !(m.W > 0) || !(m.H > 0) || m.Len() == 0 {
		return
	}
	whole := c.snapped(m.X, m.Y, m.W, m.H)
	r := whole.Intersect(c.clip)
	columns := make([]int, r.Dx())
	for i := range columns {
		columns[i] = cellAt(r.Min.X+i-whole.Min.X, whole.Dx(), m.Columns)
	}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		cells := m.Cells[cellAt(y-whole.Min.Y, whole.Dy(), m.Rows)*m.Columns:]
		for i, column := range columns {
			fill := c.look(cells[column], 0)
			if fill.A == 255 {
				c.pixels[y*c.width+r.Min.X+i] = pack(fill)
			} else if fill.A > 0 {
				c.dot(r.Min.X+i, y, fill, 1)
			}
		}
	}
}

// cellAt returns the cell at the middle of pixel i of n.
func cellAt(i, n, cells int) int { return min((2*i+1)*cells/(2*n), cells-1) }
