package findings

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/diagnose"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/words"
)

const (
	pad     = 12
	line    = 16
	edge    = 4  // the stripe of a card's level
	barHigh = 6  // the bar of the time lost
	gap     = 10 // between cards
)

// The meanings of marks.
const (
	ofCard  = 1 + iota // A: finding
	ofQuiet            // nothing stands out
	ofCause            // A: line of the cause table
	ofCell             // A: columns, C: cell of a waiting unit and a cause
	ofUnit             // A: column, B: columns
)

// Scene draws a card a finding: a stripe for its level, kind and time lost, a bar as
// long as the loss against the largest, and the sentence.
func (r *result) Scene(size scene.Size) *scene.Scene {
	if r.request.Values.Text("picture") == "causes" {
		return r.drawCauses(size)
	}
	s := scene.New(size, "", r.describe())
	w, h := float32(size.Width), float32(size.Height)
	fills, heads, text, muted := &scene.Rect{}, &scene.Text{Size: scene.TextSize, Bold: true},
		&scene.Text{Size: scene.TextSize}, &scene.Text{Size: scene.TextSize}
	aims := &scene.Rect{}
	if len(r.list) == 0 {
		aims.AddAim(0, 0, w, h, s.Item(ofQuiet))
	}
	y := r.summary(muted, pad, w)
	if len(r.list) == 0 && y+line < h {
		heads.Add(pad, y+line-4, scene.Shorten("Nothing stands out in this run.", w-2*pad, scene.TextSize),
			scene.UIText, scene.Start)
	}
	most := 0.0
	for i := range r.list {
		most = max(most, float64(r.list[i].Lost))
	}
	shown := 0
	for i := range r.list[:min(r.shown, len(r.list))] {
		f := &r.list[i]
		lines := scene.Wrap(scene.Visible(f.Text), w-2*pad-edge-8, scene.TextSize, len(f.Text)+1)
		high := float32(line*(len(lines)+1) + barHigh + 6)
		if y+high > h-4 {
			break
		}
		aims.AddAim(0, y, w, high, s.Item(ofCard, i))
		fills.Add(pad, y, edge, high, view.LevelColour(f.Severity))
		x := float32(pad + edge + 8)
		head := scene.Shorten(fmt.Sprintf("%d  %s", i+1, f.Title), w*0.6, scene.TextSize)
		heads.Add(x, y+line-4, head, scene.UIText, scene.Start)
		if lost := lostWords(f); lost != "" && w > 240 {
			muted.Add(w-pad, y+line-4, lost, scene.UITextMuted, scene.End)
		}
		for k, l := range lines {
			text.Add(x, y+float32(line*(k+2))-4, l, scene.UIText, scene.Start)
		}
		if room := w - x - pad; room > 8 && most > 0 {
			at := y + high - barHigh
			fills.Add(x, at, room, barHigh, scene.UIBand)
			if f.Lost > 0 {
				fills.Add(x, at, max(room*float32(float64(f.Lost)/most), 1), barHigh, view.LevelColour(f.Severity))
			}
		}
		y += high + gap
		shown++
	}
	if rest := len(r.list) - shown; rest > 0 && y+2 < h {
		muted.Add(pad, min(y+line-4, h-4),
			scene.Shorten(fmt.Sprintf("and %s more", view.Thousands(int64(rest))), w-2*pad, scene.TextSize),
			scene.UITextMuted, scene.Start)
	}
	s.AddLayer("cards", -1, fills, heads, text, muted, aims)
	for _, l := range []finding.Level{finding.High, finding.Medium, finding.Low} {
		s.Legend = append(s.Legend,
			scene.LegendEntry{Label: string(l), Colour: view.LevelColour(l), Region: scene.NoID, Parent: scene.NoID})
	}
	s.Notes = r.Notes()
	return s
}

// summary writes POP's efficiencies over the cards.
func (r *result) summary(t *scene.Text, y, w float32) float32 {
	e := &r.found.POP
	if e.Max == 0 || !(e.Parallel >= 0) {
		return y
	}
	balance, whole, long, short := view.FormatShare(e.LoadBalance), view.FormatShare(e.Parallel), "", ""
	if view.Defined(e.Communication) != nil {
		exchange := view.FormatShare(e.Communication)
		long, short = " · communication efficiency "+exchange, ", communication "+exchange
	}
	text := scene.Longest(w-2*pad,
		fmt.Sprintf("load balance %s%s · parallel efficiency %s (POP, %s)", balance, long, whole, r.found.Over),
		fmt.Sprintf("efficiency: parallel %s%s, load balance %s (%s)", whole, short, balance, r.found.Over),
		fmt.Sprintf("parallel efficiency %s (%s)", whole, r.found.Over), "parallel efficiency "+whole)
	if text == "" {
		return y
	}
	t.Add(pad, y+line-4, text, scene.UITextMuted, scene.Start)
	return y + line + gap
}

func (r *result) describe() string {
	if len(r.list) == 0 {
		return "No findings: nothing stands out in this run."
	}
	return fmt.Sprintf("%s, most time lost first. %s", view.Count(len(r.list), "finding"), r.list[0].Text)
}

// lostWords says the time lost and its share.
func lostWords(f *finding.Finding) string {
	if f.Lost <= 0 {
		return ""
	}
	return fmt.Sprintf("%s lost, %s of %s", view.FormatIn(float64(f.Lost), f.Unit), view.FormatShare(f.Share),
		f.ShareOf)
}

// Fact describes a finding or a cause.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	switch it.Of {
	case ofCard:
		return cardFact(&r.list[it.A]), true
	case ofQuiet:
		return r.quiet(), true
	}
	return r.causes.fact(it)
}

func cardFact(f *finding.Finding) view.Fact {
	fact := view.Fact{Title: f.Title, Text: f.Text, Locations: f.Selection.Locations,
		Regions: f.Selection.Regions, Lines: []view.FactLine{}}
	if f.Selection.Begin < f.Selection.End {
		b, e := f.Selection.Begin, f.Selection.End
		fact.Begin, fact.End = &b, &e
	}
	if f.Lost > 0 {
		fact.SayTime("time lost", f.Lost)
		fact.Say("of "+f.ShareOf, view.FormatShare(f.Share), "")
		fact.Say("of the time of those affected", view.FormatShare(f.Hit), "")
	}
	if f.Gain != nil {
		fact.Say("to gain", view.FormatTime(f.Gain.Time), view.Cell(float64(f.Gain.Time)))
	}
	for _, e := range f.Evidence {
		fact.Say(words.Middle(e.Name), diagnose.Format(e), view.Cell(e.Value))
	}
	return fact
}

// quiet describes the data that was checked if nothing stands out.
func (r *result) quiet() view.Fact {
	fact := view.Fact{Title: "nothing stands out", Lines: []view.FactLine{}}
	for _, l := range []struct {
		label string
		v     float64
	}{{"load balance", r.found.POP.LoadBalance}, {"communication efficiency", r.found.POP.Communication},
		{"parallel efficiency", r.found.POP.Parallel}} {
		if view.Defined(l.v) != nil {
			fact.Lines = append(fact.Lines,
				view.FactLine{Label: l.label, Value: view.FormatShare(l.v), Exact: view.Cell(l.v)})
		}
	}
	return fact
}
