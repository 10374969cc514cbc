package contrast

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/sides"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	pad      = 12
	rowPitch = 48 // a line of words, and two strips under it
	lowPitch = 40 // the same where the picture is low
	strip    = 9
	ends     = 60 // room for a value at each end of the strips
	mostDots = 64 // values drawn as dots; more are a box
)

const (
	colourA = scene.UIData
	colourB = scene.UIAxis
)

// ofRow is the item kind of a row.
const ofRow = 1

// columns say where the parts of a row lie.
type columns struct {
	kind, name  float32 // left edges of the words
	bar, barW   float32 // the effect; 0: not drawn
	left, right float32 // of the strips
	width       float32
	words       bool
}

// Scene writes a headline, then a row a quantity.
func (r *result) Scene(size scene.Size) *scene.Scene {
	w, h := float32(size.Width), float32(size.Height)
	s := scene.New(size, "", r.headline()+".")
	top := float32(0)
	if h >= 120 && w >= 160 {
		top = r.head(s, w)
	}
	c := r.columns(w)
	pitch := float32(rowPitch)
	if h < 360 {
		pitch = lowPitch
	}
	fit := max(int((h-top-4)/pitch), 1)
	if n := r.request.Values.Integer("top"); n > 0 {
		fit = min(fit, n)
	}
	n := min(len(r.Rows), fit)
	for n > 1 && nothing(r.Rows[n-1]) {
		n--
	}
	rows := plot.NewRows(n, top, pitch, func(i int, row *scene.Row) {
		row.Label, row.Region = title(r.Rows[i]), region(r.Rows[i])
	})
	f := rows.Frame("main", 0, w, scene.Scale{})
	f.H = max(min(f.H, h-top), 1)
	frame := s.AddFrame(f)
	s.AimRows(frame, 0, w, func(i int) uint32 { return s.Item(ofRow, i) })
	p := &painter{columns: c, strips: 22 - (rowPitch-pitch)/2, rects: &scene.Rect{}, lines: &scene.Line{Width: 1},
		dots: &scene.Point{}, bold: &scene.Text{Size: scene.TextSize, Bold: true},
		text: &scene.Text{Size: scene.TextSize}, small: &scene.Text{Size: 11}}
	scale := r.largest(n)
	for i, q := range r.Rows[:n] {
		p.row(r, q, top+float32(i)*pitch, scale)
	}
	s.AddLayer("rows", frame, p.rects, p.lines, p.dots)
	s.AddLayer("words", -1, p.bold, p.text, p.small)
	s.Legend = []scene.LegendEntry{plot.Key("A: "+r.Sides[0].Label+r.count(0), colourA),
		plot.Key("B: "+r.Sides[1].Label+r.count(1), colourB)}
	s.Notes = r.sceneNotes(n)
	return s
}

// count describes how many values a side has, where its label does not.
func (r *result) count(i int) string {
	return " (" + view.Thousands(int64(len(r.Sides[i].Units))) + ")"
}

// nothing reports whether a quantity is 0 in all units: a frame of a call stack that samples only pass through.
func nothing(q *sides.Quantity) bool {
	for _, values := range q.Values {
		if slices.ContainsFunc(values, func(v float64) bool { return v != 0 }) {
			return false
		}
	}
	return true
}

func (r *result) sceneNotes(drawn int) []string {
	notes := []string{fmt.Sprintf("%d of %s quantities differ clearly, at a false discovery rate of 5 %%", r.Clear(),
		view.Thousands(int64(len(r.Rows))))}
	switch {
	case drawn < len(r.Rows) && nothing(r.Rows[drawn]):
		notes = append(notes, "those that are 0 everywhere are not drawn")
	case drawn < len(r.Rows):
		notes = append(notes, "those that fit are drawn")
	}
	return append(notes, r.notes...)
}

// head writes the answer.
func (r *result) head(s *scene.Scene, w float32) float32 {
	bold := &scene.Text{Size: scene.TitleSize, Bold: true}
	if t := scene.ShortenBold(r.headline(), w-2*pad, scene.TitleSize); t != "" {
		bold.Add(pad, 20, t, scene.UIText, scene.Start)
	}
	s.AddLayer("headline", -1, bold)
	return 32
}

func (r *result) columns(w float32) columns {
	c := columns{width: w, kind: pad, name: pad + 68, words: w >= 200}
	if w < 420 {
		c.name = pad
	}
	c.left, c.right = pad+ends, w-pad-ends
	if w >= 420 {
		c.bar, c.barW = pad, w*0.3
		c.left = c.bar + c.barW + ends
	}
	if c.right-c.left < 24 {
		c.left, c.right = min(pad, w/4), max(w-pad, w*3/4)
	}
	return c
}

// largest is the largest effect of the rows drawn in time, and of the others.
func (r *result) largest(n int) (out [2]float64) {
	for _, q := range r.Rows[:n] {
		k := family(q)
		out[k] = max(out[k], math.Abs(drawn(q)))
	}
	return out
}

// drawn is the effect as far as its bar goes: what is many times its mean is cut, times are not.
func drawn(q *sides.Quantity) float64 {
	if q.InTime() {
		return q.Verdict.Effect
	}
	return max(min(q.Verdict.Effect, 1.5), -1.5)
}

func family(q *sides.Quantity) int {
	if q.InTime() {
		return 0
	}
	return 1
}

func region(q *sides.Quantity) uint32 {
	if len(q.Regions) > 0 {
		return uint32(q.Regions[0])
	}
	return scene.NoID
}

type painter struct {
	columns
	strips            float32 // where the strips begin, from the top of the row
	rects             *scene.Rect
	lines             *scene.Line
	dots              *scene.Point
	bold, text, small *scene.Text
}

func (p *painter) row(r *result, q *sides.Quantity, y float32, largest [2]float64) {
	if y > 0 {
		p.lines.Add(pad, y, max(p.width-pad, pad), y, scene.UIGrid)
	}
	if p.words {
		p.writeWords(r, q, y+p.strips-6)
	}
	if p.bar > 0 {
		p.effect(q, r.effectText(q), y+p.strips, largest[family(q)])
	}
	lo, hi := rangeOf(q)
	p.strip(q.Values[0], lo, hi, y+p.strips, p.colour(q, colourA))
	p.strip(q.Values[1], lo, hi, y+p.strips+strip+3, p.colour(q, colourB))
	if p.right < p.width-pad-30 {
		base := y + p.strips + strip + 5
		p.small.Add(p.left-6, base, format(q, lo), scene.UITextMuted, scene.End)
		p.small.Add(p.right+6, base, format(q, hi), scene.UITextMuted, scene.Start)
	}
}

// colour is quiet for rows that are not clear.
func (p *painter) colour(q *sides.Quantity, c scene.Colour) scene.Colour {
	if !q.Verdict.Clear && c == colourA {
		return scene.UIDataSoft
	}
	return c
}

func (p *painter) writeWords(r *result, q *sides.Quantity, base float32) {
	add := func(t *scene.Text, x float32, words string, fill scene.Colour) {
		if words != "" {
			t.Add(x, base, words, fill, scene.Start)
		}
	}
	if p.name > p.kind {
		add(p.text, p.kind, q.Kind, scene.UITextMuted)
	}
	fill := scene.UIText
	if !q.Verdict.Clear {
		fill = scene.UITextMuted
	}
	room := p.width - pad - p.name
	name := scene.ShortenBold(title(q), room*0.45, scene.TextSize)
	add(p.bold, p.name, name, fill)
	x := p.name + scene.TextWidth(name, scene.TextSize, true) + 10
	words := ""
	for detail := 2; detail >= 0; detail-- {
		words = r.words(q, detail)
		if scene.TextWidth(words, scene.TextSize, false) <= p.width-pad-x {
			break
		}
	}
	add(p.text, x, scene.Shorten(words, p.width-pad-x, scene.TextSize), fill)
}

// effect draws the bar of the shift from the middle of its column.
func (p *painter) effect(q *sides.Quantity, text string, y float32, largest float64) {
	middle := p.bar + p.barW/2
	high := float32(2*strip + 3)
	v := drawn(q)
	long := float32(0)
	if largest > 0 {
		long = float32(v/largest) * p.barW / 2
	}
	colour := colourA
	if role, ok := swatch(q); ok {
		colour = scene.RoleColour(uint8(role))
	}
	if long != 0 {
		p.rects.Add(min(middle, middle+long), y+3, max(float32(math.Abs(float64(long))), 1), high-6, colour)
		if !q.Verdict.Clear {
			p.rects.SetFlags(scene.Dimmed)
		}
	}
	p.lines.Add(middle, y, middle, y+high, scene.UIAxis)
	at, anchor := middle-5, scene.End
	if v < 0 {
		at, anchor = middle+5, scene.Start
	}
	if scene.TextWidth(text, 11, false) > p.barW/2-8 {
		text, _, _ = strings.Cut(text, " of ")
	}
	if t := scene.Shorten(text, p.barW/2-8, 11); t != "" {
		p.small.Add(at, y+high/2+4, t, scene.UITextMuted, anchor)
	}
}

// rangeOf is the scale of a row: from zero, or round the values where zero is far.
func rangeOf(q *sides.Quantity) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, side := range q.Values {
		if len(side) > 0 {
			lo, hi = min(lo, slices.Min(side)), max(hi, slices.Max(side))
		}
	}
	if lo > 0 && (q.Unit != "" || lo < hi/2) {
		lo = 0
	}
	if lo >= hi {
		hi = lo + 1
	}
	return lo, hi
}

// strip draws the values of one side: dots, or a box where there are many.
func (p *painter) strip(values []float64, lo, hi float64, y float32, colour scene.Colour) {
	at := func(v float64) float32 { return p.left + float32((v-lo)/(hi-lo))*(p.right-p.left) }
	mid := y + strip/2
	p.lines.Add(p.left, mid, p.right, mid, scene.UIGrid)
	if len(values) <= mostDots {
		for _, v := range values {
			p.dots.Add(at(v), mid, 3.5, colour)
		}
		return
	}
	b := box(values)
	p.lines.Add(at(b[0]), mid, at(b[4]), mid, colour)
	p.rects.Add(at(b[1]), y, max(at(b[3])-at(b[1]), 1), strip, colour)
	p.lines.Add(at(b[2]), y, at(b[2]), y+strip, scene.UIText)
}

// Fact describes a row.
func (r *result) Fact(it scene.Item) (view.Fact, bool) { return r.fact(r.Rows[it.A]), true }

func (r *result) fact(q *sides.Quantity) view.Fact {
	v := &q.Verdict
	f := view.Fact{Title: title(q), Text: r.words(q, 2), Lines: []view.FactLine{{Label: "kind", Value: q.Kind}},
		Regions: append([]trace.RegionID(nil), q.Regions...)}
	line := func(label, value string, exact float64) { f.Say(label, value, view.Cell(exact)) }
	for i, side := range [2]string{"A", "B"} {
		b := box(q.Values[i])
		line(side+" median", format(q, b[2]), b[2])
		if len(q.Values[i]) > 1 {
			line(side+" least", format(q, slices.Min(q.Values[i])), slices.Min(q.Values[i]))
			line(side+" most", format(q, slices.Max(q.Values[i])), slices.Max(q.Values[i]))
		}
	}
	shift := format(q, math.Abs(v.Shift))
	if v.Shift < 0 {
		shift = "−" + shift
	}
	line("shift", shift, v.Shift)
	line("effect", r.effectText(q), v.Effect)
	line("Cliff's delta", fmt.Sprintf("%.2f", v.Delta), v.Delta)
	f.Say("sure", sure(q), "")
	return f
}
