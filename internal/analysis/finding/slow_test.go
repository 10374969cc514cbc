package finding

import (
	"fmt"
	"testing"
)

func TestSlowPhasesAreAChangeOrAPeriodAndNotNoise(t *testing.T) {
	series := func(n int, slow func(k int) float64) []float64 {
		out := make([]float64, n)
		for k := range out {
			out[k] = (100 + float64(k*7%5)) * slow(k)
		}
		return out
	}
	for name, c := range map[string]struct {
		values []float64
		want   string
	}{
		"even":      {series(40, func(int) float64 { return 1 }), "none"},
		"since":     {series(40, func(k int) float64 { return []float64{1, 1.3}[min(k/24, 1)] }), "since 24"},
		"period":    {series(40, func(k int) float64 { return []float64{1, 3}[k%10/9] }), "period 10 from 9"},
		"one":       {series(40, func(k int) float64 { return []float64{1, 3}[boolAs(k == 17)] }), "period 0 from 17"},
		"the first": {series(40, func(k int) float64 { return []float64{1, 3}[boolAs(k == 0)] }), "none"},
		"irregular": {series(40, func(k int) float64 { return []float64{1, 3}[boolAs(k == 3 || k == 8 || k == 31)] }), "none"},
		"faster":    {series(40, func(k int) float64 { return []float64{1.3, 1}[min(k/24, 1)] }), "none"},
	} {
		got := "none"
		if s, ok := SlowOnes(c.values); ok && s.Since {
			got = fmt.Sprint("since ", s.At[0])
		} else if ok {
			got = fmt.Sprintf("period %d from %d", s.Period, s.At[0])
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func boolAs(b bool) int {
	if b {
		return 1
	}
	return 0
}
