package quantile

import (
	"math/big"
	"math/bits"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A wide is an unsigned number of 128 bits. Sums of squares in it are exact, so
// that a deviation does not depend on the order of adding and does not drown in
// the rounding of a large mean.
type wide struct{ high, low uint64 }

func (w *wide) add(o wide) {
	low, carry := bits.Add64(w.low, o.low, 0)
	w.high, w.low = w.high+o.high+carry, low
}

func (w *wide) addSquare(v uint64) {
	high, low := bits.Mul64(v, v)
	w.add(wide{high, low})
}

// variance of n values of that total whose squares add up to w: (n w − total²) / n².
func (w wide) variance(n uint64, sum trace.Sum) float64 {
	if sum.High != 0 {
		return w.longVariance(n, sum)
	}
	total := sum.Low
	// n w as three words.
	carried, low := bits.Mul64(n, w.low)
	top, middle := bits.Mul64(n, w.high)
	middle, c := bits.Add64(middle, carried, 0)
	top += c
	high, squareLow := bits.Mul64(total, total)
	low, borrow := bits.Sub64(low, squareLow, 0)
	middle, borrow = bits.Sub64(middle, high, borrow)
	top -= borrow
	const word = 1 << 64
	difference := (float64(top)*word+float64(middle))*word + float64(low)
	return difference / float64(n) / float64(n)
}

// longVariance is variance for a total of more than 64 bits.
func (w wide) longVariance(n uint64, sum trace.Sum) float64 {
	number := func(high, low uint64) *big.Int {
		x := new(big.Int).SetUint64(high)
		return x.Lsh(x, 64).Add(x, new(big.Int).SetUint64(low))
	}
	total := number(uint64(sum.High), sum.Low)
	all := number(w.high, w.low)
	all.Mul(all, number(0, n)).Sub(all, total.Mul(total, total))
	difference, _ := new(big.Float).SetInt(all).Float64()
	return max(difference, 0) / float64(n) / float64(n)
}
