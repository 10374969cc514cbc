package scene

import "strings"

// Sizes of type and furniture in pixels, on a grid of 4.
const (
	TextSize      = 12
	TitleSize     = 13
	AxisHeight    = 20 // under a frame: ticks and their labels
	tickLength    = 4
	labelGap      = 12 // least distance of labels side by side
	axisBaseline  = 16 // of labels, from the frame's lower edge
	axisOverhang  = 16 // of labels, past the ends of the frame
	leastOverhang = 4  // a digit stands right below its tick also beside another frame
	legendRow     = 20
	legendSwatch  = 12
	titleHeight   = 28
	noteHeight    = 16
	picturePad    = 12
	rowIndent     = 12
	rowLabelGap   = 8
	RowLabelPitch = 12 // least height of a labelled row
	leastName     = 80 // width that the name of an axis is shortened to; a narrower one says too little
	mostRowSlack  = 4  // how far a label moves from the middle of its row
	rowLabelEdge  = 3  // no label touches the edge of the picture
)

// An Axis says how the axis of a frame is drawn. The zero value has labels and grid.
type Axis struct {
	// Unit of a linear or log scale: "ns", "bytes", "count", "share" or "".
	Unit string
	// Ticks replace the round ones, for scales with a meaning of their own.
	Ticks []Tick
	// Top puts a horizontal axis over the frame.
	Top bool
	// NoGrid leaves out the lines inside the frame, NoLabels all text.
	NoGrid, NoLabels bool
}

// XAxis draws the horizontal axis of a frame: grid lines inside it in a layer "grid",
// line, ticks and labels outside in a layer "axis". Call it before the data's layers, so
// that the grid is behind. Labels need AxisHeight pixels under the frame.
func (s *Scene) XAxis(frame int, a Axis) {
	f := &s.Frames[frame]
	if !(f.W > 0) {
		return
	}
	from, to, end := s.axisRoom(frame)
	ticks, origin, name := fitTicks(f, a, end)
	grid, line, text := &Line{Width: 1}, &Line{Width: 1}, &Text{Size: TextSize}
	edge, sign, baseline := f.Y+f.H, float32(1), f.Y+f.H+axisBaseline
	if a.Top {
		edge, sign, baseline = f.Y-1, -1, f.Y-7
	}
	line.Add(f.X, edge, f.X+f.W, edge, UIAxis)
	for _, t := range decades(&f.XScale, a, f.W) {
		line.Add(f.XPixel(t), edge, f.XPixel(t), edge+sign*tickLength/2, UIAxis)
	}
	labels := tickLabels(f, ticks)
	for i, l := range labels {
		if l.Width < 0 {
			continue
		}
		x := f.XPixel(ticks[i].At)
		if !a.NoGrid {
			grid.Add(x, f.Y, x, f.Y+f.H, UIGrid)
		}
		line.Add(x, edge, x, edge+sign*tickLength, UIAxis)
	}
	s.AddLayer("grid", frame, grid)
	if !a.NoLabels {
		// The name and the origin come first.
		at, _ := nameAt(f, labels, end, TextWidth(name, TextSize, false))
		at = min(at, end-TextWidth(name, TextSize, false)/2)
		extra := []Label{{At: at, Width: TextWidth(name, TextSize, false)},
			{At: from, Width: TextWidth(origin, TextSize, false)}}
		for i, text := range []string{name, origin} {
			if text == "" {
				extra[i].Width = -1
			}
		}
		places := Place(append(labels, extra...), from, to, labelGap)
		for i, t := range ticks {
			text.addPlaced(places[i], baseline, t.Label, UITextMuted)
		}
		text.addPlaced(places[len(ticks)], baseline, name, UIText)
		text.addPlaced(places[len(ticks)+1], baseline, origin, UIText)
	}
	s.AddLayer("axis", -1, line, text)
}

// axisRoom returns from where to where labels of a horizontal axis may reach, and where its name
// ends at the latest. Labels of frames side by side stay in their half of the gap, and the name
// over its own axis: next to the next one's first number it would read as if it named that.
func (s *Scene) axisRoom(frame int) (from, to, end float32) {
	f := &s.Frames[frame]
	right := f.X + f.W
	from, to = max(f.X-axisOverhang, 2), min(right+axisOverhang, float32(s.Width)-2)
	end = to
	for i := range s.Frames {
		g := &s.Frames[i]
		if i == frame || max(g.Y+g.H-f.Y-f.H, f.Y+f.H-g.Y-g.H) >= AxisHeight {
			continue // its labels are on another line
		}
		if gap := g.X - right; gap >= 0 {
			to, end = min(to, right+max((gap-labelGap)/2, leastOverhang)), min(end, right)
		}
		if gap := f.X - g.X - g.W; gap >= 0 {
			from = max(from, f.X-max((gap-labelGap)/2, leastOverhang))
		}
	}
	return from, to, end
}

// tickLabels returns the labels of ticks with their widths; those outside the frame have a width below 0.
func tickLabels(f *Frame, ticks []Tick) []Label {
	labels := make([]Label, 0, len(ticks)+2)
	for _, t := range ticks {
		x := f.XPixel(t.At)
		if !(x >= f.X-0.5 && x <= f.X+f.W+0.5) {
			labels = append(labels, Label{Width: -1})
			continue
		}
		labels = append(labels, Label{At: x, Width: TextWidth(t.Label, TextSize, false), Rank: 1})
	}
	return labels
}

// nameAt returns the place of the axis's name: at its end if no tick is labelled there, else between ticks that leave
// space. If none do, the name replaces (hides) a tick before the last, so that the greatest is never lost. Time is
// named at its end in any case and replaces the last tick: a run does not end at a round number, and between two
// numbers the name would read as part of one.
func nameAt(f *Frame, ticks []Label, end, width float32) (at float32, hides bool) {
	if f.XScale.Kind == "time" {
		left := 0
		for _, t := range ticks {
			if t.Width >= 0 && t.At+t.Width/2+labelGap <= end-width {
				left++
			}
		}
		return end, left < 2
	}
	last := -1
	right := end + labelGap
	for i := len(ticks) - 1; i >= 0; i-- {
		t := ticks[i]
		if t.Width < 0 {
			continue
		}
		at := min(t.At, end-t.Width/2)
		if right-at-t.Width/2 >= width+2*labelGap {
			if last < 0 {
				return end, false
			}
			return (right + at + t.Width/2) / 2, false
		}
		if last < 0 {
			last = i
		}
		right = at - t.Width/2
	}
	for i := last - 1; i > 0; i-- {
		if t := ticks[i]; t.Width >= 0 &&
			min(ticks[last].At, end-ticks[last].Width/2)-t.At >= (width+ticks[last].Width)/2+labelGap {
			return t.At, true
		}
	}
	return end, last >= 0
}

// addPlaced adds a text round the middle x, or nothing if there is no place.
func (m *Text) addPlaced(x, y float32, text string, fill Colour) {
	if x == x && text != "" {
		m.Add(x, y, text, fill, Middle)
	}
}

// fitTicks returns as many round ticks as have room for their labels side by side, and for the
// name of the axis between them. Numbers come before the name: it loses its last words, then its
// middle, and at last is left out, where two of them leave no room.
func fitTicks(f *Frame, a Axis, end float32) (ticks []Tick, origin, name string) {
	name = f.XScale.Label
	for TextWidth(name, TextSize, false) > f.W/2 && withoutLastWord(name) != "" {
		name = withoutLastWord(name)
	}
	name = Shorten(name, f.W/2, TextSize)
	if most := max(min(int(f.W/20), 40), 1); a.Ticks != nil || a.NoLabels {
		ticks, origin = axisTicks(&f.XScale, a, max(min(most, int(f.W/60)), 1))
		return ticks, origin, name
	}
	for _, gap := range []float32{2 * labelGap, labelGap} { // a wide gap looks calm
		ticks = nil
		var fewer []Tick
		var fewerFrom string
		for most := max(min(int(f.W/20), 40), 1); most > 0; most = most * 4 / 5 {
			t, o := axisTicks(&f.XScale, a, most)
			labels := tickLabels(f, t)
			if shownLabels(labels) < 2 || !roomy(labels, gap) {
				continue
			}
			if at, hides := nameAt(f, labels, end, TextWidth(name, TextSize, false)); !hides || name == "" {
				if name == "time" && a.Unit == "ns" && at != end {
					name = "" // "20 ms" says so already
				}
				return t, o, name
			}
			if ticks == nil {
				ticks, origin = t, o
			}
			fewer, fewerFrom = t, o
		}
		if ticks == nil {
			continue
		}
		for short := withoutLastWord(name); short != ""; short = withoutLastWord(short) {
			name = short
			if _, hides := nameAt(f, tickLabels(f, fewer), end, TextWidth(name, TextSize, false)); !hides {
				return fewer, fewerFrom, name
			}
		}
		for width := 0.8 * TextWidth(name, TextSize, false); width >= leastName; width *= 0.8 {
			short := Shorten(name, width, TextSize)
			if _, hides := nameAt(f, tickLabels(f, fewer), end, TextWidth(short, TextSize, false)); !hides {
				return fewer, fewerFrom, short
			}
		}
		return ticks, origin, ""
	}
	if t, o := outerTicks(f, a); t != nil {
		return t, o, ""
	}
	ticks, origin = axisTicks(&f.XScale, a, 1)
	return ticks, origin, name
}

// outerTicks returns the first and the last of round ticks, the coarsest that fit: one number alone tells no scale.
func outerTicks(f *Frame, a Axis) ([]Tick, string) {
	for most := 1; most <= 12; most++ {
		t, o := axisTicks(&f.XScale, a, most)
		if len(t) < 2 {
			continue
		}
		t = []Tick{t[0], t[len(t)-1]}
		if labels := tickLabels(f, t); shownLabels(labels) == 2 && roomy(labels, labelGap/2) {
			return t, o
		}
	}
	return nil, ""
}

// withoutLastWord returns "time" of "time a location" and "calls" of "calls, most first"; nothing of
// a name that says nothing without its end. What is in brackets is no word: f<a, b> is one name.
func withoutLastWord(name string) string {
	depth := 0
	for i := len(name) - 1; i > 0; i-- {
		switch name[i] {
		case ')', '>', ']':
			depth++
		case '(', '<', '[':
			depth = max(depth-1, 0)
		}
		for _, before := range []string{" a ", " per ", " of ", ", ", " ("} {
			if depth == 0 && strings.HasPrefix(name[i:], before) {
				return name[:i]
			}
		}
	}
	return ""
}

func shownLabels(labels []Label) (n int) {
	for _, l := range labels {
		if l.Width >= 0 {
			n++
		}
	}
	return n
}

// roomy reports whether labels leave a gap between them.
func roomy(labels []Label, gap float32) bool {
	var last *Label
	for i := range labels {
		l := &labels[i]
		if l.Width < 0 {
			continue
		}
		if last != nil && max(l.At-last.At, last.At-l.At) < (l.Width+last.Width)/2+gap {
			return false
		}
		last = l
	}
	return true
}

// decades lists the powers of ten of a logarithmic scale, which have ticks even
// if there is no room for labels.
func decades(s *Scale, a Axis, pixels float32) (values []float64) {
	if s.Kind != "log" || a.Ticks != nil {
		return nil
	}
	for _, t := range LogTicks(min(s.Begin, s.End), max(s.Begin, s.End), int(pixels/8), a.Unit) {
		values = append(values, t.At)
	}
	return values
}

func axisTicks(s *Scale, a Axis, most int) (ticks []Tick, origin string) {
	switch {
	case a.Ticks != nil:
		return a.Ticks, ""
	case s.Kind == "time":
		return TimeTicks(s.Begin, s.End, most)
	case s.Kind == "log":
		return LogTicks(min(s.Begin, s.End), max(s.Begin, s.End), most, a.Unit), ""
	case s.Kind == "linear":
		return LinearTicks(min(s.Begin, s.End), max(s.Begin, s.End), most, a.Unit), ""
	}
	return nil, ""
}

// YAxis draws the vertical axis of a frame on its left. Labels need YAxisWidth pixels,
// and a scale with a label 20 pixels over the frame, where it is written.
func (s *Scene) YAxis(frame int, a Axis) {
	f := &s.Frames[frame]
	if !(f.H > 0) {
		return
	}
	ticks := yTicks(f.YScale, f.H, a)
	grid, line, text := &Line{Width: 1}, &Line{Width: 1}, &Text{Size: TextSize}
	line.Add(f.X-1, f.Y, f.X-1, f.Y+f.H, UIAxis)
	var labels []Label
	for _, t := range ticks {
		y := f.YPixel(t.At)
		if !(y >= f.Y-0.5 && y <= f.Y+f.H+0.5) {
			labels = append(labels, Label{Width: -1})
			continue
		}
		if !a.NoGrid {
			grid.Add(f.X, y, f.X+f.W, y, UIGrid)
		}
		line.Add(f.X-1-tickLength, y, f.X-1, y, UIAxis)
		labels = append(labels, Label{At: y, Width: TextSize})
	}
	s.AddLayer("grid", frame, grid)
	if !a.NoLabels {
		for i, y := range Place(labels, f.Y-TextSize, f.Y+f.H+TextSize, 2) {
			if y == y {
				text.Add(f.X-tickLength-5, y+TextAscent(TextSize)/2, ticks[i].Label, UITextMuted, End)
			}
		}
		if f.YScale.Label != "" && f.Y >= TextSize+8 {
			left := max(f.X-YAxisWidth(f.YScale, f.H, a)+2, 2)
			text.addNonEmpty(left, f.Y-11, Shorten(f.YScale.Label, f.X+f.W-left, TextSize), UIText, Start)
		}
	}
	s.AddLayer("axis", -1, line, text)
}

// yTicks returns few ticks, and more of them if one alone would give no scale.
func yTicks(scale Scale, height float32, a Axis) (ticks []Tick) {
	for most := int(height/40) + 1; ; most++ {
		ticks, _ = axisTicks(&scale, a, most)
		if len(ticks) > 1 || a.Ticks != nil || float32(most+1)*(TextSize+2) > height {
			return ticks
		}
	}
}

// YAxisWidth returns the room that a vertical axis of this scale and height needs on
// the left of its frame.
func YAxisWidth(scale Scale, height float32, a Axis) float32 {
	ticks := yTicks(scale, height, a)
	w := float32(0)
	for _, t := range ticks {
		w = max(w, TextWidth(t.Label, TextSize, false))
	}
	return upTo4(w + tickLength + 8)
}

// upTo4 rounds up to the grid of 4 pixels.
func upTo4(v float32) float32 { return float32(int(v+3.999) / 4 * 4) }
