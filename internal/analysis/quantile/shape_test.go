package quantile

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestTwoModesAreDistinguishedFromOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	around := func(s *Sketch, centre, width float64, n int) {
		for range n {
			s.Add(int64(centre * math.Exp(width*rng.NormFloat64())))
		}
	}
	for _, n := range []int{100, 200, 5000} {
		for round := range 20 {
			var one, two, far Sketch
			around(&one, 5000, 0.3, n)
			around(&two, 3000, 0.15, n/2)
			around(&two, 80000, 0.2, n-n/2)
			around(&far, 3000, 0.2, n-1) // a single far value is no heap
			around(&far, 1e7, 0.1, 1)
			if h := one.Shape().Modes(); n >= 200 && len(h) != 1 {
				t.Errorf("%d values around 5,000, round %d: modes at %v", n, round, h)
			}
			if h := two.Shape().Modes(); len(h) != 2 || math.Abs(math.Log(h[0]/3000)) > 0.35 || math.Abs(math.Log(h[1]/80000)) > 0.35 {
				t.Errorf("%d values around 3,000 and 80,000, round %d: modes at %v", n, round, h)
			}
			if h := far.Shape().Modes(); n >= 200 && len(h) != 1 {
				t.Errorf("%d values and one far off, round %d: modes at %v", n, round, h)
			}
		}
	}
	var few, zero Sketch
	around(&few, 10, 1, 5)
	for range 100 {
		zero.Add(0)
	}
	if few.Shape() != nil || zero.Shape() != nil {
		t.Error("five values or none above 0 have a shape")
	}
}

func TestAShapeHoldsAllValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 50 {
		var s Sketch
		n := 64 + rng.IntN(2000)
		for range n {
			s.Add(int64(math.Exp(rng.Float64()*20)) - 1)
		}
		sh := s.Shape()
		sum := int(sh.Zeros)
		for _, c := range sh.Counts {
			sum += int(c)
		}
		if sum != n {
			t.Fatalf("%d of %d values", sum, n)
		}
		if sh.Edge(0) > float64(max(s.Min, 1))*1.0001 || sh.Edge(len(sh.Counts)) < float64(s.Max) {
			t.Fatalf("from %v to %v, values from %d to %d", sh.Edge(0), sh.Edge(len(sh.Counts)), s.Min, s.Max)
		}
	}
}
