package contrast

import (
	"math"
	"testing"
)

// Fisher's own tea-tasting, and tables worked out by R's fisher.test.
func TestFisher(t *testing.T) {
	for _, c := range []struct {
		a, n, b, m int
		p          float64
	}{{3, 4, 1, 4, 0.4857142857}, {4, 4, 0, 4, 0.0285714286}, {1, 10, 11, 14, 0.002759456}, {0, 5, 0, 5, 1}, {5, 5, 5, 5, 1}, {2, 2, 0, 0, 1}} {
		if got := Fisher(c.a, c.n, c.b, c.m); math.Abs(got-c.p) > 1e-8 {
			t.Errorf("%d of %d against %d of %d: %v, want %v", c.a, c.n, c.b, c.m, got, c.p)
		}
	}
}

func TestAdjust(t *testing.T) {
	got := Adjust([]float64{0.04, 0.01, 0.03, 0.5})
	for i, want := range []float64{0.16 / 3, 0.04, 0.16 / 3, 0.5} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("q[%d] is %v, want %v", i, got[i], want)
		}
	}
}
