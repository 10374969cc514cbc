package recorder

import "github.com/parallax-hpc/parallax/internal/analysis/moment"

// sums are the moments of the window at hand as power sums about the middle of its
// first interval, as the paper keeps them: adding takes a dozen operations that do
// not wait for each other, and no division. About a point of the data itself little
// is lost: the sketch made of them is off by at most some 1e-16 × the busy time of
// the window over that of its first interval. Only sketches are merged.
type sums struct {
	origin         int64
	s0, s1, s2, s3 float64 // ∫ (t - origin)^k
}

// addTo adds an interval, and puts the result into to as well: number by number, since a copy as a whole would wait
// for the parts just written.
func (s *sums) addTo(to *sums, begin, end int64) {
	l := float64(end - begin)
	x := float64(begin-s.origin) + l/2
	lx, xx, q := l*x, x*x, l*l*(1./12)
	s0, s1, s2, s3 := s.s0+l, s.s1+lx, s.s2+l*(xx+q), s.s3+lx*(xx+3*q)
	s.s0, s.s1, s.s2, s.s3 = s0, s1, s2, s3
	to.origin, to.s0, to.s1, to.s2, to.s3 = s.origin, s0, s1, s2, s3
}

// cubic returns the sketch. The spread is never below that of one interval.
func (s *sums) cubic() moment.Cubic {
	mean := s.s1 / s.s0
	m2 := max(s.s2-mean*s.s1, s.s0*s.s0*s.s0/12)
	return moment.CubicNS(s.origin, s.s0, mean, m2, s.s3-mean*(3*s.s2-2*mean*s.s1))
}
