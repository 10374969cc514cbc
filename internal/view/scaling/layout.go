package scaling

import (
	"fmt"
	"math"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/scaling"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	edge    = 8
	topRoom = 18
	between = 32
	rowHigh = 26
	// leastModels is the height from which predictions are drawn below the table.
	leastModels = 260
	// leastSpeedup is that from which the speedup is drawn below the table, where it has no room next to it.
	leastSpeedup = 110
)

// Scene implements view.Result.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.text)
	s.Notes = r.Notes()
	top := scene.Sentence(s, r.text)
	if r.request.Values.Text("picture") == "models" {
		r.drawModels(s, 0, top, float32(size.Width), float32(size.Height))
		return s
	}
	w := float32(size.Width)
	left := w * 0.4
	if w < 600 {
		left = 0
	} else {
		r.drawSpeedup(s, top, left)
	}
	below := r.drawTable(s, top, left)
	if left == 0 && float32(size.Height)-below >= leastSpeedup {
		r.drawSpeedup(s, below-topRoom, w)
	}
	if h := float32(size.Height) - below; left > 0 && h >= leastModels && len(r.models) > 0 {
		r.drawModels(s, left, below, w-left, float32(size.Height))
	}
	return s
}

// ticks are the sizes, where labels have room.
func (r *result) ticks() (out []scene.Tick) {
	last := -1.0
	for i := range r.runs {
		if n := r.runs[i].Sums.Size; n != last {
			out = append(out, scene.Tick{At: n, Label: fmt.Sprintf("%.0f", n)})
			last = n
		}
	}
	return out
}

func (r *result) sizeScale() scene.Scale {
	first, last := r.runs[0].Sums.Size, r.runs[len(r.runs)-1].Sums.Size
	if first == last {
		last *= 2
	}
	return scene.Scale{Kind: "log", Begin: first / 1.15, End: last * 1.15, Label: "ranks"}
}

// drawSpeedup draws the speedup with the ideal, both axes in powers.
func (r *result) drawSpeedup(s *scene.Scene, top, width float32) {
	f := r.factor("Speedup")
	if f == nil {
		return
	}
	first, last := r.runs[0].Sums.Size, r.runs[len(r.runs)-1].Sums.Size
	most, least := last/first, 1.0
	for _, v := range f.Values {
		if v > 0 && !math.IsInf(v, 0) {
			most, least = max(most, v), min(least, v)
		}
	}
	y := scene.Scale{Kind: "log", Begin: least / 1.15, End: most * 1.15, Label: "speedup"}
	axis := scene.Axis{Ticks: powers(least, most)}
	h := float32(s.Height) - top - topRoom - scene.AxisHeight - 6
	left := scene.YAxisWidth(y, h, axis) + edge
	frame := scene.Frame{Name: "speedup", X: left, Y: top + topRoom, W: max(width-left-between/2, 1), H: max(h, 1),
		XScale: r.sizeScale(), YScale: y}
	i := s.AddFrame(frame)
	s.XAxis(i, scene.Axis{Ticks: r.ticks()})
	s.YAxis(i, axis)
	lines, ideal, dots := &scene.Line{Width: 2}, &scene.Line{Width: 1}, &scene.Point{}
	ideal.Add(frame.XPixel(first), frame.YPixel(1), frame.XPixel(last), frame.YPixel(last/first), scene.UITextMuted)
	for k, v := range f.Values {
		if !(v > 0) || math.IsInf(v, 0) {
			continue
		}
		x, y := frame.XPixel(r.runs[k].Sums.Size), frame.YPixel(v)
		if k > 0 && f.Values[k-1] > 0 {
			lines.Add(frame.XPixel(r.runs[k-1].Sums.Size), frame.YPixel(f.Values[k-1]), x, y, scene.UIData)
		}
		dots.Add(x, y, 4, scene.UIData)
		dots.SetItem(s.Item(itemRun, k))
	}
	s.AddLayer("speedup", i, ideal, lines, dots)
	s.Legend = append(s.Legend, plot.Key("speedup", scene.UIData), plot.Key("ideal", scene.UITextMuted))
}

// powers of two between two numbers.
func powers(from, to float64) (out []scene.Tick) {
	for e := math.Floor(math.Log2(from)); e <= math.Ceil(math.Log2(to)) && len(out) < 30; e++ {
		if v := math.Exp2(e); v >= from/1.15 && v <= to*1.15 {
			out = append(out, scene.Tick{At: v, Label: fmt.Sprintf("%g", v)})
		}
	}
	return out
}

// drawTable draws the factors as cells: shares coloured from 50 to 100 %. It says where they end.
func (r *result) drawTable(s *scene.Scene, top, left float32) (bottom float32) {
	w, h := float32(s.Width), float32(s.Height)
	y0 := top + topRoom
	pitch := min((h-y0-6)/float32(max(len(r.factors), 1)), rowHigh)
	rows := plot.NewRows(len(r.factors), y0, pitch, func(i int, row *scene.Row) {
		row.Label = strings.Repeat("  ", r.factors[i].Level) + r.factors[i].Name
	})
	x0 := left + rows.LabelWidth((w-left)*0.45)
	n := len(r.runs)
	cell := min((w-x0-edge)/float32(n), 90)
	f := rows.Frame("factors", x0, cell*float32(n), scene.Scale{})
	frame := s.AddFrame(f)
	at := func(k int) float32 { return x0 + float32(k)*cell }
	cells, text := rows.Cells(n, cell, at, func(i, k int) plot.Cell {
		v := r.factors[i].Values[k]
		c := plot.Cell{Fill: scene.UISurface, Item: s.Item(itemFactor, i, k)}
		if r.factors[i].Share && !math.IsNaN(v) && !math.IsInf(v, 0) {
			c.Fill = scene.Ramp("cividis", (v-0.5)*2)
		}
		if c.Label = strings.TrimSuffix(r.format(&r.factors[i], v), " %"); c.Label == "not known" {
			c.Label = "–"
		}
		return c
	})
	for k := range r.runs {
		if label := fmt.Sprintf("%.0f", r.runs[k].Sums.Size); scene.TextWidth(label, scene.TextSize, false) < cell-2 {
			text.Add(x0+(float32(k)+0.5)*cell, y0-5, label, scene.UITextMuted, scene.Middle)
		}
	}
	text.Add(max(x0-8, 0), y0-5, "ranks", scene.UITextMuted, scene.End)
	s.AddLayer("cells", frame, cells)
	s.AddLayer("words", -1, text)
	s.RowLabels(frame, left)
	s.Legend = append(s.Legend, plot.RampKey("50 % … 100 % of the ideal", "cividis", "", ""))
	return f.Y + f.H + between
}

// mostModels is how many call paths are drawn.
const mostModels = 8

// drawModels draws the time of call paths against size, up to the predictions, from x0 and
// top to a width and down to h.
func (r *result) drawModels(s *scene.Scene, x0, top, w, h float32) {
	n := min(len(r.models), mostModels)
	if most := r.request.Values.Integer("top"); most > 0 {
		n = min(n, most)
	}
	lo, hi := math.Inf(1), 0.0
	for i := range n {
		for _, v := range r.models[i].Values {
			if v > 0 {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
		hi = max(hi, r.models[i].Last())
	}
	text := &scene.Text{Size: scene.TextSize}
	if n == 0 || hi == 0 {
		text.Add(x0+edge, top+16, "no call path has time worth a model", scene.UITextMuted, scene.Start)
		s.AddLayer("words", -1, text)
		return
	}
	lo = max(lo, hi/1e5)
	words := min(w*0.3, 340)
	if w < 500 {
		words = 0
	}
	y := scene.Scale{Kind: "log", Begin: lo / 1.3, End: hi * 1.3, Label: "time per location"}
	axis := scene.Axis{}
	if r.unit == "ns" {
		axis.Unit = "ns"
	}
	high := max(h-top-topRoom-scene.AxisHeight-6, 1)
	left := scene.YAxisWidth(y, high, axis) + edge
	x := r.sizeScale()
	last := r.runs[len(r.runs)-1].Sums.Size
	x.End = scaling.Beyond * last * 1.15
	f := scene.Frame{Name: "models", X: x0 + left, Y: top + topRoom, W: max(w-left-words-edge, 1), H: high, XScale: x,
		YScale: y}
	frame := s.AddFrame(f)
	s.XAxis(frame,
		scene.Axis{Ticks: append(r.ticks(),
			scene.Tick{At: scaling.Beyond * last, Label: fmt.Sprintf("%.0f", scaling.Beyond*last)})})
	s.YAxis(frame, axis)
	curves, foretold, dots, rule := &scene.Line{Width: 2}, &scene.Line{Width: 1}, &scene.Point{}, &scene.Line{Width: 1}
	rule.Add(f.XPixel(last), f.Y, f.XPixel(last), f.Y+f.H, scene.UIHairline)
	clamp := func(v float64) float32 { return min(max(f.YPixel(max(v, lo/1.3)), f.Y), f.Y+f.H) }
	labels := make([]scene.Label, n)
	for i := range n {
		m := &r.models[i]
		colour := r.colours.Named(m.Name, m.Role)
		if m.Fitted {
			const pieces = 48
			at := func(k int) float64 {
				return r.runs[0].Sums.Size * math.Pow(scaling.Beyond*last/r.runs[0].Sums.Size, float64(k)/pieces)
			}
			for k := range pieces {
				to := curves
				if at(k+1) > last*1.0001 {
					to = foretold
				}
				to.Add(f.XPixel(at(k)), clamp(m.At(at(k))), f.XPixel(at(k+1)), clamp(m.At(at(k+1))), colour)
				to.SetItem(s.Item(itemModel, i))
			}
		}
		for k, v := range m.Values {
			if v > 0 {
				dots.Add(f.XPixel(r.runs[k].Sums.Size), clamp(v), 3.5, colour)
				dots.SetItem(s.Item(itemModel, i))
			}
		}
		labels[i] = scene.Label{At: clamp(m.Last()), Width: 15, Rank: i}
	}
	if words > 0 {
		for i, y := range scene.Place(labels, f.Y-8, f.Y+f.H+8, 0) {
			if y == y {
				label := r.models[i].Name
				label += ": " + curve(&r.models[i])
				text.Add(f.X+f.W+edge, y+4, scene.Shorten(label, words-edge, scene.TextSize), scene.UIText, scene.Start)
			}
		}
	}
	head := fmt.Sprintf("dots are measured, thin lines foretold; the first %d of %s", n,
		view.Count(len(r.models), "call path"))
	text.Add(f.X+f.W, f.Y-5, scene.Shorten(head, max(f.W-100, 1), scene.TextSize), scene.UITextMuted, scene.End)
	s.AddLayer("models", frame, rule, foretold, curves, dots)
	s.AddLayer("words", -1, text)
	for i := range n {
		s.Legend = append(s.Legend, plot.Key(r.models[i].Name, r.colours.Named(r.models[i].Name, r.models[i].Role)))
	}
}

// curve is the shape of a model: the term that it grows with.
func curve(m *scaling.PathModel) string {
	switch {
	case !m.Fitted:
		return "no curve fits"
	case len(m.Terms) == 0:
		return fmt.Sprintf("constant (± %.0f %%)", math.Ceil(100*m.Error))
	}
	t := &m.Terms[0]
	return fmt.Sprintf("%s (± %.0f %%)", strings.TrimPrefix(t.Growth(), " · "), math.Ceil(100*m.Error))
}
