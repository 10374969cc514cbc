// Package contrast compares two sets of numbers: the values of a quantity on some locations and on others,
// or on the same ones at two times.
//
// It asks how large the difference is, and how sure. Both answers go by ranks, so
// that one wild value decides nothing:
//
//	shift   Hodges, Lehmann: Estimates of location based on rank tests (1963).
//	        The median of all differences a - b, in the unit of the values.
//	delta   Cliff: Dominance statistics (1993). How often an a is larger than a b
//	        less how often it is smaller: 1 where every a is larger, -1 where none.
//	        For pairs: Kerby's matched-pairs rank-biserial correlation (2014).
//	p       Mann and Whitney's test, of pairs Wilcoxon's signed ranks, with ties.
//	        Exact where sets are small; see p.go.
//	q       Benjamini, Hochberg: Controlling the false discovery rate (1995). p
//	        made larger for the many quantities that are compared at once.
//
// The shift alone does not show whether it matters, so it is related to a whole: 30 ms more in a
// region are much where a location runs for 100 ms. Effect is shift / whole, and quantities are ranked by
// |effect| × |delta|: a large difference on all locations comes before a large one on some, or a small one
// on all. A test alone would rank by how many locations there are.
package contrast

import (
	"math"
	"slices"
)

// A Comparison is one quantity on both sides.
type Comparison struct {
	A, B []float64
	// Paired sets hold the same units in the same order.
	Paired bool
	// Whole is the total of a location, in the unit of the values: its time, its bytes.
	Whole float64
	// Ranks keeps to the test by ranks however small the sets are, for values that
	// are no measurements, such as yes and no.
	Ranks bool
}

// A Judgement is the result of a comparison.
type Judgement struct {
	Delta  float64 // from -1 to 1, positive where a is larger
	Shift  float64 // in the unit of the values
	Effect float64 // shift / whole
	P      float64 // two-sided, of one comparison alone
	Q      float64 // corrected for all that were tested; NaN where it was not
	Method Method  // which test p is of
	// Tested quantities are large enough to matter on some location.
	Tested bool
	// Clear differences are neither chance nor small.
	Clear bool
}

// Score ranks: much and everywhere first.
func (j *Judgement) Score() float64 { return math.Abs(j.Effect) * math.Abs(j.Delta) }

// Level is the share of differences called clear that may be chance.
const Level = 0.05

const (
	// LeastEffect is the least share of the whole that is worth reporting.
	LeastEffect = 0.005
	// leastDelta is a medium difference after Romano and others (2006).
	leastDelta = 0.33
	// leastStudent is how far sets must be apart where a test that believes in
	// normal distributions decides: for one against seven, wholly.
	leastStudent = 0.8
)

// Judge compares many quantities at once. Takes O(n log n) a comparison, and no more
// than a bounded number of steps beyond that.
//
// Quantities that reach LeastEffect of the whole on no location are not tested, so
// that thousands of tiny regions do not drown one that counts; the choice does not
// look at which side a value is on, so it does not favour differences (Bourgon and
// others: Independent filtering, 2010).
func Judge(list []Comparison) []Judgement {
	out := make([]Judgement, len(list))
	tested := 0
	for i := range list {
		c, j := &list[i], &out[i]
		if j.Tested = c.matters(); j.Tested {
			tested++
		}
		if c.Paired {
			j.Delta, j.Shift = signed(c.A, c.B)
		} else {
			j.Delta, j.Shift = Delta(c.A, c.B), Shift(c.A, c.B)
		}
		if j.Effect = j.Shift / c.Whole; !(c.Whole > 0) {
			j.Effect = 0
		}
	}
	draw := &drawer{}
	for i := range list {
		c, j := &list[i], &out[i]
		j.P, j.Method = c.test(tested, draw)
	}
	correct(out)
	for i := range out {
		j := &out[i]
		least := leastDelta
		if j.Method == Student {
			least = leastStudent
		}
		j.Clear = j.Tested && j.Q <= Level && math.Abs(j.Effect) >= LeastEffect && math.Abs(j.Delta) >= least
	}
	return out
}

// matters reports whether the quantity is worth a look on some unit.
func (c *Comparison) matters() bool {
	least := LeastEffect * c.Whole
	large := func(v float64) bool { return math.Abs(v) >= least && v != 0 }
	return c.Whole > 0 && len(c.A) > 0 && len(c.B) > 0 &&
		(slices.ContainsFunc(c.A, large) || slices.ContainsFunc(c.B, large))
}

// correct fills in Q by Benjamini and Hochberg's step-up rule over the tested quantities.
func correct(list []Judgement) {
	var order []int
	for i := range list {
		list[i].Q = math.NaN()
		if list[i].Tested {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case list[a].P < list[b].P:
			return -1
		case list[a].P > list[b].P:
			return 1
		}
		return 0
	})
	least := 1.0
	for k := len(order) - 1; k >= 0; k-- {
		j := &list[order[k]]
		least = min(least, j.P*float64(len(order))/float64(k+1))
		j.Q = least
	}
}
