// Package svg draws a scene as a scalable vector graphic: small, the same bytes
// each time, readable by browsers, Inkscape and converters alike.
package svg

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"image/color"
	"io"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// Render writes the scene in the colours of a theme.
func Render(w io.Writer, s *scene.Scene, theme scene.Theme) error {
	return (&writer{theme: theme, prefix: prefix(s, theme)}).render(w, s)
}

// Themed writes the scene for a page of HTML in both themes at once: colours are variables
// of the palette, rasters are there twice, of the classes "light" and "dark". Under is
// written right over the background.
func Themed(w io.Writer, s *scene.Scene, p *Palette, under string) error {
	return (&writer{palette: p, under: under, prefix: prefix(s, scene.Light)}).render(w, s)
}

func (out *writer) render(w io.Writer, s *scene.Scene) error {
	if err := s.Check(); err != nil {
		return fmt.Errorf("svg: %w", err)
	}
	out.open(s)
	for _, l := range s.Layers {
		if err := out.layer(s, l); err != nil {
			return fmt.Errorf("svg: %w", err)
		}
		if len(out.b) > 1<<20 {
			if err := out.flush(w); err != nil {
				return err
			}
		}
	}
	out.text("</svg>\n")
	return out.flush(w)
}

// The families after ours are narrower, so no text outgrows the room measured for it.
const fontFamily = `Go,'Helvetica Neue',Arial,'Liberation Sans',sans-serif`

// A writer collects the picture's bytes.
type writer struct {
	b      []byte
	theme  scene.Theme
	prefix string // of ids, so that several pictures can share a page
	// For both themes: the declared colours, and the images on the background.
	palette *Palette
	under   string
}

func (w *writer) flush(to io.Writer) error {
	b := bufio.NewWriter(to)
	b.Write(w.b)
	w.b = w.b[:0]
	return b.Flush()
}

func prefix(s *scene.Scene, theme scene.Theme) string {
	h := fnv.New32a()
	fmt.Fprintf(h, "%s\x00%s\x00%g %g %d", s.Title, s.Description, s.Width, s.Height, theme)
	for _, f := range s.Frames {
		fmt.Fprintf(h, " %g %g %g %g", f.X, f.Y, f.W, f.H)
	}
	return fmt.Sprintf("p%06x", h.Sum32()&0xFFFFFF)
}

func (w *writer) open(s *scene.Scene) {
	zoom := s.Zoomed()
	w.text("<svg")
	if w.palette == nil {
		w.text(` xmlns="http://www.w3.org/2000/svg"`) // HTML knows without
	}
	if s.Print > 0 {
		w.text(` width="`).number(s.Width * s.Print).text(`mm" height="`).number(s.Height * s.Print).text("mm")
	} else {
		w.text(` width="`).number(s.Width * zoom).text(`" height="`).number(s.Height * zoom)
	}
	w.text(`" viewBox="0 0 `).number(s.Width).text(" ").number(s.Height)
	w.text(`" role="img" font-family="` + fontFamily +
		`" style="font-variant-numeric:tabular-nums;unicode-bidi:isolate">` + "\n")
	w.text("<title>").escape(s.Title).text("</title>\n<desc>").escape(s.Description).text("</desc>\n")
	w.defs(s)
	w.text(`<rect width="`).number(s.Width).text(`" height="`).number(s.Height).text(`"`)
	w.fill(w.look(scene.UIBackground, 0)).text("/>").text(w.under).text("\n")
}

// defs declares the hatches and clips that the layers use.
func (w *writer) defs(s *scene.Scene) {
	framed := make([]bool, len(s.Frames))
	hatches := scene.Flag(0)
	for _, l := range s.Layers {
		if l.Frame >= 0 {
			framed[l.Frame] = true
		}
		for _, m := range l.Marks {
			hatches |= flagsUsed(m)
		}
	}
	w.text("<defs>")
	if hatches&scene.Aggregated != 0 {
		w.hatch("a", scene.AggregatedStep, scene.AggregatedLine, 45)
	}
	if hatches&scene.Hatched != 0 {
		w.hatch("h", scene.HatchedStep, scene.HatchedLine, -45)
	}
	for i, f := range s.Frames {
		if framed[i] && scene.Drawable(f.X, f.Y, f.W, f.H) {
			w.text(`<clipPath id="` + w.prefix +
				"f").number(float64(i)).text(`"><rect x="`).number(float64(f.X)).text(`" y="`).number(float64(f.Y))
			w.text(`" width="`).number(float64(max(f.W, 0))).text(`" height="`).number(float64(max(f.H,
				0))).text(`"/></clipPath>`)
		}
	}
	w.text("</defs>\n")
}

func (w *writer) hatch(id string, step, line, turn float64) {
	w.text(`<pattern id="` + w.prefix + id + `" width="`).number(step).text(`" height="`).number(step)
	w.text(
		`" patternUnits="userSpaceOnUse" patternTransform="rotate(`,
	).number(turn).text(`)"><rect width="`).number(line)
	w.text(`" height="`).number(step).text(`"`).fill(w.look(scene.UIHatch, 0)).text("/></pattern>")
}

func flagsUsed(m scene.Mark) (used scene.Flag) {
	var flags []scene.Flag
	switch m := m.(type) {
	case *scene.Rect:
		flags = m.Flags
	case *scene.Polygon:
		flags = m.Flags
	}
	for _, f := range flags {
		used |= f
	}
	return used
}

func (w *writer) layer(s *scene.Scene, l scene.Layer) error {
	before := len(w.b)
	w.text("<g")
	if l.Name != "" {
		w.text(` data-layer="`).escape(l.Name).text(`"`)
	}
	if l.Frame >= 0 {
		if f := s.Frames[l.Frame]; !scene.Drawable(f.X, f.Y, f.W, f.H) {
			w.text("/>\n")
			return nil
		}
		w.text(` clip-path="url(#` + w.prefix + "f").number(float64(l.Frame)).text(`)"`)
	}
	w.text(">\n")
	open := len(w.b)
	for _, m := range l.Marks {
		if err := w.mark(m); err != nil {
			return err
		}
	}
	if len(w.b) == open {
		w.b = w.b[:before] // places of items alone, nothing is drawn
		return nil
	}
	w.text("</g>\n")
	return nil
}

// mark has a case for each kind of scene.MarkKinds.
func (w *writer) mark(m scene.Mark) error {
	switch m := m.(type) {
	case *scene.Rect:
		w.rects(m)
	case *scene.Line:
		w.lines(m)
	case *scene.Path:
		w.paths(m)
	case *scene.Polygon:
		w.polygons(m)
	case *scene.Point:
		w.points(m)
	case *scene.Text:
		w.texts(m)
	case *scene.Image:
		w.image(m)
	case *scene.Space:
		for _, flat := range m.Flatten() {
			if err := w.mark(flat); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("mark %q is not drawn", m.Kind())
	}
	return nil
}

// look returns a colour as a thing with these flags has it.
func (w *writer) look(c scene.Colour, f scene.Flag) ink {
	in := func(theme scene.Theme) color.NRGBA {
		if f&scene.Dimmed != 0 {
			return c.Dimmed(theme)
		}
		return c.RGBA(theme)
	}
	if w.palette == nil {
		return ink{NRGBA: in(w.theme)}
	}
	return ink{NRGBA: in(w.palette.light()), dark: in(w.palette.dark())}
}
