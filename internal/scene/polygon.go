package scene

// Polygon draws filled simple polygons: polygon i has the corners
// Offsets[i] … Offsets[i+1]. Two corners make a line of the fill's colour.
type Polygon struct {
	Offsets []uint32
	X, Y    []float32
	Fill    []Colour
	Flags   []Flag
}

func (*Polygon) Kind() string { return "polygon" }
func (m *Polygon) Len() int   { return len(m.Fill) }

// Add appends one polygon.
func (m *Polygon) Add(xs, ys []float32, fill Colour) {
	if len(m.Offsets) == 0 {
		m.Offsets = append(m.Offsets, 0)
	}
	m.X, m.Y = append(m.X, xs...), append(m.Y, ys...)
	m.Offsets = append(m.Offsets, uint32(len(m.X)))
	m.Fill = append(m.Fill, fill)
}
