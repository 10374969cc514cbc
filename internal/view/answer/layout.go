package answer

import (
	"strings"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	pad      = 14
	edge     = 4 // stripe of the level
	headSize = 16
	headLine = 22
	// A column of a journal is narrow: its sentence is in the size of text, so that it is whole.
	narrow     = 420
	narrowSize = 13
	narrowLine = 17
	mostLines  = 6
	// plainOfBold is at most how wide a plain text is against the same in bold.
	plainOfBold = 0.9
	line        = 17
	barLine     = 20
	gap         = 10
)

// Item kinds.
const (
	ofAnswer = 1 + iota
	ofProof  // A: its number
)

// Scene draws a card: the sentence, a bar for each number of the proof, symptoms, doubts, and the next step.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.Text)
	w, h := float32(size.Width), float32(size.Height)
	x := float32(pad + edge + 10)
	room := max(w-x-pad, 20)
	aims, fills := &scene.Rect{}, &scene.Rect{}
	high, lineOf := float32(headSize), float32(headLine)
	if w < narrow {
		high, lineOf = narrowSize, narrowLine
	}
	head := &scene.Text{Size: high, Bold: true}
	y := float32(pad)
	for _, l := range scene.Wrap(r.Text, room*plainOfBold, high, mostLines) {
		if y += lineOf; y < h {
			head.Add(x, y-6, l, scene.UIText, scene.Start)
		}
	}
	marks := []scene.Mark{fills, head}
	if r.Lost > 0 && r.Kind != "" {
		text := &scene.Text{Size: scene.TextSize}
		words := view.FormatIn(float64(r.Lost), r.Unit) + " lost, " + view.FormatShare(r.Share) + " of " + r.ShareOf
		if y += line; y < h {
			text.Add(x, y-4, scene.Shorten(words, room, scene.TextSize), scene.UITextMuted, scene.Start)
		}
		marks = append(marks, text)
	}
	y += gap
	if high := float32(barLine * len(r.Proof)); len(r.Proof) > 0 && y+high < h && room > 160 {
		marks = append(marks, r.bars(s, x, y, room, aims)...)
		y += high + gap
	}
	rest, y := r.lines(x, y, room, h)
	y = min(y, h)
	fills.Add(pad, pad, edge, max(y-pad, 1), view.LevelColour(r.Severity))
	whole := &scene.Rect{} // below the aims of the proof
	whole.AddAim(0, 0, w, y, s.Item(ofAnswer))
	marks = append(marks, rest, whole, aims)
	s.AddLayer("answer", -1, marks...)
	s.Notes = r.Notes()
	return s
}

// bars draws the proof: names, bars with the range of the others, and numbers.
func (r *result) bars(s *scene.Scene, x, y, room float32, aims *scene.Rect) []scene.Mark {
	most := 0.0
	names := plot.NewRows(len(r.Proof), y, barLine, func(i int, row *scene.Row) { row.Label = r.Proof[i].Name })
	var values []string
	wide := float32(0)
	for _, p := range r.Proof {
		v := view.FormatIn(p.Value, p.Unit)
		if most = max(most, p.Value); p.Least != nil && p.Most != nil {
			most = max(most, *p.Most)
			if *p.Least != *p.Most {
				v = view.FormatIn(*p.Least, p.Unit) + " to " + view.FormatIn(*p.Most, p.Unit)
			}
		}
		values = append(values, v)
		wide = max(wide, scene.TextWidth(v, scene.TextSize, false))
	}
	label := min(names.LabelWidth(room*0.45)+8, room*0.45)
	scale := scene.Scale{Kind: "linear", Begin: 0, End: max(most, 1e-9)}
	f := names.Frame("proof", x+label, max(room-label-wide-12, 20), scale)
	bars := names.Bars(&f, 0.6, func(i int) float64 { return r.Proof[i].Value }, func(i int) scene.Colour {
		if i == 0 {
			return view.LevelColour(r.Severity)
		}
		return scene.UIAxis
	})
	whiskers := names.Whiskers(&f, 1, func(i int) (low, high float64, ok bool) {
		p := &r.Proof[i]
		if p.Least == nil || p.Most == nil {
			return 0, 0, false
		}
		return *p.Least, *p.Most, true
	})
	text := &scene.Text{Size: scene.TextSize}
	for i := range r.Proof {
		at := names.Middle(i) + 4
		text.Add(x, at, scene.Shorten(r.Proof[i].Name, label-8, scene.TextSize), scene.UIText, scene.Start)
		text.Add(x+room, at, values[i], scene.UIText, scene.End)
		aims.AddAim(x, names.List[i].From, room, barLine, s.Item(ofProof, i))
	}
	return []scene.Mark{bars, whiskers, text}
}

// lines writes the text after the proof, and returns where it ends.
func (r *result) lines(x, y, room, h float32) (*scene.Text, float32) {
	text := &scene.Text{Size: scene.TextSize}
	add := func(head, words string, colour scene.Colour) {
		if words == "" {
			return
		}
		most := min(3, int((h-2-y)/line)) // the last ends in "…"
		if most < 1 {
			return
		}
		for _, l := range scene.Wrap(head+words, room, scene.TextSize, most) {
			y += line
			text.Add(x, y-4, l, colour, scene.Start)
		}
		y += 4
	}
	add("Next: ", r.Next, scene.UIText)
	if r.Gain != nil {
		add("Gain: ", r.Gain.Text, scene.UIText)
	}
	add("Seen as: ", strings.Join(r.SeenAs, " · "), scene.UITextMuted)
	for _, d := range r.Doubts {
		add("Doubt: ", d, scene.UITextMuted)
	}
	return text, y
}

// Fact returns the facts of the answer or of a number of the proof.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	fact := view.Fact{Title: "answer", Text: r.Text, Locations: r.Selection.Locations, Regions: r.Selection.Regions,
		Lines: []view.FactLine{}}
	if r.Selection.Begin < r.Selection.End {
		b, e := r.Selection.Begin, r.Selection.End
		fact.Begin, fact.End = &b, &e
	}
	if it.Of == ofProof {
		p := &r.Proof[it.A]
		fact.Title, fact.Text = p.Name, ""
		fact.Say("value", view.FormatIn(p.Value, p.Unit), view.Cell(p.Value))
		if p.Least != nil && p.Most != nil {
			fact.Say("least", view.FormatIn(*p.Least, p.Unit), view.Cell(*p.Least))
			fact.Say("most", view.FormatIn(*p.Most, p.Unit), view.Cell(*p.Most))
		}
		return fact, true
	}
	if r.Lost > 0 {
		fact.SayTime("time lost", r.Lost)
		fact.Say("of "+r.ShareOf, view.FormatShare(r.Share), "")
	}
	return fact, true
}
