package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/runchange"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
)

// heat lists the rows of the heat map: the whole, and the quantities that differ most.
func (r *result) heat() []*runchange.Quantity {
	out := []*runchange.Quantity{r.Length}
	least := runchange.LeastShare * r.Length.Estimate.A
	for _, q := range r.Rows {
		if q.Estimate.A > 0 && len(out) < 200 && max(q.Estimate.A, q.Estimate.B) >= least {
			out = append(out, q)
		}
	}
	return out
}

// valueOf is the value of one run.
func (r *result) valueOf(q *runchange.Quantity, run int) float64 {
	s := r.side[run]
	return q.Values[s][slices.Index(r.Runs[s], run)]
}

// drawRuns draws one column per run and one row per part: how much longer than the
// median of A.
func (r *result) drawRuns(s *scene.Scene, top float32) {
	w, h := float32(s.Width), float32(s.Height)
	order := slices.Concat(r.Runs[0], r.Runs[1])
	y0 := top + topRoom
	names := h > 220
	foot := float32(4)
	if names {
		foot = 20
	}
	room := max(h-y0-foot, 20)
	all := r.heat()
	n, pitch := plot.Fit(len(all), room, 15, 26)
	rows := plot.NewRows(n, y0, pitch, func(i int, row *scene.Row) { row.Label = r.rowLabel(all[i]) })
	far := 0.02
	for _, q := range all[:n] {
		for _, run := range order {
			if d := math.Abs(r.valueOf(q, run)/q.Estimate.A - 1); !math.IsInf(d, 0) {
				far = max(far, min(d, 0.5))
			}
		}
	}
	left := rows.LabelWidth(w * 0.34)
	gap := float32(6)
	cell := min((w-left-edge-gap)/float32(len(order)), 90)
	f := rows.Frame("runs", left, cell*float32(len(order))+gap, scene.Scale{})
	frame := s.AddFrame(f)
	at := func(k int) float32 {
		x := left + float32(k)*cell
		if k >= len(r.Runs[0]) {
			x += gap
		}
		return x
	}
	cells, text := rows.Cells(len(order), cell, at, func(i, k int) plot.Cell {
		v := r.valueOf(all[i], order[k])/all[i].Estimate.A - 1
		return plot.Cell{Fill: scene.Ramp("diverging", 0.5+v/far/2),
			Label: strings.TrimSuffix(signedPercent(100*v), " %"), Item: s.Item(itemCell, i, order[k])}
	})
	for k, run := range order {
		if label := scene.Shorten(r.names[run], cell-4, scene.TextSize); names && cell > 36 && len([]rune(label)) > 2 {
			text.Add(at(k)+cell/2, f.Y+f.H+14, label, scene.UITextMuted, scene.Middle)
		}
	}
	wideA, wideB := cell*float32(len(r.Runs[0])), cell*float32(len(r.Runs[1]))
	text.Add(left, y0-6, scene.Shorten("A: "+r.label(0), max(wideA-4, 30), scene.TextSize), scene.UITextMuted,
		scene.Start)
	text.Add(at(len(r.Runs[0])), y0-6, scene.Shorten("B: "+r.label(1), max(wideB, 30), scene.TextSize),
		scene.UITextMuted, scene.Start)
	s.AddLayer("cells", frame, cells)
	s.AddLayer("words", -1, text)
	s.RowLabels(frame, 0)
	s.Legend = append(s.Legend, plot.RampKey(
		fmt.Sprintf("%.0f %% less than the median of A … %.0f %% more", -100*-far, 100*far), "diverging", "", ""))
}
