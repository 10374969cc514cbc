package operators

import (
	"fmt"
	"sync"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
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
	n, pitch := plot.Fit(r.mostBars(len(bars)), h-topRoom-scene.AxisHeight-4, 20, 28)
	rows := plot.NewRows(n, topRoom, pitch, func(i int, row *scene.Row) {
		row.Label = bars[i].label
		row.Region = uint32(bars[i].region)
	})
	most := 1.0
	for _, b := range bars[:n] {
		most = max(most, b.value, b.high)
	}
	left, words := rows.LabelWidth(w*0.38), min(w*0.32, 340)
	if w < 420 {
		words = 0
	}
	f := rows.Frame("bars", left, max(w-left-words-edge, 1), scene.Scale{Kind: "linear", End: most})
	frame := s.AddFrame(f)
	s.XAxis(frame, scene.Axis{Unit: unit})
	heads := []string{title}
	if len(bars) > n {
		first := fmt.Sprintf("the first %s of %s", view.Thousands(int64(n)), view.Thousands(int64(len(bars))))
		heads = []string{first + "; " + title, first}
	}
	text.Add(edge, topRoom-7, scene.Longest(w-2*edge, heads...), scene.UITextMuted, scene.Start)
	s.AimRows(frame, 0, w, func(i int) uint32 { return s.Item(ofBar, i) })
	value := func(i int) float64 { return max(bars[i].value, 0) } // without one it heads those below it
	s.AddLayer("bars", frame, rows.Bars(&f, 0.7, value, func(i int) scene.Colour { return bars[i].colour }))
	s.AddLayer("spread", frame, rows.Whiskers(&f, 1, func(i int) (low, high float64, ok bool) {
		return bars[i].low, bars[i].high, bars[i].high > bars[i].low
	}))
	beside := rows.Words(f.X+f.W+edge, words-edge, func(i int) string { return bars[i].words })
	s.AddLayer("words", -1, beside, text)
	s.RowLabels(frame, 0)
}

// mostBars is how many of n bars are asked for.
func (r *result) mostBars(n int) int {
	if top := r.request.Values.Integer("top"); top > 0 {
		return min(n, top)
	}
	return n
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

// barFact returns the facts of a bar.
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
