package svg

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// rects writes one path for each look. Edges are not smoothed, so that neighbours
// leave no seams.
func (w *writer) rects(m *scene.Rect) {
	for _, run := range m.Runs() {
		if run.Fill != scene.None {
			w.text(`<path shape-rendering="crispEdges"`).fill(w.look(run.Fill, run.Flags))
			w.rectPath(m, run.Index, 0).text("/>\n")
		}
		if run.Flags&scene.Aggregated != 0 {
			w.hatched(m, run, "a", scene.AggregatedLeast)
		}
		if run.Flags&scene.Hatched != 0 {
			w.hatched(m, run, "h", 0)
		}
		if run.Flags&scene.Outlined != 0 {
			w.text(`<path fill="none"`).stroke(w.look(scene.UIOutline, run.Flags))
			w.outlinePath(m, run.Index).text("/>\n")
		}
	}
}

func (w *writer) hatched(m *scene.Rect, run scene.Run, pattern string, least float32) {
	mark := len(w.b)
	w.text(`<path fill="url(#` + w.prefix + pattern + `)"`)
	head := len(w.b)
	w.rectPath(m, run.Index, least)
	if len(w.b) == head+len(` d=""`) {
		w.b = w.b[:mark]
		return
	}
	w.text("/>\n")
}

// rectPath writes the rectangles as a path, all coordinates absolute: relative ones
// would be added up by the reader, and edges that are the same here would part there.
func (w *writer) rectPath(m *scene.Rect, index []int32, least float32) *writer {
	w.text(` d="`)
	b := w.b
	for _, i := range index {
		x, y, width, height, ok := m.DrawnRect(int(i))
		if !ok || width < least || height < least {
			continue
		}
		x0, y0 := hundredths(float64(x)), hundredths(float64(y))
		b = append(b, 'M')
		b = pair(b, x0, y0)
		b = append(b, 'H')
		b = appendHundredths(b, hundredths(float64(x+width)))
		b = append(b, 'V')
		b = appendHundredths(b, hundredths(float64(y+height)))
		b = append(b, 'H')
		b = appendHundredths(b, x0)
		b = append(b, 'z')
	}
	w.b = append(b, '"')
	return w
}

// outlinePath draws hairlines inside the edges, so that neighbours do not cover them.
func (w *writer) outlinePath(m *scene.Rect, index []int32) *writer {
	w.text(` d="`)
	for _, i := range index {
		x, y, width, height, ok := m.DrawnRect(int(i))
		if !ok {
			continue
		}
		inset := min(0.5, width/2, height/2)
		x0, y0 := hundredths(float64(x+inset)), hundredths(float64(y+inset))
		w.b = append(w.b, 'M')
		w.b = pair(w.b, x0, y0)
		w.b = append(w.b, 'h')
		w.b = appendHundredths(w.b, hundredths(float64(width-2*inset)))
		w.b = append(w.b, 'v')
		w.b = appendHundredths(w.b, hundredths(float64(height-2*inset)))
		w.b = append(w.b, 'H')
		w.b = appendHundredths(w.b, x0)
		w.b = append(w.b, 'z')
	}
	return w.text(`"`)
}

// Up to so many cells an image is drawn as rectangles, which stay sharp everywhere.
const rectCells = 20000

func (w *writer) image(m *scene.Image) {
	if !scene.Drawable(m.X, m.Y, m.W, m.H) || !(m.W > 0) || !(m.H > 0) || m.Len() == 0 {
		return
	}
	if m.Len() <= rectCells {
		w.rects(m.Rects())
		return
	}
	if w.palette == nil {
		w.raster(m, w.theme, "")
		return
	}
	w.raster(m, w.palette.light(), ` class="light"`)
	w.raster(m, w.palette.dark(), ` class="dark"`)
}

func (w *writer) raster(m *scene.Image, theme scene.Theme, class string) {
	picture := image.NewNRGBA(image.Rect(0, 0, m.Columns, m.Rows))
	table := scene.Table(theme)
	for i, c := range m.Cells {
		v := color.NRGBA{}
		if int(c) < len(table) {
			v = table[c]
		}
		picture.SetNRGBA(i%m.Columns, i/m.Columns, v)
	}
	var data bytes.Buffer
	if err := png.Encode(&data, picture); err != nil {
		return // Only a picture too large fails, and the scene was checked.
	}
	w.text("<image" + class + ` preserveAspectRatio="none" style="image-rendering:pixelated"`)
	w.text(` x="`).number(float64(m.X)).text(`" y="`).number(float64(m.Y))
	w.text(`" width="`).number(float64(m.W)).text(`" height="`).number(float64(m.H))
	w.text(`" href="data:image/png;base64,`)
	w.b = base64.StdEncoding.AppendEncode(w.b, data.Bytes())
	w.text("\"/>\n")
}
