package scene

// Rect draws filled rectangles. What is narrower or lower than a pixel is drawn as
// one pixel, so that nothing vanishes; without area (or with a negative one) it is
// not drawn. Edges snap to whole pixels on a screen, so neighbours leave no seams.
type Rect struct {
	X, Y, W, H []float32
	Fill       []Colour
	Flags      []Flag // nil: none
	// Count says how many things each stands for; nil: one each.
	Count []uint32
}

func (*Rect) Kind() string { return "rect" }
func (m *Rect) Len() int   { return len(m.X) }

// Add appends one rectangle.
func (m *Rect) Add(x, y, w, h float32, fill Colour) {
	m.X, m.Y, m.W, m.H = append(m.X, x), append(m.Y, y), append(m.W, w), append(m.H, h)
	m.Fill = append(m.Fill, fill)
	m.Flags, m.Count = inStep(m.Flags, len(m.X), 0), inStep(m.Count, len(m.X), 1)
}

// SetFlags changes how the rectangle added last is drawn.
func (m *Rect) SetFlags(f Flag) { m.Flags = setLast(m.Flags, len(m.X), 0, f) }

// SetCount says how many things the rectangle added last stands for.
func (m *Rect) SetCount(n uint32) { m.Count = setLast(m.Count, len(m.X), 1, n) }
