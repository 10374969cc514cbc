package formula

import (
	"math"
	"math/big"
	"math/bits"
)

// factorials are n! up to the last that is finite, each rounded once.
var factorials = func() (f [171]float64) {
	n := big.NewInt(1)
	for i := range f {
		if i > 0 {
			n.Mul(n, big.NewInt(int64(i)))
		}
		f[i], _ = new(big.Float).SetInt(n).Float64()
	}
	return f
}()

// factorial has no value below 0.
func factorial(n float64) float64 {
	n = math.Floor(n)
	switch {
	case n >= float64(len(factorials)):
		return math.Inf(1)
	case n >= 0:
		return factorials[int(n)]
	}
	return math.NaN()
}

// combinations is exact up to 2^64, and goes on in floating point.
func combinations(n, k float64) float64 {
	n, k = math.Floor(n), math.Floor(k)
	if !(k >= 0 && k <= n) {
		return 0
	}
	k = min(k, n-k)
	i, c := 1.0, uint64(1)
	for ; i <= k && n < 1<<53; i++ {
		// c is n-k+i-1 over i-1, so the division leaves no remainder.
		high, low := bits.Mul64(c, uint64(n-k+i))
		if high >= uint64(i) {
			break
		}
		c, _ = bits.Div64(high, low, uint64(i))
	}
	x := float64(c)
	for ; i <= k && !math.IsInf(x, 1); i++ {
		x = x / i * (n - k + i)
	}
	return x
}
