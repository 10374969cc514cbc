package quantile

import "math"

// A Shape is how values lie: counts in steps of an eighth of a power of two. Five
// quantiles say nothing of a gap between two modes, a shape does.
type Shape struct {
	First  int // step of the first count: values from 2^(First/8) on
	Counts []uint32
	Zeros  uint32 // values of 0, which have no place among powers
}

const shapeSteps = 8

// Edge returns where step k of the shape begins.
func (s *Shape) Edge(k int) float64 { return math.Exp2(float64(s.First+k) / shapeSteps) }

// Shape returns the shape of the values; nil if it is not known, or of too few to have
// one. O(buckets in use).
func (s *Sketch) Shape() *Shape {
	if s.boxed || s.Count < fewestShaped || s.Max == 0 {
		return nil
	}
	step := func(v float64) int { return int(math.Floor(math.Log2(v) * shapeSteps)) }
	low := max(s.Min, 1)
	out := &Shape{First: step(float64(low))}
	out.Counts = make([]uint32, step(float64(s.Max))-out.First+1)
	add := func(v float64, n uint64) {
		if v < 1 {
			out.Zeros += uint32(n)
			return
		}
		k := min(max(step(v)-out.First, 0), len(out.Counts)-1)
		out.Counts[k] += uint32(n)
	}
	for _, v := range s.values {
		add(float64(v), 1)
	}
	for i, p := range s.pages {
		if p == nil {
			continue
		}
		for k, n := range p {
			if n > 0 {
				add(middle((s.first+i)<<pageBits+k), n)
			}
		}
	}
	return out
}

// Smooth returns the counts averaged over nine steps, a bit more than a power of two, so that
// noise makes no valleys, and how many values there are.
func (s *Shape) Smooth() (smooth []float64, all float64) {
	smooth = make([]float64, len(s.Counts))
	all = float64(s.Zeros)
	for i, n := range s.Counts {
		all += float64(n)
		for k, w := range [9]float64{1, 8, 28, 56, 70, 56, 28, 8, 1} {
			if j := i + k - 4; j >= 0 && j < len(smooth) {
				smooth[j] += w / 256 * float64(n)
			}
		}
	}
	return smooth, all
}

const (
	fewestShaped = 64    // values, below which modes are chance
	leastHeap    = 0.125 // part of all values that a heap holds at least
	deepest      = 0.4   // largest height of a valley, relative to the lower of its hills
)

// Modes returns where the values pile up: the middle of each hill that holds an eighth of
// them at least, with a valley of four tenths of the lower hill, or less, between it and the
// next. One for most; two where calls are either short or long. O(steps).
func (s *Shape) Modes() (out []float64) {
	smooth, all := s.Smooth()
	type hill struct {
		top    int
		height float64
		holds  float64
	}
	var hills []hill
	low, now := math.Inf(1), hill{top: -1}
	for i, v := range smooth {
		switch {
		case now.top < 0 || v > now.height && low > deepest*now.height:
			now.top, now.height, low = i, v, v // still going up, or over a dent
		case v < low:
			low = v
		case low <= deepest*now.height && v*deepest >= low && v > 0:
			hills, now, low = append(hills, now), hill{top: i, height: v}, v // up again behind a valley
		}
		now.holds += float64(s.Counts[i])
	}
	for _, h := range append(hills, now) {
		if h.holds >= leastHeap*all {
			out = append(out, math.Exp2((float64(s.First+h.top)+0.5)/shapeSteps))
		}
	}
	return out
}
