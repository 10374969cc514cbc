package compare

import (
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/contrast"
)

// A Change is a difference as a share of A: the median of all ratios between a run of B and one of A, less one. It is
// between Low and High with a probability of 1 - Level; NaN where too few runs tell.
//
// The bounds are the changes that the test of a verdict does not rule out: ranks, and Welch's test of the logarithms
// where the sides, one moved by that change, do not overlap.
type Change struct{ Share, Low, High float64 }

// changeOf estimates the change from a to b.
func changeOf(a, b []float64, e *Estimate) Change {
	none := math.NaN()
	if slices.Min(a) > 0 && slices.Min(b) > 0 {
		return changeOfLogs(logs(a), logs(b))
	}
	base := math.Abs(e.A)
	if base == 0 {
		return Change{none, none, none}
	}
	c := Change{e.Shift / base, none, none}
	if e.Confidence >= 1-Level {
		c.Low, c.High = e.Low/base, e.High/base
	}
	return c
}

func changeOfLogs(a, b []float64) Change {
	low, high := math.Inf(-1), math.Inf(1)
	if l, h, confidence := Interval(a, b); confidence >= 1-Level {
		low, high = l, h
	}
	if len(a) > 1 && len(b) > 1 {
		_, l, h := contrast.Welch(a, b, Level)
		low = max(low, min(l, slices.Min(b)-slices.Max(a)))
		high = min(high, max(h, slices.Max(b)-slices.Min(a)))
	}
	c := Change{math.Expm1(contrast.Shift(b, a)), math.Expm1(low), math.Expm1(high)}
	if math.IsInf(low, 0) || math.IsInf(high, 0) {
		c.Low, c.High = math.NaN(), math.NaN()
	}
	return c
}

// Reversed is the change of a value that gets worse if it falls.
func (c Change) Reversed() Change { return Change{-c.Share, -c.High, -c.Low} }

// An Answer says whether a limit on a change holds.
type Answer string

const (
	Holds      Answer = "holds"
	Broken     Answer = "broken"
	CannotTell Answer = "cannot tell"
)

// Within compares a change with a limit: the answer is certain if the interval is on one side of the limit.
func (c Change) Within(limit float64) Answer {
	const rounding = 1e-9
	switch {
	case c.Low > limit+rounding:
		return Broken
	case c.High <= limit+rounding:
		return Holds
	}
	return CannotTell
}

// NeededFor returns the number of runs per side that would show in four cases of five on which side of a limit the
// change is. 0 where one value a side tells no spread.
func NeededFor(a, b []float64, limit float64) int {
	moved := make([]float64, len(a))
	for i, x := range a {
		moved[i] = x * (1 + limit)
	}
	e := Of(moved, b)
	return Needed(moved, b, math.Abs(e.Change.Share))
}
