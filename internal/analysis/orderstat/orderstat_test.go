package orderstat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestOrderStatisticsAreThoseOfTheSortedList(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		a := make([]float64, 1+rng.IntN(200))
		for i := range a {
			a[i] = float64(rng.IntN(20))
		}
		before, sorted := slices.Clone(a), slices.Sorted(slices.Values(a))
		median := (sorted[(len(a)-1)/2] + sorted[len(a)/2]) / 2
		if got := Median(a); got != median || !slices.Equal(a, before) {
			t.Fatalf("the median of %v is %v, want %v; afterwards %v", before, got, median, a)
		}
		q := rng.Float64()
		h := q * float64(len(a)-1)
		i := int(h)
		want := sorted[i] + (h-float64(i))*(sorted[min(i+1, len(a)-1)]-sorted[i])
		if got := Quantile(slices.Clone(a), q); math.Abs(got-want) > 1e-12 {
			t.Fatalf("quantile %v of %v is %v, want %v", q, before, got, want)
		}
		n := rng.IntN(len(a))
		got := Nth(a, n)
		if got != sorted[n] || slices.Max(a[:n+1]) != got || slices.Min(a[n:]) != got {
			t.Fatalf("the %d of %v is %v, want %v; afterwards %v", n, before, got, sorted[n], a)
		}
	}
	if Median(nil) != 0 || Quantile[float64](nil, 0.5) != 0 {
		t.Error("nothing has a median")
	}
}
