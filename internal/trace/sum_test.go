package trace

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// Every operation agrees with numbers of any size.
func TestSumsAreWholeNumbersOfAnySize(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func() int64 {
		x := rng.Int64() >> rng.IntN(64)
		switch rng.IntN(8) {
		case 0:
			return -x
		case 1:
			return math.MaxInt64 - x>>60
		case 2:
			return math.MinInt64 + x>>60
		}
		return x
	}
	for range 2000 {
		var s, o Sum
		want, other := new(big.Int), new(big.Int)
		for range rng.IntN(20) {
			a, b, n := random(), random(), random()>>20
			s.Add(Time(a))
			want.Add(want, big.NewInt(a))
			o.AddSum(SumProduct(n, Time(b)))
			other.Add(other, new(big.Int).Mul(big.NewInt(n), big.NewInt(b)))
		}
		s.AddSum(o)
		want.Add(want, other)
		if s.String() != want.String() {
			t.Fatalf("%s, want %s", s, want)
		}
		if d := s.Minus(o); d.String() != new(big.Int).Sub(want, other).String() {
			t.Fatalf("%s - %s is %s", s, o, d)
		}
		if s.Sign() != want.Sign() || s.Compare(o) != want.Cmp(other) {
			t.Fatalf("sign of %s: %d, beside %s: %d", s, s.Sign(), o, s.Compare(o))
		}
		f, _ := new(big.Float).SetInt(want).Float64()
		if math.Abs(s.Float64()-f) > math.Abs(f)*1e-15 {
			t.Fatalf("%s as a number: %g, want %g", s, s.Float64(), f)
		}
		b, err := json.Marshal(s)
		var back Sum
		if err != nil || json.Unmarshal(b, &back) != nil || back != s {
			t.Fatalf("%s as JSON: %s, back %s", s, b, back)
		}
	}
}

func TestSumsBeyondTheRangeOfTimesSaturate(t *testing.T) {
	day := Time(24 * 3600 * 1e9)
	if s := SumProduct(1e6, day); s.String() != "86400000000000000000" || s.Time() != math.MaxInt64 || SumProduct(-1e6, day).Time() != math.MinInt64 {
		t.Errorf("a million days: %s, as a time %d", s, s.Time())
	}
	if s := SumOf(-7); s.Time() != -7 || s.Float64() != -7 || s.Sign() != -1 {
		t.Errorf("minus seven is %s", s)
	}
	if n := AtMost(day); SumProduct(2*n, day).Sign() != 1 || SumProduct(2*n, day).High != 0 || int64(SumProduct(2*n, day).Low) < 0 {
		t.Errorf("%d days run over", 2*n)
	}
}
