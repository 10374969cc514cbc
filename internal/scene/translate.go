package scene

// Translate moves everything by dx, dy pixels, in place.
func (s *Scene) Translate(dx, dy float32) {
	for i := range s.Frames {
		f := &s.Frames[i]
		f.X, f.Y = f.X+dx, f.Y+dy
		for _, scale := range []struct {
			rows []Row
			by   float32
		}{{f.XScale.Rows, dx}, {f.YScale.Rows, dy}} {
			for k := range scale.rows {
				scale.rows[k].From += scale.by
				scale.rows[k].To += scale.by
			}
		}
		for k := range f.Places {
			f.Places[k].X += dx
			f.Places[k].Y += dy
		}
	}
	moved := map[Mark]bool{} // A mark may be in several layers.
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			if !moved[m] {
				moved[m] = true
				translateMark(m, dx, dy)
			}
		}
	}
}

// translateMark has a case for each kind of MarkKinds.
func translateMark(m Mark, dx, dy float32) bool {
	switch m := m.(type) {
	case *Rect:
		shift(dx, m.X)
		shift(dy, m.Y)
	case *Line:
		shift(dx, m.X0, m.X1)
		shift(dy, m.Y0, m.Y1)
	case *Path:
		shift(dx, m.X)
		shift(dy, m.Y)
	case *Polygon:
		shift(dx, m.X)
		shift(dy, m.Y)
	case *Point:
		shift(dx, m.X)
		shift(dy, m.Y)
	case *Text:
		shift(dx, m.X)
		shift(dy, m.Y)
	case *Image:
		m.X, m.Y = m.X+dx, m.Y+dy
	case *Space:
		m.X, m.Y = m.X+dx, m.Y+dy
	default:
		return false
	}
	return true
}

func shift(by float32, columns ...[]float32) {
	for _, c := range columns {
		for i := range c {
			c[i] += by
		}
	}
}
