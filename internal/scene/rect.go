package scene

import "math"

// Rect draws filled rectangles. One narrower or lower than a pixel is drawn as one pixel, so that nothing vanishes;
// one without area (or with a negative one) is not drawn. Edges snap to whole pixels on a screen, so neighbours leave
// no seams.
type Rect struct {
	X, Y, W, H []float32
	Fill       []Colour
	Flags      []Flag `wire:"optional"` // nil: none
	// Count says how many things each stands for; nil: one each.
	Count []uint32 `wire:"optional"`
	Items []uint32 `wire:"optional"` // indices into the scene's items; nil: none
}

func (*Rect) Kind() string { return "rect" }
func (m *Rect) Len() int   { return len(m.X) }

// Add appends one rectangle.
func (m *Rect) Add(x, y, w, h float32, fill Colour) {
	m.X, m.Y, m.W, m.H = append(m.X, x), append(m.Y, y), append(m.W, w), append(m.H, h)
	m.Fill = append(m.Fill, fill)
	m.Flags, m.Count, m.Items = inStep(m.Flags, len(m.X), 0), inStep(m.Count, len(m.X), 1),
		inStep(m.Items, len(m.X), NoItem)
}

// SetFlags changes how the rectangle added last is drawn.
func (m *Rect) SetFlags(f Flag) { m.Flags = setLast(m.Flags, len(m.X), 0, f) }

// SetCount says how many things the rectangle added last stands for.
func (m *Rect) SetCount(n uint32) { m.Count = setLast(m.Count, len(m.X), 1, n) }

// SetItem sets the item of the rectangle added last.
func (m *Rect) SetItem(item uint32) { m.Items = setLast(m.Items, len(m.X), NoItem, item) }

// AddAim appends a rectangle that is not drawn: its item is found there all the same.
func (m *Rect) AddAim(x, y, w, h float32, item uint32) {
	m.Add(x, y, w, h, None)
	m.SetItem(item)
}

// WarningWidth returns how wide the frame of a box is that hides a share of all there is to
// lose: from 3 px of 1 % to 10 px of all, at most a sixth of the shorter side.
func WarningWidth(share, side float32) float32 {
	return min(2+8*float32(math.Sqrt(float64(min(share, 1)))), side/6)
}

// AddWarning frames a box that hides a share of all there is to lose.
func (m *Rect) AddWarning(x, y, w, h, share float32) {
	t := WarningWidth(share, min(w, h))
	m.Add(x, y, w, t, UIWarning)
	m.Add(x, y+h-t, w, t, UIWarning)
	m.Add(x, y+t, t, h-2*t, UIWarning)
	m.Add(x+w-t, y+t, t, h-2*t, UIWarning)
}
