package scene

// Path draws open lines through many points: path i has the points
// Offsets[i] … Offsets[i+1].
type Path struct {
	Offsets []uint32
	X, Y    []float32
	Stroke  []Colour
	Width   float32
}

func (*Path) Kind() string { return "path" }
func (m *Path) Len() int   { return len(m.Stroke) }

// Add appends one path.
func (m *Path) Add(xs, ys []float32, stroke Colour) {
	if len(m.Offsets) == 0 {
		m.Offsets = append(m.Offsets, 0)
	}
	m.X, m.Y = append(m.X, xs...), append(m.Y, ys...)
	m.Offsets = append(m.Offsets, uint32(len(m.X)))
	m.Stroke = append(m.Stroke, stroke)
}

// Points returns the points of path i; empty where the offsets make no sense.
func (m *Path) Points(i int) (xs, ys []float32) { return corners(m.Offsets, m.X, m.Y, i) }
