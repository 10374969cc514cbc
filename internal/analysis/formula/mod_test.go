package formula

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The fast way for whole numbers gives what the general one does, to the bit.
func TestModOfWholeNumbersIsThatOfAllNumbers(t *testing.T) {
	general := func(a, b float64) float64 {
		r := math.Mod(a, b)
		if r != 0 && (r < 0) != (b < 0) {
			r += b
		}
		return r
	}
	rng := rand.New(rand.NewPCG(1, 2))
	numbers := []float64{0, math.Copysign(0, -1), 1, -1, 2, 3, -3, 7, 0.5, 1 << 52, 1 << 53, 1 << 54, 1e300, -1e300, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxInt64, math.MinInt64}
	for range 2000 {
		numbers = append(numbers, float64(rng.Int64N(1<<20)), float64(rng.Int64()), rng.Float64()*100)
	}
	for _, a := range numbers {
		for _, b := range numbers[:60] {
			if got, want := Mod(a, b), general(a, b); math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Fatalf("mod(%v, %v) is %v, want %v", a, b, got, want)
			}
		}
	}
}
