package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// heat lists the rows of the heat map: the whole, and what differs most.
func (r *result) heat() []*quantity {
	out := []*quantity{r.length}
	for _, q := range r.rows {
		if q.estimate.A > 0 && len(out) < 200 && max(q.estimate.A, q.estimate.B) >= leastShare*r.length.estimate.A {
			out = append(out, q)
		}
	}
	return out
}

// valueOf is the value of one run.
func (r *result) valueOf(q *quantity, run int) float64 {
	s := r.side[run]
	return q.values[s][slices.Index(r.runs[s], run)]
}

// drawRuns draws a column a run and a row a part: how much longer than the median of A.
func (r *result) drawRuns(s *scene.Scene, top float32) {
	w, h := float32(s.Width), float32(s.Height)
	order := slices.Concat(r.runs[0], r.runs[1])
	y0 := top + topRoom
	names := h > 220
	foot := float32(4)
	if names {
		foot = 20
	}
	room := max(h-y0-foot, 20)
	all := r.heat()
	n := min(len(all), max(int(room/15), 1))
	pitch := min(room/float32(n), 26)
	rows := make([]scene.Row, n)
	far := 0.02
	for i := range rows {
		y := y0 + float32(i)*pitch
		rows[i] = scene.Row{From: y, To: y + pitch, Label: r.rowLabel(all[i]), Location: scene.NoID, Region: scene.NoID,
			Count: 1}
		for _, run := range order {
			if d := math.Abs(r.valueOf(all[i], run)/all[i].estimate.A - 1); !math.IsInf(d, 0) {
				far = max(far, min(d, 0.5))
			}
		}
	}
	left := scene.RowLabelWidth(rows, w*0.34)
	gap := float32(6)
	cell := min((w-left-edge-gap)/float32(len(order)), 90)
	f := scene.Frame{Name: "runs", X: left, Y: y0, W: cell*float32(len(order)) + gap, H: pitch * float32(n),
		YScale: scene.Scale{Kind: "rows", Rows: rows}}
	frame := s.AddFrame(f)
	cells, text := &scene.Rect{}, &scene.Text{Size: scene.TextSize}
	at := func(k int) float32 {
		x := left + float32(k)*cell
		if k >= len(r.runs[0]) {
			x += gap
		}
		return x
	}
	for i := range rows {
		q := all[i]
		for k, run := range order {
			v := r.valueOf(q, run)/q.estimate.A - 1
			fill := scene.Ramp("diverging", 0.5+v/far/2)
			cells.Add(at(k), rows[i].From+0.5, max(cell-1, 0.5), max(pitch-1, 0.5), fill)
			cells.SetItem(s.Item(itemCell, i, run))
			if label := strings.TrimSuffix(signedPercent(100*v), " %"); scene.TextWidth(label, scene.TextSize,
				false) < cell-6 && pitch >= 14 {
				text.Add(at(k)+cell/2, rows[i].From+pitch/2+4, label, scene.Ink(fill), scene.Middle)
			}
		}
	}
	for k, run := range order {
		if label := scene.Shorten(r.names[run], cell-4, scene.TextSize); names && cell > 36 && len([]rune(label)) > 2 {
			text.Add(at(k)+cell/2, f.Y+f.H+14, label, scene.UITextMuted, scene.Middle)
		}
	}
	wideA, wideB := cell*float32(len(r.runs[0])), cell*float32(len(r.runs[1]))
	text.Add(left, y0-6, scene.Shorten("A: "+r.label(0), max(wideA-4, 30), scene.TextSize), scene.UITextMuted,
		scene.Start)
	text.Add(at(len(r.runs[0])), y0-6, scene.Shorten("B: "+r.label(1), max(wideB, 30), scene.TextSize),
		scene.UITextMuted, scene.Start)
	s.AddLayer("cells", frame, cells)
	s.AddLayer("words", -1, text)
	s.RowLabels(frame, 0)
	section := scene.RampSection("diverging")
	s.Legend = append(s.Legend,
		scene.LegendEntry{Label: fmt.Sprintf("%.0f %% less than the median of A … %.0f %% more", -100*-far, 100*far),
			Colour: scene.Colour(section.Start), RampEnd: scene.Colour(section.Start + section.Length - 1),
			Region: scene.NoID, Parent: scene.NoID})
}
