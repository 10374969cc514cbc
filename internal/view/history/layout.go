package history

import (
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	edge    = 8
	head    = 16 // over a chart, for its name
	gap     = 10
	leastIs = 46 // height of a chart of a call path
	mostDot = 7  // radius of a run that is out of the ordinary
)

// Scene draws the chart of the length, and as many of call paths as have room.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.text)
	s.Notes = r.Notes()
	top := scene.Sentence(s, r.text)
	w, h := float32(size.Width), float32(size.Height)
	room := h - top - scene.AxisHeight - 4
	most := len(r.series)
	if n := r.request.Values.Integer("top"); n > 0 {
		most = min(most, n+1)
	}
	n := 1 + min(max(int((room*0.6)/(leastIs+head+gap)), 0), most-1)
	first := room
	rest := float32(0)
	if n > 1 {
		first = room * 0.4
		rest = (room - first) / float32(n-1)
	}
	left := float32(64)
	for i := range n {
		left = max(left, scene.YAxisWidth(r.scale(i, 60), 60, r.axis())+edge)
	}
	left = min(left, w/3)
	y := top
	for i := range n {
		high := first
		if i > 0 {
			high = rest
		}
		inner := max(high-head-gap, 1)
		r.chart(s, i,
			scene.Frame{Name: fmt.Sprintf("series %d", i), X: left, Y: y + head, W: max(w-left-edge-4, 1), H: inner,
				XScale: scene.Scale{Kind: "linear", Begin: -0.5, End: float64(len(r.runs)) - 0.5},
				YScale: r.scale(i, inner)}, i == n-1)
		y += high
	}
	s.Legend = append(s.Legend, plot.Key("a run", scene.UIData), plot.Key("mean since the last change", scene.UIText),
		plot.Key("usual since then", scene.UIBand), plot.Key("changed for good: longer", scene.Ramp("diverging", 0.92)),
		plot.Key("shorter", scene.Ramp("diverging", 0.08)))
	return s
}

func (r *result) axis() scene.Axis {
	if r.unit == "ns" {
		return scene.Axis{Unit: "ns"}
	}
	return scene.Axis{}
}

// scale holds the values of a series with some room, for whole dots at least, not from zero:
// changes of some percent must be seen.
func (r *result) scale(i int, high float32) scene.Scale {
	s := &r.series[i]
	lo, hi := slices.Min(s.Values), slices.Max(s.Values)
	if s.Mean == s.Mean {
		lo, hi = min(lo, s.Low), max(hi, s.High)
	}
	pad := max((hi-lo)*max(0.08, float64(mostDot/max(high-2*mostDot, 1))), hi*0.005, 1)
	return scene.Scale{Kind: "linear", Begin: max(lo-pad, 0), End: hi + pad}
}

// chart draws one series.
func (r *result) chart(s *scene.Scene, i int, f scene.Frame, last bool) {
	x := &r.series[i]
	frame := s.AddFrame(f)
	axis := scene.Axis{Ticks: r.ticks(f.W), NoGrid: true, NoLabels: !last}
	s.XAxis(frame, axis)
	s.YAxis(frame, r.axis())
	band, lines, dots, marks, text := &scene.Rect{}, &scene.Line{Width: 1}, &scene.Point{}, &scene.Line{Width: 2},
		&scene.Text{Size: scene.TextSize}
	from := 0
	if n := len(x.Changes); n > 0 {
		from = x.Changes[n-1].Index
	}
	if x.Mean == x.Mean {
		a, b := f.XPixel(float64(from)-0.4), f.XPixel(float64(len(r.runs))-0.6)
		band.Add(a, f.YPixel(x.High), b-a, max(f.YPixel(x.Low)-f.YPixel(x.High), 0.5), scene.UIBand)
	}
	begin := 0
	stretch := func(end int) {
		m := 0.0
		for _, v := range x.Values[begin:end] {
			m += v / float64(end-begin)
		}
		lines.Add(f.XPixel(float64(begin)-0.4), f.YPixel(m), f.XPixel(float64(end)-0.6), f.YPixel(m), scene.UIText)
		begin = end
	}
	for k := range x.Changes {
		c := &x.Changes[k]
		stretch(c.Index)
		colour := scene.Ramp("diverging", 0.92)
		if c.After < c.Before {
			colour = scene.Ramp("diverging", 0.08)
		}
		at := f.XPixel(float64(c.Index) - 0.5)
		marks.Add(at, f.Y, at, f.Y+f.H, colour)
		marks.SetItem(s.Item(itemChange, i, k))
		if label := view.FormatSigned("%+.1f %%", 100*(c.After/c.Before-1)); f.H > 30 {
			anchor, dx := scene.Start, float32(4)
			if at > f.X+f.W-60 {
				anchor, dx = scene.End, -4
			}
			text.Add(at+dx, f.Y+12, label, scene.UIText, anchor)
		}
	}
	stretch(len(r.runs))
	radius := min(max(f.W/float32(len(r.runs))/5, 1.5), 3.5)
	for k, v := range x.Values {
		size := radius
		if slices.Contains(x.Outside, k) {
			size *= 1.8
		}
		dots.Add(f.XPixel(float64(k)), f.YPixel(v), size, scene.UIData)
		dots.SetItem(s.Item(itemRun, i, k))
	}
	name := x.Name
	if i > 0 && x.CallPath != x.Name {
		name += " · " + x.CallPath
	}
	text.Add(f.X, f.Y-5, scene.Shorten(name, f.W, scene.TextSize), scene.UITextMuted, scene.Start)
	s.AddLayer("band", frame, band)
	s.AddLayer("series", frame, lines, marks, dots)
	s.AddLayer("words", -1, text)
}

// ticks name runs where there is room.
func (r *result) ticks(width float32) (out []scene.Tick) {
	wide := float32(0)
	for i := range r.runs {
		wide = max(wide, scene.TextWidth(r.runs[i].label(), scene.TextSize, false))
	}
	step := max(int(math.Ceil(float64(min(wide, 120)+16)*float64(len(r.runs))/float64(max(width, 1)))), 1)
	for i := 0; i < len(r.runs); i += step {
		out = append(out, scene.Tick{At: float64(i), Label: scene.Shorten(r.runs[i].label(), 120, scene.TextSize)})
	}
	return out
}

// label is the key of a run where it has one, else its name.
func (x *run) label() string {
	if x.key != "" {
		return x.key
	}
	return x.name
}

var _ view.Facts = (*result)(nil)
