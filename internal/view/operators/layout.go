package operators

import (
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/operator"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	edge    = 8
	topRoom = 20
	rowHigh = 26
)

// Item kinds.
const (
	ofOperator = 1 + iota // A: its row of the table
	ofBar                 // A: its place among the bars of memory or graphs
)

var (
	deviceColour = scene.RoleColour(uint8(trace.RoleCompute))
	hostColour   = scene.RoleColour(uint8(trace.RoleAnnotation))
)

// Scene draws bars or the roofline.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.describe())
	s.Notes = r.Notes()
	switch r.request.Values.Text("picture") {
	case "roofline":
		r.roofline(s)
		return s
	case "memory":
		bars, title := r.bars()
		r.drawBars(s, bars, title, "bytes")
		return s
	case "graphs":
		bars, title := r.bars()
		r.drawBars(s, bars, title, "ns")
		return s
	}
	w, h := float32(size.Width), float32(size.Height)
	room := h - topRoom - scene.AxisHeight - 4
	n, pitch := plot.Fit(r.mostBars(len(r.table.Rows)), room, rowHigh, rowHigh*1.4)
	most := trace.Time(1)
	rows := plot.NewRows(n, topRoom, pitch, func(i int, row *scene.Row) {
		x := &r.table.Rows[i]
		most = max(most, x.DeviceSelf, x.HostSelf)
		row.Label, row.Region = label(x), uint32(x.Region)
	})
	names, words := w*0.38, min(w*0.3, 300)
	if w < 420 { // names of operators go before words
		names, words = w*0.5, 0
	}
	left := rows.LabelWidth(names)
	frame := rows.Frame("operators", left, max(w-left-words-edge, 1),
		scene.Scale{Kind: "linear", End: float64(most), Label: "time"})
	f := s.AddFrame(frame)
	s.XAxis(f, scene.Axis{Unit: "ns"})
	bars, text := &scene.Rect{}, &scene.Text{Size: scene.TextSize}
	for i, row := range rows.List {
		x, y := &r.table.Rows[i], row.From
		times := []trace.Time{x.DeviceSelf, x.HostSelf}
		if r.by == "kernel" { // nothing of the host
			times = times[:1]
		}
		high := 0.76 / float32(len(times))
		for k, t := range times {
			if t > 0 {
				bars.Add(frame.X, y+pitch*(0.12+high*float32(k)), max(frame.XPixel(float64(t))-frame.X, 0.5),
					max(pitch*(high-0.02), 1), [2]scene.Colour{deviceColour, hostColour}[k])
			}
		}
	}
	beside := rows.Words(frame.X+frame.W+edge, words-edge, func(i int) string { return r.words(&r.table.Rows[i]) })
	first := fmt.Sprintf("the first %s of %s", view.Thousands(int64(n)), view.Thousands(int64(len(r.table.Rows))))
	text.Add(frame.X, frame.Y-7, scene.Longest(frame.W, first+", by GPU time of their own", first+", by GPU time",
		first),
		scene.UITextMuted, scene.Start)
	if words > 0 {
		text.Add(frame.X+frame.W+edge, frame.Y-7, scene.Longest(words-edge, "calls · % of "+shareOf, "% of "+shareOf),
			scene.UITextMuted, scene.Start)
	}
	s.AimRows(f, 0, w, func(i int) uint32 { return s.Item(ofOperator, i) })
	s.AddLayer("bars", f, bars)
	s.AddLayer("words", -1, beside, text)
	s.RowLabels(f, 0)
	s.Legend = append(s.Legend, plot.Key("on the GPU", deviceColour))
	if r.by != "kernel" {
		s.Legend = append(s.Legend, plot.Key("on the host, without operators inside", hostColour))
	}
	return s
}

func (r *result) describe() string {
	x := &r.table.Rows[0]
	return fmt.Sprintf("%s; most GPU time: %s, %s of %s.",
		view.Count(len(r.table.Rows), map[bool]string{true: "kernel", false: "operator"}[r.by == "kernel"]), label(x),
		view.FormatTime(x.DeviceSelf), view.FormatTime(r.whole))
}

// label is a name with the shapes that tell something.
func label(x *operator.Row) string {
	shapes := shapeWords(x.Shapes)
	if shapes == "" {
		return x.Name
	}
	return x.Name + " " + shapes
}

// shapeWords writes shapes for people: "[141×512] [512×512]".
func shapeWords(list string) string {
	shapes := strings.NewReplacer("],[", "] [", ",",
		"×").Replace(strings.TrimSuffix(strings.TrimPrefix(list, "["), "]"))
	shapes = strings.TrimSpace(strings.ReplaceAll(shapes, "[]", ""))
	for strings.Contains(shapes, "  ") {
		shapes = strings.ReplaceAll(shapes, "  ", " ")
	}
	return shapes
}

// words returns the text next to a bar.
func (r *result) words(x *operator.Row) string {
	parts := []string{view.Thousands(x.Calls) + "×", view.FormatShare(r.share(x))}
	if v := x.Rate(); v > 0 {
		parts = append(parts, rate(v, "FLOP/s"))
		if p := r.peakShare(x); p >= 0 {
			parts = append(parts, view.FormatShare(p)+" of peak")
		}
	}
	if x.Comm.Name != "" {
		if c := collective(x); c.Bus != nil {
			parts = append(parts, x.Comm.Name, view.FormatBytes(float64(x.Comm.Bytes)), rate(*c.Bus, "B/s")+" bus")
		}
	}
	return strings.Join(parts, " · ")
}

// Fact returns the facts of an operator or a bar.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	if it.Of == ofBar {
		return r.barFact(int(it.A))
	}
	if it.A < 0 || int(it.A) >= len(r.table.Rows) {
		return view.Fact{}, false
	}
	return r.fact(int(it.A)), true
}

func (r *result) fact(i int) view.Fact {
	x := &r.table.Rows[i]
	fact := view.Fact{Title: label(x), Regions: []trace.RegionID{x.Region}}
	add := fact.Say
	fact.SayCount("calls", x.Calls)
	fact.SayTime("GPU, launched by itself", x.DeviceSelf)
	add("of "+shareOf, view.FormatShare(r.share(x)), "")
	fact.SayTime("GPU, with all inside", x.Device)
	fact.SayTime("host, by itself", x.HostSelf)
	fact.SayTime("host, with all inside", x.Host)
	if x.Flop >= 0 {
		add("arithmetic of a call", rate(x.Flop, "FLOP"), view.Thousands(int64(x.Flop)))
	}
	if v := x.Rate(); v >= 0 {
		add("arithmetic", rate(v, "FLOP/s"), "")
	}
	if v := x.Bandwidth(); v >= 0 {
		add("memory", rate(v, "B/s"), "")
	}
	if v := x.Intensity(); v >= 0 {
		add("intensity", fmt.Sprintf("%.4g FLOP/B", v), "")
	}
	if v := r.peakShare(x); v >= 0 {
		add("of the peak", view.FormatShare(v), "")
	}
	for n, k := range x.Kernels {
		if n == 3 {
			break
		}
		fact.SayTime(r.regions[k.Region].Name, k.Time)
	}
	return fact
}
