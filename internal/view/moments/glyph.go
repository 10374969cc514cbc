package moments

import (
	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/scene"
)

// A pen collects the marks of rows, the ones drawn first below the others.
type pen struct {
	r       *result
	frame   *scene.Frame
	length  float64
	reach   scene.Rect // black bars from the grey bar out to m1 ± m2
	bars    scene.Rect // the grey bar of length m0 about m1
	skews   scene.Line
	ticks   scene.Line
	hairs   scene.Line // black bars of no width
	spreads scene.Line
	dots    scene.Rect    // of rows too low for lines
	cuts    scene.Polygon // what leaves the axis
}

// reachOf gives the ends of all that is drawn of a row.
func reachOf(m moment.Moments) (lo, hi float64) {
	return min(m.M1-m.M2, m.M1+m.M3), max(m.M1+m.M2, m.M1+m.M3)
}

// x gives the place of a value relative to the start of the window, cut at the axis.
func (p *pen) x(v float64) float32 {
	v = min(max(v, 0), p.length)
	return p.frame.X + float32(v/p.length*float64(p.frame.W))
}

// drawRows draws all rows into a frame.
func (r *result) drawRows(s *scene.Scene, d *drawing, frame int) {
	p := &pen{r: r, frame: &s.Frames[frame], length: r.axis.length()}
	p.skews.Width, p.ticks.Width, p.spreads.Width, p.hairs.Width = 1, 1, 1, 1
	outliers := &scene.Point{}
	flags := &scene.Rect{}
	for i := range r.rows {
		w := &r.rows[i]
		y := d.y + float32(i)*d.height
		each := d.height / float32(len(r.states))
		for k, l := range r.states {
			p.row(w, k, l, y+float32(k)*each, each)
		}
		if w.outlier.StandsOut() && !(p.frame.X < 8) {
			if d.height >= 6 {
				outliers.Add(p.frame.X-4.5, y+d.height/2, 2.8, scene.UIError)
				outliers.SetShape(scene.Diamond)
			} else {
				flags.Add(p.frame.X-7, y, 5, max(d.height, 1), scene.UIError)
			}
		}
	}
	s.AddLayer("reach", frame, &p.reach)
	s.AddLayer("bars", frame, &p.bars, &p.hairs)
	s.AddLayer("skew", frame, &p.skews, &p.spreads, &p.ticks, &p.dots, &p.cuts)
	s.AddLayer("outliers", -1, flags, outliers)
}

// row draws one state of one row between y and y + h.
func (p *pen) row(w *row, k int, l *layer, y, h float32) {
	m := w.moments[k]
	if m.Empty() {
		return
	}
	bar, reach, flags := p.r.colours(l)
	top, height := y, h
	switch {
	case h >= full:
		pad := min(h*0.16, 4)
		top, height = y+pad, h-2*pad-skewRoom
	case h >= 4:
		height = h - 1
	}
	p.bar(m, top, height, bar, reach, flags)
	ink := p.r.ink()
	x := p.x(m.M1)
	switch {
	case h >= full:
		under := top + height + skewRoom - 1
		p.ticks.Add(x, top-1, x, under, ink)
		if m.M3 != 0 {
			p.skews.Add(x, under, p.x(m.M1+m.M3), under, ink)
		}
	case h >= 4:
		p.ticks.Add(x, top, x, top+height, ink)
		if m.M3 != 0 {
			p.skews.Add(x, top+height/2, p.x(m.M1+m.M3), top+height/2, scene.UIWarning)
		}
	default:
		// One pixel a row: neighbouring dots make lines of m1 and of the skew's end.
		p.dots.Add(x, top, 1, height, ink)
		if m.M3 != 0 {
			p.dots.Add(p.x(m.M1+m.M3), top, 1, height, scene.UIWarning)
		}
	}
	if k == 0 && w.group() {
		p.spread(w, top, height, h)
	}
	p.cut(m, top, height, h)
}

// skewRoom is where the skew line lies, under the bar, so that it is seen on black too.
const skewRoom = 3

// bar draws the grey bar, and the black ones out to m1 ± m2, hairlines where the
// work is unbroken.
func (p *pen) bar(m moment.Moments, top, height float32, bar, reach scene.Colour, flags scene.Flag) {
	left, right := p.x(m.M1-m.M0/2), p.x(m.M1+m.M0/2)
	lo, hi := p.x(m.M1-m.M2), p.x(m.M1+m.M2)
	for _, x := range [2][2]float32{{lo, left}, {right, hi}} {
		if x[1]-x[0] < 1 {
			p.hairs.Add(x[0], top, x[0], top+height, p.r.ink())
			continue
		}
		p.reach.Add(x[0], top, x[1]-x[0], height, reach)
		if flags != 0 {
			p.reach.SetFlags(flags)
		}
	}
	p.bars.Add(left, top, max(right-left, 1), height, bar)
}

// spread draws how the m1 of a group's members lie.
func (p *pen) spread(w *row, top, height, h float32) {
	if w.spread.Q10 != w.spread.Q10 {
		return
	}
	a, b := p.x(w.spread.Q10), p.x(w.spread.Q90)
	if h < 4 {
		p.dots.Add(a, top, 1, height, scene.UIAccent)
		p.dots.Add(b, top, 1, height, scene.UIAccent)
		return
	}
	y := top + height/2
	p.spreads.Add(a, y, b, y, scene.UIAccent)
	for _, x := range [2]float32{a, b} {
		p.spreads.Add(x, y-2, x, y+3, scene.UIAccent)
	}
}

// cut marks what leaves the axis, on the side and at the height where it does.
func (p *pen) cut(m moment.Moments, top, height, h float32) {
	mark := func(x, dir, y, size float32) {
		if h < 4 {
			p.dots.Add(x+min(dir*2, 0), top, 2, height, scene.UIWarning)
			return
		}
		p.cuts.Add([]float32{x, x - dir*size*1.5, x - dir*size*1.5}, []float32{y, y - size, y + size}, scene.UIWarning)
	}
	middle, size := top+height/2, min(max(height/3, 2), 4)
	under := middle
	if h >= full {
		under = top + height + skewRoom - 1
	}
	if m.M1-m.M2 < 0 {
		mark(p.frame.X, -1, middle, size)
	}
	if m.M1+m.M2 > p.length {
		mark(p.frame.X+p.frame.W, 1, middle, size)
	}
	switch at := m.M1 + m.M3; {
	case at < 0:
		mark(p.frame.X, -1, under, min(size, 2.5))
	case at > p.length:
		mark(p.frame.X+p.frame.W, 1, under, min(size, 2.5))
	}
}

// drawKey explains the marks above the rows, as Fig. 3 of the paper does.
func (r *result) drawKey(s *scene.Scene, d *drawing) {
	f := d.frame
	if d.chart.W > 0 {
		f.X = d.chart.X
	}
	f.Y, f.H, f.W = 2, 20, 96
	p := &pen{r: r, frame: &f, length: 100}
	p.skews.Width, p.ticks.Width, p.hairs.Width = 1, 1, 1
	sample := &row{members: []int32{0}, moments: make([]moment.Moments, len(r.states))}
	sample.moments[0] = moment.Moments{M0: 40, M1: 46, M2: 38, M3: 46}
	p.row(sample, 0, r.states[0], f.Y, f.H)
	text := &scene.Text{Size: 11}
	words := "bar: busy time m0 · tick: its mean m1 · outer bars: to m1 ± m2, hairlines if unbroken · line: skew m3"
	x := f.X + f.W + 10
	room := float32(s.Width) - x - rightRoom
	for _, shorter := range []string{words, "bar m0 · tick m1 · outer bars to m1 ± m2 · line: skew m3"} {
		if scene.TextWidth(shorter, 11, false) <= room {
			text.Add(x, f.Y+14, shorter, scene.UITextMuted, scene.Start)
			break
		}
	}
	s.AddLayer("key", -1, &p.reach, &p.bars, &p.hairs, &p.skews, &p.ticks, text)
}
