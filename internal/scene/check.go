package scene

import (
	"errors"
	"fmt"
	"math"
)

// The largest picture: a side, and all pixels together.
const (
	maxSide   = 32767
	maxPixels = 200 << 20
)

func checkMark(m Mark) error {
	if m == nil {
		return errors.New("a mark is nil")
	}
	n := m.Len()
	var full, optional []int
	switch m := m.(type) {
	case *Rect:
		full, optional = []int{len(m.X), len(m.Y), len(m.W), len(m.H), len(m.Fill)},
			[]int{len(m.Flags), len(m.Count), len(m.Items)}
	case *Line:
		full, optional = []int{len(m.X0), len(m.Y0), len(m.X1), len(m.Y1), len(m.Stroke)},
			[]int{len(m.Flags), len(m.Items)}
	case *Path:
		full = []int{max(len(m.Offsets)-1, 0)}
	case *Polygon:
		full, optional = []int{max(len(m.Offsets)-1, 0)}, []int{len(m.Flags), len(m.Items)}
	case *Point:
		full, optional = []int{len(m.X), len(m.Y), len(m.R), len(m.Fill)},
			[]int{len(m.Shape), len(m.Count), len(m.Items)}
	case *Text:
		full, optional = []int{len(m.X), len(m.Y), len(m.Text), len(m.Fill)}, []int{len(m.Anchor)}
	case *Image:
		if m.Columns < 0 || m.Rows < 0 || m.Columns > maxSide || m.Rows > maxSide {
			return fmt.Errorf("image of %d × %d cells", m.Columns, m.Rows)
		}
		full = []int{m.Columns * m.Rows}
	case *Space:
		full, optional = []int{len(m.PY), len(m.PZ), len(m.Value)}, []int{len(m.Fill)}
	default:
		return fmt.Errorf("mark %q is unknown", m.Kind())
	}
	for _, l := range full {
		if l != n {
			return fmt.Errorf("mark %q has columns of %d and %d", m.Kind(), n, l)
		}
	}
	for _, l := range optional {
		if l != 0 && l != n {
			return fmt.Errorf("mark %q has columns of %d and %d", m.Kind(), n, l)
		}
	}
	return nil
}

// farAway bounds coordinates that are drawn: beyond any picture, within the range
// where float32 still resolves a sixteenth of a pixel.
const farAway = 1 << 20

// Drawable reports whether all coordinates are finite and near enough to be drawn.
func Drawable(v ...float32) bool {
	for _, x := range v {
		if !(x > -farAway && x < farAway) {
			return false
		}
	}
	return true
}

// DrawnRect returns rectangle i as it is drawn: at least a pixel each way, cut where
// it reaches far beyond any picture. It is not drawn where ok is false.
func (m *Rect) DrawnRect(i int) (x, y, w, h float32, ok bool) {
	x, w, okX := drawnSpan(m.X[i], m.W[i])
	y, h, okY := drawnSpan(m.Y[i], m.H[i])
	return x, y, w, h, okX && okY
}

func drawnSpan(from, length float32) (float32, float32, bool) {
	if from != from || !(length > 0) || math.IsInf(float64(from), 0) && math.IsInf(float64(length), 0) {
		return 0, 0, false
	}
	to := from + length
	if length < 1 {
		to = from + 1
	}
	if !(from < farAway && to > -farAway) {
		return 0, 0, false
	}
	from, to = max(from, -farAway), min(to, farAway)
	return from, to - from, true
}
