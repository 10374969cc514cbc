package png

import (
	"image"
	"image/color"
	"math"

	"golang.org/x/image/vector"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// A canvas is an opaque picture; a pixel holds red in its lowest byte, then green and blue.
type canvas struct {
	width, height int
	pixels        []uint32
	clip          image.Rectangle
	theme         scene.Theme
	scale         float32
	dots          int // to an inch of paper; 0: it is for screens
	table, dimmed []color.NRGBA
	shapes        vector.Rasterizer
	mask          image.Alpha
	fonts         [2]*glyphs
}

func newCanvas(width, height int, theme scene.Theme, scale float32) *canvas {
	c := &canvas{width: width, height: height, pixels: make([]uint32, width*height), theme: theme, scale: scale,
		table: scene.Table(theme)}
	c.dimmed = make([]color.NRGBA, len(c.table))
	for i := range c.dimmed {
		c.dimmed[i] = scene.Colour(i).Dimmed(theme)
	}
	c.clip = c.whole()
	c.fillRect(c.clip, scene.UIBackground.RGBA(theme))
	return c
}

func (c *canvas) whole() image.Rectangle { return image.Rect(0, 0, c.width, c.height) }

// look returns a colour as a thing with these flags has it.
func (c *canvas) look(fill scene.Colour, f scene.Flag) color.NRGBA {
	if int(fill) >= len(c.table) {
		return color.NRGBA{}
	}
	if f&scene.Dimmed != 0 {
		return c.dimmed[fill]
	}
	return c.table[fill]
}

// snapped returns the pixels of a rectangle, at least one each way.
func (c *canvas) snapped(x, y, w, h float32) image.Rectangle {
	x0, x1 := c.snapSpan(x, w)
	y0, y1 := c.snapSpan(y, h)
	return image.Rectangle{Min: image.Point{X: x0, Y: y0}, Max: image.Point{X: x1, Y: y1}}
}

func (c *canvas) snapSpan(from, length float32) (int, int) {
	a := int(math.Floor(float64(from*c.scale) + 0.5))
	b := int(math.Floor(float64((from+length)*c.scale) + 0.5))
	return a, max(b, a+1)
}

func pack(c color.NRGBA) uint32 { return uint32(c.R) | uint32(c.G)<<8 | uint32(c.B)<<16 }

func (c *canvas) fillRect(r image.Rectangle, fill color.NRGBA) {
	r = r.Intersect(c.clip)
	if r.Empty() || fill.A == 0 {
		return
	}
	if fill.A != 255 {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			row := c.pixels[y*c.width+r.Min.X : y*c.width+r.Max.X]
			for i := range row {
				row[i] = blend(row[i], fill, uint32(fill.A))
			}
		}
		return
	}
	v := pack(fill)
	first := c.pixels[r.Min.Y*c.width+r.Min.X : r.Min.Y*c.width+r.Max.X]
	for i := range first {
		first[i] = v
	}
	for y := r.Min.Y + 1; y < r.Max.Y; y++ {
		copy(c.pixels[y*c.width+r.Min.X:], first)
	}
}

// blend lays a colour over a pixel with an opacity from 0 to 255.
func blend(p uint32, over color.NRGBA, alpha uint32) uint32 {
	rest := 255 - alpha
	r := (uint32(over.R)*alpha + (p&255)*rest + 127) / 255
	g := (uint32(over.G)*alpha + (p>>8&255)*rest + 127) / 255
	b := (uint32(over.B)*alpha + (p>>16&255)*rest + 127) / 255
	return r | g<<8 | b<<16
}

// dot lays a colour over one pixel that it covers in part.
func (c *canvas) dot(x, y int, over color.NRGBA, coverage float32) {
	if coverage <= 0 || x < c.clip.Min.X || x >= c.clip.Max.X || y < c.clip.Min.Y || y >= c.clip.Max.Y {
		return
	}
	i := y*c.width + x
	c.pixels[i] = blend(c.pixels[i], over, uint32(min(coverage, 1)*float32(over.A)+0.5))
}

// An outline is a closed polygon in pixels of the canvas.
type outline [][2]float32

func (o outline) bounds() image.Rectangle {
	if len(o) == 0 {
		return image.Rectangle{}
	}
	x0, y0, x1, y1 := o[0][0], o[0][1], o[0][0], o[0][1]
	for _, p := range o {
		x0, y0, x1, y1 = min(x0, p[0]), min(y0, p[1]), max(x1, p[0]), max(y1, p[1])
	}
	return image.Rect(int(math.Floor(float64(x0))), int(math.Floor(float64(y0))), int(math.Ceil(float64(x1)))+1,
		int(math.Ceil(float64(y1)))+1)
}

// fillOutlines fills the union of outlines that turn the same way. The paint function
// gives the opacity of a pixel inside, from 0 to 1; nil: full everywhere.
func (c *canvas) fillOutlines(all []outline, fill color.NRGBA, paint func(x, y int) float32) {
	var box image.Rectangle
	for _, o := range all {
		box = box.Union(o.bounds())
	}
	box = box.Intersect(c.clip)
	if box.Empty() || fill.A == 0 {
		return
	}
	c.shapes.Reset(box.Dx(), box.Dy())
	dx, dy := float32(box.Min.X), float32(box.Min.Y)
	for _, o := range all {
		if o = o.within(box); len(o) < 3 {
			continue
		}
		c.shapes.MoveTo(o[0][0]-dx, o[0][1]-dy)
		for _, p := range o[1:] {
			c.shapes.LineTo(p[0]-dx, p[1]-dy)
		}
		c.shapes.ClosePath()
	}
	c.stamp(box, fill, paint)
}

// stamp paints the rasteriser's shape over the pixels of a box.
func (c *canvas) stamp(box image.Rectangle, fill color.NRGBA, paint func(x, y int) float32) {
	n := box.Dx() * box.Dy()
	if cap(c.mask.Pix) < n {
		c.mask.Pix = make([]uint8, n)
	}
	c.mask.Pix = c.mask.Pix[:n]
	clear(c.mask.Pix)
	c.mask.Stride, c.mask.Rect = box.Dx(), image.Rect(0, 0, box.Dx(), box.Dy())
	c.shapes.Draw(&c.mask, c.mask.Rect, image.Opaque, image.Point{})
	for y := range box.Dy() {
		row := c.mask.Pix[y*box.Dx() : (y+1)*box.Dx()]
		at := (box.Min.Y+y)*c.width + box.Min.X
		for x, m := range row {
			if m == 0 {
				continue
			}
			alpha := uint32(m)
			if paint != nil {
				alpha = uint32(float32(m)*paint(box.Min.X+x, box.Min.Y+y) + 0.5)
			}
			c.pixels[at+x] = blend(c.pixels[at+x], fill, (alpha*uint32(fill.A)+127)/255)
		}
	}
}

// hatch returns the opacity of diagonal lines at a pixel: rising to the right, or falling.
func (c *canvas) hatch(step, line float64, rising bool) func(x, y int) float32 {
	step, line = step*float64(c.scale), line*float64(c.scale)
	return func(x, y int) float32 {
		across := (float64(x) + float64(y) + 1) * math.Sqrt2 / 2
		if !rising {
			across = float64(x-y) * math.Sqrt2 / 2
		}
		across -= math.Floor(across/step) * step
		d := math.Min(math.Abs(across-line/2), math.Abs(across-step-line/2))
		return float32(min(max(line/2+0.5-d, 0), 1))
	}
}
