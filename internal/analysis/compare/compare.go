// Package compare judges runs against runs: how far two samples of runs are apart, how sure that is, and
// the least change that the samples could have shown.
//
// A run is one value of a sample. Steps and ranks inside a run are not: they share a
// machine, a day and a state, so a thousand of them say no more of the next run than one.
//
//	compare.go   the interval of Hodges and Lehmann's shift; the shift, ranks and Cliff's delta are package contrast's;
//	             Welch's test of few runs that do not overlap
//	change.go    the same as a share of A, and its answer to a limit
//	tree.go      control for many questions, down a call tree
//	verdict.go   changed, same or unknown; how many runs would tell
//	name.go      names without parts that change from run to run
//	match.go     which call path of one run is which of another
package compare

import (
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/contrast"
	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
)

// Level is the share of wrong answers that is accepted.
const Level = 0.05

// An Estimate says how far the values of B are from those of A.
type Estimate struct {
	A, B float64 // medians
	// Shift is B less A: the median of all differences. It is in [Low, High] with a
	// probability of Confidence, which is below 1 - Level where there are too few values;
	// NaN bounds where there is one value a side.
	Shift, Low, High, Confidence float64
	P                            float64
	Method                       contrast.Method
	Delta                        float64 // Cliff's, of B over A
	NA, NB                       int
	// PNormal is that of Welch's test of the logarithms, where all values of one side are beyond all of the other:
	// ranks of three runs against three reach p = 0.1 at best, however far they are apart. NaN elsewhere.
	PNormal float64
	// Change is the shift as a share of A.
	Change Change
}

// Decisive is the p that decides: that of the ranks, or where the sides do not overlap the smaller of both. So more
// runs that show the same never weaken a verdict.
func (e *Estimate) Decisive() float64 {
	if math.IsNaN(e.PNormal) {
		return e.P
	}
	return min(e.P, e.PNormal)
}

// welch compares the logarithms of sides that do not overlap; the values themselves if one side has none. NaN where it
// does not apply.
func welch(a, b []float64) float64 {
	if len(a) < 2 || len(b) < 2 || slices.Max(a) >= slices.Min(b) && slices.Max(b) >= slices.Min(a) {
		return math.NaN()
	}
	if slices.Min(a) > 0 && slices.Min(b) > 0 {
		a, b = logs(a), logs(b)
	}
	p, _, _ := contrast.Welch(a, b, Level)
	return p
}

func logs(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, x := range values {
		out[i] = math.Log(x)
	}
	return out
}

// Of estimates the shift from A to B.
func Of(a, b []float64) Estimate {
	e := Estimate{A: orderstat.Median(a), B: orderstat.Median(b), NA: len(a), NB: len(b), P: 1, Low: math.NaN(),
		High: math.NaN(), PNormal: math.NaN(), Change: Change{math.NaN(), math.NaN(), math.NaN()}}
	if len(a) == 0 || len(b) == 0 {
		e.Shift = math.NaN()
		return e
	}
	e.Shift, e.Delta = contrast.Shift(b, a), contrast.Delta(b, a)
	if len(a) > 1 || len(b) > 1 {
		e.P, e.Method = contrast.RankTest(a, b)
		e.Low, e.High, e.Confidence = Interval(a, b)
		e.PNormal = welch(a, b)
	}
	e.Change = changeOf(a, b, &e)
	return e
}

// Interval returns Moses' interval of the shift from a to b: the k-th least and the k-th largest of all
// differences, with the largest k that still covers it with 1 - Level. If even all differences do not,
// Interval returns their extremes with the confidence that they have: for 3 against 3 runs it is 90 %.
// O(differences).
func Interval(a, b []float64) (low, high, confidence float64) {
	d := make([]float64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			d = append(d, y-x)
		}
	}
	slices.Sort(d)
	k, confidence := cut(len(a), len(b))
	return d[k], d[len(d)-1-k], confidence
}

// mostCounted bounds the sizes whose ways are counted one by one.
const mostCounted = 1 << 22

// cut returns the number of differences to leave out at each end, and the coverage of the rest.
func cut(m, n int) (k int, confidence float64) {
	if int64(m)*int64(n)*int64(m)*int64(n) > mostCounted {
		mean, sd := float64(m*n)/2, math.Sqrt(float64(m*n*(m+n+1))/12)
		z := math.Sqrt2 * math.Erfinv(1-Level)
		return max(int(math.Floor(mean-z*sd)), 0), 1 - Level
	}
	ways := dealt(m, n)
	all := 0.0
	for _, w := range ways {
		all += w
	}
	tail := ways[0] / all // P(U ≤ 0): the tail at one end
	for k+1 < len(ways)/2 && tail+ways[k+1]/all <= Level/2 {
		k++
		tail += ways[k] / all
	}
	return k, 1 - 2*tail
}

// dealt counts, for each value of U, the ways to deal m + n different values to two sets:
// the coefficients of the Gaussian binomial, built factor by factor. O(m × m × n).
func dealt(m, n int) []float64 {
	if m > n {
		m, n = n, m
	}
	c := make([]float64, m*n+1)
	c[0] = 1
	for i := 1; i <= m; i++ {
		for u := m * n; u >= n+i; u-- { // times 1 - q^(n+i)
			c[u] -= c[u-n-i]
		}
		for u := i; u <= m*n; u++ { // over 1 - q^i
			c[u] += c[u-i]
		}
	}
	return c
}
