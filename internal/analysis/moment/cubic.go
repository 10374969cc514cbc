package moment

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Cubic is a Sketch of order three: enough for a store and a picture, at less than half the size. The
// zero Cubic is empty.
type Cubic struct {
	Origin trace.Time
	Weight float64
	Mean   float64 // relative to Origin
	M2, M3 float64 // ∫ (t-mean)^k g dt
}

// Add merges one busy interval into s: Merge with a bar, written out, since this is
// where most time is spent.
func (s *Cubic) Add(begin, end trace.Time) {
	if end <= begin {
		return
	}
	l := float64(end - begin)
	if s.Weight == 0 {
		*s = Cubic{Origin: begin, Weight: l, Mean: l / 2, M2: l * l * l / 12}
		return
	}
	d := float64(begin-s.Origin) + (l/2 - s.Mean)
	m2 := l * l * l * (1. / 12)
	w := s.Weight + l
	part := 1 / w
	fa, fb := s.Weight*part, l*part
	step := d * d * s.Weight * fb
	s.M3 += d * (step*(fa-fb) + 3*(fa*m2-fb*s.M2))
	s.M2 += m2 + step
	s.Weight, s.Mean = w, s.Mean+d*fb
}

// Merge makes s the sketch of both, see Sketch.Merge.
func (s *Cubic) Merge(o *Cubic) {
	if o.Weight == 0 {
		return
	}
	if s.Weight == 0 {
		*s = *o
		return
	}
	d := float64(o.Origin-s.Origin) + (o.Mean - s.Mean)
	w := s.Weight + o.Weight
	part := 1 / w
	fa, fb := s.Weight*part, o.Weight*part
	step := d * d * s.Weight * fb
	s.M3 += o.M3 + d*(step*(fa-fb)+3*(fa*o.M2-fb*s.M2))
	s.M2 += o.M2 + step
	s.Weight, s.Mean = w, s.Mean+d*fb
}

// Empty reports whether there is no busy time.
func (s *Cubic) Empty() bool { return s.Weight == 0 }

// Moments are the four numbers of one row in ns; all but M0 are NaN where M0 is 0.
type Moments struct{ M0, M1, M2, M3 float64 }

// Noise is the part of m2³ below which mu3 is rounding: a cube root would make a
// visible skew of it.
const Noise = 1e-13

// Moments scales the sketch as the paper does, with m1 relative to t0. Rounding is
// not let through: m2 is never below m0/2, and a skew that is noise is 0.
func (s *Cubic) Moments(t0 trace.Time) Moments {
	if s.Empty() {
		return Moments{0, math.NaN(), math.NaN(), math.NaN()}
	}
	m := Moments{M0: s.Weight, M1: float64(s.Origin-t0) + s.Mean}
	m.M2 = math.Max(math.Sqrt(3*s.M2/s.Weight), m.M0/2)
	if mu3 := s.M3 / s.Weight; math.Abs(mu3) > Noise*m.M2*m.M2*m.M2 {
		m.M3 = 3 * math.Cbrt(mu3)
	}
	return m
}

// Mu2 and Mu3 give the central moments back, as TwoBars wants them.
func (m Moments) Mu2() float64 { return m.M2 * m.M2 / 3 }
func (m Moments) Mu3() float64 { return m.M3 * m.M3 * m.M3 / 27 }

// Empty reports whether there is no busy time.
func (m Moments) Empty() bool { return !(m.M0 > 0) }

// An accumulator merges a long run of bars in two steps, a part of some dozens and
// the whole, so that rounding does not grow with the length of the run.
type accumulator struct {
	whole, part Cubic
	n           int
}

const partBars = 64

func (a *accumulator) add(begin, end trace.Time) {
	a.part.Add(begin, end)
	if a.n++; a.n == partBars {
		a.whole.Merge(&a.part)
		a.part, a.n = Cubic{}, 0
	}
}

func (a *accumulator) sum() Cubic {
	a.whole.Merge(&a.part)
	s := a.whole
	*a = accumulator{}
	return s
}

// AddNS is Add for callers that have plain nanoseconds.
func (s *Cubic) AddNS(begin, end int64) { s.Add(trace.Time(begin), trace.Time(end)) }

// CubicNS makes a sketch from its parts, for callers that have plain nanoseconds.
func CubicNS(origin int64, weight, mean, m2, m3 float64) Cubic {
	return Cubic{trace.Time(origin), weight, mean, m2, m3}
}
