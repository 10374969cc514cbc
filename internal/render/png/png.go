// Package png draws a scene as a raster: rectangles on whole pixels, everything
// else smoothed, text in the Go font. No window, no fonts of the machine.
package png

import (
	"fmt"
	"image"
	"io"
	"math"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// Render writes the scene in the colours of a theme, one pixel for each of the scene's.
func Render(w io.Writer, s *scene.Scene, theme scene.Theme) error {
	return RenderScaled(w, s, theme, 1)
}

// RenderScaled is Render with scale pixels for each of the scene's, for print and
// dense screens.
func RenderScaled(w io.Writer, s *scene.Scene, theme scene.Theme, scale int) error {
	c, err := draw(s, theme, scale)
	if err != nil {
		return fmt.Errorf("png: %w", err)
	}
	if s.Print > 0 {
		c.dots = printDots * scale
	}
	return encode(w, c, [][2]string{{"Title", s.Title}, {"Description", s.Description}, {"Software", "Parallax"}})
}

// Image draws the scene into memory, for callers that compare or compose pictures.
func Image(s *scene.Scene, theme scene.Theme) (*image.RGBA, error) {
	c, err := draw(s, theme, 1)
	if err != nil {
		return nil, fmt.Errorf("png: %w", err)
	}
	out := image.NewRGBA(image.Rect(0, 0, c.width, c.height))
	for i, p := range c.pixels {
		out.Pix[4*i], out.Pix[4*i+1], out.Pix[4*i+2], out.Pix[4*i+3] = uint8(p), uint8(p>>8), uint8(p>>16), 255
	}
	return out, nil
}

// printDots is how many pixels an inch of paper has.
const printDots = 300

func zoomOf(s *scene.Scene) float64 {
	if s.Print > 0 {
		return s.Print / 25.4 * printDots
	}
	return s.Zoomed()
}

func draw(s *scene.Scene, theme scene.Theme, scale int) (*canvas, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	zoom := zoomOf(s) * float64(scale)
	if scale < 1 || !(zoom <= 16) || s.Width*s.Height*zoom*zoom > 200<<20 {
		return nil, fmt.Errorf("a scale of %d is too large for %g × %g pixels", scale, s.Width, s.Height)
	}
	c := newCanvas(int(math.Ceil(s.Width*zoom-1e-6)), int(math.Ceil(s.Height*zoom-1e-6)), theme, float32(zoom))
	for _, l := range s.Layers {
		c.clip = c.whole()
		if l.Frame >= 0 {
			f := s.Frames[l.Frame]
			if !scene.Drawable(f.X, f.Y, f.W, f.H) {
				continue
			}
			c.clip = c.clip.Intersect(c.snapped(f.X, f.Y, f.W, f.H))
		}
		for _, m := range l.Marks {
			if err := c.mark(m); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// mark has a case for each kind of scene.MarkKinds.
func (c *canvas) mark(m scene.Mark) error {
	switch m := m.(type) {
	case *scene.Rect:
		c.rects(m)
	case *scene.Line:
		c.lines(m)
	case *scene.Path:
		c.paths(m)
	case *scene.Polygon:
		c.polygons(m)
	case *scene.Point:
		c.points(m)
	case *scene.Text:
		c.texts(m)
	case *scene.Image:
		c.image(m)
	case *scene.Space:
		for _, flat := range m.Flatten() {
			if err := c.mark(flat); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("mark %q is not drawn", m.Kind())
	}
	return nil
}
