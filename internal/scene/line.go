package scene

import "math"

// Line draws straight lines. Those exactly upright or level snap to whole pixels on
// a screen, so that hairlines stay sharp.
type Line struct {
	X0, Y0, X1, Y1 []float32
	Stroke         []Colour
	Width          float32
	Flags          []Flag   `wire:"optional"`
	Items          []uint32 `wire:"optional"`
}

func (*Line) Kind() string { return "line" }
func (m *Line) Len() int   { return len(m.X0) }

// Add appends one line.
func (m *Line) Add(x0, y0, x1, y1 float32, stroke Colour) {
	m.X0, m.Y0, m.X1, m.Y1 = append(m.X0, x0), append(m.Y0, y0), append(m.X1, x1), append(m.Y1, y1)
	m.Stroke = append(m.Stroke, stroke)
	m.Flags, m.Items = inStep(m.Flags, len(m.X0), 0), inStep(m.Items, len(m.X0), NoItem)
}

// SetFlags changes how the line added last is drawn.
func (m *Line) SetFlags(f Flag) { m.Flags = setLast(m.Flags, len(m.X0), 0, f) }

// SetItem sets the item of the line added last.
func (m *Line) SetItem(item uint32) { m.Items = setLast(m.Items, len(m.X0), NoItem, item) }

// ArrowHead returns the corners of a head on the end of a line, tip first, and where
// the line itself should stop. A line too short for a head has none.
func ArrowHead(x0, y0, x1, y1, width float32) (head [3][2]float32, stopX, stopY float32, ok bool) {
	dx, dy := float64(x1-x0), float64(y1-y0)
	length := math.Hypot(dx, dy)
	if !(length >= 2) || math.IsInf(length, 0) {
		return head, x1, y1, false
	}
	long := min(5+2*float64(width), length)
	half := long * 0.42
	dx, dy = dx/length, dy/length
	bx, by := float64(x1)-dx*long, float64(y1)-dy*long
	head = [3][2]float32{{x1, y1}, {float32(bx - dy*half), float32(by + dx*half)},
		{float32(bx + dy*half), float32(by - dx*half)}}
	return head, float32(bx), float32(by), true
}

// SnapLine moves upright and level lines so that they fill whole pixels: a line one
// pixel wide then is sharp and not a blur over two.
func SnapLine(x0, y0, x1, y1, width float32) (float32, float32, float32, float32) {
	if x0 == x1 {
		x0 = snap(x0, width)
		x1 = x0
	}
	if y0 == y1 {
		y0 = snap(y0, width)
		y1 = y0
	}
	return x0, y0, x1, y1
}

// snap returns the middle of a line whose edges are on pixel borders.
func snap(v, width float32) float32 {
	if int(width+0.5)%2 == 1 || width < 1 {
		return float32(math.Floor(float64(v))) + 0.5
	}
	return float32(math.Round(float64(v)))
}
