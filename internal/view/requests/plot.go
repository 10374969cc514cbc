package requests

import (
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Item kinds: a request, a cell of the heat map of so many columns and rows, a row of a request's tree, a
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
		drawCloud(s, r.cloud(), h-part)
		r.drawDiffers(s, list, h-part)
	} else {
		drawCloud(s, r.cloud(), h)
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
	each int // requests of a time range, so that five are above
}{{0.5, "p50", 100}, {0.95, "p95", 100}, {0.99, "p99", 500}}

// A dot is one request of a picture.
type dot struct {
	begin, duration trace.Time
	failed, chosen  bool
}

// A cloud is the requests of a picture, in the order of result.all, over the selected time.
type cloud struct {
	dots       []dot
	begin, end trace.Time
	some       bool // some are chosen among them
}

func (r *result) cloud() *cloud {
	c := &cloud{dots: make([]dot, len(r.all)), begin: r.request.Selection.Begin, end: r.request.Selection.End,
		some: r.chosen != nil}
	for i, k := range r.all {
		q := &r.forest.Requests[k]
		c.dots[i] = dot{q.Begin, q.Duration(), q.Errors > 0, r.isChosen(k)}
	}
	return c
}

// frame is where requests are drawn in a height: time to the right, duration upwards.
func (c *cloud) frame(w, h float32) scene.Frame {
	f := scene.Frame{Name: "requests", Y: headRoom, H: max(h-headRoom-scene.AxisHeight-4, 1)}
	low, high := math.Inf(1), 1.0
	for i := range c.dots {
		if t := float64(c.dots[i].duration); t > 0 {
			low, high = min(low, t), max(high, t)
		}
	}
	if math.IsInf(low, 1) {
		low = 1
	}
	f.YScale = scene.Scale{Kind: "log", Begin: low / 1.5, End: high * 1.5, Label: "duration"}
	f.X = scene.YAxisWidth(f.YScale, f.H, scene.Axis{Unit: "ns"})
	f.W = max(w-f.X-edge-rightRoom, 1)
	f.XScale = scene.Scale{Kind: "time", Begin: float64(c.begin), End: float64(c.end), Label: "time"}
	return f
}

// rightRoom is for the names of the lines.
const rightRoom = 30

// in is the place of a request; empty ones are at the bottom.
func (d *dot) in(f *scene.Frame) (x, y float32) {
	return f.XPixel(float64(d.begin)), f.YPixel(max(float64(d.duration), f.YScale.Begin))
}

// drawCloud draws requests over time, in the upper part of a picture.
func drawCloud(s *scene.Scene, c *cloud, h float32) {
	f := c.frame(float32(s.Width), h)
	frame := s.AddFrame(f)
	s.YAxis(frame, scene.Axis{Unit: "ns"})
	s.XAxis(frame, scene.Axis{Unit: "ns"})
	if len(c.dots) > mostPoints {
		drawHeat(s, c, frame, &f)
	} else {
		drawPoints(s, c, frame, &f)
	}
	drawPercentiles(s, c, frame, &f)
	failed, chosen := 0, 0
	for _, d := range c.dots {
		if d.failed {
			failed++
		}
		if d.chosen {
			chosen++
		}
	}
	entry := func(label string, colour scene.Colour) {
		s.Legend = append(s.Legend, plot.Key(label, colour))
	}
	head := view.Count(len(c.dots), "request")
	if failed > 0 {
		head += fmt.Sprintf(", %s with a failed call", view.Thousands(int64(failed)))
		entry("with a failed call", scene.UIError)
	}
	if c.some {
		head += fmt.Sprintf(", %s chosen", view.Thousands(int64(chosen)))
		entry("chosen", scene.UIAccent)
	}
	title := &scene.Text{Size: scene.TextSize}
	title.Add(max(f.X, 64), headRoom-8, scene.Shorten(head, f.W-16, scene.TextSize), scene.UIText, scene.Start)
	s.AddLayer("head", -1, title)
}

func drawPoints(s *scene.Scene, c *cloud, frame int, f *scene.Frame) {
	points, front := &scene.Point{}, &scene.Point{}
	radius := float32(3)
	if len(c.dots) < 200 {
		radius = 4
	}
	for i := range c.dots {
		d := &c.dots[i]
		x, y := d.in(f)
		if f.W > 2*radius {
			// whole also at the edges; the time is the selected one, here and in the page
			x = min(max(x, f.X+radius), f.X+f.W-radius)
		}
		to, fill := points, scene.UIData
		switch {
		case d.failed:
			to, fill = front, scene.UIError
		case d.chosen:
			to, fill = front, scene.UIAccent
		case c.some:
			fill = scene.UIDataSoft
		}
		to.Add(x, y, radius, fill)
		to.SetItem(s.Item(ofRequest, i))
	}
	s.AddLayer("points", frame, points, front)
}

// A grid cuts time and duration into cells.
type grid struct{ columns, rows int }

func (g grid) cell(f *scene.Frame, d *dot) int {
	x, y := d.in(f)
	cx := min(max(int((x-f.X)/f.W*float32(g.columns)), 0), g.columns-1)
	cy := min(max(int((y-f.Y)/f.H*float32(g.rows)), 0), g.rows-1)
	return cy*g.columns + cx
}

// A count is the requests in a cell.
type count struct{ all, failed, chosen int32 }

func (c *cloud) count(f *scene.Frame, g grid) []count {
	out := make([]count, g.columns*g.rows)
	for i := range c.dots {
		d := &c.dots[i]
		n := &out[g.cell(f, d)]
		n.all++
		if d.failed {
			n.failed++
		}
		if d.chosen {
			n.chosen++
		}
	}
	return out
}

// drawHeat draws how many requests are in each cell; failed ones are marked in it.
func drawHeat(s *scene.Scene, c *cloud, frame int, f *scene.Frame) {
	g := grid{max(int(f.W/cellSize), 1), max(int(f.H/cellSize), 1)}
	counts := c.count(f, g)
	most := int32(0)
	for _, n := range counts {
		most = max(most, n.all)
	}
	cells, marks := &scene.Rect{}, &scene.Point{}
	wide, high := f.W/float32(g.columns), f.H/float32(g.rows)
	for k, n := range counts {
		if n.all == 0 {
			continue
		}
		x, y := f.X+float32(k%g.columns)*wide, f.Y+float32(k/g.columns)*high
		share := 0.0
		if most > 1 {
			share = math.Log(float64(n.all)) / math.Log(float64(most))
		}
		cells.Add(x, y, wide, high, scene.Ramp("viridis", share))
		cells.SetItem(s.Item(ofCell, k, g.columns, g.rows))
		if n.all > 1 {
			cells.SetCount(uint32(n.all))
		}
		switch {
		case n.failed > 0:
			marks.Add(x+wide/2, y+high/2, 2, scene.UIError)
		case n.chosen > 0:
			marks.Add(x+wide/2, y+high/2, 1.5, scene.UIAccent)
		}
	}
	s.AddLayer("cells", frame, cells, marks)
	s.Legend = append(s.Legend, plot.RampKey("requests in a cell", "viridis", "1", view.Thousands(int64(most))))
}

// drawPercentiles draws the median, 95 % and 99 % of time ranges, where these have enough requests.
func drawPercentiles(s *scene.Scene, c *cloud, frame int, f *scene.Frame) {
	lines, text := &scene.Line{Width: 1.5}, &scene.Text{Size: scene.TextSize}
	var names []scene.Label
	var labels []string
	for i := len(percentiles) - 1; i >= 0; i-- { // from the top
		p := &percentiles[i]
		lists := c.stretches(min(max(len(c.dots)/p.each, 1), 60))
		edgeOf := func(b int) float32 {
			return f.XPixel(float64(c.begin) + float64(c.end-c.begin)*float64(b)/float64(len(lists)))
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
func (c *cloud) stretches(bins int) [][]trace.Time {
	lists := make([][]trace.Time, bins)
	span := float64(max(c.end-c.begin, 1))
	for _, d := range c.dots {
		b := min(max(int(float64(d.begin-c.begin)/span*float64(bins)), 0), bins-1)
		lists[b] = append(lists[b], d.duration)
	}
	for b := range lists {
		slices.Sort(lists[b])
	}
	return lists
}

// Fact returns the facts of an item.
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
	f.SayCount("spans", int64(q.Spans))
	f.SayCount("services", int64(q.Services))
	f.SaySome("errors", int64(q.Errors))
	if parts := r.critical(k); len(parts) > 0 {
		f.Say("waits most for", parts[0].Service+": "+parts[0].Region, "")
	}
	f.Say("id", q.ID, "")
	f.SayTime("begin", q.Begin)
	return f
}

// cellFact describes the requests in a cell of the heat map.
func (r *result) cellFact(it scene.Item) (view.Fact, bool) {
	columns, rows := int(it.B), int(it.C)
	if columns <= 0 || rows <= 0 || int(it.A) >= columns*rows {
		return view.Fact{}, false
	}
	// Cells depend on shares of the frame alone, so any size of it gives the same.
	c, g := r.cloud(), grid{columns, rows}
	f := c.frame(float32(columns*cellSize), float32(rows*cellSize))
	var list []trace.Time
	first, failed := int32(-1), 0
	for i := range c.dots {
		d := &c.dots[i]
		if g.cell(&f, d) != int(it.A) {
			continue
		}
		if first < 0 {
			first = r.all[i]
		}
		list = append(list, d.duration)
		if d.failed {
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
	out.SaySome("errors", int64(failed))
	return out, true
}
