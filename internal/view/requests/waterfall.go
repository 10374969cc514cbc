package requests

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/criticalpath"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	lineHigh  = 18
	mostLevel = 14 // drawn as depth; deeper ones are below each other
)

// drawTree draws the calls of one request, a row each.
func (r *result) drawTree(s *scene.Scene) {
	w, h := float32(s.Width), float32(s.Height)
	q := &r.forest.Requests[r.one]
	room := h - headRoom - scene.AxisHeight - 4
	shown, short := r.fold.show(max(int(room/lineHigh), 1), r.request.Values.Integer("scroll"))
	pitch := min(room/float32(len(shown)), lineHigh*2)
	rows := plot.NewRows(len(shown), headRoom, pitch, func(i int, row *scene.Row) {
		l := &r.fold.lines[shown[i]]
		row.Label, row.Region = r.label(l), uint32(r.forest.At(l.nodes[0]).Region)
		row.Level = min(l.depth, mostLevel, int(w*0.012))
	})
	begin, end := r.span()
	left := rows.LabelWidth(w * 0.42)
	f := rows.Frame("tree", left, max(w-left-edge, 1),
		scene.Scale{Kind: "linear", Begin: float64(begin - q.Begin), End: float64(end - q.Begin)})
	frame := s.AddFrame(f)
	s.AimRows(frame, 0, w, func(k int) uint32 { return s.Item(ofLine, shown[k]) })
	s.XAxis(frame, scene.Axis{Unit: "ns"})
	bars, path, marks, text := &scene.Rect{}, &scene.Rect{}, &scene.Point{}, &scene.Text{Size: scene.TextSize}
	for i, k := range shown {
		r.drawLine(s, &f, &rows.List[i], k, bars, path, marks, text)
	}
	title := &scene.Text{Size: scene.TextSize}
	title.Add(edge, headRoom-7, r.head(len(shown), short > 0, w-2*edge), scene.UIText, scene.Start)
	s.AddLayer("bars", frame, bars, path, marks)
	s.AddLayer("words", frame, text)
	s.AddLayer("head", -1, title)
	s.RowLabels(frame, 0)
	s.Legend = append(s.Legend, r.colours.ServiceLegend(r.tree, r.services)...)
	s.Legend = append(s.Legend, plot.Key("critical path", scene.UIText))
	if q.Errors > 0 {
		s.Legend = append(s.Legend, plot.Key("failed", scene.UIError))
	}
}

// head describes a request, in the words that fit. The page shows its id elsewhere too, and notes calls after its
// root.
func (r *result) head(shown int, short bool, room float32) string {
	q := &r.forest.Requests[r.one]
	time, calls := view.FormatTime(q.Duration()), view.Count(int(q.Spans), "call")
	long := time + ", " + calls + " in " + view.Count(int(q.Services), "service")
	after, rows, few := "", "", ""
	if t := q.After(); t > 0 {
		after = fmt.Sprintf(", and calls for %s after its root has ended", view.FormatTime(t))
	}
	if short {
		of := view.Thousands(int64(len(r.fold.lines))) + " rows"
		rows, few = fmt.Sprintf("; the %s longest of %s", view.Thousands(int64(shown)), of),
			fmt.Sprintf("; %s of %s", view.Thousands(int64(shown)), of)
	}
	return scene.Longest(room, "request "+q.ID+": "+long+after+rows, long+after+rows, long+rows, long+few,
		time+", "+calls+few, time+", "+calls, time)
}

// span is the time that is drawn: of the whole request, calls outside of its root included, or the part of it that is
// selected.
func (r *result) span() (begin, end trace.Time) {
	begin, end = r.fold.begin, r.fold.end
	if b, e := max(begin, r.request.Selection.Begin), min(end, r.request.Selection.End); b < e {
		begin, end = b, e
	}
	return begin, max(end, begin+1)
}

func (r *result) label(l *line) string {
	at := r.forest.At(l.nodes[0])
	t := r.tree.Name[r.forest.Service(l.nodes[0])] + ": " + r.forest.Regions[at.Region].Name
	if n := len(l.nodes); n > 1 {
		t += fmt.Sprintf(" × %s", view.Thousands(int64(n)))
	}
	return t
}

// drawLine draws the calls of a row; those that share a pixel are one mark.
func (r *result) drawLine(s *scene.Scene, f *scene.Frame, row *scene.Row, k int, bars, path *scene.Rect,
	marks *scene.Point, text *scene.Text) {
	l := &r.fold.lines[k]
	colour := r.colours.Service(r.forest.Service(l.nodes[0]))
	high := row.To - row.From
	y := row.From + high*0.14
	from := r.forest.Requests[r.one].Begin // the axis tells time since then: that of the run the page may zoom
	clip := func(t trace.Time) float32 { return min(max(f.XPixel(float64(t-from)), f.X), f.X+f.W) }
	last, drawn := float32(-1), 0
	for _, n := range l.nodes {
		a, b := clip(r.forest.Begin[n]), clip(r.forest.End[n])
		if r.forest.End[n]-from < trace.Time(f.XScale.Begin) || r.forest.Begin[n]-from > trace.Time(f.XScale.End) {
			continue
		}
		if drawn > 0 && b <= last && len(l.nodes) > 1 {
			drawn++
			bars.SetFlags(scene.Aggregated)
			bars.SetCount(uint32(drawn))
			continue
		}
		bars.Add(a, y, max(b-a, 1), high*0.72, colour)
		bars.SetItem(s.Item(ofLine, k))
		last, drawn = max(a+1, b), 1
		if r.forest.Failed(n) {
			marks.Add(min(b, f.X+f.W-3), row.From+high/2, 3, scene.UIError)
			marks.SetItem(s.Item(ofLine, k))
		}
	}
	r.drawPath(f, row, l, path, clip)
	if len(l.nodes) == 1 {
		n := l.nodes[0]
		t := view.FormatTime(r.forest.End[n] - r.forest.Begin[n])
		wide := scene.TextWidth(t, scene.TextSize, false)
		if x := clip(r.forest.End[n]) + 6; x+wide < f.X+f.W && high >= 12 {
			text.Add(x, row.From+high/2+4, t, scene.UITextMuted, scene.Start)
		}
	}
}

// drawPath underlines the parts of a row on the critical path, at the recorded time.
func (r *result) drawPath(f *scene.Frame, row *scene.Row, l *line, path *scene.Rect, clip func(trace.Time) float32) {
	high := row.To - row.From
	last := float32(-1)
	draw := func(c criticalpath.Section) {
		a, b := clip(c.Begin+c.Moved), clip(c.End+c.Moved)
		if b <= last || b <= f.X || a >= f.X+f.W {
			return
		}
		path.Add(a, row.From+high*0.86-max(high*0.2, 2), max(b-a, 1), max(high*0.2, 2), scene.UIText)
		last = max(b, a+1)
	}
	for _, n := range l.nodes {
		list := r.fold.onPath[n] // last first
		for i := len(list) - 1; i >= 0; i-- {
			draw(list[i])
		}
	}
}

func (r *result) lineFact(k int) view.Fact {
	l := &r.fold.lines[k]
	f := r.forest
	at := f.At(l.nodes[0])
	fact := view.Fact{Title: r.label(l), Locations: []trace.LocationID{at.Location},
		Regions: []trace.RegionID{at.Region}, Count: int64(len(l.nodes))}
	var sum, self, critical trace.Time
	begin, end := at.Begin, at.End
	for _, n := range l.nodes {
		sum += f.End[n] - f.Begin[n]
		self += f.Self[n]
		critical += r.fold.critical[n]
		begin, end = min(begin, f.Begin[n]), max(end, f.End[n])
	}
	fact.Begin, fact.End = &begin, &end
	if len(l.nodes) == 1 {
		fact.Count = 0
		fact.Row = &store.Row{Location: at.Location, Lane: int(at.Lane), Row: int(at.Row)}
		fact.SayTime("duration", sum)
	} else {
		fact.Say("calls", view.FormatCount(float64(len(l.nodes))), view.Thousands(int64(len(l.nodes))))
		fact.SayTime("all their durations", sum)
		fact.Open = map[string]string{"expand": f.Regions[at.Region].Name}
	}
	fact.SayTime("self", self)
	fact.SayTime("on the critical path", critical)
	fact.SaySome("failed", int64(l.failed))
	fact.SaySome("calls below, not drawn", int64(l.hidden))
	fact.SayTime("begin", begin)
	fact.SayTime("end", end)
	return fact
}
