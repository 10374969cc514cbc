package steps

import (
	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

var causeColours = [step.Causes]scene.Colour{
	step.ByLoader: role(trace.RoleIO), step.BySynchronization: role(trace.RoleSynchronization),
	step.ByAllocation: shade(trace.RoleOverhead, 1),
	step.BySleep:      shade(trace.RoleIdle, 1), step.ByExchange: shade(trace.RoleCommunication, 1),
	step.ByOperators: role(trace.RoleAnnotation), step.ByPython: shade(trace.RoleAnnotation, 1),
	step.ByAnnotation: shade(trace.RoleAnnotation, 2),
	step.ByNothing:    scene.UIEmpty, step.ByCall: role(trace.RoleOverhead),
	step.ByQueue:      shade(trace.RoleSynchronization, 1),
	step.BetweenWorks: role(trace.RoleIdle), step.ByUnknown: scene.UITextMuted,
}

// idleScene draws a bar a GPU, and one for each of the longest gaps.
func (r *result) idleScene(s *scene.Scene, top float32) {
	w, h := float32(s.Width), float32(s.Height)
	room := h - top - topRoom - scene.AxisHeight
	gaps := r.gaps
	if n := int(room * 0.6 / 16); len(gaps) > n {
		gaps = gaps[:max(n, 0)]
	}
	if room < 120 || len(gaps) < 1 {
		gaps = nil
	}
	upper := room
	if len(gaps) > 0 {
		upper = room - float32(len(gaps))*16 - topRoom - scene.AxisHeight
	}
	rows := max(1, min(len(r.job.GPUs), int(upper/leastRow)))
	pitch := min(max(upper, 1)/float32(rows), mostRow)
	d := drawing{folded: make([]int, rows), gaps: gaps}
	order := r.Arrangement().Places(r.devices.GPUs)
	labels := plot.NewRows(rows, top+topRoom, pitch, func(i int, row *scene.Row) {
		first, next := i*len(r.job.GPUs)/rows, (i+1)*len(r.job.GPUs)/rows
		k := r.mostIdle(order[first:next])
		d.folded[i] = k
		row.Label, row.Location, row.Count = r.gpus[k], uint32(r.devices.GPUs[k]), next-first
	})
	below := top + topRoom + labels.Height() + scene.AxisHeight + topRoom
	gapRows := plot.NewRows(len(gaps), below, 16, func(i int, row *scene.Row) {
		row.Label = r.gpus[gaps[i].GPU] + " at " + view.FormatTime(gaps[i].Begin)
	})
	left := max(labels.LabelWidth(w*0.3), gapRows.LabelWidth(w*0.3)) + r.Arrangement().Gutter()
	d.bars = labels.Frame("gpus", left, max(w-left-edge, 1), scene.Scale{Kind: "linear", End: 100, Label: "%"})
	f := s.AddFrame(d.bars)
	s.AimRows(f, d.bars.X, d.bars.X+d.bars.W, func(row int) uint32 { return s.Item(ofGPU, d.folded[row]) })
	s.XAxis(f, scene.Axis{})
	bars, text := &scene.Rect{}, &scene.Text{Size: scene.TextSize}
	var seen [step.Causes]bool
	var parts [3]bool
	pad := float32(0)
	if pitch >= 8 {
		pad = min(pitch*0.12, 2)
	}
	for i, k := range d.folded {
		g := &r.job.GPUs[k]
		if g.Span == 0 {
			continue
		}
		values, colours := make([]float64, 0, step.Causes+3), make([]scene.Colour, 0, step.Causes+3)
		for n, t := range []trace.Time{g.Computation, g.ExposedCommunication, g.ExposedCopy} {
			values, colours = append(values, float64(t)/float64(g.Span)*100), append(colours, gpuColours[n])
			parts[n] = parts[n] || t > 0
		}
		for c, t := range g.Causes {
			values, colours = append(values, float64(t)/float64(g.Span)*100), append(colours, causeColours[c])
			seen[c] = seen[c] || t > 0
		}
		stack(bars, &d.bars, labels.List[i].From+pad, pitch-2*pad, values, colours)
	}
	s.AddLayer("gpus", f, bars)
	s.RowLabels(f, r.Arrangement().Gutter())
	r.Arrangement().DrawScaleRows(s, f)
	heads := []scene.Mark{plot.Head(&d.bars, "what GPUs did, and the causes of their idle time", scene.UITextMuted)}
	if len(gaps) > 0 {
		d.gapFrame = gapRows.Frame("gaps", left, d.bars.W,
			scene.Scale{Kind: "linear", End: float64(gaps[0].Length())})
		heads = append(heads, plot.Head(&d.gapFrame,
			"the longest gaps: how long, by cause, and what the host was in", scene.UITextMuted))
		r.paintGaps(s, &d, text, &seen)
	}
	s.AddLayer("heads", -1, append(heads, text)...)
	for n, is := range parts {
		if is {
			s.Legend = append(s.Legend, plot.Key(gpuWords[n], gpuColours[n]))
		}
	}
	for c, is := range seen {
		if is {
			s.Legend = append(s.Legend, plot.Key(step.Cause(c).Words(), causeColours[c]))
		}
	}
	r.Arrangement().Explain(s)
}

func (r *result) paintGaps(s *scene.Scene, d *drawing, text *scene.Text, seen *[step.Causes]bool) {
	f := s.AddFrame(d.gapFrame)
	s.AimRows(f, d.gapFrame.X, d.gapFrame.X+d.gapFrame.W, func(row int) uint32 { return s.Item(ofGap, row) })
	bars := &scene.Rect{}
	narrow := d.gapFrame
	narrow.W *= 0.4
	for i, g := range d.gaps {
		values, colours := make([]float64, 0, step.Causes), make([]scene.Colour, 0, step.Causes)
		for c, t := range g.Causes {
			values, colours = append(values, float64(t)), append(colours, causeColours[c])
			seen[c] = seen[c] || t > 0
		}
		y := d.gapFrame.Y + float32(i)*16
		stack(bars, &narrow, y+2, 12, values, colours)
		x := narrow.XPixel(float64(g.Length())) + 6
		text.Add(x, y+12, scene.Shorten(r.gapWords(g), d.gapFrame.X+d.gapFrame.W-x, scene.TextSize), scene.UIText,
			scene.Start)
	}
	s.AddLayer("gaps", f, bars)
	s.RowLabels(f, 0)
}

// gapWords describes the length of a gap and the host's activity.
func (r *result) gapWords(g step.GapOfGPU) string {
	t := view.FormatTime(g.Length()) + ": " + g.Cause().Words()
	if h := r.host(g.Gap); h != "" && g.Cause().Host() {
		t += " (" + h + ")"
	}
	return t + ", then " + r.request.Store().Regions()[g.Next].Name
}

// mostIdle is the GPU that is idle most.
func (r *result) mostIdle(some []int32) int {
	best := some[0]
	for _, k := range some {
		if r.job.GPUs[k].Idle > r.job.GPUs[best].Idle {
			best = k
		}
	}
	return int(best)
}

// say adds a time and its share of a whole.
func say(fact *view.Fact, label string, t, whole trace.Time) {
	fact.Say(label, view.FormatTime(t)+", "+view.FormatShare(float64(t)/float64(max(whole, 1))),
		view.Thousands(int64(t))+" ns")
}

func (r *result) gpuFact(k int) view.Fact {
	g := &r.job.GPUs[k]
	fact := view.Fact{Title: r.gpus[k], Locations: []trace.LocationID{r.devices.GPUs[k]}}
	for n, t := range []trace.Time{g.Computation, g.ExposedCommunication, g.ExposedCopy, g.Idle} {
		say(&fact, gpuWords[n], t, g.Span)
	}
	for _, c := range step.Ranked(g.Causes) {
		say(&fact, "idle: "+c.Words(), g.Causes[c], g.Span)
	}
	return fact
}

func (r *result) gapFact(g step.GapOfGPU) view.Fact {
	begin, end := g.Begin, g.End
	fact := view.Fact{Title: "gap of " + r.gpus[g.GPU], Text: r.gapWords(g), Begin: &begin, End: &end,
		Locations: []trace.LocationID{r.devices.GPUs[g.GPU]}}
	say(&fact, "length", g.Length(), g.Length())
	for _, c := range step.Ranked(g.Causes) {
		say(&fact, c.Words(), g.Causes[c], g.Length())
	}
	return fact
}
