// Package moment computes moments of utilization: how much a location was busy,
// when on average, how spread out, and how lopsided.
//
// After Godin, Quinn, Pancake: "Parallel Performance Visualization Using Moments
// of Utilization Data". With g(t) = 1 while busy:
//
//	m0 = ∫ g dt                         busy time
//	m1 = 1/m0 ∫ t g dt                  its mean time
//	mu_k = 1/m0 ∫ (t-m1)^k g dt         central moments, k ≥ 2
//	m2 = sqrt(3 mu2)                    half the width of the likely-busy range; m0/2 for one bar, never less
//	m3 = 3 cbrt(mu3)                    skew, with its sign
//
// The paper keeps sums of raw powers, which lose all digits in float64 as soon as
// the busy time is short against its distance from the origin. A Sketch keeps
// weight, mean and central sums instead; a single bar's terms are exact, and two
// sketches merge by the pairwise formulas of Chan, Golub, LeVeque and Pébay with
// weights in place of counts. Times are subtracted as integers first.
package moment

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// MaxOrder is the highest moment a Sketch can hold.
const MaxOrder = trace.MaxMoment

// A Sketch is the state of constant size from which all moments follow. The zero
// Sketch is empty. Mean is relative to Origin, so that it keeps its digits
// wherever on the axis the busy time lies.
type Sketch struct {
	Origin trace.Time
	Weight float64
	Mean   float64
	// Central[k] = ∫ (t-mean)^k g dt for 2 ≤ k ≤ the order in use; 0 and 1 are unused.
	Central [MaxOrder + 1]float64
}

// binomial[n][k] for n ≤ MaxOrder.
var binomial = func() (b [MaxOrder + 1][MaxOrder + 1]float64) {
	for n := range b {
		b[n][0] = 1
		for k := 1; k <= n; k++ {
			b[n][k] = b[n-1][k-1] + b[n-1][k]
		}
	}
	return b
}()

// Bar is the sketch of one busy interval [begin, end), exact to the order given.
// An interval of no length gives the empty sketch.
func Bar(begin, end trace.Time, order int) Sketch {
	if end <= begin {
		return Sketch{Origin: begin}
	}
	s := bar(float64(end-begin), order)
	s.Origin = begin
	return s
}

// Span is Bar on an axis whose values are fractions, such as a counter's.
func Span(begin, length float64, order int) Sketch {
	s := Sketch{}
	if length > 0 {
		s = bar(length, order)
	}
	whole := math.Floor(min(max(begin, -1<<62), 1<<62))
	s.Origin, s.Mean = trace.Time(whole), s.Mean+(begin-whole)
	return s
}

// bar is the sketch of [0, length).
func bar(length float64, order int) Sketch {
	s := Sketch{Weight: length, Mean: length / 2}
	half := length / 2
	power := half // half^(k+1) after the loop's step
	for k := 1; k <= order; k++ {
		power *= half
		if k%2 == 0 {
			s.Central[k] = 2 * power / float64(k+1)
		}
	}
	return s
}

// Cubic is s without the orders above three.
func (s *Sketch) Cubic() Cubic { return Cubic{s.Origin, s.Weight, s.Mean, s.Central[2], s.Central[3]} }

// Add merges one busy interval into s.
func (s *Sketch) Add(begin, end trace.Time, order int) {
	b := Bar(begin, end, order)
	s.Merge(&b, order)
}

// Merge makes s the sketch of both. They must not overlap in time for the result
// to be that of the union; where they do it is that of the sum. O(order²).
func (s *Sketch) Merge(o *Sketch, order int) {
	if o.Weight == 0 {
		return
	}
	if s.Weight == 0 {
		*s = *o
		return
	}
	a := *s
	d := float64(o.Origin-a.Origin) + (o.Mean - a.Mean)
	w := a.Weight + o.Weight
	fa, fb := a.Weight/w, o.Weight/w
	s.Weight, s.Mean = w, a.Mean+d*fb
	if order >= 2 {
		s.Central[2] = a.Central[2] + o.Central[2] + d*d*a.Weight*fb
	}
	for p := 3; p <= order; p++ {
		sum := a.Central[p] + o.Central[p]
		pa, pb := 1.0, 1.0 // (-fb·d)^k and (fa·d)^k
		for k := 1; k <= p-2; k++ {
			pa *= -fb * d
			pb *= fa * d
			sum += binomial[p][k] * (pa*a.Central[p-k] + pb*o.Central[p-k])
		}
		// The step from one mean to the other: wA wB/w d^p [fa^(p-1) - (-fb)^(p-1)].
		pa, pb = pa*-fb*d, pb*fa*d // power p-1
		sum += a.Weight * fb * d * (pb - pa)
		s.Central[p] = sum
	}
}

// Empty reports whether there is no busy time; then only M0 is defined.
func (s *Sketch) Empty() bool { return s.Weight == 0 }

// M0 is the busy time in ns.
func (s *Sketch) M0() float64 { return s.Weight }

// M1 is the mean time relative to t0.
func (s *Sketch) M1(t0 trace.Time) float64 {
	if s.Empty() {
		return math.NaN()
	}
	return float64(s.Origin-t0) + s.Mean
}

// Mu is the central moment of order k ≥ 2.
func (s *Sketch) Mu(k int) float64 {
	if s.Empty() {
		return math.NaN()
	}
	return s.Central[k] / s.Weight
}

// M is the moment of order k ≥ 2 as a time: ((k+1) mu_k)^(1/k) for even k, which
// is m0/2 for one bar and never less; 3 mu_k^(1/k) with its sign for odd k.
func (s *Sketch) M(k int) float64 {
	mu := s.Mu(k)
	switch {
	case k == 2:
		return math.Sqrt(3 * mu)
	case k == 3:
		return 3 * math.Cbrt(mu)
	case k%2 == 0:
		return math.Pow(float64(k+1)*mu, 1/float64(k))
	}
	return math.Copysign(3*math.Pow(math.Abs(mu), 1/float64(k)), mu)
}
