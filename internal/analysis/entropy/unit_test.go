package entropy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTheUnitOfValuesChangesNoCut: ten hours in nanoseconds, or in centuries, have as
// many thresholds and the same cuts at every normalised p as the same numbers in seconds.
func TestTheUnitOfValuesChangesNoCut(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		tree, _, values := leafValues(randomNode(r, 4))
		for _, g := range []Gain{GainValues, GainEntropy} {
			one := Label(tree, values, g)
			thresholds, significant := one.Thresholds()
			for _, unit := range []float64{3.6e13, 1e18, 1e-13} {
				scaled := make([][]float64, len(values))
				for x := range values {
					for _, v := range values[x] {
						scaled[x] = append(scaled[x], v*unit)
					}
				}
				other := Label(tree, scaled, g)
				otherThresholds, otherSignificant := other.Thresholds()
				if len(significant) != len(otherSignificant) {
					t.Fatalf("in units of %g there are %d thresholds, want %d: %v and %v", unit, len(otherSignificant), len(significant), otherSignificant, significant)
				}
				for k := range significant {
					if a, b := one.P(significant[k], Normalised), other.P(otherSignificant[k], Normalised); math.Abs(a-b) > 1e-9 {
						t.Fatalf("in units of %g threshold %d is %v, want %v", unit, k, b, a)
					}
				}
				for _, p := range []float64{0, 0.01, 0.1, 0.3137, 0.5, 0.777, 0.9, 0.999, 1} {
					a, b := one.Best(thresholds, one.Odds(p, Normalised)), other.Best(otherThresholds, other.Odds(p, Normalised))
					if !slices.Equal(a.Parts, b.Parts) {
						t.Fatalf("in units of %g the cut at p = %v is %v, want %v", unit, p, b.Parts, a.Parts)
					}
				}
			}
		}
	}
}

// TestACutWithPNearOneIsOnePart: whatever the unit, p near 1 draws one value (E5).
func TestACutWithPNearOneIsOnePart(t *testing.T) {
	tree := &Tree{Parent: []int32{-1, 0, 1, 1, 0, 4, 4}, Last: []int32{6, 3, 2, 3, 6, 5, 6}}
	values := [][]float64{{0, 0, 3.6e13, 1e13, 0, 2e13, 2.5e13}}
	l := Label(tree, values, GainValues)
	thresholds, significant := l.Thresholds()
	if len(significant) != 2 {
		t.Errorf("thresholds %v, want two: the unlike pair is one no sooner than the whole", significant)
	}
	for _, s := range []Scale{Normalised, Plain} {
		p := 0.999
		if s == Plain {
			p = 1 - 1e-15
		}
		if cut := l.Best(thresholds, l.Odds(p, s)); len(cut.Parts) != 1 {
			t.Errorf("scale %d: %d parts at p = %v, want 1", s, len(cut.Parts), p)
		}
	}
	if cut := l.Best(thresholds, l.Odds(0, Normalised)); len(cut.Parts) != 4 {
		t.Errorf("%d parts at p = 0, want 4", len(cut.Parts))
	}
}
