package steps

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	edge     = 8
	topRoom  = 18 // for the headings of bars
	leastRow = 3
	mostRow  = 34
	between  = 32 // of the two parts

	labelShare = 0.3 // of the width, at most
)

// Item kinds.
const (
	ofLine = 1 + iota // A: among the lines, B: how many it stands for, C: kind of lines, see barKinds
	ofGPU             // A: among the GPUs
	ofGap             // A: among the gaps
)

// A drawing says where things are put.
type drawing struct {
	bars, gpus scene.Frame
	lines      []line          // one a row drawn
	folded     []int           // how many lines each row stands for
	items      []uint32        // one a row drawn
	gaps       []step.GapOfGPU // of the picture of idle time
	gapFrame   scene.Frame
}

var termColours = [step.Terms]scene.Colour{
	step.Kernel: role(trace.RoleCompute), step.Memcpy: role(trace.RoleCopy), step.Memset: shade(trace.RoleCopy, 1),
	step.Communication: role(trace.RoleCommunication), step.Runtime: role(trace.RoleOverhead),
	step.Loader: role(trace.RoleIO),
	step.CPU:    role(trace.RoleAnnotation), step.Other: scene.UIEmpty,
}

var termWords = [step.Terms]string{"kernels", "copies", "memory set", "communication", "calls of the GPU's library",
	"data loading", "host: operators, Python", "nothing recorded"}

var gpuColours = [4]scene.Colour{role(trace.RoleCompute), role(trace.RoleCommunication), role(trace.RoleCopy),
	role(trace.RoleIdle)}

var gpuWords = [4]string{"computation", "exposed communication", "exposed copies", "idle"}

func role(r trace.Role) scene.Colour { return shade(r, 0) }

func shade(r trace.Role, i int) scene.Colour { return scene.Shade(uint8(r), i) }

// Scene draws the bars.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.verdict.Text)
	s.Notes = r.Notes()
	top := scene.Sentence(s, r.verdict.Text)
	if r.idle() || len(r.job.Steps) == 0 {
		r.idleScene(s, top)
		return s
	}
	w, h := float32(size.Width), float32(size.Height)
	room := h - top - topRoom - scene.AxisHeight - 4
	by := r.by(max(int(room/12), 2))
	all := r.lines(by)
	rows := min(len(all), max(int(room/leastRow), 2))
	pitch := min(room/float32(rows), mostRow)
	d := drawing{lines: make([]line, rows), folded: make([]int, rows)}
	labels := plot.NewRows(rows, top+topRoom, pitch, func(i int, row *scene.Row) {
		first, next := i, i+1
		if rows < len(all) && i > 0 { // the mean is never folded
			first, next = 1+(i-1)*(len(all)-1)/(rows-1), 1+i*(len(all)-1)/(rows-1)
		}
		longest := first
		for k := first; k < next; k++ { // of many the longest, so that one odd step is seen
			if all[k].total() > all[longest].total() {
				longest = k
			}
		}
		d.lines[i], d.folded[i] = all[longest], next-first
		d.items = append(d.items, s.Item(ofLine, longest, next-first, by))
		row.Label, row.Location, row.Count = d.lines[i].label, d.lines[i].location, next-first
	})
	most := 0.0
	for i := range all {
		most = max(most, all[i].total())
	}
	if labels.LabelWidth(w) > w*labelShare {
		r.shortenSteps(labels.List)
	}
	left := labels.LabelWidth(w*labelShare) + r.Arrangement().Gutter()
	gpu := r.job.Worked() && w > 420
	wide := w - left - edge
	if gpu {
		wide = (wide - between) * 0.62
	}
	d.bars = labels.Frame("steps", left, max(wide, 1),
		scene.Scale{Kind: "linear", End: max(most, 1), Label: "time"})
	f := s.AddFrame(d.bars)
	if gpu {
		d.gpus = labels.Frame("gpus", left+wide+between, max(w-left-wide-between-edge, 1),
			scene.Scale{Kind: "linear", End: 100})
		s.XAxis(s.AddFrame(d.gpus), scene.Axis{})
	}
	s.XAxis(f, scene.Axis{Unit: "ns"})
	s.AimRows(f, d.bars.X, w-edge, func(row int) uint32 { return d.items[row] })
	d.paint(s, pitch)
	s.RowLabels(f, r.Arrangement().Gutter())
	r.heads(s, &d)
	d.legend(s, gpu)
	if len(d.lines) > 1 && d.lines[1].location != scene.NoID {
		r.Arrangement().DrawScaleRows(s, f)
		r.Arrangement().Explain(s)
	}
	return s
}

// paint draws the stacks.
func (d *drawing) paint(s *scene.Scene, pitch float32) {
	pad := float32(0)
	if pitch >= 8 {
		pad = min(pitch*0.12, 2)
	}
	bars, gpus, rule := &scene.Rect{}, &scene.Rect{}, &scene.Line{Width: 1}
	for i := range d.lines {
		l := &d.lines[i]
		y := d.bars.Y + float32(i)*pitch + pad
		stack(bars, &d.bars, y, pitch-2*pad, l.Terms[:], termColours[:])
		if d.folded[i] > 1 {
			bars.SetCount(uint32(d.folded[i]))
		}
		if span := l.span(); d.gpus.W > 0 && span > 0 {
			shares := make([]float64, len(l.OnGPU))
			for k := range shares {
				shares[k] = l.OnGPU[k] / span * 100
			}
			stack(gpus, &d.gpus, y, pitch-2*pad, shares, gpuColours[:])
		}
	}
	y := d.bars.Y + pitch
	if len(d.lines) > 1 {
		rule.Add(d.bars.X, y, d.bars.X+d.bars.W, y, scene.UIAxis)
		if d.gpus.W > 0 {
			rule.Add(d.gpus.X, y, d.gpus.X+d.gpus.W, y, scene.UIAxis)
		}
	}
	s.AddLayer("steps", 0, bars)
	if d.gpus.W > 0 {
		s.AddLayer("gpus", 1, gpus)
	}
	s.AddLayer("mean", -1, rule)
}

// stack draws parts one after the other.
func stack(m *scene.Rect, f *scene.Frame, y, h float32, parts []float64, colours []scene.Colour) {
	at := 0.0
	for k, x := range parts {
		if x > 0 {
			from, to := f.XPixel(at), f.XPixel(at+x)
			m.Add(from, y, max(to-from, 0.25), max(h, 1), colours[k])
		}
		at += x
	}
}

// heads writes the headings of the two parts.
func (r *result) heads(s *scene.Scene, d *drawing) {
	text := &scene.Text{Size: scene.TextSize}
	head := func(f *scene.Frame, t string) {
		text.Add(f.X, f.Y-6, scene.Shorten(t, f.W, scene.TextSize), scene.UITextMuted, scene.Start)
	}
	what := fmt.Sprintf("%s, %s", view.Count(len(r.job.Names()), "step"), view.Count(len(r.names), "rank"))
	if len(r.names) == 1 {
		what = view.Count(len(r.job.Steps), "step")
	}
	head(&d.bars, what)
	if d.gpus.W > 0 {
		head(&d.gpus, r.gpuHead(d.gpus.W))
	}
	s.AddLayer("heads", -1, text)
}

// gpuHead is the heading of the part of the GPUs, with as many shares as fit.
func (r *result) gpuHead(width float32) string {
	t := "what the GPU did, in %"
	if len(r.job.GPUs) != 1 {
		return t
	}
	g, between := &r.job.GPUs[0], ": "
	for _, x := range []struct {
		name  string
		share float64
	}{{"used", g.Utilization}, {"SM efficiency", g.Efficiency}, {"occupancy", g.Occupancy}} {
		more := t + between + x.name + " " + view.FormatShare(x.share)
		if x.share < 0 || scene.TextWidth(more, scene.TextSize, false) > width {
			continue
		}
		t, between = more, ", "
	}
	return t
}

func (d *drawing) legend(s *scene.Scene, gpu bool) {
	var any [step.Terms]bool
	var did [4]bool
	for i := range d.lines {
		for t, x := range d.lines[i].Terms {
			any[t] = any[t] || x > 0
		}
		for k, x := range d.lines[i].OnGPU {
			did[k] = did[k] || x > 0
		}
	}
	entry := func(label string, c scene.Colour) {
		s.Legend = append(s.Legend, plot.Key(label, c))
	}
	for t, is := range any {
		if is {
			entry(termWords[t], termColours[t])
		}
	}
	if gpu && did[3] {
		entry("GPU idle", gpuColours[3])
	}
}

// Fact returns the facts of a bar.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	switch it.Of {
	case ofLine:
		return r.lineFact(&r.lines(int(it.C))[it.A], int64(it.B)), true
	case ofGPU:
		return r.gpuFact(int(it.A)), true
	case ofGap:
		return r.gapFact(r.gaps[it.A]), true
	}
	return view.Fact{}, false
}

func (r *result) lineFact(l *line, stands int64) view.Fact {
	fact := view.Fact{Title: l.label, Count: stands}
	if l.unit >= 0 {
		fact.Locations = []trace.LocationID{r.devices.Units[l.unit]}
	}
	begin, end := l.Begin, l.End
	if l.Steps == 1 {
		fact.Begin, fact.End = &begin, &end
	} else {
		fact.Title += fmt.Sprintf(" (mean of %s)", view.Count(l.Steps, "step"))
	}
	add := func(label string, v, whole float64) {
		fact.Say(label, view.FormatDuration(v)+", "+view.FormatShare(v/max(whole, 1)),
			view.Thousands(int64(v+0.5))+" ns")
	}
	fact.Say("step", view.FormatDuration(l.total()), view.Thousands(int64(l.total()+0.5))+" ns")
	for t, v := range l.Terms {
		if v > 0 {
			add(termWords[t], v, l.total())
		}
	}
	for k, v := range l.OnGPU {
		if v > 0 {
			add("GPU: "+gpuWords[k], v, l.span())
		}
	}
	return fact
}
