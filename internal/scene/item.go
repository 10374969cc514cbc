package scene

import "math"

// An Item names the object that a mark shows, in numbers that its view understands without the picture. Of is the kind
// of object (from 1 on; 0 is none). The others select it: a row of the view's table, the first and the end of several,
// a row and a column.
type Item struct {
	Of      uint8
	A, B, C int32
	// Placed items are continuous: C is the place in their rectangle that was asked for,
	// see Place. The page asks for them by place.
	Placed bool
}

// NoItem stands for none in a column of items.
const NoItem = ^uint32(0)

// The largest distance in pixels of the pointer from a line and from a point.
const (
	lineReach  = 3
	pointReach = 10
)

// Item adds an item and gives its index, for marks to carry.
func (s *Scene) Item(of uint8, at ...int) uint32 {
	it := Item{Of: of}
	for k, to := range []*int32{&it.A, &it.B, &it.C}[:len(at)] {
		*to = int32(at[k])
	}
	s.Items = append(s.Items, it)
	return uint32(len(s.Items) - 1)
}

// Place adds an item that is placed, with up to two numbers, and gives its index.
func (s *Scene) Place(of uint8, at ...int) uint32 {
	n := s.Item(of, at...)
	s.Items[n].Placed = true
	return n
}

// AimRows makes the rows of a frame's vertical scale items, from left to right, also where nothing is drawn. Marks
// drawn over them that have an item take precedence.
func (s *Scene) AimRows(frame int, left, right float32, item func(row int) uint32) {
	aims := &Rect{}
	for k, r := range s.Frames[frame].YScale.Rows {
		aims.AddAim(left, r.From, right-left, r.To-r.From, item(k))
	}
	s.AddLayer("items", -1, aims)
}

// ItemAt returns the item at a pixel.
func (s *Scene) ItemAt(x, y float64) (Item, bool) {
	it, ok := s.ItemOf(s.NumberAt(x, y))
	if it.Placed {
		it.C = s.placeIn(it, x, y)
	}
	return it, ok
}

// Whole is the width and the height of the mark of a placed item, in its C.
const Whole = 1 << 15

// Place returns the place at which an item was asked for, in shares from the top left.
func (it Item) Place() (x, y float64) {
	return (float64(it.C/Whole) + 0.5) / Whole, (float64(it.C%Whole) + 0.5) / Whole
}

// placeIn finds the place of a pixel in the rectangle of an item.
func (s *Scene) placeIn(it Item, x, y float64) int32 {
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			rects, _ := m.(*Rect)
			for i := 0; rects != nil && i < len(rects.Items); i++ {
				if n := rects.Items[i]; n != NoItem && s.Items[n] == it && within(x, rects.X[i], rects.W[i]) &&
					within(y, rects.Y[i], rects.H[i]) {
					return share(x, rects.X[i], rects.W[i])*Whole + share(y, rects.Y[i], rects.H[i])
				}
			}
		}
	}
	return 0
}

func share(v float64, from, length float32) int32 {
	return min(int32((v-float64(from))/float64(length)*Whole), Whole-1)
}

// NumberAt returns the number of the item at a pixel, -1 for none: of the marks that carry
// items, the one on top. The page does the same, see web/src/scene/item.ts. It takes one
// pass over the marks.
func (s *Scene) NumberAt(x, y float64) int {
	if math.IsNaN(x) || math.IsNaN(y) {
		return -1
	}
	for l := len(s.Layers) - 1; l >= 0; l-- {
		layer := &s.Layers[l]
		if layer.Frame >= 0 && layer.Frame < len(s.Frames) {
			if f := &s.Frames[layer.Frame]; !within(x, f.X, f.W) || !within(y, f.Y, f.H) {
				continue
			}
		}
		for k := len(layer.Marks) - 1; k >= 0; k-- {
			if n := s.numberIn(layer.Marks[k], x, y); n >= 0 {
				return n
			}
		}
	}
	return -1
}

// ItemOf returns an item by its number: those of Items first, then the cells of images and
// the things in space in the order of the layers.
func (s *Scene) ItemOf(n int) (Item, bool) {
	if n >= 0 && n < len(s.Items) {
		return s.Items[n], true
	}
	var found Item
	s.EachItemRange(func(m Mark, first int) {
		if i := n - first; i >= 0 && i < m.Len() {
			found = cellItem(m, i)
		}
	})
	return found, found.Of != 0
}

// EachItemRange visits the marks whose parts are items without standing in Items, with
// the number of their first.
func (s *Scene) EachItemRange(f func(m Mark, first int)) {
	n := len(s.Items)
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			if cellItem(m, 0).Of != 0 {
				f(m, n)
				n += m.Len()
			}
		}
	}
}

// cellItem returns a cell of an image by its number, or a thing in space by its index.
func cellItem(m Mark, i int) Item {
	switch m := m.(type) {
	case *Image:
		return Item{Of: m.Of, A: m.At[0], B: m.At[1], C: int32(i)}
	case *Space:
		return Item{Of: m.Of, A: int32(i)}
	}
	return Item{}
}

func (s *Scene) numberIn(m Mark, x, y float64) int {
	switch m := m.(type) {
	case *Rect:
		for i := len(m.Items) - 1; i >= 0; i-- {
			if rx, ry, w, h, ok := m.DrawnRect(i); ok && m.Items[i] != NoItem && within(x, rx, w) && within(y, ry, h) {
				return int(m.Items[i])
			}
		}
	case *Polygon:
		for i := len(m.Items) - 1; i >= 0; i-- {
			if xs, ys := m.Corners(i); m.Items[i] != NoItem && holds(xs, ys, x, y) {
				return int(m.Items[i])
			}
		}
	case *Line:
		return nearestItem(m.Items, func(i int) (float64, bool) {
			d := lineDistance(x, y, m.X0[i], m.Y0[i], m.X1[i], m.Y1[i])
			return d, d <= lineReach
		})
	case *Point:
		return nearestItem(m.Items, func(i int) (float64, bool) {
			d := math.Hypot(float64(m.X[i])-x, float64(m.Y[i])-y)
			return d, d <= float64(m.R[i])+pointReach
		})
	case *Image:
		if m.Of != 0 && m.Columns > 0 && m.Rows > 0 && within(x, m.X, m.W) && within(y, m.Y, m.H) {
			c := min(int((x-float64(m.X))/float64(m.W)*float64(m.Columns)), m.Columns-1)
			r := min(int((y-float64(m.Y))/float64(m.H)*float64(m.Rows)), m.Rows-1)
			return s.firstOf(m) + r*m.Columns + c
		}
	case *Space:
		if i, ok := m.Pick(x, y); ok && m.Of != 0 {
			return s.firstOf(m) + i
		}
	}
	return -1
}

// nearestItem returns the item of the thing with the least distance, of equals the last.
func nearestItem(items []uint32, distance func(i int) (d float64, near bool)) int {
	at, least := -1, math.Inf(1)
	for i, item := range items {
		if d, near := distance(i); near && d <= least && item != NoItem {
			at, least = int(item), d
		}
	}
	return at
}

func (s *Scene) firstOf(m Mark) (first int) {
	s.EachItemRange(func(other Mark, n int) {
		if other == m {
			first = n
		}
	})
	return first
}

func within(v float64, from, length float32) bool {
	return v >= float64(from) && v < float64(from)+float64(length)
}

// holds reports whether a pixel is in a polygon, by counting edges to its left.
func holds(xs, ys []float32, x, y float64) bool {
	inside := false
	for i, j := 0, len(xs)-1; i < len(xs); j, i = i, i+1 {
		xi, yi, xj, yj := float64(xs[i]), float64(ys[i]), float64(xs[j]), float64(ys[j])
		if (yi > y) != (yj > y) && x < (xj-xi)*(y-yi)/(yj-yi)+xi {
			inside = !inside
		}
	}
	return inside
}

func lineDistance(x, y float64, x0, y0, x1, y1 float32) float64 {
	ax, ay := float64(x0), float64(y0)
	dx, dy := float64(x1)-ax, float64(y1)-ay
	t := 0.0
	if n := dx*dx + dy*dy; n > 0 {
		t = min(max(((x-ax)*dx+(y-ay)*dy)/n, 0), 1)
	}
	return math.Hypot(x-ax-t*dx, y-ay-t*dy)
}

// ShiftItems renumbers the items of a mark that moves to another scene, and sets bits of the
// kind of those that it makes itself.
func ShiftItems(m Mark, by uint32, of uint8) {
	move := func(items []uint32) {
		for i := range items {
			if items[i] != NoItem {
				items[i] += by
			}
		}
	}
	switch m := m.(type) {
	case *Rect:
		move(m.Items)
	case *Polygon:
		move(m.Items)
	case *Line:
		move(m.Items)
	case *Point:
		move(m.Items)
	case *Image:
		if m.Of != 0 {
			m.Of |= of
		}
	case *Space:
		if m.Of != 0 {
			m.Of |= of
		}
	}
}
