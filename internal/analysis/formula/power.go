package formula

import "math"

// A pair is the sum of two numbers, which has twice the digits of one.
type pair struct{ hi, lo float64 }

func twoSum(a, b float64) pair {
	s := a + b
	t := s - a
	return pair{s, (a - (s - t)) + (b - t)}
}

func (p pair) add(q pair) pair {
	s := twoSum(p.hi, q.hi)
	return twoSum(s.hi, s.lo+(p.lo+q.lo))
}

func (p pair) times(q pair) pair {
	x := p.hi * q.hi
	return twoSum(x, math.FMA(p.hi, q.hi, -x)+(p.hi*q.lo+p.lo*q.hi))
}

// ln2 is that of the number and of its rounding error.
var ln2 = pair{math.Ln2, 2.3190468138462996e-17}

// reciprocals of the factorials from 2 on.
var reciprocals = func() (r [10]pair) {
	for i := range r {
		f := factorials[i+2] // exact in a float64 up to 22!
		r[i].hi = 1 / f
		r[i].lo = math.FMA(-r[i].hi, f, 1) / f
	}
	return r
}()

// exp is that of |p| < 1, by its series at p/256.
func (p pair) exp() pair {
	x := pair{p.hi / 256, p.lo / 256}
	sum, power := x, x
	for _, r := range reciprocals {
		power = power.times(x)
		sum = sum.add(power.times(r))
	}
	for range 8 { // e^2x - 1 = 2 (e^x - 1) + (e^x - 1)²
		sum = pair{2 * sum.hi, 2 * sum.lo}.add(sum.times(sum))
	}
	return pair{1, 0}.add(sum)
}

// logarithm is ln x in twice the digits: the error of math.Log is ln(x / e^log x).
func logarithm(x float64) pair {
	m, e := math.Frexp(x)
	l := math.Log(m)
	y := pair{l, 0}.exp()
	missing := ((m - y.hi) - y.lo) / y.hi
	return ln2.times(pair{float64(e), 0}).add(twoSum(l, missing))
}

// Power is math.Pow rounded once: that has errors of some last digits where b is a
// fraction, so that floor(pow(8, 1/3)) would be 1.
func Power(a, b float64) float64 {
	r := math.Pow(a, b)
	whole := b == math.Trunc(b)
	switch {
	case r == 0 || r == 1 || math.IsInf(r, 0) || math.IsNaN(r) || math.IsInf(b, 0) || math.IsInf(a, 0):
		return r
	case math.Abs(b) <= 1 && whole, b == 0.5, whole && b > 0 && a == math.Trunc(a) && math.Abs(r) < 1<<53:
		return r // has no error
	}
	t := logarithm(math.Abs(a)).times(pair{b, 0})
	n := math.Round(t.hi / math.Ln2)
	y := t.add(ln2.times(pair{-n, 0})).exp()
	return math.Copysign(math.Ldexp(y.hi, int(n)), r)
}
