package trace

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
)

// A Sum is time added up over locations, in nanoseconds: a whole number of 128 bits, high word first, negative as two's
// complement. A Time ends at 292 years, which a million ranks pass in less than three hours.
//
// The rule: a Time is a place on the clock, or a length on one location. Whatever is added up over locations is a Sum,
// or a float64 where it is drawn or divided anyway. Hot loops may add Times while they count how many can be in one
// cell (AtMost), and move them to Sums in between. JSON holds a Sum as a whole number, all of its digits.
type Sum struct {
	High int64
	Low  uint64
}

// SumOf returns the sum of one time.
func SumOf(t Time) Sum { return Sum{int64(t) >> 63, uint64(t)} }

// SumOfNumber returns the integer nearest to x; 0 if x is no number or does not fit 128 bits.
func SumOfNumber(x float64) Sum {
	x = math.RoundToEven(x)
	if !(math.Abs(x) < 1<<126) {
		return Sum{}
	}
	high := math.Floor(x / (1 << 64))
	return Sum{int64(high), uint64(x - high*(1<<64))}
}

// SumProduct is n times t.
func SumProduct(n int64, t Time) Sum {
	high, low := bits.Mul64(uint64(n), uint64(t))
	// Two's complement: of a negative factor the other one is too much by 2^64 of it.
	return Sum{int64(high) - n>>63&int64(t) - int64(t)>>63&n, low}
}

// Part is where part i of n equal parts of a length begins: length × i / n without running over in between.
func Part(length Time, i, n int64) Time {
	high, low := bits.Mul64(uint64(length), uint64(i))
	q, _ := bits.Div64(high, low, uint64(n))
	return Time(q)
}

// AtMost returns the number of lengths of up to span that can be added in a Time before it may run over, with room
// for the same again.
func AtMost(span Time) int64 { return math.MaxInt64 / 2 / max(int64(span), 1) }

// AddUp adds lengths of different locations in 64 bits; on overflow it returns the longest Time.
func AddUp(a, b Time) Time {
	s := a + b
	if (a^s)&(b^s) >= 0 { // of the sign that one of them has
		return s
	}
	if a < 0 {
		return math.MinInt64
	}
	return math.MaxInt64
}

// Add adds a time.
func (s *Sum) Add(t Time) {
	low, carry := bits.Add64(s.Low, uint64(t), 0)
	s.Low = low
	s.High += int64(t)>>63 + int64(carry)
}

// AddSum adds another sum.
func (s *Sum) AddSum(o Sum) {
	low, carry := bits.Add64(s.Low, o.Low, 0)
	s.Low = low
	s.High += o.High + int64(carry)
}

// Minus returns the difference of two sums.
func (s Sum) Minus(o Sum) Sum {
	low, borrow := bits.Sub64(s.Low, o.Low, 0)
	return Sum{s.High - o.High - int64(borrow), low}
}

// Sign is -1, 0 or 1.
func (s Sum) Sign() int {
	switch {
	case s.High < 0:
		return -1
	case s == Sum{}:
		return 0
	}
	return 1
}

// Compare orders sums, as cmp.Compare does numbers.
func (s Sum) Compare(o Sum) int { return s.Minus(o).Sign() }

// Float64 returns the nearest number.
func (s Sum) Float64() float64 {
	if s.High == int64(s.Low)>>63 {
		return float64(int64(s.Low))
	}
	return float64(s.High)*(1<<64) + float64(s.Low)
}

// Time returns the sum where it fits, else the last time there is.
func (s Sum) Time() Time {
	switch {
	case s.High == int64(s.Low)>>63:
		return Time(s.Low)
	case s.High < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// String writes all digits.
func (s Sum) String() string { return string(s.append(nil)) }

func (s Sum) append(to []byte) []byte {
	if s.High == int64(s.Low)>>63 {
		return strconv.AppendInt(to, int64(s.Low), 10)
	}
	x := big.NewInt(s.High)
	x.Lsh(x, 64).Add(x, new(big.Int).SetUint64(s.Low))
	return x.Append(to, 10)
}

// MarshalJSON implements json.Marshaler.
func (s Sum) MarshalJSON() ([]byte, error) { return s.append(nil), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (s *Sum) UnmarshalJSON(b []byte) error {
	x, ok := new(big.Int).SetString(string(b), 10)
	if !ok || x.BitLen() > 127 {
		return strconv.ErrSyntax
	}
	low := new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64))
	s.Low = low.Uint64()
	s.High = new(big.Int).Rsh(x, 64).Int64()
	return nil
}
