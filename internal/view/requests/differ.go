package requests

import (
	"fmt"
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
)

const differHigh = 24

// drawDiffers draws a row a difference: how much of it is inside and outside, and its effect.
func (r *result) drawDiffers(s *scene.Scene, list []request.Difference, top float32) {
	w, h := float32(s.Width), float32(s.Height)
	y := top + headRoom
	head, text := &scene.Text{Size: scene.TextSize}, &scene.Text{Size: scene.TextSize}
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
	room := h - y - scene.AxisHeight - 4
	n := min(len(list), max(int(room/differHigh), 1))
	pitch := min(room/float32(n), differHigh)
	rows := make([]scene.Row, n)
	for i := range rows {
		at := y + float32(i)*pitch
		rows[i] = scene.Row{From: at, To: at + pitch, Label: differLabel(&list[i]), Location: scene.NoID,
			Region: scene.NoID, Count: 1}
	}
	left := scene.RowLabelWidth(rows, w*0.45)
	words := min(w*0.32, 300)
	f := scene.Frame{Name: "differs", X: left, Y: y, W: max(w-left-words-edge, 1), H: pitch * float32(n),
		XScale: scene.Scale{Kind: "linear", Begin: -1, End: 1, Label: "effect"},
		YScale: scene.Scale{Kind: "rows", Rows: rows}}
	frame := s.AddFrame(f)
	s.AimRows(frame, 0, w, func(k int) uint32 { return s.Item(ofDifference, k) })
	s.XAxis(frame, scene.Axis{})
	bars, zero := &scene.Rect{}, &scene.Line{Width: 1}
	mid := f.XPixel(0)
	for i := range rows {
		x := &list[i]
		at := f.XPixel(x.Effect)
		bars.Add(min(at, mid), rows[i].From+pitch*0.2, max(float32(math.Abs(float64(at-mid))), 1), pitch*0.6,
			scene.UIData)
		text.Add(f.X+f.W+edge, rows[i].From+pitch/2+4,
			scene.Shorten(fmt.Sprintf("%s inside, %s outside", amount(x.Inside, x.Unit), amount(x.Outside, x.Unit)),
				words-edge, scene.TextSize), scene.UITextMuted, scene.Start)
	}
	zero.Add(mid, f.Y, mid, f.Y+f.H, scene.UIAxis)
	s.AddLayer("differs", frame, bars, zero)
	s.AddLayer("differs words", -1, text)
	s.RowLabels(frame, 0)
}

func differLabel(x *request.Difference) string {
	switch {
	case x.Attribute == request.OfTime || x.Attribute == request.OfCalls || x.Attribute == request.OfLocation:
		return x.Attribute + " " + x.Value
	case x.Value == "":
		return x.Attribute
	}
	return x.Attribute + " = " + x.Value
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
	f := view.Fact{Title: differLabel(x)}
	f.Say("inside", amount(x.Inside, x.Unit), "")
	f.Say("outside", amount(x.Outside, x.Unit), "")
	f.Say("effect", fmt.Sprintf("%.3g", x.Effect), "")
	f.Say("p", fmt.Sprintf("%.3g", x.P), "")
	f.Say("q", fmt.Sprintf("%.3g", x.Q), "")
	return f
}
