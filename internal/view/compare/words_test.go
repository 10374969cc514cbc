package compare

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/compare"
)

// A sentence that names the means of both sides says their change too, where the median change is another one.
func TestChangeThatIsSaidIsThatOfTheMeansNamed(t *testing.T) {
	for _, c := range []struct {
		a, b, median float64
		want         string
	}{
		{100, 110, 0.1, "10 % more"},
		{100, 110, 0.104, "10 % more"},
		{7.12, 1.526, -0.989, "79 % less by the means, 99 % less by the median of all pairs of runs"},
		{100, 104, -0.02, "4.0 % more by the means, 2.0 % less by the median of all pairs of runs"},
	} {
		e := compare.Estimate{A: c.a, B: c.b, Change: compare.Change{Share: c.median}}
		if got := changeWords(&e); got != c.want {
			t.Errorf("%v to %v, median %v: %q, want %q", c.a, c.b, c.median, got, c.want)
		}
	}
}
