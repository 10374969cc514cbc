package requests

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/view"
)

const differHigh = 24

// drawDiffers draws a row a difference: how much of it is inside and outside, and its effect.
func (r *result) drawDiffers(s *scene.Scene, list []request.Difference, top float32) {
	w, h := float32(s.Width), float32(s.Height)
	y := top + headRoom
	head := &scene.Text{Size: scene.TextSize}
	title := fmt.Sprintf("what separates the %s chosen from the other %s", view.Thousands(int64(len(r.chosen))),
		view.Thousands(int64(len(r.all)-len(r.chosen))))
	switch {
	case len(r.chosen) == len(r.all):
		title = "all requests are chosen"
	case len(list) == 0:
		title = fmt.Sprintf("nothing separates the %s chosen from the rest by more than chance (%s)",
			view.Thousands(int64(len(r.chosen))), view.Count(r.tests, "test"))
	}
	head.Add(edge, y-8, scene.Shorten(title, w-2*edge, scene.TextSize), scene.UIText, scene.Start)
	s.AddLayer("differs head", -1, head)
	if len(list) == 0 {
		return
	}
	n, pitch := plot.Fit(len(list), h-y-scene.AxisHeight-4, differHigh, differHigh)
	rows := plot.NewRows(n, y, pitch, func(i int, row *scene.Row) { row.Label = list[i].Label() })
	left, words := rows.LabelWidth(w*0.45), min(w*0.32, 300)
	f := rows.Frame("differs", left, max(w-left-words-edge, 1),
		scene.Scale{Kind: "linear", Begin: -1, End: 1, Label: "effect"})
	frame := s.AddFrame(f)
	s.AimRows(frame, 0, w, func(k int) uint32 { return s.Item(ofDifference, k) })
	s.XAxis(frame, scene.Axis{})
	effect := func(i int) float64 { return list[i].Effect }
	s.AddLayer("differs", frame, rows.Bars(&f, 0.6, effect, func(int) scene.Colour { return scene.UIData }),
		plot.Rule(&f, 0, scene.UIAxis))
	s.AddLayer("differs words", -1, rows.Words(f.X+f.W+edge, words-edge, func(i int) string {
		x := &list[i]
		return fmt.Sprintf("%s inside, %s outside", amount(x.Inside, x.Unit), amount(x.Outside, x.Unit))
	}))
	s.RowLabels(frame, 0)
}

func amount(v float64, unit string) string {
	switch unit {
	case "share":
		return view.FormatShare(v)
	case "ns":
		return view.FormatDuration(v)
	}
	return view.FormatCount(v)
}

func (r *result) differFact(i int) view.Fact {
	x := &r.differs[i]
	f := view.Fact{Title: x.Label()}
	f.Say("inside", amount(x.Inside, x.Unit), "")
	f.Say("outside", amount(x.Outside, x.Unit), "")
	f.Say("effect", fmt.Sprintf("%.3g", x.Effect), "")
	f.Say("p", fmt.Sprintf("%.3g", x.P), "")
	f.Say("q", fmt.Sprintf("%.3g", x.Q), "")
	return f
}
