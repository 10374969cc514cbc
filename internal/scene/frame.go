package scene

import "math"

// XPixel gives the place of a value on the frame's horizontal scale; NaN where the
// scale gives it none.
func (f *Frame) XPixel(v float64) float32 { return f.X + float32(f.XScale.share(v)*float64(f.W)) }

// YPixel gives the place of a value on the frame's vertical scale, which runs upwards.
func (f *Frame) YPixel(v float64) float32 {
	return f.Y + f.H - float32(f.YScale.share(v)*float64(f.H))
}

// share gives where a value lies between Begin (0) and End (1).
func (s *Scale) share(v float64) float64 {
	lo, hi := s.Begin, s.End
	if s.Kind == "log" {
		if !(v > 0 && lo > 0 && hi > 0) {
			return math.NaN()
		}
		v, lo, hi = math.Log10(v), math.Log10(lo), math.Log10(hi)
	}
	if lo == hi {
		return 0.5
	}
	return (v - lo) / (hi - lo)
}

// New starts a picture.
func New(size Size, title, description string) *Scene {
	return &Scene{Width: float64(size.Width), Height: float64(size.Height), Title: title, Description: description}
}

// AddFrame appends a plot area and gives its index.
func (s *Scene) AddFrame(f Frame) int {
	s.Frames = append(s.Frames, f)
	return len(s.Frames) - 1
}

// AddLayer appends marks that belong to a frame, -1 for none. Empty marks are left out.
func (s *Scene) AddLayer(name string, frame int, marks ...Mark) {
	l := Layer{Name: name, Frame: frame}
	for _, m := range marks {
		if m != nil && m.Len() > 0 {
			l.Marks = append(l.Marks, m)
		}
	}
	if len(l.Marks) > 0 {
		s.Layers = append(s.Layers, l)
	}
}
