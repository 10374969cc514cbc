package svg

import (
	"github.com/parallax-hpc/parallax/internal/scene"
)

const dashes = ` stroke-dasharray="4 3"`

// lines writes one path for lines that follow each other with one look. Transparent
// ones stay alone: where many cross, the picture shall grow darker.
func (w *writer) lines(m *scene.Line) {
	width := lineWidth(m.Width)
	for from := 0; from < m.Len(); {
		stroke, flags := m.Stroke[from], scene.FlagsOf(m.Flags, from)
		c := w.look(stroke, flags)
		to := from + 1
		for to < m.Len() && c.A == 255 && m.Stroke[to] == stroke && scene.FlagsOf(m.Flags, to) == flags {
			to++
		}
		if stroke != scene.None && c.A > 0 {
			w.lineRun(m, from, to, width)
		}
		from = to
	}
}

func lineWidth(v float32) float32 {
	if !(v > 0) || v > 1000 {
		return 1
	}
	return v
}

func (w *writer) lineRun(m *scene.Line, from, to int, width float32) {
	flags := scene.FlagsOf(m.Flags, from)
	c := w.look(m.Stroke[from], flags)
	start := len(w.b)
	w.text(`<path fill="none" stroke-width="`).number(float64(width)).text(`"`).stroke(c)
	if flags&scene.Dashed != 0 {
		w.text(dashes)
	}
	w.text(` d="`)
	empty := len(w.b)
	var heads [][3][2]float32
	for i := from; i < to; i++ {
		x0, y0, x1, y1 := m.X0[i], m.Y0[i], m.X1[i], m.Y1[i]
		if !scene.Drawable(x0, y0, x1, y1) {
			continue
		}
		if flags&scene.Arrow != 0 {
			if head, x, y, ok := scene.ArrowHead(x0, y0, x1, y1, width); ok {
				heads, x1, y1 = append(heads, head), x, y
			}
		}
		x0, y0, x1, y1 = scene.SnapLine(x0, y0, x1, y1, width)
		w.point('M', x0, y0)
		switch {
		case x0 == x1 && y0 != y1:
			w.b = appendHundredths(append(w.b, 'V'), hundredths(float64(y1)))
		case y0 == y1 && x0 != x1:
			w.b = appendHundredths(append(w.b, 'H'), hundredths(float64(x1)))
		default:
			w.point('L', x1, y1)
		}
	}
	if len(w.b) == empty {
		w.b = w.b[:start]
	} else {
		w.text("\"/>\n")
	}
	if len(heads) == 0 {
		return
	}
	w.text("<path").fill(c).text(` d="`)
	for _, h := range heads {
		w.point('M', h[0][0], h[0][1])
		w.point('L', h[1][0], h[1][1])
		w.point('L', h[2][0], h[2][1])
		w.text("z")
	}
	w.text("\"/>\n")
}

func (w *writer) point(command byte, x, y float32) {
	w.b = append(w.b, command)
	w.b = pair(w.b, hundredths(float64(x)), hundredths(float64(y)))
}

// paths breaks a path where a point cannot be drawn.
func (w *writer) paths(m *scene.Path) {
	for i := range m.Len() {
		c := w.look(m.Stroke[i], 0)
		if c.A == 0 {
			continue
		}
		start := len(w.b)
		w.text(
			`<path fill="none" stroke-linejoin="round" stroke-width="`,
		).number(float64(lineWidth(m.Width))).text(`"`).stroke(c).text(` d="`)
		xs, ys := m.Points(i)
		drawn := 0
		command := byte('M')
		for j := range xs {
			if !scene.Drawable(xs[j], ys[j]) {
				command = 'M'
				continue
			}
			w.point(command, xs[j], ys[j])
			command = 'L'
			drawn++
		}
		if drawn < 2 {
			w.b = w.b[:start]
			continue
		}
		w.text("\"/>\n")
	}
}

func (w *writer) polygons(m *scene.Polygon) {
	for i := range m.Len() {
		xs, ys := m.Corners(i)
		flags := scene.FlagsOf(m.Flags, i)
		c := w.look(m.Fill[i], flags)
		if len(xs) < 2 || !scene.Drawable(xs...) || !scene.Drawable(ys...) {
			continue
		}
		if len(xs) == 2 {
			w.shape(xs, ys, func() { w.text(`<path fill="none"`).stroke(c) }, "")
			continue
		}
		if c.A > 0 {
			w.shape(xs, ys, func() { w.text("<path").fill(c) }, "z")
		}
		if flags&scene.Aggregated != 0 && extent(xs) >= scene.AggregatedLeast && extent(ys) >= scene.AggregatedLeast {
			w.shape(xs, ys, func() { w.text(`<path fill="url(#` + w.prefix + `a)"`) }, "z")
		}
		if flags&scene.Hatched != 0 {
			w.shape(xs, ys, func() { w.text(`<path fill="url(#` + w.prefix + `h)"`) }, "z")
		}
		if flags&scene.Outlined != 0 {
			w.shape(xs, ys, func() { w.text(`<path fill="none"`).stroke(w.look(scene.UIOutline, flags)) }, "z")
		}
	}
}

func extent(v []float32) float32 {
	lo, hi := v[0], v[0]
	for _, x := range v {
		lo, hi = min(lo, x), max(hi, x)
	}
	return hi - lo
}

func (w *writer) shape(xs, ys []float32, open func(), end string) {
	open()
	w.text(` d="`)
	for j := range xs {
		command := byte('L')
		if j == 0 {
			command = 'M'
		}
		w.point(command, xs[j], ys[j])
	}
	w.text(end + "\"/>\n")
}

// points writes one path for points that follow each other in one colour.
func (w *writer) points(m *scene.Point) {
	for from := 0; from < m.Len(); {
		to := from + 1
		c := w.look(m.Fill[from], 0)
		for to < m.Len() && c.A == 255 && m.Fill[to] == m.Fill[from] {
			to++
		}
		if c.A > 0 {
			start := len(w.b)
			w.text("<path").fill(c).text(` d="`)
			empty := len(w.b)
			for i := from; i < to; i++ {
				w.symbol(m, i)
			}
			if len(w.b) == empty {
				w.b = w.b[:start]
			} else {
				w.text("\"/>\n")
			}
		}
		from = to
	}
}

func (w *writer) symbol(m *scene.Point, i int) {
	x, y, r := m.X[i], m.Y[i], m.R[i]
	if !scene.Drawable(x, y, r) || !(r > 0) {
		return
	}
	shape := scene.Disc
	if m.Shape != nil {
		shape = m.Shape[i]
	}
	outline := scene.ShapeOutline(shape)
	if outline == nil {
		w.point('M', x-r, y)
		n, d := hundredths(float64(r)), hundredths(2*float64(r))
		for _, across := range []int64{d, -d} {
			w.b = append(w.b, 'a')
			w.b = pair(w.b, n, n)
			w.text(" 0 1 0 ")
			w.b = pair(w.b, across, 0)
		}
		w.text("z")
		return
	}
	for j, p := range outline {
		command := byte('L')
		if j == 0 {
			command = 'M'
		}
		w.point(command, x+p[0]*r, y+p[1]*r)
	}
	w.text("z")
}

func (w *writer) texts(m *scene.Text) {
	size := m.Size
	if !(size > 0) || size > 500 {
		size = 12
	}
	w.text(`<g font-size="`).number(float64(size)).text(`"`)
	if m.Bold {
		w.text(` font-weight="bold"`)
	}
	w.text(">\n")
	for i := range m.Len() {
		c := w.look(m.Fill[i], 0)
		if m.Text[i] == "" || c.A == 0 || !scene.Drawable(m.X[i], m.Y[i]) {
			continue
		}
		w.text(`<text x="`).number(float64(m.X[i])).text(`" y="`).number(float64(m.Y[i])).text(`"`)
		if m.Anchor != nil && m.Anchor[i] != scene.Start {
			w.text(map[scene.Anchor]string{scene.Middle: ` text-anchor="middle"`,
				scene.End: ` text-anchor="end"`}[m.Anchor[i]])
		}
		if m.Turned {
			w.text(` transform="rotate(-90 `).number(float64(m.X[i])).text(" ").number(float64(m.Y[i])).text(`)"`)
		}
		w.fill(c).text(">").escape(m.Text[i]).text("</text>\n")
	}
	w.text("</g>\n")
}
