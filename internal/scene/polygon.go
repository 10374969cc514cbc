package scene

// Polygon draws filled simple polygons: polygon i has the corners
// Offsets[i] … Offsets[i+1]. Two corners make a line of the fill's colour.
type Polygon struct {
	Offsets []uint32
	X, Y    []float32
	Fill    []Colour
	Flags   []Flag   `wire:"optional"`
	Items   []uint32 `wire:"optional"`
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
	m.Flags, m.Items = inStep(m.Flags, len(m.Fill), 0), inStep(m.Items, len(m.Fill), NoItem)
}

// Join adds all polygons of another mark.
func (m *Polygon) Join(o *Polygon) {
	if len(m.Fill) == 0 {
		*m = *o
		return
	}
	for i, fill := range o.Fill {
		xs, ys := o.Corners(i)
		m.Add(xs, ys, fill)
		if i < len(o.Flags) && o.Flags[i] != 0 {
			m.SetFlags(o.Flags[i])
		}
		if i < len(o.Items) && o.Items[i] != NoItem {
			m.SetItem(o.Items[i])
		}
	}
}

// AddCut marks a thing that continues beyond the edge of an axis: a small triangle with its tip at x, y that points to
// the right (dir 1) or to the left (dir -1).
func (m *Polygon) AddCut(x, y, dir, size float32) {
	m.Add([]float32{x, x - dir*size*1.5, x - dir*size*1.5}, []float32{y, y - size, y + size}, UIWarning)
}

// SetFlags changes how the polygon added last is drawn.
func (m *Polygon) SetFlags(f Flag) { m.Flags = setLast(m.Flags, len(m.Fill), 0, f) }

// SetItem sets the item of the polygon added last.
func (m *Polygon) SetItem(item uint32) { m.Items = setLast(m.Items, len(m.Fill), NoItem, item) }

// Corners returns the corners of polygon i; empty where the offsets make no sense.
func (m *Polygon) Corners(i int) (xs, ys []float32) { return corners(m.Offsets, m.X, m.Y, i) }

func corners(offsets []uint32, x, y []float32, i int) (xs, ys []float32) {
	if i+1 >= len(offsets) {
		return nil, nil
	}
	a, b := offsets[i], offsets[i+1]
	if a > b || int(b) > len(x) || int(b) > len(y) {
		return nil, nil
	}
	return x[a:b], y[a:b]
}

// foldSize is the side of a folded corner, and the largest share of a box that it takes.
const (
	foldSize  = 9
	foldShare = 0.4
	leastFold = 3
)

// AddFold marks a box as one that stands for many by a folded corner: its upper right
// one, given by its place and the shorter side of the box. Unlike lines all over it, it
// leaves the box's colours alone. A warning is larger and in the colour of warnings.
// It reports whether the box has room for it.
func (m *Polygon) AddFold(right, top, side float32, warn bool) bool {
	size, fill := min(foldSize, foldShare*side), UIText
	if warn {
		size, fill = min(1.75*foldSize, 0.6*side), UIWarning
	}
	if size < leastFold {
		return false
	}
	m.Add([]float32{right - size, right, right}, []float32{top, top, top + size}, UIBackground)
	in := 0.7 * size
	m.Add([]float32{right - in, right, right}, []float32{top, top, top + in}, fill)
	return true
}
