// Package change finds where a series of values changes for good: the runs of a program
// in the order of its commits, say.
//
// The statistic is E-divisive's: the energy distance between the values before and after a point, weighted
// by how many values that is (Matteson, James: A Nonparametric Approach for Multiple Change Point Analysis
// of Multivariate Data, 2014). Points are looked for in windows that overlap, and then taken back one by
// one, the weakest first, until all that are left are sure and large enough (Fleming and others: Hunter:
// Using Change Point Detection to Hunt for Performance Regressions, 2023), by Student's t. That test does
// not know that the point was chosen for being where the parts differ most; E-divisive's own, which deals
// the values anew, does: Options.Drawn asks for it on top. The place of a point is that of least absolute deviations.
package change

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/contrast"
	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
)

// Options define the changes to report. The zero value is that of Defaults.
type Options struct {
	Window    int     // how many values are looked at together
	P         float64 // probability of such a change by chance
	Magnitude float64 // the least relative change
	// Drawn is how often the values on both sides of a point, up to a window each, are dealt anew, from a
	// fixed seed: a point is chance if more than P of the drawings divide as well. 0: never, as Hunter
	// does.
	Drawn int
}

// Defaults are those of Hunter.
var Defaults = Options{Window: 30, P: 0.01, Magnitude: 0.05}

// A Point is a change: the values from Index on differ from those before.
type Point struct {
	Index         int
	Before, After float64 // means of the values since the change before, and until the next
	P             float64
	Dealt         float64 // in how many cases values dealt anew divide as well, where asked for
}

// Magnitude is how much larger the greater mean is than the smaller.
func (p *Point) Magnitude() float64 {
	magnitude := func(from, to float64) float64 {
		if from == 0 {
			return 0
		}
		return math.Abs(to/from - 1)
	}
	return max(magnitude(p.Before, p.After), magnitude(p.After, p.Before))
}

// Points finds the changes of a series, ascending. O(n × Window²).
func Points(v []float64, o Options) []Point {
	if o == (Options{}) {
		o = Defaults
	}
	draw := rand.New(rand.NewPCG(1, 1))
	first := o.P // a first look may be less strict: weak points are removed later
	switch {
	case o.P < 0.05:
		first *= 10
	case o.P < 0.5:
		first *= 2
	}
	var found []int
	for from := 0; from < len(v); {
		to := min(from+o.Window, len(v))
		last := 0
		for _, at := range split(v[from:to], first) {
			last = from + at
			if !slices.Contains(found, last) {
				found = append(found, last)
			}
		}
		from = max(last, from+o.Window/2)
	}
	slices.Sort(found)
	for {
		points := merge(v, found, o)
		weakest := weakest(v, points, o, draw)
		if weakest < 0 {
			settle(v, points, o.Window)
			return points
		}
		found = found[:0]
		for i := range points {
			if i != weakest {
				found = append(found, points[i].Index)
			}
		}
	}
}

// settle moves each point to where the distances from the medians on both sides are least, which outliers do not
// change. The energy distance decides that there is a change; it takes a part of the values after it and so may miss
// its place by one.
func settle(v []float64, points []Point, window int) {
	for i := range points {
		lo, hi := around(v, points, i)
		lo, hi = max(lo, points[i].Index-window), min(hi, points[i].Index+window)
		least := math.Inf(1)
		for at := lo + 1; at < hi; at++ {
			if s := distances(v[lo:at]) + distances(v[at:hi]); s < least {
				least, points[i].Index = s, at
			}
		}
	}
	for i := range points {
		measure(v, points, i)
	}
}

// distances is the sum of the distances from the median.
func distances(v []float64) (sum float64) {
	m := orderstat.Median(v)
	for _, x := range v {
		sum += math.Abs(x - m)
	}
	return sum
}

// weakest is the point that chance explains best, where it explains it too well; -1: none.
func weakest(v []float64, points []Point, o Options, draw *rand.Rand) int {
	if o.Drawn == 0 {
		return -1
	}
	out, most := -1, o.P
	for i := range points {
		lo, hi := around(v, points, i)
		at := points[i].Index
		part := slices.Clone(v[max(lo, at-o.Window):min(hi, at+o.Window)])
		best, _ := candidate(part)
		as := 1
		for range o.Drawn {
			draw.Shuffle(len(part), func(a, b int) { part[a], part[b] = part[b], part[a] })
			if q, _ := candidate(part); q >= best {
				as++
			}
		}
		points[i].Dealt = float64(as) / float64(o.Drawn+1)
		if points[i].Dealt > most {
			out, most = i, points[i].Dealt
		}
	}
	return out
}

// around is the stretch from the point before one to the point after it.
func around(v []float64, points []Point, i int) (lo, hi int) {
	hi = len(v)
	if i > 0 {
		lo = points[i-1].Index
	}
	if i+1 < len(points) {
		hi = points[i+1].Index
	}
	return lo, hi
}

// split divides a window at its greatest distance, and its parts likewise, while the parts differ by
// Student's t.
func split(v []float64, most float64) (points []int) {
	for {
		best, at, from, to := 0.0, -1, 0, 0
		for k := 0; k <= len(points); k++ {
			lo, hi := 0, len(v)
			if k > 0 {
				lo = points[k-1]
			}
			if k < len(points) {
				hi = points[k]
			}
			if q, where := candidate(v[lo:hi]); where > 0 && (at < 0 || q > best) {
				best, at, from, to = q, lo+where, lo, hi
			}
		}
		if at < 0 || !(p(v[from:at], v[at:to]) <= most) {
			return points
		}
		points = append(points, at)
		slices.Sort(points)
	}
}

// candidate finds where a stretch divides best, and how well: the maximum over τ < κ of
// the weighted energy distance between v[:τ] and v[τ:κ]. Sums of distances inside and
// between grow by one value at a time. O(n³), of a window.
func candidate(v []float64) (best float64, at int) {
	n := len(v)
	if n < 2 {
		return 0, -1
	}
	best, at = math.Inf(-1), -1
	inX := 0.0 // Σ |x - x'| within v[:τ]
	for tau := 1; tau < n; tau++ {
		for i := range tau - 1 {
			inX += math.Abs(v[i] - v[tau-1])
		}
		inY, between := 0.0, 0.0
		for kappa := tau + 1; kappa <= n; kappa++ {
			y := v[kappa-1]
			for _, x := range v[:tau] {
				between += math.Abs(x - y)
			}
			for _, other := range v[tau : kappa-1] {
				inY += math.Abs(other - y)
			}
			a, b := float64(tau), float64(kappa-tau)
			q := 2 / (a + b) * between
			if a > 1 {
				q -= 2 * b / (a + b) / (a - 1) * inX
			}
			if b > 1 {
				q -= 2 * a / (a + b) / (b - 1) * inY
			}
			if q > best {
				best, at = q, tau
			}
		}
	}
	return best, at
}

// merge takes back the weakest point until all are sure and large enough.
func merge(v []float64, at []int, o Options) []Point {
	points := make([]Point, len(at))
	for i, x := range at {
		points[i].Index = x
	}
	for i := range points {
		measure(v, points, i)
	}
	for len(points) > 0 {
		weakest := 0
		for i := range points {
			if points[i].P > points[weakest].P {
				weakest = i
			}
		}
		if points[weakest].P < o.P {
			for i := range points {
				if points[i].Magnitude() < points[weakest].Magnitude() {
					weakest = i
				}
			}
			if points[weakest].Magnitude() > o.Magnitude {
				return points
			}
		}
		points = slices.Delete(points, weakest, weakest+1)
		for _, i := range [2]int{weakest - 1, weakest} {
			if i >= 0 && i < len(points) {
				measure(v, points, i)
			}
		}
	}
	return points
}

// measure compares the values on both sides of a point, up to its neighbours.
func measure(v []float64, points []Point, i int) {
	lo, hi := around(v, points, i)
	x := &points[i]
	before, after := v[lo:x.Index], v[x.Index:hi]
	x.Before, x.After, x.P = mean(before), mean(after), p(before, after)
}

// p is Student's; that of two values in all is 1.
func p(a, b []float64) float64 {
	if len(a)+len(b) <= 2 {
		return 1
	}
	return contrast.StudentTest(a, b)
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
