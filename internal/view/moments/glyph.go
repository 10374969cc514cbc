package moments

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/analysis/utilization"
	"github.com/parallax-hpc/parallax/internal/scene"
)

// A pen collects the marks of rows, the ones drawn first below the others.
type pen struct {
	of      *sketches
	frame   *scene.Frame
	length  float64
	reach   scene.Rect // black bars from the grey bar out to m1 ± m2
	bars    scene.Rect // the grey bar of length m0 about m1
	skews   scene.Line
	ticks   scene.Line
	hairs   scene.Line // black bars of no width
	spreads scene.Line
	dots    scene.Rect    // of rows too low for lines
	higher  scene.Line    // moments above the third
	cuts    scene.Polygon // shapes that leave the axis
	isCut   bool
	narrow  bool // bars are low, to show the marks behind them
}

// x returns the place of a value relative to the start of the window, cut at the axis.
func (p *pen) x(v float64) float32 {
	v = min(max(v, 0), p.length)
	return p.frame.X + float32(v/p.length*float64(p.frame.W))
}

// Below these heights a row has fewer marks: thin rows have dots in place of lines.
const (
	full = 8
	thin = 4
)

// rows draws all rows.
func (p *pen) rows(rows []row, d *drawing) {
	states := p.of.states
	for i := range rows {
		y := d.edge(i)
		each := (d.edge(i+1) - y) / float32(len(states))
		for k, l := range states {
			p.row(&rows[i], k, l, y+float32(k)*each, each, d.style)
		}
	}
}

// addTo puts the marks into a frame of a scene.
func (p *pen) addTo(s *scene.Scene, frame int) {
	s.AddLayer("reach", frame, &p.reach)
	s.AddLayer("bars", frame, &p.bars, &p.hairs)
	s.AddLayer("skew", frame, &p.higher, &p.skews, &p.spreads, &p.ticks, &p.dots, &p.cuts)
}

// drawOutliers marks rows that stand out, left of the frame.
func drawOutliers(s *scene.Scene, d *drawing, rows []row, left float32) {
	diamonds, flags := &scene.Point{}, &scene.Rect{}
	for i := range rows {
		if !rows[i].outlier.StandsOut() || left < 8 {
			continue
		}
		y := d.edge(i)
		if d.height >= 6 {
			diamonds.Add(left-4.5, y+d.height/2, 2.8, scene.UIError)
			diamonds.SetShape(scene.Diamond)
		} else {
			flags.Add(left-7, y, 5, max(d.edge(i+1)-y, 1), scene.UIError)
		}
	}
	s.AddLayer("outliers", -1, flags, diamonds)
}

func newPen(of *sketches, f *scene.Frame, length float64) *pen {
	p := &pen{of: of, frame: f, length: length}
	for _, m := range []*scene.Line{&p.skews, &p.ticks, &p.spreads, &p.hairs, &p.higher} {
		m.Width = 1
	}
	return p
}

// row draws one state of one row between y and y + h, with the marks of a style.
func (p *pen) row(w *row, k int, l *utilization.Layer, y, h, style float32) {
	m := w.moments[k]
	if m.Empty() {
		return
	}
	bar, reach, flags := p.of.colours(l)
	top, height := y, h
	switch {
	case style >= full:
		pad := min(h*0.16, 4)
		top, height = y+pad, h-2*pad-skewRoom
		if p.narrow { // the chart behind is seen above and below
			top, height = top+height*0.3, height*0.4
		}
	case style >= thin:
		height = h - 1
	}
	p.bar(m, top, height, bar, reach, flags)
	ink, skew := p.of.ink(), p.skewColour(style)
	x := p.x(m.M1)
	under := top + height/2
	switch {
	case style >= full:
		under = top + height + skewRoom - 1
		p.ticks.Add(x, top-1, x, under, ink)
	case style >= thin:
		p.ticks.Add(x, top, x, top+height, ink)
	default:
		// Neighbouring dots make lines of m1 and of the skew's end.
		p.dots.Add(x, top, 1, height, ink)
	}
	switch end := p.x(m.M1 + m.M3); {
	case m.M3 == 0:
	case style >= thin:
		p.skews.Add(x, under, end, under, skew)
	default:
		p.dots.Add(end, top, 1, height, skew)
	}
	if w.higher != nil && l == p.of.busy {
		p.orders(w.higher, m.M1, top, height, under, style)
	}
	if k == 0 && w.group() {
		p.spread(w, top, height, style)
	}
	p.cut(m, top, height, style)
}

// skewColour is that of the mean, but where dots of both could not be distinguished.
func (p *pen) skewColour(style float32) scene.Colour {
	if style < thin {
		return scene.UIWarning
	}
	return p.of.ink()
}

// orders draws the moments above the third: of even order as lines at m1 ± m4, m6, m8,
// each shorter than the last, of odd order as short ticks on the line of the skew. For
// one unbroken stretch of work all of even order are at the ends of the bar.
func (p *pen) orders(s *moment.Sketch, m1 float64, top, height, under, style float32) {
	mark := func(v float64, y0, y1 float32) {
		if v < 0 || v > p.length {
			p.isCut = true
			return
		}
		if x := p.x(v); style >= thin {
			p.higher.Add(x, y0, x, y1, p.of.ink())
		} else {
			p.dots.Add(x, y0, 1, y1-y0, scene.UITextMuted)
		}
	}
	for k := 4; k <= p.of.opt.orders; k++ {
		v := s.M(k)
		if k%2 == 0 {
			part := 1 - 0.3*float32(k-4)/2
			mark(m1-v, top+height*(1-part), top+height)
			mark(m1+v, top+height*(1-part), top+height)
		} else if style >= thin {
			p.higher.Add(p.x(m1), under, p.x(m1+v), under, scene.UITextMuted)
			mark(m1+v, under-2, under+2-float32(k-5)/2)
		}
	}
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
			p.hairs.Add(x[0], top, x[0], top+height, p.of.ink())
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
func (p *pen) spread(w *row, top, height, style float32) {
	if w.spread.Q10 != w.spread.Q10 {
		return
	}
	a, b := p.x(w.spread.Q10), p.x(w.spread.Q90)
	if style < thin {
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

// cut marks shapes that leave the axis by more than half a pixel, on the side and at the
// height where they do.
func (p *pen) cut(m moment.Moments, top, height, style float32) {
	mark := func(x, dir, y, size float32) {
		p.isCut = true
		if style < thin {
			p.dots.Add(x+min(-dir*2, 0), top, 2, height, scene.UIWarning)
			return
		}
		p.cuts.AddCut(x, y, dir, size)
	}
	middle, size := top+height/2, min(max(height/3, 2), 4)
	under := middle
	if style >= full {
		under = top + height + skewRoom - 1
	}
	beyond := 0.5 * p.length / float64(max(p.frame.W, 1))
	if m.M1-m.M2 < -beyond {
		mark(p.frame.X, -1, middle, size)
	}
	if m.M1+m.M2 > p.length+beyond {
		mark(p.frame.X+p.frame.W, 1, middle, size)
	}
	switch at := m.M1 + m.M3; {
	case at < -beyond:
		mark(p.frame.X, -1, under, min(size, 2.5))
	case at > p.length+beyond:
		mark(p.frame.X+p.frame.W, 1, under, min(size, 2.5))
	}
}

// keySample has marks that can be distinguished: little work late after much of it.
func (k *sketches) keySample() *row {
	w := &row{members: []int32{0}, moments: make([]moment.Moments, len(k.states))}
	w.moments[0] = moment.Moments{M0: 40, M1: 46, M2: 38, M3: 46}
	if k.opt.orders > 3 && k.busy.Higher != nil && k.states[0] == k.busy {
		w.higher = &moment.Sketch{Weight: 1}
		for n, v := range [...]float64{4: 42, 5: 30, 6: 44.5, 7: 24, 8: 47} {
			w.higher.Central[n] = power(v, n)
		}
	}
	return w
}

// power returns the central moment that M makes v of.
func power(v float64, k int) float64 {
	if k%2 == 0 {
		return math.Pow(v, float64(k)) / float64(k+1)
	}
	return math.Pow(v/3, float64(k))
}

// drawKey explains the marks above the rows, as Fig. 3 of the paper does, as they are
// drawn at this height of rows.
func (r *result) drawKey(s *scene.Scene, d *drawing) {
	f := d.frame
	if d.chart.W > 0 {
		f.X = d.chart.X
	}
	f.Y, f.H, f.W = 2, 20, 96
	if s.Width < 2*keyWidth {
		f.W = 64
		f.X = min(f.X, 8)
	}
	p := newPen(r.sketches, &f, 100)
	sample := r.keySample()
	style := d.style
	y, h := f.Y, f.H
	if style < full {
		y, h = f.Y+4, f.H-8
	}
	words := keyWords(style, sample.higher != nil)
	if r.projection != nil {
		words = []string{"busy share at each time, as the coefficients of the basis " + string(r.projection.basis) +
			" give it", "busy share by " + string(r.projection.basis)}
		f.W = 0
	} else {
		p.row(sample, 0, r.states[0], y, h, style)
	}
	text := &scene.Text{Size: 11}
	x := f.X + f.W + 10
	room := float32(s.Width) - x - 4
	for _, w := range words {
		if scene.TextWidth(w, 11, false) <= room {
			text.Add(x, f.Y+14, w, scene.UITextMuted, scene.Start)
			break
		}
	}
	s.AddLayer("key", -1, &p.reach, &p.bars, &p.hairs, &p.skews, &p.ticks, &p.higher, &p.dots, text)
}

// keyWords describes the marks, from the longest to the shortest text.
func keyWords(style float32, higher bool) []string {
	mean, skew, short := "tick", "line: skew m3", "line m3"
	if style < thin {
		mean, skew, short = "line", "coloured line: end of the skew m3", "coloured m3"
	}
	more, few := "", ""
	if higher {
		more, few = " · lines: m1 ± m4, m6, m8, ticks: m5, m7", " · m4 …"
	}
	return []string{
		"bar: busy time m0 · " + mean + ": its mean m1 · outer bars: to m1 ± m2, hairlines if unbroken · " + skew +
			more,
		"bar: busy time m0 · " + mean + ": mean m1 · outer: m1 ± m2 · " + skew + more,
		"bar m0 · " + mean + " m1 · outer bars to m1 ± m2 · " + skew + few,
		"bar m0 · " + mean + " m1 · outer m1 ± m2 · " + short,
		"m0 · m1 · ± m2 · m3",
	}
}
