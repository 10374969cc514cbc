package finding

import (
	"cmp"
	"math"
	"slices"
)

const (
	// gapShare is how wide the gap between two groups is, as a part of how far the
	// members of the wider group lie apart.
	gapShare = 0.8
	// leastMore is by how much the upper group must exceed the lower one.
	leastMore = 0.02
)

// Upper finds the members of a group that lies clearly above the others: values are cut where the two sides
// are most alike within (Otsu), and a gap must be between them. It returns those of the upper side that
// have at least togetherExcess of the largest excess, nil if there is no such group. O(n log n).
func Upper(values []float64) []int32 {
	n := len(values)
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(values[a], values[b]), cmp.Compare(a, b)) })
	at, best := 0, 0.0
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	low := 0.0
	for i := 1; i < n; i++ {
		low += values[order[i-1]]
		a, b := low/float64(i), (sum-low)/float64(n-i)
		if between := float64(i) * float64(n-i) * (b - a) * (b - a); between > best {
			best, at = between, i
		}
	}
	if at == 0 {
		return nil
	}
	v := func(i int) float64 { return values[order[i]] }
	base := 0.0
	for i := range at {
		base += v(i) / float64(at)
	}
	gap := v(at) - v(at-1)
	wide := max(v(at-1)-v(0), v(n-1)-v(at))
	if upper := v(n-1) - base; wide > gap && at < n-1 { // one far above all others of its side
		if last := v(n-1) - v(n-2); last >= togetherExcess*upper/2 && last > v(n-2)-v(0) {
			return []int32{order[n-1]}
		}
	}
	if gap < gapShare*wide || v(at)-base < leastMore*base || base < 0 {
		return nil
	}
	most := v(n-1) - base
	out := []int32{}
	for i := at; i < n; i++ {
		if v(i)-base >= togetherExcess*most {
			out = append(out, order[i])
		}
	}
	slices.Sort(out)
	return out
}

// Place is how closely values follow their places: Spearman's rank correlation with the
// index, 1 where they only grow. O(n log n).
func Place(values []float64) float64 {
	n := len(values)
	if n < 3 {
		return 0
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	sum := 0.0
	for i := 0; i < n; {
		j := i
		for j < n && values[order[j]] == values[order[i]] {
			j++
		}
		for k := i; k < j; k++ {
			d := float64(i+j-1)/2 - float64(order[k])
			sum += d * d
		}
		i = j
	}
	return 1 - 6*sum/(float64(n)*(float64(n)*float64(n)-1))
}

// A Turn is one time range in which one location causes most of the waiting.
type Turn struct {
	Culprit int32
	At      float64 // a time, in any unit
	Cost    float64
}

// Turns cuts a table of costs, cost[culprit][bin], into stretches with one culprit each:
// bins below a twentieth of the mean of those that cost anything are quiet. Alone is the
// part of the cost that lies with the culprit of its stretch. O(culprits × bins).
func Turns(cost [][]float64, bins int) (list []Turn, alone float64) {
	sums, whole, count := make([]float64, bins), 0.0, 0
	top, most := make([]int32, bins), make([]float64, bins)
	for c, row := range cost {
		for b, v := range row {
			sums[b] += v
			if v > most[b] {
				most[b], top[b] = v, int32(c)
			}
		}
	}
	for _, s := range sums {
		if s > 0 {
			whole += s
			count++
		}
	}
	if count == 0 {
		return nil, 0
	}
	quiet := 0.05 * whole / float64(count)
	for b := range bins {
		alone += most[b] / whole
		if sums[b] <= quiet {
			continue
		}
		if n := len(list); n > 0 && list[n-1].Culprit == top[b] && b > 0 && sums[b-1] > quiet {
			list[n-1].Cost += sums[b]
			continue
		}
		list = append(list, Turn{top[b], float64(b), sums[b]})
	}
	return list, alone
}

const (
	// fewestTurns is how many turns it takes to see an order in them.
	fewestTurns = 6
	// regular is the spread of costs and of gaps, as a part of their mean, up to which turns
	// come one after the other like clockwork.
	regular = 0.35
	// foretold is the part of the turns whose culprit follows from the one before.
	foretold = 0.7
)

// TakeTurns reports whether the culprits take turns: one at a time, at regular times, each
// for about as much, and hardly anyone twice in a row; or in an order that repeats.
// Otherwise it is chance who is late, now and then.
func TakeTurns(list []Turn) bool {
	n := len(list)
	if n < fewestTurns {
		return false
	}
	after := map[int32]map[int32]int{}
	repeats := 0
	for i := 1; i < n; i++ {
		m := after[list[i-1].Culprit]
		if m == nil {
			m = map[int32]int{}
			after[list[i-1].Culprit] = m
		}
		m[list[i].Culprit]++
		if list[i].Culprit == list[i-1].Culprit {
			repeats++
		}
	}
	known, seen := 0, 0
	for _, m := range after {
		most, sum := 0, 0
		for _, c := range m {
			most, sum = max(most, c), sum+c
		}
		known, seen = known+most-1, seen+sum-1 // the first of each foretells the others
	}
	if 3*seen >= n && float64(known) >= foretold*float64(seen) && 4*repeats < n {
		return true
	}
	gaps, costs := make([]float64, 0, n), make([]float64, 0, n)
	for i := range list {
		costs = append(costs, list[i].Cost)
		if i > 0 {
			gaps = append(gaps, list[i].At-list[i-1].At)
		}
	}
	return 4*repeats < n && spread(gaps) < regular && spread(costs) < regular
}

// spread is the standard deviation as a part of the mean.
func spread(values []float64) float64 {
	mean, square := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		square += (v - mean) * (v - mean) / float64(len(values))
	}
	if mean == 0 {
		return 0
	}
	return math.Sqrt(square) / mean
}

// A Course is how a cost is in time.
type Course struct {
	// From and To hold all but a fiftieth of it at either side, as parts of the time: 0 and 1 if the time
	// outside is no longer than the pauses in between.
	From, To float64
	// Grows: it rises steadily, from First to Last, which are means of a tenth of the time.
	Grows       bool
	First, Last float64
}

// steady is how well a straight line must fit a growing cost.
const steady = 0.75

// CourseOf returns the course of a cost in equal bins. O(n).
func CourseOf(series []float64) Course {
	n := len(series)
	sum := 0.0
	for _, v := range series {
		sum += v
	}
	c := Course{To: 1}
	if sum <= 0 || n < 10 {
		return c
	}
	run := 0.0
	begun := false
	for i, v := range series {
		run += v
		if !begun && run >= 0.02*sum {
			c.From, begun = float64(i)/float64(n), true
		}
		if run >= 0.98*sum {
			c.To = float64(i+1) / float64(n)
			break
		}
	}
	quiet, longest := 0, 0.0 // in between
	for i := int(c.From * float64(n)); i < int(c.To*float64(n)); i++ {
		if quiet++; series[i] > 0 {
			quiet = 0
		}
		longest = max(longest, float64(quiet)/float64(n))
	}
	if c.From < 1.5*longest { // it comes and goes, and may just not have come yet
		c.From = 0
	}
	if 1-c.To < 1.5*longest {
		c.To = 1
	}
	const parts = 10
	means := make([]float64, parts)
	for i, v := range series {
		means[i*parts/n] += v
	}
	c.First, c.Last = means[0], means[parts-1]
	c.Grows = Rises(means) && means[parts-1] >= 2*max(means[0], 0.02*sum)
	return c
}

// Rises reports whether values are near a straight line upwards, better than near a step.
func Rises(values []float64) bool {
	n := float64(len(values))
	if n < 4 {
		return false
	}
	mx, my := (n-1)/2, 0.0
	for _, v := range values {
		my += v / n
	}
	xy, xx, yy := 0.0, 0.0, 0.0
	for i, v := range values {
		x := float64(i) - mx
		xy, xx, yy = xy+x*(v-my), xx+x*x, yy+(v-my)*(v-my)
	}
	if yy == 0 || xy <= 0 {
		return false
	}
	line := 1 - xy*xy/(xx*yy) // of the variance, what is left
	step := 1.0
	low := 0.0
	for i := 1; i < len(values); i++ {
		low += values[i-1]
		a, b := low/float64(i), (my*n-low)/(n-float64(i))
		left := 0.0
		for k, v := range values {
			m := b
			if k < i {
				m = a
			}
			left += (v - m) * (v - m)
		}
		step = min(step, left/yy)
	}
	return line <= 1-steady && line < step
}

// Line fits a straight line through values at 0, 1, 2 …: its begin and slope.
func Line(values []float64) (from, slope float64) {
	n := float64(len(values))
	mx, my, xy, xx := (n-1)/2, 0.0, 0.0, 0.0
	for _, v := range values {
		my += v / n
	}
	for i, v := range values {
		x := float64(i) - mx
		xy, xx = xy+x*(v-my), xx+x*x
	}
	if xx > 0 {
		slope = xy / xx
	}
	return my - slope*mx, slope
}
