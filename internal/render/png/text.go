package png

import (
	"image"
	"image/color"
	"math"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// glyphs are the drawn characters of one font, kept by size and place within a pixel.
type glyphs struct {
	font   *sfnt.Font
	buffer sfnt.Buffer
	kept   map[glyphKey]*glyph
}

type glyphKey struct {
	r      rune
	size   float32
	sub    uint8 // quarters of a pixel
	turned bool
}

// A glyph is a mask placed from the pen.
type glyph struct {
	mask []uint8
	box  image.Rectangle
}

func (c *canvas) glyphsOf(bold bool) *glyphs {
	i := 0
	if bold {
		i = 1
	}
	if c.fonts[i] == nil {
		f, err := sfnt.Parse(scene.FontData(bold))
		if err != nil {
			panic(err) // The font is part of the program.
		}
		c.fonts[i] = &glyphs{font: f, kept: map[glyphKey]*glyph{}}
	}
	return c.fonts[i]
}

func (c *canvas) texts(m *scene.Text) {
	size := m.Size
	if !(size > 0) || size > 500 {
		size = 12
	}
	g := c.glyphsOf(m.Bold)
	for i, s := range m.Text {
		fill := c.look(m.Fill[i], 0)
		if s == "" || fill.A == 0 || !scene.Drawable(m.X[i], m.Y[i]) {
			continue
		}
		s = scene.Visible(s)
		along := float32(0)
		if m.Anchor != nil && m.Anchor[i] != scene.Start {
			along = -scene.TextWidth(s, size, m.Bold)
			if m.Anchor[i] == scene.Middle {
				along /= 2
			}
		}
		c.text(g, m.X[i]*c.scale, m.Y[i]*c.scale, along*c.scale, s, size*c.scale, m.Bold, m.Turned, fill)
	}
}

// text draws from the pen at x, y; along is where the first letter starts, before or at the pen.
func (c *canvas) text(g *glyphs, x, y, along float32, s string, size float32, bold, turned bool, fill color.NRGBA) {
	// Baselines are on whole pixels, so that a line of text is sharp.
	if turned {
		x = float32(math.Round(float64(x)))
	} else {
		y = float32(math.Round(float64(y)))
	}
	for _, r := range s {
		px, py := x+along, y
		if turned {
			px, py = x, y-along
		}
		if px > float32(c.clip.Max.X)+size || py < float32(c.clip.Min.Y)-size {
			return
		}
		if px > float32(c.clip.Min.X)-4*size && py < float32(c.clip.Max.Y)+4*size {
			c.glyph(g, r, px, py, size, turned, fill)
		}
		along += scene.Advance(r, size, bold)
	}
}

func (c *canvas) glyph(g *glyphs, r rune, x, y, size float32, turned bool, fill color.NRGBA) {
	moving := x
	if turned {
		moving = y
	}
	whole := math.Floor(float64(moving)*4+0.5) / 4
	base := math.Floor(whole)
	sub := uint8((whole - base) * 4)
	key := glyphKey{r, size, sub, turned}
	got, ok := g.kept[key]
	if !ok {
		got = c.drawGlyph(g, key)
		g.kept[key] = got
	}
	at := image.Point{X: int(base), Y: int(y)}
	if turned {
		at = image.Point{X: int(x), Y: int(base)}
	}
	box := got.box.Add(at)
	for py := max(box.Min.Y, c.clip.Min.Y); py < min(box.Max.Y, c.clip.Max.Y); py++ {
		for px := max(box.Min.X, c.clip.Min.X); px < min(box.Max.X, c.clip.Max.X); px++ {
			if m := got.mask[(py-box.Min.Y)*box.Dx()+px-box.Min.X]; m > 0 {
				i := py*c.width + px
				c.pixels[i] = blend(c.pixels[i], fill, (uint32(m)*uint32(fill.A)+127)/255)
			}
		}
	}
}

func (c *canvas) drawGlyph(g *glyphs, key glyphKey) *glyph {
	index, err := g.font.GlyphIndex(&g.buffer, key.r)
	if err != nil {
		index = 0
	}
	if index == 0 && scene.Advance(key.r, key.size, false) == 0 {
		return &glyph{}
	}
	segments, err := g.font.LoadGlyph(&g.buffer, index, fixed.Int26_6(key.size*64+0.5), nil)
	if err != nil || len(segments) == 0 {
		return &glyph{}
	}
	shift := float32(key.sub) / 4
	place := func(p fixed.Point26_6) [2]float32 {
		x, y := float32(p.X)/64, float32(p.Y)/64
		if key.turned {
			return [2]float32{y, -x + shift}
		}
		return [2]float32{x + shift, y}
	}
	corners := outline{}
	for _, s := range segments {
		for _, p := range s.Args[:argsOf(s.Op)] {
			corners = append(corners, place(p))
		}
	}
	box := corners.bounds()
	dx, dy := float32(box.Min.X), float32(box.Min.Y)
	z := &c.shapes
	z.Reset(box.Dx(), box.Dy())
	for _, s := range segments {
		p := [3][2]float32{place(s.Args[0]), place(s.Args[1]), place(s.Args[2])}
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			z.ClosePath()
			z.MoveTo(p[0][0]-dx, p[0][1]-dy)
		case sfnt.SegmentOpLineTo:
			z.LineTo(p[0][0]-dx, p[0][1]-dy)
		case sfnt.SegmentOpQuadTo:
			z.QuadTo(p[0][0]-dx, p[0][1]-dy, p[1][0]-dx, p[1][1]-dy)
		case sfnt.SegmentOpCubeTo:
			z.CubeTo(p[0][0]-dx, p[0][1]-dy, p[1][0]-dx, p[1][1]-dy, p[2][0]-dx, p[2][1]-dy)
		}
	}
	z.ClosePath()
	mask := image.NewAlpha(image.Rect(0, 0, box.Dx(), box.Dy()))
	z.Draw(mask, mask.Rect, image.Opaque, image.Point{})
	return &glyph{mask.Pix, box}
}

func argsOf(op sfnt.SegmentOp) int {
	switch op {
	case sfnt.SegmentOpQuadTo:
		return 2
	case sfnt.SegmentOpCubeTo:
		return 3
	}
	return 1
}
