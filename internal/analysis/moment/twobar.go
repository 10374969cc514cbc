package moment

import "math"

// TwoBars returns the one pair of bars, left and right, that has these moments:
// m0, m1, mu2, mu3 with m1 on any axis. ok is false where the moments are those
// of one bar. The pair may stick out of the window.
//
// With V = mu2 - m0²/12 the left bar's share p of the weight solves
// mu3 = (2p-1) V sqrt(V/(p(1-p)) + m0²/4), which grows with p; the centres lie
// D = sqrt(V/(p(1-p)) + m0²/4) apart.
func TwoBars(m0, m1, mu2, mu3 float64) (left, right [2]float64, ok bool) {
	v := mu2 - m0*m0/12
	if !(m0 > 0) || !(v > 1e-12*mu2) {
		return left, right, false
	}
	distance := func(p float64) float64 { return math.Sqrt(v/(p*(1-p)) + m0*m0/4) }
	lo, hi := 0.0, 1.0
	for range 200 {
		p := (lo + hi) / 2
		if p == lo || p == hi {
			break
		}
		if (2*p-1)*v*distance(p) < mu3 {
			lo = p
		} else {
			hi = p
		}
	}
	p := (lo + hi) / 2
	if p <= 0 || p >= 1 {
		return left, right, false
	}
	d := distance(p)
	a, b := m1-(1-p)*d, m1+p*d // centres
	left = [2]float64{a - p*m0/2, a + p*m0/2}
	right = [2]float64{b - (1-p)*m0/2, b + (1-p)*m0/2}
	return left, right, true
}
