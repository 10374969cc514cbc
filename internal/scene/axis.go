package scene

// Sizes of type and furniture in pixels, on a grid of 4.
const (
	TextSize      = 12
	TitleSize     = 13
	AxisHeight    = 20 // under a frame: ticks and their labels
	tickLength    = 4
	labelGap      = 12 // least distance of labels side by side
	axisBaseline  = 16 // of labels, from the frame's lower edge
	legendRow     = 20
	legendSwatch  = 12
	titleHeight   = 28
	noteHeight    = 16
	picturePad    = 12
	rowIndent     = 12
	rowLabelGap   = 8
	rowLabelPitch = 13 // least height of a labelled row
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
// that the grid lies behind. Labels need AxisHeight pixels under the frame.
func (s *Scene) XAxis(frame int, a Axis) {
	f := &s.Frames[frame]
	if !(f.W > 0) {
		return
	}
	ticks, origin := fitTicks(f, a)
	grid, line, text := &Line{Width: 1}, &Line{Width: 1}, &Text{Size: TextSize}
	edge, sign, baseline := f.Y+f.H, float32(1), f.Y+f.H+axisBaseline
	if a.Top {
		edge, sign, baseline = f.Y-1, -1, f.Y-7
	}
	line.Add(f.X, edge, f.X+f.W, edge, UIAxis)
	for _, t := range decades(&f.XScale, a, f.W) {
		line.Add(f.XPixel(t), edge, f.XPixel(t), edge+sign*tickLength/2, UIAxis)
	}
	labels := make([]Label, 0, len(ticks)+2)
	for _, t := range ticks {
		x := f.XPixel(t.At)
		if !(x >= f.X-0.5 && x <= f.X+f.W+0.5) {
			labels = append(labels, Label{Width: -1})
			continue
		}
		if !a.NoGrid {
			grid.Add(x, f.Y, x, f.Y+f.H, UIGrid)
		}
		line.Add(x, edge, x, edge+sign*tickLength, UIAxis)
		labels = append(labels, Label{x, TextWidth(t.Label, TextSize, false), 1})
	}
	s.AddLayer("grid", frame, grid)
	if !a.NoLabels {
		from, to := max(f.X-16, 2), min(f.X+f.W+16, float32(s.Width)-2)
		name := Shorten(f.XScale.Label, f.W/2, TextSize)
		// The label and the origin stand at the ends and come first.
		extra := []Label{{nameAt(labels, to, TextWidth(name, TextSize, false)), TextWidth(name, TextSize, false), 0}, {from, TextWidth(origin, TextSize, false), 0}}
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

// nameAt is where the axis is named: at its end where no tick is labelled there, else
// between ticks that leave room, else in place of one before the last, so that the greatest
// is never lost.
func nameAt(ticks []Label, end, width float32) float32 {
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
				return end
			}
			return (right + at + t.Width/2) / 2
		}
		if last < 0 {
			last = i
		}
		right = at - t.Width/2
	}
	for i := last - 1; i > 0; i-- {
		if t := ticks[i]; t.Width >= 0 && min(ticks[last].At, end-ticks[last].Width/2)-t.At >= (width+ticks[last].Width)/2+labelGap {
			return t.At
		}
	}
	return end
}

// addPlaced adds a text round the middle x, or nothing where there is no place.
func (m *Text) addPlaced(x, y float32, text string, fill Colour) {
	if x == x && text != "" {
		m.Add(x, y, text, fill, Middle)
	}
}

// fitTicks gives as many round ticks as have room for their labels side by side.
func fitTicks(f *Frame, a Axis) (ticks []Tick, origin string) {
	for most := min(int(f.W/20), 40); ; most = most * 4 / 5 {
		ticks, origin = axisTicks(&f.XScale, a, max(most, 1))
		if most <= 1 || a.Ticks != nil || a.NoLabels && most < int(f.W/60) || roomy(f, ticks) {
			return ticks, origin
		}
	}
}

// roomy reports whether labels leave a wide gap, so that an axis looks calm.
func roomy(f *Frame, ticks []Tick) bool {
	for i := 1; i < len(ticks); i++ {
		need := (TextWidth(ticks[i-1].Label, TextSize, false) + TextWidth(ticks[i].Label, TextSize, false)) / 2
		if d := f.XPixel(ticks[i].At) - f.XPixel(ticks[i-1].At); max(d, -d) < need+2*labelGap {
			return false
		}
	}
	return true
}

// decades lists the powers of ten of a logarithmic scale, which have ticks even
// where there is no room for labels.
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
	ticks, _ := axisTicks(&f.YScale, a, int(f.H/40)+1)
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
		labels = append(labels, Label{y, TextSize, 0})
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

// YAxisWidth gives the room that a vertical axis of this scale and height needs on
// the left of its frame.
func YAxisWidth(scale Scale, height float32, a Axis) float32 {
	ticks, _ := axisTicks(&scale, a, int(height/40)+1)
	w := float32(0)
	for _, t := range ticks {
		w = max(w, TextWidth(t.Label, TextSize, false))
	}
	return upTo4(w + tickLength + 8)
}

// upTo4 rounds up to the grid of 4 pixels.
func upTo4(v float32) float32 { return float32(int(v+3.999) / 4 * 4) }
