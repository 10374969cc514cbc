package scene

import "math"

// XPixel returns the place of a value on the frame's horizontal scale; NaN where the
// scale gives it none.
func (f *Frame) XPixel(v float64) float32 { return f.X + float32(f.XScale.share(v)*float64(f.W)) }

// YPixel returns the place of a value on the frame's vertical scale, which runs upwards.
func (f *Frame) YPixel(v float64) float32 {
	return f.Y + f.H - float32(f.YScale.share(v)*float64(f.H))
}

// share returns the place of a value between Begin (0) and End (1).
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
