package findings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/diagnose"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/words"
)

// causeTable draws the budget of waiting: one line per cause, one column per unit that waited.
type causeTable diagnose.CauseTable

const (
	causeHigh  = 16
	stripHigh  = 56
	barRoom    = 132
	mostColumn = 1024
)

// drawCauses draws a line a cause and a column a unit, and below the waiting that each unit causes and
// waits, in the order of the machine.
func (r *result) drawCauses(size scene.Size) *scene.Scene {
	l := &r.causes
	s := scene.New(size, "", l.describe())
	w, h := float32(size.Width), float32(size.Height)
	muted, text, heads := &scene.Text{Size: scene.TextSize}, &scene.Text{Size: scene.TextSize},
		&scene.Text{Size: scene.TextSize, Bold: true}
	y := r.summary(muted, pad, w)
	heads.Add(pad, y+line-4, scene.Shorten(l.headline(), w-2*pad, scene.TextSize), scene.UIText, scene.Start)
	y += line + 6
	s.Notes = r.Notes()
	if len(l.Causes) == 0 || w < 160 || h < 120 {
		s.AddLayer("words", -1, muted, heads)
		return s
	}
	strip := float32(stripHigh)
	if h < 240 {
		strip = 0
	}
	bars := float32(barRoom)
	if w < 520 {
		bars = 0
	}
	left := float32(0)
	for _, c := range l.Causes {
		left = max(left, scene.TextWidth(l.label(&c, w), scene.TextSize, false))
	}
	left = min(left+pad+8, w*0.35)
	shown := min(len(l.Causes), max(int((h-y-strip-40)/causeHigh), 1))
	f := scene.Frame{Name: "main", X: left, Y: y, W: max(w-left-bars-pad, 8), H: float32(shown) * causeHigh,
		YScale: scene.Scale{Kind: "rows", Label: "cause"}}
	for i := range l.Causes[:shown] {
		c := &l.Causes[i]
		top := y + float32(i)*causeHigh
		f.YScale.Rows = append(f.YScale.Rows,
			scene.Row{From: top, To: top + causeHigh, Location: uint32(c.At), Region: scene.NoID, Label: l.label(c, w),
				Count: 1})
		muted.Add(left-6, top+12, scene.Shorten(l.label(c, w), left-pad-6, scene.TextSize), scene.UIText, scene.End)
	}
	at := s.AddFrame(f)
	s.AimRows(at, 0, f.X+f.W, func(row int) uint32 { return s.Item(ofCause, row) })
	l.cells(s, &f, shown, bars > 0 || strip > 0 && l.made())
	fills := &scene.Rect{}
	if bars > 0 {
		l.drawBars(fills, text, &f, shown, bars-8)
	}
	if strip > 0 {
		l.strip(s, fills, muted, &f, f.Y+f.H+10, strip)
	}
	if rest := l.All - shown; rest > 0 {
		muted.Add(pad, h-6,
			scene.Shorten(fmt.Sprintf("and %s more %s; the JSON output has all causes", view.Thousands(int64(rest)),
				words.Plural(rest, "line", "lines")), w-2*pad, scene.TextSize), scene.UITextMuted, scene.Start)
	}
	s.AddLayer("words", -1, fills, muted, text, heads)
	return s
}

// wideEnough is from which width on lines say how others were made to wait.
const wideEnough = 1200

// label names a line. The kind of the cause tells apart what one function did in several ways.
func (l *causeTable) label(c *diagnose.CauseRow, w float32) string {
	kind := strings.ReplaceAll(c.Cause, "-", " ")
	if w < wideEnough || strings.HasSuffix(c.Label, kind) {
		return c.Label
	}
	return c.Label + ", " + kind
}

// made reports whether those who wait are those who make others wait: goroutines are not the processors that they make
// idle.
func (l *causeTable) made() bool {
	return slices.ContainsFunc(l.Caused, func(t trace.Time) bool { return t > 0 })
}

func (l *causeTable) headline() string {
	if l.Untold {
		return "A profile does not tell who waits for whom."
	}
	if l.Waiting == 0 {
		return "No location waits for another."
	}
	return fmt.Sprintf("Who makes whom wait: %s waited in all, %s of it explained", view.FormatTime(l.Waiting),
		view.FormatShare(1-float64(l.Unexplained)/float64(l.Waiting)))
}

func (l *causeTable) describe() string {
	d := strings.TrimSuffix(l.headline(), ".") + "."
	if len(l.Causes) > 0 {
		c := &l.Causes[0]
		d += fmt.Sprintf(" Most by %s: %s.", c.Label, view.FormatTime(c.Time))
	}
	return d
}

// cells paints the waiting of each unit for each cause.
func (l *causeTable) cells(s *scene.Scene, f *scene.Frame, shown int, made bool) {
	n := len(l.Units)
	columns := max(min(n, mostColumn, int(f.W)), 1)
	image := &scene.Image{X: f.X, Y: f.Y, W: f.W, H: f.H, Columns: columns, Rows: shown,
		Cells: make([]scene.Colour, columns*shown), Of: ofCell, At: [2]int32{int32(columns)}}
	values := make([]float64, len(image.Cells))
	most := 0.0
	for i := range l.Causes[:shown] {
		for v, t := range l.Causes[i].Waiters {
			at := i*columns + v*columns/n
			values[at] = max(values[at], float64(t))
			most = max(most, values[at])
		}
	}
	for i, v := range values {
		if image.Cells[i] = scene.UIEmpty; v > 0 && most > 0 {
			image.Cells[i] = scene.Ramp("viridis", v/most)
		}
	}
	s.AddLayer("cells", 0, image)
	s.Legend = append(s.Legend,
		scene.LegendEntry{Label: "waited by one", Colour: scene.Ramp("viridis", 0), RampEnd: scene.Ramp("viridis", 1),
			RampLow: "0 s", RampHigh: view.FormatDuration(most), Region: scene.NoID, Parent: scene.NoID})
	if made {
		s.Legend = append(s.Legend,
			scene.LegendEntry{Label: "made others wait", Colour: scene.UIError, Region: scene.NoID, Parent: scene.NoID})
	}
	s.Legend = append(s.Legend,
		scene.LegendEntry{Label: "waited", Colour: scene.UIAxis, Region: scene.NoID, Parent: scene.NoID})
}

// drawBars draws the total cost of each cause.
func (l *causeTable) drawBars(fills *scene.Rect, text *scene.Text, f *scene.Frame, shown int, room float32) {
	x := f.X + f.W + 8
	most := float64(l.Causes[0].Time)
	for i := range l.Causes[:shown] {
		c := &l.Causes[i]
		top := f.Y + float32(i)*causeHigh
		label := view.FormatTime(c.Time)
		wide := max((room-64)*float32(float64(c.Time)/most), 1)
		fills.Add(x, top+4, wide, causeHigh-8, scene.UIError)
		text.Add(x+wide+4, top+12, label, scene.UIText, scene.Start)
	}
}

// strip draws, unit by unit, the waiting that it causes upwards and its own waiting downwards,
// with lines between machines.
func (l *causeTable) strip(s *scene.Scene, fills *scene.Rect, muted *scene.Text, f *scene.Frame, top, high float32) {
	n := len(l.Units)
	columns := max(min(n, int(f.W)), 1)
	up, down := make([]float64, columns), make([]float64, columns)
	mostUp, mostDown := 0.0, 0.0
	for u := range l.Units {
		k := u * columns / n
		up[k], down[k] = max(up[k], float64(l.Caused[u])), max(down[k], float64(l.Waited[u]))
		mostUp, mostDown = max(mostUp, up[k]), max(mostDown, down[k])
	}
	half := high/2 - 6
	middleLine := top + half
	wide := f.W / float32(columns)
	gap := float32(0)
	if wide >= 4 {
		gap = 1
	}
	for k := range up {
		x := f.X + float32(k)*wide
		fills.AddAim(x, top, wide, high, s.Item(ofUnit, k, columns))
		if mostUp > 0 && up[k] > 0 {
			high := max(half*float32(up[k]/mostUp), 1)
			fills.Add(x, middleLine-high, wide-gap, high, scene.UIError)
		}
		if mostDown > 0 && down[k] > 0 {
			fills.Add(x, middleLine+1, wide-gap, max(half*float32(down[k]/mostDown), 1), scene.UIAxis)
		}
	}
	room := f.X - pad - 6
	if l.made() {
		muted.Add(f.X-6, top+half-2, scene.Shorten("made wait", room, scene.TextSize), scene.UITextMuted, scene.End)
	}
	muted.Add(f.X-6, top+half+14, scene.Shorten("waited", room, scene.TextSize), scene.UITextMuted, scene.End)
	l.places(fills, muted, f, top, high)
}

// places marks where machines begin, and names them where there is room; else the first
// and the last unit.
func (l *causeTable) places(fills *scene.Rect, muted *scene.Text, f *scene.Frame, top, high float32) {
	n := float32(len(l.Units))
	base := top + high + 4
	ends := func(names []string) {
		if len(names) > 0 {
			muted.Add(f.X, base, scene.Shorten(names[0], f.W/2-4, scene.TextSize), scene.UITextMuted, scene.Start)
			muted.Add(f.X+f.W, base, scene.Shorten(names[len(names)-1], f.W/2-4, scene.TextSize), scene.UITextMuted,
				scene.End)
		}
	}
	if len(l.Machines) < 2 || len(l.Machines) > int(f.W/12) {
		ends(l.Names)
		return
	}
	each := f.W / float32(len(l.Machines))
	room := !slices.ContainsFunc(l.Machines,
		func(m string) bool { return scene.TextWidth(m, scene.TextSize, false) > each-4 })
	if !room {
		ends(l.Machines)
	}
	for u := 0; u < len(l.Units); {
		k := u
		for k < len(l.Units) && l.Machine[k] == l.Machine[u] {
			k++
		}
		from, to := f.X+f.W*float32(u)/n, f.X+f.W*float32(k)/n
		if u > 0 {
			fills.Add(from-0.5, f.Y, 1, top+high-f.Y, scene.UIAxis)
		}
		if room && l.Machine[u] >= 0 {
			if label := scene.Shorten(l.Machines[l.Machine[u]], to-from-4, scene.TextSize); label != "" &&
				label != "…" {
				muted.Add((from+to)/2, base, label, scene.UITextMuted, scene.Middle)
			}
		}
		u = k
	}
}

// fact describes a cause with its waiters, or a unit.
func (l *causeTable) fact(it scene.Item) (view.Fact, bool) {
	switch it.Of {
	case ofCause:
		return l.cause(int(it.A)), true
	case ofCell:
		row, column := int(it.C/it.A), int(it.C%it.A)
		c := &l.Causes[row]
		u := l.unitOf(column, int(it.A), func(u int) trace.Time { return c.Waiters[u] })
		f := l.cause(row)
		f.SayTime(l.Names[u]+" waited", c.Waiters[u])
		return f, true
	case ofUnit:
		u := l.unitOf(int(it.A), int(it.B), func(u int) trace.Time { return l.Caused[u] + l.Waited[u] })
		f := view.Fact{Title: l.Names[u], Locations: []trace.LocationID{l.Units[u]}}
		f.SayTime("made others wait", l.Caused[u])
		f.SayTime("waited", l.Waited[u])
		return f, true
	}
	return view.Fact{}, false
}

func (l *causeTable) cause(i int) view.Fact {
	c := &l.Causes[i]
	f := view.Fact{Title: c.Label, Text: c.Cause, Locations: []trace.LocationID{c.At}, Regions: c.Regions}
	f.SayTime("made others wait", c.Time)
	f.SayTime("of it directly", c.Direct)
	return f
}

// unitOf is the unit that a column shows: of several the one with the most.
func (l *causeTable) unitOf(column, columns int, value func(u int) trace.Time) int {
	n := len(l.Units)
	best := -1
	for u := column * n / columns; u < n && u*columns/n <= column; u++ {
		if u*columns/n == column && (best < 0 || value(u) > value(best)) {
			best = u
		}
	}
	return max(best, 0)
}
