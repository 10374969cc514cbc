package scene

import "math"

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
	Shape   []Shape  `wire:"optional"` // nil: discs
	Count   []uint32 `wire:"optional"`
	Items   []uint32 `wire:"optional"`
}

func (*Point) Kind() string { return "point" }
func (m *Point) Len() int   { return len(m.X) }

// Add appends one point.
func (m *Point) Add(x, y, r float32, fill Colour) {
	m.X, m.Y, m.R = append(m.X, x), append(m.Y, y), append(m.R, r)
	m.Fill = append(m.Fill, fill)
	m.Shape, m.Count, m.Items = inStep(m.Shape, len(m.X), Disc), inStep(m.Count, len(m.X), 1),
		inStep(m.Items, len(m.X), NoItem)
}

// SetShape changes the form of the point added last.
func (m *Point) SetShape(s Shape) { m.Shape = setLast(m.Shape, len(m.X), Disc, s) }

// SetCount says how many things the point added last stands for.
func (m *Point) SetCount(n uint32) { m.Count = setLast(m.Count, len(m.X), 1, n) }

// SetItem sets the item of the point added last.
func (m *Point) SetItem(item uint32) { m.Items = setLast(m.Items, len(m.X), NoItem, item) }

// ShapeOutline returns the corners of a shape of radius 1 round the origin; nil for a
// disc. Shapes have about the area of the disc, so that none looks larger.
func ShapeOutline(s Shape) [][2]float32 { return shapeOutlines[s] }

var shapeOutlines = map[Shape][][2]float32{
	Square:   {{-0.89, -0.89}, {0.89, -0.89}, {0.89, 0.89}, {-0.89, 0.89}},
	Diamond:  {{0, -1.25}, {1.25, 0}, {0, 1.25}, {-1.25, 0}},
	Triangle: {{0, -1.4}, {1.21, 0.7}, {-1.21, 0.7}},
	Burst:    burst(),
}

// burst returns a star of eight rays.
func burst() [][2]float32 {
	var out [][2]float32
	for i := range 16 {
		r := 1.5
		if i%2 == 1 {
			r = 0.55
		}
		sin, cos := math.Sincos(float64(i) * math.Pi / 8)
		out = append(out, [2]float32{float32(r * sin), float32(-r * cos)})
	}
	return out
}
