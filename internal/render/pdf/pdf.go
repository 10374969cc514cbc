// Package pdf draws a scene as a page of its size with the font embedded, for papers:
// vector graphics throughout, the same bytes each time.
package pdf

import (
	"fmt"
	"image/color"
	"io"
	"time"

	"codeberg.org/go-pdf/fpdf"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// screenPoints is the size of a pixel: 96 pixels are an inch, 72 points.
const screenPoints = 0.75

// Render writes the scene in the colours of a theme.
func Render(w io.Writer, s *scene.Scene, theme scene.Theme) error {
	if err := s.Check(); err != nil {
		return fmt.Errorf("pdf: %w", err)
	}
	p := open(s, theme)
	for _, l := range s.Layers {
		if err := p.layer(s, l); err != nil {
			return fmt.Errorf("pdf: %w", err)
		}
	}
	if err := p.doc.Output(w); err != nil {
		return fmt.Errorf("pdf: %w", err)
	}
	return nil
}

// A page collects operators in b.
type page struct {
	doc           *fpdf.Fpdf
	theme         scene.Theme
	width, height float64 // points
	unit          float64 // points of a pixel
	b             []byte
	images        int
}

const family = "Go"

func open(s *scene.Scene, theme scene.Theme) *page {
	points := screenPoints
	if s.Print > 0 {
		points = s.Print * 72 / 25.4
	}
	size := fpdf.SizeType{Wd: s.Width * points, Ht: s.Height * points}
	doc := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: size})
	// Nothing in the file may depend on when or where it was written.
	when := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	doc.SetCreationDate(when)
	doc.SetModificationDate(when)
	doc.SetCatalogSort(true)
	doc.SetProducer("Parallax", true)
	doc.SetTitle(drawn(s.Title), true)
	doc.SetSubject(drawn(s.Description), true)
	doc.AddUTF8FontFromBytes(family, "", scene.FontData(false))
	doc.AddUTF8FontFromBytes(family, "B", scene.FontData(true))
	doc.SetMargins(0, 0, 0)
	doc.SetAutoPageBreak(false, 0)
	doc.AddPage()
	p := &page{doc: doc, theme: theme, width: size.Wd, height: size.Ht, unit: points}
	p.begin(nil, true)
	p.fillColour(scene.UIBackground.RGBA(theme))
	p.op("0 0").num(s.Width).num(s.Height).op("re f\n")
	p.end()
	return p
}

// drawn returns a text as it is drawn, with a box for characters that the font lacks.
func drawn(s string) string {
	var out []rune
	for _, r := range scene.Visible(s) {
		switch {
		case scene.HasGlyph(r):
			out = append(out, r)
		case scene.Advance(r, scene.TextSize, false) > 0:
			out = append(out, '□')
		}
	}
	return string(out)
}

func (p *page) layer(s *scene.Scene, l scene.Layer) error {
	var clip *scene.Frame
	if l.Frame >= 0 {
		clip = &s.Frames[l.Frame]
		if !scene.Drawable(clip.X, clip.Y, clip.W, clip.H) {
			return nil
		}
	}
	for _, m := range l.Marks {
		p.begin(clip, !inPoints(m))
		err := p.mark(m)
		p.end()
		if err != nil {
			return err
		}
	}
	return nil
}

// mark has a case for each kind of scene.MarkKinds.
func (p *page) mark(m scene.Mark) error {
	switch m := m.(type) {
	case *scene.Rect:
		p.rects(m)
	case *scene.Line:
		p.lines(m)
	case *scene.Path:
		p.paths(m)
	case *scene.Polygon:
		p.polygons(m)
	case *scene.Point:
		p.points(m)
	case *scene.Text:
		p.texts(m)
	case *scene.Image:
		p.image(m)
	case *scene.Space:
		return p.space(m)
	default:
		return fmt.Errorf("mark %q is not drawn", m.Kind())
	}
	return nil
}

// space draws a space as its camera sees it; each mark in its own coordinates.
func (p *page) space(m *scene.Space) error {
	for _, flat := range m.Flatten() {
		p.begin(nil, !inPoints(flat))
		err := p.mark(flat)
		p.end()
		if err != nil {
			return err
		}
	}
	return nil
}

// inPoints reports marks that the library draws itself, in its own coordinates.
func inPoints(m scene.Mark) bool {
	switch m := m.(type) {
	case *scene.Text:
		return true
	case *scene.Image:
		return m.Len() > rectCells
	case *scene.Space:
		return true // its texts are; see space
	}
	return false
}

// begin saves the state, clips to a frame if any, and turns to pixels from the top left.
func (p *page) begin(clip *scene.Frame, pixels bool) {
	p.op("q")
	if clip != nil {
		w, h := float64(max(clip.W, 0))*p.unit, float64(max(clip.H, 0))*p.unit
		p.num(float64(clip.X) * p.unit).num(p.height - float64(clip.Y)*p.unit - h).num(w).num(h).op("re W n\n")
	}
	if pixels {
		p.num(p.unit).op("0 0").num(-p.unit).op("0").num(p.height).op("cm\n")
	}
}

func (p *page) end() {
	p.op("Q")
	p.flush()
}

// flush passes on the operators, before the library writes some itself.
func (p *page) flush() {
	p.doc.RawWriteStr(string(p.b))
	p.b = p.b[:0]
}

// look returns a colour as a thing with these flags has it.
func (p *page) look(c scene.Colour, f scene.Flag) color.NRGBA {
	if f&scene.Dimmed != 0 {
		return c.Dimmed(p.theme)
	}
	return c.RGBA(p.theme)
}

// withAlpha draws something at a colour's opacity.
func (p *page) withAlpha(c color.NRGBA, draw func()) {
	if c.A == 255 {
		draw()
		return
	}
	p.op("q")
	p.flush()
	p.doc.SetAlpha(float64(c.A)/255, "Normal")
	draw()
	p.op("Q\n")
}
