package scene

import "math"

// A Box is a part of a picture, in pixels.
type Box struct{ Left, Top, Right, Bottom float32 }

// Empty reports whether nothing is in it.
func (b Box) Empty() bool { return !(b.Right > b.Left && b.Bottom > b.Top) }

func (b *Box) add(left, top, right, bottom float32) {
	if left == left && top == top && right == right && bottom == bottom {
		b.Left, b.Top, b.Right, b.Bottom = min(b.Left, left), min(b.Top, top), max(b.Right, right),
			max(b.Bottom, bottom)
	}
}

func (b Box) within(o Box) Box {
	return Box{max(b.Left, o.Left), max(b.Top, o.Top), min(b.Right, o.Right), min(b.Bottom, o.Bottom)}
}

// Extent returns the part of the picture that anything is drawn in. O(marks).
func (s *Scene) Extent() Box {
	all := nothing()
	for _, l := range s.Layers {
		clip := Box{0, 0, float32(s.Width), float32(s.Height)}
		if l.Frame >= 0 && l.Frame < len(s.Frames) {
			f := s.Frames[l.Frame]
			clip = clip.within(Box{f.X, f.Y, f.X + f.W, f.Y + f.H})
		}
		for _, m := range l.Marks {
			if b := extentOf(m).within(clip); !b.Empty() {
				all.add(b.Left, b.Top, b.Right, b.Bottom)
			}
		}
	}
	return all
}

func nothing() Box {
	inf := float32(math.Inf(1))
	return Box{inf, inf, -inf, -inf}
}

// extentOf has a case for each kind of MarkKinds.
func extentOf(m Mark) Box {
	b := nothing()
	switch m := m.(type) {
	case *Rect:
		for i := range m.X {
			if x, y, w, h, ok := m.DrawnRect(i); ok &&
				(m.Fill[i] != None && m.Fill[i] != UIBackground || FlagsOf(m.Flags, i)&Outlined != 0) {
				b.add(x, y, x+w, y+h)
			}
		}
	case *Line:
		for i := range m.X0 {
			b.add(min(m.X0[i], m.X1[i]), min(m.Y0[i], m.Y1[i]), max(m.X0[i], m.X1[i])+1, max(m.Y0[i], m.Y1[i])+1)
		}
	case *Path:
		addPoints(&b, m.X, m.Y, 1)
	case *Polygon:
		addPoints(&b, m.X, m.Y, 1)
	case *Point:
		for i := range m.X {
			b.add(m.X[i]-m.R[i], m.Y[i]-m.R[i], m.X[i]+m.R[i], m.Y[i]+m.R[i])
		}
	case *Text:
		for i := range m.X {
			if t := m.Box(i); !t.Empty() {
				b.add(t.Left, t.Top, t.Right, t.Bottom)
			}
		}
	case *Image:
		b.add(m.X, m.Y, m.X+m.W, m.Y+m.H)
	case *Space:
		b.add(m.X, m.Y, m.X+m.W, m.Y+m.H)
	}
	return b
}

func addPoints(b *Box, xs, ys []float32, wide float32) {
	for i := range xs {
		b.add(xs[i], ys[i], xs[i]+wide, ys[i]+wide)
	}
}

// Box returns the area of text i.
func (m *Text) Box(i int) Box {
	w, up := TextWidth(m.Text[i], m.Size, m.Bold), TextAscent(m.Size)
	back := float32(0)
	if i < len(m.Anchor) {
		back = w * float32(m.Anchor[i]) / 2
	}
	x, y := m.X[i], m.Y[i]
	if m.Turned {
		return Box{x - up, y - w + back, x + 0.25*m.Size, y + back}
	}
	return Box{x - back, y - up, x - back + w, y + 0.25*m.Size}
}
