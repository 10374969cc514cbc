package scene

// Line draws straight lines.
type Line struct {
	X0, Y0, X1, Y1 []float32
	Stroke         []Colour
	Width          float32
	Flags          []Flag
}

func (*Line) Kind() string { return "line" }
func (m *Line) Len() int   { return len(m.X0) }

// Add appends one line.
func (m *Line) Add(x0, y0, x1, y1 float32, stroke Colour) {
	m.X0, m.Y0, m.X1, m.Y1 = append(m.X0, x0), append(m.Y0, y0), append(m.X1, x1), append(m.Y1, y1)
	m.Stroke = append(m.Stroke, stroke)
}
