package requests

import (
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// What marks show: a request, a cell of the heat map of so many columns and rows, a row of a request's tree, a
// difference.
const (
	ofRequest = iota + 1
	ofCell
	ofLine
	ofDifference
)

const (
	edge       = 8
	headRoom   = 22
	mostPoints = 3000 // more are drawn as a heat map
	cellSize   = 7
)

// Scene draws the tree of one request, or all of them over time.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.describe())
	s.Notes = r.Notes()
	if r.one >= 0 {
		r.drawTree(s)
		return s
	}
	h := float32(size.Height)
	if list := r.certain(); r.chosen != nil && h >= 260 {
		part := min(h*0.5, headRoom+scene.AxisHeight+8+float32(max(len(list), 1))*differHigh)
		plot{r}.drawPlot(s, h-part)
		r.drawDiffers(s, list, h-part)
	} else {
		plot{r}.drawPlot(s, h)
	}
	return s
}

func (r *result) describe() string {
	if r.one >= 0 {
		q := &r.forest.Requests[r.one]
		return fmt.Sprintf("Request %s: %s of %s.", q.ID, view.Count(int(q.Spans), "call"),
			view.FormatTime(q.Duration()))
	}
	times := r.durations()
	t := view.Count(len(r.all), "request") + " by begin and duration"
	if len(times) > 0 && !request.Enough(len(times), 0.5) {
		t += fmt.Sprintf("; from %s to %s", view.FormatTime(times[0]), view.FormatTime(times[len(times)-1]))
	}
	sign := "; "
	for _, p := range percentiles {
		if request.Enough(len(times), p.q) {
			t += fmt.Sprintf("%s%s %s", sign, p.name, view.FormatTime(request.Quantile(times, p.q)))
			sign = ", "
		}
	}
	return t + "."
}

// percentiles are those that have a line.
var percentiles = []struct {
	q    float64
	name string
	each int // requests of a stretch of time, so that five lie above
}{{0.5, "p50", 100}, {0.95, "p95", 100}, {0.99, "p99", 500}}

// A plot draws requests over time.
type plot struct{ *result }

// plotFrame is where requests are drawn in a height: time to the right, duration upwards.
func (r *result) plotFrame(w, h float32) scene.Frame {
	f := scene.Frame{Name: "requests", Y: headRoom, H: max(h-headRoom-scene.AxisHeight-4, 1)}
	low, high := math.Inf(1), 1.0
	for _, k := range r.all {
		if t := float64(r.forest.Requests[k].Duration()); t > 0 {
			low, high = min(low, t), max(high, t)
		}
	}
	if math.IsInf(low, 1) {
		low = 1
	}
	f.YScale = scene.Scale{Kind: "log", Begin: low / 1.5, End: high * 1.5, Label: "duration"}
	f.X = scene.YAxisWidth(f.YScale, f.H, scene.Axis{Unit: "ns"})
	f.W = max(w-f.X-edge-rightRoom, 1)
	f.XScale = scene.Scale{Kind: "time", Begin: float64(r.request.Selection.Begin),
		End: float64(r.request.Selection.End), Label: "time"}
	return f
}

// radius is that of points.
func (r *result) radius() float32 {
	if len(r.all) < 200 {
		return 4
	}
	return 3
}

// rightRoom is for the names of the lines.
const rightRoom = 30

// at is the place of a request; empty ones lie at the bottom.
func (r *result) at(f *scene.Frame, k int32) (x, y float32) {
	q := &r.forest.Requests[k]
	return f.XPixel(float64(q.Begin)), f.YPixel(max(float64(q.Duration()), f.YScale.Begin))
}

func (r plot) drawPlot(s *scene.Scene, h float32) {
	w := float32(s.Width)
	f := r.plotFrame(w, h)
	frame := s.AddFrame(f)
	s.YAxis(frame, scene.Axis{Unit: "ns"})
	s.XAxis(frame, scene.Axis{Unit: "ns"})
	failed := 0
	for _, k := range r.all {
		if r.forest.Requests[k].Errors > 0 {
			failed++
		}
	}
	if len(r.all) > mostPoints {
		r.drawHeat(s, frame, &f)
	} else {
		r.drawPoints(s, frame, &f)
	}
	r.drawPercentiles(s, frame, &f)
	head := view.Count(len(r.all), "request")
	if failed > 0 {
		head += fmt.Sprintf(", %s with a failed call", view.Thousands(int64(failed)))
	}
	if r.chosen != nil {
		head += fmt.Sprintf(", %s chosen", view.Thousands(int64(len(r.chosen))))
	}
	title := &scene.Text{Size: scene.TextSize}
	title.Add(max(f.X, 64), headRoom-8, scene.Shorten(head, f.W-16, scene.TextSize), scene.UIText, scene.Start)
	s.AddLayer("head", -1, title)
	if failed > 0 {
		s.Legend = append(s.Legend,
			scene.LegendEntry{Label: "with a failed call", Colour: scene.UIError, Region: scene.NoID,
				Parent: scene.NoID})
	}
	if r.chosen != nil {
		s.Legend = append(s.Legend,
			scene.LegendEntry{Label: "chosen", Colour: scene.UIAccent, Region: scene.NoID, Parent: scene.NoID})
	}
}

func (r plot) drawPoints(s *scene.Scene, frame int, f *scene.Frame) {
	points, front := &scene.Point{}, &scene.Point{}
	radius := r.radius()
	for i, k := range r.all {
		x, y := r.at(f, k)
		if f.W > 2*radius {
			// whole also at the edges; the time is the selected one, here and in the page
			x = min(max(x, f.X+radius), f.X+f.W-radius)
		}
		to, fill := points, scene.UIData
		if r.chosen != nil {
			fill = scene.UIDataSoft
		}
		if r.isChosen(k) {
			to, fill = front, scene.UIAccent
		}
		if r.forest.Requests[k].Errors > 0 {
			to, fill = front, scene.UIError
		}
		to.Add(x, y, radius, fill)
		to.SetItem(s.Item(ofRequest, i))
	}
	s.AddLayer("points", frame, points, front)
}

// A grid counts requests by time and duration.
type grid struct {
	columns, rows int
	all           []int32
	failed        []int32
	chosen        []int32
	most          int32
}

func (r plot) grid(f *scene.Frame, columns, rows int) *grid {
	g := &grid{columns: columns, rows: rows, all: make([]int32, columns*rows), failed: make([]int32, columns*rows),
		chosen: make([]int32, columns*rows)}
	for _, k := range r.all {
		c := g.cell(r.result, f, k)
		g.all[c]++
		g.most = max(g.most, g.all[c])
		if r.forest.Requests[k].Errors > 0 {
			g.failed[c]++
		}
		if r.isChosen(k) {
			g.chosen[c]++
		}
	}
	return g
}

func (g *grid) cell(r *result, f *scene.Frame, k int32) int {
	x, y := r.at(f, k)
	cx := min(max(int((x-f.X)/f.W*float32(g.columns)), 0), g.columns-1)
	cy := min(max(int((y-f.Y)/f.H*float32(g.rows)), 0), g.rows-1)
	return cy*g.columns + cx
}

// drawHeat draws how many requests lie in each cell; failed ones are marked in it.
func (r plot) drawHeat(s *scene.Scene, frame int, f *scene.Frame) {
	columns, rows := max(int(f.W/cellSize), 1), max(int(f.H/cellSize), 1)
	g := r.grid(f, columns, rows)
	cells, marks := &scene.Rect{}, &scene.Point{}
	wide, high := f.W/float32(columns), f.H/float32(rows)
	for c, n := range g.all {
		if n == 0 {
			continue
		}
		x, y := f.X+float32(c%columns)*wide, f.Y+float32(c/columns)*high
		share := 0.0
		if g.most > 1 {
			share = math.Log(float64(n)) / math.Log(float64(g.most))
		}
		cells.Add(x, y, wide, high, scene.Ramp("viridis", share))
		cells.SetItem(s.Item(ofCell, c, columns, rows))
		if n > 1 {
			cells.SetCount(uint32(n))
		}
		switch {
		case g.failed[c] > 0:
			marks.Add(x+wide/2, y+high/2, 2, scene.UIError)
		case g.chosen[c] > 0 && r.chosen != nil:
			marks.Add(x+wide/2, y+high/2, 1.5, scene.UIAccent)
		}
	}
	s.AddLayer("cells", frame, cells, marks)
	s.Legend = append(s.Legend,
		scene.LegendEntry{Label: "requests in a cell", Colour: scene.Ramp("viridis", 0),
			RampEnd: scene.Ramp("viridis", 1), RampLow: "1", RampHigh: view.Thousands(int64(g.most)),
			Region: scene.NoID, Parent: scene.NoID})
}

// drawPercentiles draws the median, 95 % and 99 % of stretches of time, where these have enough requests.
func (r plot) drawPercentiles(s *scene.Scene, frame int, f *scene.Frame) {
	lines, text := &scene.Line{Width: 1.5}, &scene.Text{Size: scene.TextSize}
	var names []scene.Label
	var labels []string
	for i := len(percentiles) - 1; i >= 0; i-- { // from the top
		p := &percentiles[i]
		lists := r.stretches(min(max(len(r.all)/p.each, 1), 60))
		begin, end := r.request.Selection.Begin, r.request.Selection.End
		edgeOf := func(b int) float32 {
			return f.XPixel(float64(begin) + float64(end-begin)*float64(b)/float64(len(lists)))
		}
		drawn, joined, lastY := false, false, float32(0)
		for b, list := range lists {
			if !request.Enough(len(list), p.q) {
				joined = false
				continue
			}
			y := f.YPixel(max(float64(request.Quantile(list, p.q)), f.YScale.Begin))
			x0, x1 := edgeOf(b), edgeOf(b+1)
			if joined && lastY != y {
				lines.Add(x0, lastY, x0, y, scene.UIText)
			}
			lines.Add(x0, y, x1, y, scene.UIText)
			drawn, joined, lastY = true, true, y
		}
		if drawn {
			names = append(names, scene.Label{At: lastY, Width: 12, Rank: i})
			labels = append(labels, p.name)
		}
	}
	for i, y := range scene.Place(names, f.Y, f.Y+f.H, 0) {
		if y == y {
			text.Add(f.X+f.W+3, y+4, labels[i], scene.UITextMuted, scene.Start)
		}
	}
	s.AddLayer("percentiles", frame, lines)
	s.AddLayer("names", -1, text)
}

// stretches are the sorted durations of the requests that begin in each of so many parts of the selected time.
func (r plot) stretches(bins int) [][]trace.Time {
	lists := make([][]trace.Time, bins)
	begin, span := float64(r.request.Selection.Begin),
		float64(max(r.request.Selection.End-r.request.Selection.Begin, 1))
	for _, k := range r.all {
		q := &r.forest.Requests[k]
		b := min(max(int((float64(q.Begin)-begin)/span*float64(bins)), 0), bins-1)
		lists[b] = append(lists[b], q.Duration())
	}
	for b := range lists {
		slices.Sort(lists[b])
	}
	return lists
}

// Fact says what is known of an item.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	switch {
	case it.Of == ofRequest && int(it.A) < len(r.all):
		return r.requestFact(r.all[it.A]), true
	case it.Of == ofCell:
		return r.cellFact(it)
	case it.Of == ofLine && int(it.A) < len(r.fold.lines):
		return r.lineFact(int(it.A)), true
	case it.Of == ofDifference && int(it.A) < len(r.differs):
		return r.differFact(int(it.A)), true
	}
	return view.Fact{}, false
}

func (r *result) requestFact(k int32) view.Fact {
	q := &r.forest.Requests[k]
	root, service := r.rootName(q)
	begin, end := q.Begin, q.End
	f := view.Fact{Title: root, Begin: &begin, End: &end, Open: map[string]string{"request": q.ID}}
	f.Say("service", r.tree.Name[service], "")
	f.SayTime("duration", q.Duration())
	f.Say("spans", view.FormatCount(float64(q.Spans)), view.Thousands(int64(q.Spans)))
	f.Say("services", view.FormatCount(float64(q.Services)), view.Thousands(int64(q.Services)))
	if q.Errors > 0 {
		f.Say("errors", view.FormatCount(float64(q.Errors)), view.Thousands(int64(q.Errors)))
	}
	if parts := r.critical(k); len(parts) > 0 {
		f.Say("waits most for", parts[0].Service+": "+parts[0].Region, "")
	}
	f.Say("id", q.ID, "")
	f.SayTime("begin", q.Begin)
	return f
}

// cellFact tells of the requests in a cell of the heat map.
func (r *result) cellFact(it scene.Item) (view.Fact, bool) {
	columns, rows := int(it.B), int(it.C)
	if columns <= 0 || rows <= 0 || int(it.A) >= columns*rows {
		return view.Fact{}, false
	}
	// Cells depend on shares of the frame alone, so any size of it gives the same.
	f := r.plotFrame(float32(columns*cellSize), float32(rows*cellSize))
	g := &grid{columns: columns, rows: rows}
	var list []trace.Time
	first, failed := int32(-1), 0
	for _, k := range r.all {
		if g.cell(r, &f, k) != int(it.A) {
			continue
		}
		if first < 0 {
			first = k
		}
		list = append(list, r.forest.Requests[k].Duration())
		if r.forest.Requests[k].Errors > 0 {
			failed++
		}
	}
	if first < 0 {
		return view.Fact{}, false
	}
	if len(list) == 1 {
		return r.requestFact(first), true
	}
	slices.Sort(list)
	out := view.Fact{Title: view.Count(len(list), "request"), Count: int64(len(list)),
		Open: map[string]string{"request": r.forest.Requests[first].ID}}
	out.SayTime("shortest", list[0])
	out.SayTime("longest", list[len(list)-1])
	if failed > 0 {
		out.Say("errors", view.FormatCount(float64(failed)), view.Thousands(int64(failed)))
	}
	return out, true
}
