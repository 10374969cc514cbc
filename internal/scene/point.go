package scene

// A Shape is the form of a point.
type Shape uint8

const (
	Disc Shape = iota
	Square
	Diamond
	Triangle // upwards
	Burst    // many in one place: the star that stands for links too dense to draw
)

// Point draws symbols of radius R round X, Y.
type Point struct {
	X, Y, R []float32
	Fill    []Colour
	Shape   []Shape // nil: discs
	Count   []uint32
}

func (*Point) Kind() string { return "point" }
func (m *Point) Len() int   { return len(m.X) }

// Add appends one point.
func (m *Point) Add(x, y, r float32, fill Colour) {
	m.X, m.Y, m.R = append(m.X, x), append(m.Y, y), append(m.R, r)
	m.Fill = append(m.Fill, fill)
}
