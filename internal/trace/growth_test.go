package trace

import (
	"math"
	"testing"
)

func TestGrowthOfCountersFollowsTheirValues(t *testing.T) {
	for _, c := range []struct {
		values          []float64
		said            bool
		monotone, grows bool
		wrong           bool
	}{
		{nil, false, false, false, false},
		{nil, true, true, false, false},
		{[]float64{3}, true, true, false, false},
		{[]float64{1, 1, 4}, false, false, true, false},
		{[]float64{1, 1, 4}, true, true, true, false},
		{[]float64{2, 2}, true, true, false, false},
		{[]float64{1500, 900, 2100}, true, false, false, true},
		{[]float64{1, math.NaN(), 2}, false, false, true, false},
		{[]float64{5, 4}, false, false, false, false},
	} {
		var g Growth
		for _, v := range c.values {
			g.Add(v)
		}
		k := Counter{Monotone: c.said}
		if wrong := g.Settle(&k); wrong != c.wrong || k.Monotone != c.monotone || k.Grows != c.grows {
			t.Errorf("%v said %v: monotone %v, grows %v, wrong %v", c.values, c.said, k.Monotone, k.Grows, wrong)
		}
	}
}
