package scene

// Rect draws filled rectangles.
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
}
