package compare

import "math"

// A Verdict is one of three, never two: not to have seen a change is not to have seen that
// there is none.
type Verdict string

const (
	Changed Verdict = "changed"
	Same    Verdict = "same"    // not changed by more than the smallest change to report
	Unknown Verdict = "unknown" // too few runs, or too noisy
)

// LeastWorth is the least relative change that is worth saying.
const LeastWorth = 0.01

// leastRuns is the number of runs that a side must have before ranks alone can reach Level: 4
// against 4 wholly apart is p = 0.029, 3 against 3 is 0.1.
const leastRuns = 4

// Judge returns the verdict on one estimate. q is its p after control for the other
// questions, NaN where it was not asked; worth is relative to A.
func (e *Estimate) Judge(q, worth float64) Verdict {
	switch {
	case e.A == 0 && e.B == 0:
		return Same // nothing there and nothing here
	case q <= Level && !(math.Abs(e.Change.Share) < worth): // NaN: it is new
		return Changed
	case e.Change.Low > -worth && e.Change.High < worth:
		return Same
	}
	return Unknown
}

// Detectable is the least relative change that these values could have shown: half of the width of the interval. NaN
// if there is none.
func (e *Estimate) Detectable() float64 { return (e.Change.High - e.Change.Low) / 2 }

// Needed returns the number of runs per side that would show a relative change of worth in four cases of
// five: Noether's bound for Mann and Whitney's test, with the spread of these values. 0
// where one value a side tells no spread.
func Needed(a, b []float64, worth float64) int {
	v, df := 0.0, 0.0
	mean := 0.0
	for i, s := range [][]float64{a, b} {
		m := 0.0
		for _, x := range s {
			m += x / float64(len(s))
		}
		for _, x := range s {
			v += (x - m) * (x - m)
		}
		df += float64(len(s) - 1)
		if i == 0 {
			mean = m
		}
	}
	if df < 1 || mean == 0 {
		return 0
	}
	sd := math.Sqrt(v/df) / math.Abs(mean)
	z := math.Sqrt2 * (math.Erfinv(1-Level) + math.Erfinv(2*0.8-1))
	// A shift of d standard deviations makes B larger in Φ(d/√2) of all pairs.
	apart := math.Erf(worth/sd/2) / 2
	if sd == 0 || apart >= 0.5 {
		return leastRuns
	}
	return max(int(math.Ceil(z*z/(6*apart*apart))), leastRuns)
}
