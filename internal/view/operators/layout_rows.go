package operators

import (
	"fmt"
	"sync"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A bar is a row of the pictures of memory and of graphs; with low and high a line goes from one to the other.
type bar struct {
	label, words     string
	value, low, high float64
	region           trace.RegionID
	colour           scene.Colour
	lines            []view.FactLine
	begin, end       trace.Time // where it is seen; equal: nowhere in particular
}

// drawBars draws as many bars as fit.
func (r *result) drawBars(s *scene.Scene, bars []bar, title, unit string) {
	w, h := float32(s.Width), float32(s.Height)
	text := &scene.Text{Size: scene.TextSize}
	if len(bars) == 0 {
		text.Add(w/2, h/2, scene.Shorten(title, w-2*edge, scene.TextSize), scene.UITextMuted, scene.Middle)
		s.AddLayer("empty", -1, text)
		return
	}
	const high = 20
	room := h - topRoom - scene.AxisHeight - 4
	n := min(len(bars), max(int(room/high), 1))
	if top := r.request.Values.Integer("top"); top > 0 {
		n = min(n, top)
	}
	pitch := min(room/float32(n), high*1.4)
	rows := make([]scene.Row, n)
	most := 1.0
	for i := range rows {
		y := topRoom + float32(i)*pitch
		rows[i] = scene.Row{From: y, To: y + pitch, Label: bars[i].label, Location: scene.NoID, Region: scene.NoID,
			Count: 1}
		if bars[i].region != trace.NoRegion {
			rows[i].Region = uint32(bars[i].region)
		}
		most = max(most, bars[i].value, bars[i].high)
	}
	left := scene.RowLabelWidth(rows, w*0.38)
	words := min(w*0.32, 340)
	if w < 420 {
		words = 0
	}
	f := scene.Frame{Name: "bars", X: left, Y: topRoom, W: max(w-left-words-edge, 1), H: pitch * float32(n),
		XScale: scene.Scale{Kind: "linear", End: most}, YScale: scene.Scale{Kind: "rows", Rows: rows}}
	frame := s.AddFrame(f)
	s.XAxis(frame, scene.Axis{Unit: unit})
	rects, lines := &scene.Rect{}, &scene.Line{Width: 1}
	for i := range rows {
		b := &bars[i]
		y := rows[i].From
		if b.value > 0 { // else it heads those below it
			rects.Add(f.X, y+pitch*0.15, max(f.XPixel(b.value)-f.X, 0.5), pitch*0.7, b.colour)
		}
		if b.high > b.low {
			x0, x1, mid := f.XPixel(b.low), f.XPixel(b.high), y+pitch/2
			lines.Add(x0, mid, x1, mid, scene.UIText)
			for _, x := range []float32{x0, x1} {
				lines.Add(x, mid-pitch*0.2, x, mid+pitch*0.2, scene.UIText)
			}
		}
		if words > 0 {
			text.Add(f.X+f.W+edge, y+pitch/2+4, scene.Shorten(b.words, words-edge, scene.TextSize), scene.UITextMuted,
				scene.Start)
		}
	}
	heads := []string{title}
	if len(bars) > n {
		first := fmt.Sprintf("the first %s of %s", view.Thousands(int64(n)), view.Thousands(int64(len(bars))))
		heads = []string{first + "; " + title, first}
	}
	text.Add(edge, topRoom-7, longest(w-2*edge, heads...), scene.UITextMuted, scene.Start)
	s.AimRows(frame, 0, w, func(i int) uint32 { return s.Item(ofBar, i) })
	s.AddLayer("bars", frame, rects)
	s.AddLayer("spread", frame, lines)
	s.AddLayer("words", -1, text)
	s.RowLabels(frame, 0)
}

// longest is the first of some texts, from long to short, that has room; where none has the last is cut.
func longest(room float32, texts ...string) string {
	for _, t := range texts {
		if scene.TextWidth(t, scene.TextSize, false) <= room {
			return t
		}
	}
	return scene.Shorten(texts[len(texts)-1], room, scene.TextSize)
}

// A barList is made once a result: every fact of a bar asks for it.
type barList struct {
	once  sync.Once
	list  []bar
	title string
}

// bars are those of the picture asked for, and their title.
func (r *result) bars() ([]bar, string) {
	r.held.once.Do(func() {
		if r.request.Values.Text("picture") == "memory" {
			r.held.list, r.held.title = r.memoryBars()
		} else {
			r.held.list, r.held.title = r.graphBars()
		}
	})
	return r.held.list, r.held.title
}

// barFact says what is known of a bar.
func (r *result) barFact(i int) (view.Fact, bool) {
	bars, _ := r.bars()
	if i < 0 || i >= len(bars) {
		return view.Fact{}, false
	}
	b := &bars[i]
	fact := view.Fact{Title: b.label, Lines: b.lines}
	if b.region != trace.NoRegion {
		fact.Regions = []trace.RegionID{b.region}
	}
	if b.end > b.begin {
		fact.Begin, fact.End = &b.begin, &b.end
	}
	return fact, true
}
