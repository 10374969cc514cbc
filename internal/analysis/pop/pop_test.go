package pop

import (
	"math"
	"testing"
)

func TestEfficienciesOfACaseWorkedByHand(t *testing.T) {
	e := Of([]float64{80, 40, 60, 60}, 100)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"mean", e.Mean, 60}, {"max", e.Max, 80}, {"load balance", e.LoadBalance, 0.75}, {"communication efficiency", e.Communication, 0.8},
		{"parallel efficiency", e.Parallel, 0.6}, {"lost", e.Lost(), 80},
	} {
		if math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("%s is %v, want %v", c.name, c.got, c.want)
		}
	}
	if e.Slowest != 0 {
		t.Errorf("the slowest is %d", e.Slowest)
	}
}

func TestParallelEfficiencyIsTheProductOfTheOthers(t *testing.T) {
	x := uint64(7)
	for range 100 {
		useful := make([]float64, 1+x%50)
		for i := range useful {
			x = x*6364136223846793005 + 1442695040888963407
			useful[i] = float64(x >> 40)
		}
		e := Of(useful, 2e7)
		if d := math.Abs(e.LoadBalance*e.Communication - e.Parallel); d > 1e-12 {
			t.Fatalf("%v × %v is not %v", e.LoadBalance, e.Communication, e.Parallel)
		}
	}
}

func TestUndefinedEfficienciesAreNaN(t *testing.T) {
	if e := Of([]float64{0, 0}, 10); !math.IsNaN(e.LoadBalance) || e.Communication != 0 || e.Parallel != 0 {
		t.Errorf("nobody busy: %+v", e)
	}
	if e := Of(nil, 10); !math.IsNaN(e.LoadBalance) || !math.IsNaN(e.Parallel) {
		t.Errorf("no locations: %+v", e)
	}
	if e := Of([]float64{1}, 0); !math.IsNaN(e.Communication) || !math.IsNaN(e.Parallel) {
		t.Errorf("no time: %+v", e)
	}
}
