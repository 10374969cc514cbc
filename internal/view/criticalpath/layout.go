package criticalpath

import (
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Item kinds: a row, a section of the path.
const (
	ofRow = iota + 1
	ofSection
)

const (
	edge      = 8
	headRoom  = 18
	stripHigh = 30
	rowHigh   = 22

	twoLines   = 40 // from this height on a row has a second line of words
	secondLine = 17
)

// Scene draws the path of one request, and one bar per row.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.describe())
	s.Notes = r.Notes()
	w, h := float32(size.Width), float32(size.Height)
	y := float32(headRoom)
	strip := h >= 160
	if strip {
		r.drawPath(s, w, y)
		y += stripHigh + scene.AxisHeight + headRoom + 4
	}
	if len(r.rows) > 0 {
		r.drawRows(s, w, y, h-y-scene.AxisHeight-4)
	}
	s.Legend = append(s.Legend, r.colours.ServiceLegend(r.tree, r.services)...)
	return s
}

func (r *result) describe() string {
	t := fmt.Sprintf("Critical path of %s, %s in all", view.Count(len(r.chosen), "request"),
		view.FormatTime(r.critical.Length))
	if len(r.rows) > 0 {
		t += fmt.Sprintf("; most of it: %s of %s, %s", r.rows[0].Region, r.rows[0].Service,
			view.FormatShare(r.rows[0].Share))
	}
	return t + "."
}

// A stretch is one section of the strip.
type stretch struct {
	begin, end trace.Time
	name       string
	fill       scene.Colour
}

// drawPath draws the sections of the request that is shown.
func (r *result) drawPath(s *scene.Scene, w, y float32) {
	q := &r.forest.Requests[r.shown]
	head := fmt.Sprintf("request %s: %s", q.ID, view.FormatTime(q.Duration()))
	if len(r.chosen) > 1 {
		head = "the slowest " + head
	}
	list := make([]stretch, len(r.path))
	for i := range r.path {
		x := &r.path[i]
		list[i] = stretch{x.Begin, x.End, "root is not in the source", scene.UIAggregate}
		if x.Node != request.NoRoot {
			list[i].fill, list[i].name = r.colours.Service(r.forest.Service(x.Node)),
				r.forest.Regions[r.forest.Region[x.Node]].Name
		}
	}
	drawStrip(s, w, y, q.Begin, q.Duration(), head, list)
}

// drawStrip draws sections one after the other, with the names that fit.
func drawStrip(s *scene.Scene, w, y float32, begin, length trace.Time, head string, list []stretch) {
	// not the time of the run, which the page may zoom
	f := scene.Frame{Name: "path", X: edge, Y: y, W: max(w-2*edge, 1), H: stripHigh,
		XScale: scene.Scale{Kind: "linear", End: float64(max(length, 1))}}
	frame := s.AddFrame(f)
	s.XAxis(frame, scene.Axis{Unit: "ns"})
	bars, text := &scene.Rect{}, &scene.Text{Size: scene.TextSize}
	at := func(t trace.Time) float32 { return f.XPixel(float64(t - begin)) }
	for i := 0; i < len(list); {
		// Sections that share a pixel are one mark.
		from := i
		x0 := at(list[i].begin)
		for i++; i < len(list) && at(list[i].end)-x0 < 1; i++ {
		}
		longest := from
		for k := from; k < i; k++ {
			if list[k].end-list[k].begin > list[longest].end-list[longest].begin {
				longest = k
			}
		}
		x := &list[longest]
		wide := at(list[i-1].end) - x0
		bars.Add(x0, f.Y+12, max(wide-0.5, 0.5), f.H-12, x.fill)
		bars.SetItem(s.Item(ofSection, longest))
		if i-from > 1 {
			bars.SetFlags(scene.Aggregated)
			bars.SetCount(uint32(i - from))
		}
		if wide > 40 {
			text.Add(x0+1, f.Y+9, scene.Shorten(x.name, wide-6, scene.TextSize), scene.UITextMuted, scene.Start)
		}
	}
	title := &scene.Text{Size: scene.TextSize}
	title.Add(f.X, f.Y-6, scene.Shorten(head, f.W, scene.TextSize), scene.UIText, scene.Start)
	s.AddLayer("path", frame, bars)
	s.AddLayer("names", -1, text, title)
}

// A bar is one row below the strip: the mean, and where there are enough of them half, 95 and 99 %.
type bar struct {
	label  string
	region trace.RegionID
	mean   float64
	marks  []trace.Time // percentiles, ascending
	fill   scene.Colour
	words  func(room float32) string
	more   func(room float32) string // where there is room for a second line; nil for none
}

// drawRows draws one bar per row with its percentiles.
func (r *result) drawRows(s *scene.Scene, w, y, room float32) {
	bars := make([]bar, len(r.rows))
	names := labels(r.rows)
	for i := range r.rows {
		x := &r.rows[i]
		bars[i] = bar{names[i], x.RegionID, x.Mean, x.marks(), r.colours.Service(x.At),
			func(room float32) string { return shareWords(x.Share, len(r.chosen), x.RequestShare, room) },
			func(room float32) string { return r.more(x, room) }}
	}
	what := map[string]string{"callpath": "call paths", "operation": "operations",
		"service": "services"}[r.request.Values.Text("by")]
	drawBars(s, w, y, room, r.request.Values.Integer("top"), bars,
		what+", by time on the critical paths of "+view.Count(len(r.chosen), "request"))
}

func drawBars(s *scene.Scene, w, y, room float32, top int, list []bar, what string) {
	n := min(len(list), max(int(room/rowHigh), 1))
	if top > 0 {
		n = min(n, top)
	}
	pitch := min(max(room, 1)/float32(n), rowHigh*4)
	two := room/float32(n) >= twoLines && list[0].more != nil
	if two {
		pitch = min(room/float32(n), twoLines*1.2)
	}
	most := trace.Time(1)
	rows := plot.NewRows(n, y, pitch, func(i int, row *scene.Row) {
		x := &list[i]
		most = max(most, trace.Time(x.mean))
		if len(x.marks) > 0 {
			most = max(most, x.marks[len(x.marks)-1])
		}
		row.Label, row.Region = x.label, uint32(x.region)
	})
	left := rows.LabelWidth(w * 0.4)
	words := min(w*0.25, 190)
	if w < 420 || two {
		words = 0
	}
	f := rows.Frame("rows", left, max(w-left-words-edge, 1),
		scene.Scale{Kind: "linear", End: float64(most), Label: "mean time"})
	frame := s.AddFrame(f)
	s.AimRows(frame, 0, w, func(k int) uint32 { return s.Item(ofRow, k) })
	s.XAxis(frame, scene.Axis{Unit: "ns"})
	bars, lines, text := &scene.Rect{}, &scene.Line{Width: 1}, &scene.Text{Size: scene.TextSize}
	for i, row := range rows.List {
		x, at := &list[i], row.From
		high := pitch
		if two {
			high = pitch - secondLine
			text.Add(f.X+2, at+pitch-6, x.more(f.W-2), scene.UITextMuted, scene.Start)
		}
		bars.Add(f.X, at+high*0.2, max(f.XPixel(x.mean)-f.X, 0.5), max(high*0.6, 1), x.fill)
		if n := len(x.marks); n > 0 {
			mid := at + high/2
			lines.Add(f.XPixel(float64(x.marks[0])), mid, f.XPixel(float64(x.marks[n-1])), mid, scene.UIText)
			for k, t := range x.marks {
				p, half := f.XPixel(float64(t)), high*[]float32{0.3, 0.2, 0.12}[k]
				lines.Add(p, mid-half, p, mid+half, scene.UIText)
			}
		}
		if words > 0 {
			text.Add(f.X+f.W+edge, at+pitch/2+4, x.words(words-edge), scene.UITextMuted, scene.Start)
		}
	}
	text.Add(edge, f.Y-6,
		scene.Shorten(fmt.Sprintf("%s of %s %s", view.Thousands(int64(n)), view.Thousands(int64(len(list))), what),
			w-2*edge, scene.TextSize), scene.UIText, scene.Start)
	s.AddLayer("bars", frame, bars, lines)
	s.AddLayer("words", -1, text)
	s.RowLabels(frame, 0)
}

func (x *Row) label() string {
	if x.Region == "" {
		return x.Service
	}
	return x.Service + ": " + x.Region
}

// labels name rows. One operation on several call paths is distinguished by the nearest of its callers that differs.
func labels(rows []Row) []string {
	out := make([]string, len(rows))
	alike := map[string][]int{}
	for i := range rows {
		out[i] = rows[i].label()
		alike[out[i]] = append(alike[out[i]], i)
	}
	for _, list := range alike {
		if len(list) == 1 {
			continue
		}
		paths := make([][]string, len(list))
		for k, i := range list {
			paths[k] = strings.Split(rows[i].CallPath, pathSign)
		}
		for k, i := range list {
			if caller := differing(paths, k); caller != "" {
				out[i] += " in " + caller
			}
		}
	}
	return out
}

// differing is the innermost caller of a path that another path does not have at its place.
func differing(paths [][]string, k int) string {
	own := paths[k]
	for up := 2; up <= len(own); up++ {
		for _, other := range paths {
			if up > len(other) || other[len(other)-up] != own[len(own)-up] {
				return own[len(own)-up]
			}
		}
	}
	return ""
}

// marks are the percentiles that so many requests can tell.
func (x *Row) marks() (out []trace.Time) {
	for i, q := range []float64{0.5, 0.95, 0.99} {
		if request.Enough(x.Requests, q) {
			out = append(out, []trace.Time{x.P50, x.P95, x.P99}[i])
		}
	}
	return out
}

// more is below a bar, where there are few, in the words that fit.
func (r *result) more(x *Row, room float32) string {
	share := view.FormatShare(x.Share) + " of the time"
	long := view.FormatTime(x.Time) + ", " + share
	if len(r.chosen) > 1 {
		long = fmt.Sprintf("%s on average, %s, in %s of the requests", view.FormatDuration(x.Mean), share,
			view.FormatShare(x.RequestShare))
	}
	half := view.FormatDuration(x.Half)
	return scene.Longest(room, long+"; half as long would save "+half+" at most", share+"; half of it would save "+half,
		long, share, view.FormatShare(x.Share))
}

// shareWords stand next to a bar: a share of the time, and the share of the requests or steps in which it is.
func shareWords(share float64, of int, in float64, room float32) string {
	t := view.FormatShare(share) + " of the time"
	if of > 1 {
		t += ", in " + view.FormatShare(in)
	}
	return scene.Longest(room, t, view.FormatShare(share))
}

// Fact returns the facts of a row or a section.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	switch {
	case it.Of == ofRow && int(it.A) < len(r.rows):
		return r.rowFact(&r.rows[it.A]), true
	case it.Of == ofSection && int(it.A) < len(r.path):
		return r.sectionFact(int(it.A)), true
	}
	return view.Fact{}, false
}

func (r *result) rowFact(x *Row) view.Fact {
	f := view.Fact{Title: x.label(), Text: x.CallPath, Locations: []trace.LocationID{x.At}}
	if x.RegionID != trace.NoRegion {
		f.Regions = []trace.RegionID{x.RegionID}
	}
	f.SayTime("time", x.Time)
	f.Say("share", view.FormatShare(x.Share), "")
	f.SayCount("requests", int64(x.Requests))
	f.Say("mean", view.FormatDuration(x.Mean), "")
	for i, t := range x.marks() {
		f.SayTime([]string{"p50", "p95", "p99"}[i], t)
	}
	f.Say("half the time would give a request at most", view.FormatDuration(x.Half), "")
	f.SaySome("failed", int64(x.Failed))
	return f
}

func (r *result) sectionFact(i int) view.Fact {
	x := &r.path[i]
	begin, end := x.Begin, x.End
	f := view.Fact{Title: "the root is not in the source", Begin: &begin, End: &end}
	if x.Node != request.NoRoot {
		at := r.forest.At(x.Node)
		f.Title = r.forest.Regions[at.Region].Name
		f.Locations, f.Regions = []trace.LocationID{at.Location}, []trace.RegionID{at.Region}
		f.Row = &store.Row{Location: at.Location, Lane: int(at.Lane), Row: int(at.Row)}
		f.Say("service", r.tree.Name[r.forest.Service(x.Node)], "")
	}
	f.SayTime("on the path", x.End-x.Begin)
	f.SayTime("begin", x.Begin)
	f.SayTime("end", x.End)
	if x.Moved > 0 {
		f.SayTime("moved back for clocks by", x.Moved)
	}
	return f
}
