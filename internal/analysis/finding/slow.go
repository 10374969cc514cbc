package finding

import (
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
)

// A Slow is phases that take longer than is usual.
type Slow struct {
	At     []int   // their places
	Usual  float64 // how long a phase takes otherwise
	Since  bool    // all from the first of them on
	Period int     // each is so many after the one before; 0: no period
}

const (
	// slowFactor is by how much a slow phase is longer than usual.
	slowFactor = 1.15
	// fewestSides is how many phases there are before and after a change.
	fewestSides = 3
	// changeSpread is how many times the usual spread of phases a change must be.
	changeSpread = 5
)

// SlowOnes finds the phases that take longer than the others: all from one on, or some. Lengths that vary from
// phase to phase anyhow have none. O(n²).
func SlowOnes(lengths []float64) (Slow, bool) {
	if s, ok := slowSince(lengths); ok {
		return s, true
	}
	usual, spread := middleAndSpread(lengths)
	s := Slow{Usual: usual}
	for k, v := range lengths {
		if v > slowFactor*usual && v > usual+changeSpread*spread {
			s.At = append(s.At, k)
		}
	}
	if len(s.At) == 0 || 3*len(s.At) > len(lengths) || len(s.At) == 1 && s.At[0] == 0 { // the first warms up
		return s, false
	}
	s.Period = periodOf(s.At, len(lengths))
	return s, s.Period > 0 || len(s.At) == 1
}

// slowSince finds a change: all phases after it are longer than all but few before it.
func slowSince(lengths []float64) (best Slow, ok bool) {
	n := len(lengths)
	least := math.Inf(1)
	for t := fewestSides; t <= n-fewestSides; t++ {
		before, spread := middleAndSpread(lengths[:t])
		after, spreadAfter := middleAndSpread(lengths[t:])
		if after < slowFactor*before || after-before < changeSpread*max(spread, spreadAfter) {
			continue
		}
		rest := 0.0
		for k, v := range lengths {
			if k < t {
				rest += math.Abs(v - before)
			} else {
				rest += math.Abs(v - after)
			}
		}
		if rest < least {
			least = rest
			best = Slow{Usual: before, Since: true}
			for k := t; k < n; k++ {
				best.At = append(best.At, k)
			}
		}
	}
	if best.At == nil {
		return best, false
	}
	// it lasts: a few phases on the wrong side at most
	wrong := 0
	_, t := best.Usual, best.At[0]
	after, _ := middleAndSpread(lengths[t:])
	limit := (best.Usual + after) / 2
	for k, v := range lengths {
		if (v > limit) != (k >= t) {
			wrong++
		}
	}
	return best, 20*wrong <= n
}

// Spread is how far values lie from their median, as a part of it.
func Spread(values []float64) float64 {
	middle, spread := middleAndSpread(values)
	if middle <= 0 {
		return math.Inf(1)
	}
	return spread / middle
}

// middleAndSpread are the median, and the median distance from it as that of a normal distribution.
func middleAndSpread(values []float64) (middle, spread float64) {
	if len(values) == 0 {
		return 0, 0
	}
	return orderstat.Deviation(slices.Clone(values))
}

// periodOf is the distance of places, where it is the same for all of them, and they go through the whole run; else 0.
func periodOf(at []int, n int) int {
	if len(at) < 3 {
		return 0
	}
	var gaps []int
	for i := 1; i < len(at); i++ {
		gaps = append(gaps, at[i]-at[i-1])
	}
	p := slices.Min(gaps)
	if p < 2 || slices.Max(gaps) != p || at[0] >= 2*p || at[len(at)-1]+2*p < n {
		return 0
	}
	return p
}
