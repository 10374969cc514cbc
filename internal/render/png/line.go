package png

import (
	"context"
	"image"
	"image/color"
	"math"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/scene"
)

func lineWidth(v float32) float32 {
	if !(v > 0) || v > 1000 {
		return 1
	}
	return v
}

func (c *canvas) lines(m *scene.Line) {
	width := lineWidth(m.Width)
	for i := range m.X0 {
		flags := scene.FlagsOf(m.Flags, i)
		x0, y0, x1, y1 := m.X0[i], m.Y0[i], m.X1[i], m.Y1[i]
		stroke := c.look(m.Stroke[i], flags)
		if stroke.A == 0 || !scene.Drawable(x0, y0, x1, y1) {
			continue
		}
		if flags&scene.Arrow != 0 {
			if head, x, y, ok := scene.ArrowHead(x0, y0, x1, y1, width); ok {
				x1, y1 = x, y
				o := make(outline, 3)
				for k, p := range head {
					o[k] = [2]float32{p[0] * c.scale, p[1] * c.scale}
				}
				c.fillOutlines([]outline{o}, stroke, nil)
			}
		}
		x0, y0, x1, y1 = scene.SnapLine(x0, y0, x1, y1, width)
		if flags&scene.Dashed != 0 {
			c.dashes(x0, y0, x1, y1, width, stroke)
			continue
		}
		c.segment(x0, y0, x1, y1, width, stroke)
	}
}

// dashes draws 4 pixels and leaves out 3, as the other renderers do.
func (c *canvas) dashes(x0, y0, x1, y1, width float32, stroke color.NRGBA) {
	const on, period = 4, 7
	length := float32(math.Hypot(float64(x1-x0), float64(y1-y0)))
	if length > farthest || !(length > 0) {
		return
	}
	dx, dy := (x1-x0)/length, (y1-y0)/length
	for at := float32(0); at < length; at += period {
		to := min(at+on, length)
		c.segment(x0+dx*at, y0+dy*at, x0+dx*to, y0+dy*to, width, stroke)
	}
}

// farthest bounds the dashes of one line.
const farthest = 1 << 17

// segment draws one straight line with flat ends: for each step along its longer
// direction it visits the few pixels across.
func (c *canvas) segment(x0, y0, x1, y1, width float32, stroke color.NRGBA) {
	ax, ay := float64(x0*c.scale), float64(y0*c.scale)
	bx, by := float64(x1*c.scale), float64(y1*c.scale)
	half := float64(width*c.scale) / 2
	length := math.Hypot(bx-ax, by-ay)
	if length == 0 {
		return
	}
	ux, uy := (bx-ax)/length, (by-ay)/length
	steep := math.Abs(uy) > math.Abs(ux)
	// Directions: m along the longer way, n across it.
	am, an, um, un := ax, ay, ux, uy
	low, high, nLow, nHigh := c.clip.Min.X, c.clip.Max.X, c.clip.Min.Y, c.clip.Max.Y
	if steep {
		am, an, um, un = ay, ax, uy, ux
		low, high, nLow, nHigh = nLow, nHigh, low, high
	}
	bm := am + um*length
	reach := (half + 1) / math.Abs(um)
	from := max(int(math.Floor(min(am, bm)-half-1)), low)
	to := min(int(math.Ceil(max(am, bm)+half+1)), high)
	for m := from; m < to; m++ {
		centre := an + (float64(m)+0.5-am)/um*un
		for n := max(int(math.Floor(centre-reach)), nLow); n < min(int(math.Ceil(centre+reach)), nHigh); n++ {
			pm, pn := float64(m)+0.5-am, float64(n)+0.5-an
			across := math.Abs(pm*un - pn*um)
			along := pm*um + pn*un
			cover := band(half-across) * band(along) * band(length-along)
			// Lines thinner than a pixel fade instead of vanishing.
			if 2*half < 1 {
				cover = max(min(1-across, 1), 0) * 2 * half * band(along) * band(length-along)
			}
			if cover <= 0 {
				continue
			}
			if steep {
				c.dot(n, m, stroke, float32(cover))
			} else {
				c.dot(m, n, stroke, float32(cover))
			}
		}
	}
}

// band returns the share of a pixel that is inside an edge at this distance.
func band(inside float64) float64 { return min(max(inside+0.5, 0), 1) }

// paths fills each path's strokes as one shape, so that joints do not show. A point
// that cannot be drawn breaks the path.
func (c *canvas) paths(m *scene.Path) {
	half := lineWidth(m.Width) * c.scale / 2
	for i := range m.Len() {
		stroke := c.look(m.Stroke[i], 0)
		xs, ys := m.Points(i)
		if stroke.A == 0 {
			continue
		}
		var all []outline
		for j := 1; j < len(xs); j++ {
			if scene.Drawable(xs[j-1], ys[j-1], xs[j], ys[j]) {
				all = appendStroke(all, xs[j-1]*c.scale, ys[j-1]*c.scale, xs[j]*c.scale, ys[j]*c.scale, half)
			}
		}
		c.fillOutlines(all, stroke, nil)
	}
}

// appendStroke adds a straight line and a round joint at its end, both turning the same way.
func appendStroke(all []outline, x0, y0, x1, y1, half float32) []outline {
	length := float32(math.Hypot(float64(x1-x0), float64(y1-y0)))
	if length == 0 {
		return all
	}
	nx, ny := -(y1-y0)/length*half, (x1-x0)/length*half
	all = append(all, outline{{x0 + nx, y0 + ny}, {x0 - nx, y0 - ny}, {x1 - nx, y1 - ny}, {x1 + nx, y1 + ny}})
	joint := make(outline, 8)
	for k := range joint {
		sin, cos := math.Sincos(float64(k) * math.Pi / 4)
		joint[k] = [2]float32{x1 + half*float32(cos), y1 + half*float32(sin)}
	}
	return append(all, joint)
}

func (c *canvas) polygons(m *scene.Polygon) {
	hatch := scene.UIHatch.RGBA(c.theme)
	for i := range m.Len() {
		xs, ys := m.Corners(i)
		flags := scene.FlagsOf(m.Flags, i)
		fill := c.look(m.Fill[i], flags)
		if len(xs) < 2 || !scene.Drawable(xs...) || !scene.Drawable(ys...) {
			continue
		}
		if len(xs) == 2 {
			c.segment(xs[0], ys[0], xs[1], ys[1], 1, fill)
			continue
		}
		o := make(outline, len(xs))
		for j := range xs {
			o[j] = [2]float32{xs[j] * c.scale, ys[j] * c.scale}
		}
		c.fillOutlines([]outline{o}, fill, nil)
		box := o.bounds()
		least := int(scene.AggregatedLeast * c.scale)
		if flags&scene.Aggregated != 0 && box.Dx() > least && box.Dy() > least {
			c.fillOutlines([]outline{o}, hatch, c.hatch(scene.AggregatedStep, scene.AggregatedLine, true))
		}
		if flags&scene.Hatched != 0 {
			c.fillOutlines([]outline{o}, hatch, c.hatch(scene.HatchedStep, scene.HatchedLine, false))
		}
		if flags&scene.Outlined != 0 {
			edge := c.look(scene.UIOutline, flags)
			for j := range xs {
				k := (j + 1) % len(xs)
				c.segment(xs[j], ys[j], xs[k], ys[k], 1, edge)
			}
		}
	}
}

func (c *canvas) points(m *scene.Point) {
	if len(m.X) >= manyPoints && m.Shape == nil {
		c.inBands(func(band *canvas) { band.eachPoint(m) })
		return
	}
	c.eachPoint(m)
}

const (
	// manyPoints is the number of discs from which on all cores draw them.
	manyPoints = 1 << 14
	// bands is into how many parts the picture is divided then: each core draws all that is in one.
	bands = 16
)

// inBands draws on all cores, each of which changes some rows of pixels only.
func (c *canvas) inBands(draw func(*canvas)) {
	_ = parallel.For(context.Background(), bands, func(k int) {
		band := *c
		band.clip = c.clip.Intersect(image.Rect(0, c.height*k/bands, c.width, c.height*(k+1)/bands))
		if !band.clip.Empty() {
			draw(&band)
		}
	})
}

func (c *canvas) eachPoint(m *scene.Point) {
	for i := range m.X {
		fill := c.look(m.Fill[i], 0)
		x, y, r := m.X[i]*c.scale, m.Y[i]*c.scale, m.R[i]*c.scale
		if fill.A == 0 || !scene.Drawable(x, y, r) || !(r > 0) {
			continue
		}
		shape := scene.Disc
		if m.Shape != nil {
			shape = m.Shape[i]
		}
		corners := scene.ShapeOutline(shape)
		if corners == nil {
			c.disc(x, y, r, fill)
			continue
		}
		o := make(outline, len(corners))
		for k, p := range corners {
			o[k] = [2]float32{x + p[0]*r, y + p[1]*r}
		}
		c.fillOutlines([]outline{o}, fill, nil)
	}
}

func (c *canvas) disc(x, y, r float32, fill color.NRGBA) {
	x0, x1 := max(int(x-r)-1, c.clip.Min.X), min(int(x+r)+2, c.clip.Max.X)
	y0, y1 := max(int(y-r)-1, c.clip.Min.Y), min(int(y+r)+2, c.clip.Max.Y)
	for py := y0; py < y1; py++ {
		for px := x0; px < x1; px++ {
			dx, dy := float32(px)+0.5-x, float32(py)+0.5-y
			c.dot(px, py, fill, min(max(r+0.5-float32(math.Sqrt(float64(dx*dx+dy*dy))), 0), 1))
		}
	}
}
