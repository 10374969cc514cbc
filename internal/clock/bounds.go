package clock

import (
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// stretches bounds how many parts of the time of a pair are kept apart.
const stretches = 16

// bounds keep the smallest value in each of a few time ranges. A stretch is
// 2^shift ns long; when there are too many, neighbours are joined.
type bounds struct {
	shift uint8
	list  []bound // by stretch, ascending
	last  int     // where the last value went
}

type bound struct {
	stretch int64 // time >> shift
	at      trace.Time
	least   trace.Time
}

func (b *bounds) add(at, value trace.Time) {
	if b.shift == 0 {
		b.shift = 16 // 65 µs
	}
	k := int64(at) >> b.shift
	i := b.find(k)
	if i < len(b.list) && b.list[i].stretch == k {
		b.list[i].take(bound{k, at, value})
		return
	}
	b.list = append(b.list, bound{})
	copy(b.list[i+1:], b.list[i:])
	b.list[i] = bound{k, at, value}
	for len(b.list) > stretches {
		b.join()
	}
}

// take keeps the tighter of two bounds, the earlier of two that are as tight, so that the order does not matter.
func (b *bound) take(x bound) {
	if x.least < b.least || x.least == b.least && x.at < b.at {
		*b = x
	}
}

// find is the first stretch that is not before k.
func (b *bounds) find(k int64) int {
	i := min(b.last, len(b.list))
	for i > 0 && b.list[i-1].stretch >= k {
		i--
	}
	for i < len(b.list) && b.list[i].stretch < k {
		i++
	}
	b.last = i
	return i
}

// join doubles the length of stretches.
func (b *bounds) join() {
	b.shift++
	kept := b.list[:0]
	for _, x := range b.list {
		x.stretch >>= 1
		if n := len(kept); n > 0 && kept[n-1].stretch == x.stretch {
			kept[n-1].take(x)
			continue
		}
		kept = append(kept, x)
	}
	b.list = kept
}

func (b *bounds) least() (trace.Time, bool) {
	least, any := trace.Time(math.MaxInt64), false
	for _, x := range b.list {
		least, any = min(least, x.least), true
	}
	return least, any
}

// estimate finds the line that the difference of the two clocks follows.
func (e *edge) estimate() {
	up, hasUp := e.up.least()
	down, hasDown := e.down.least()
	if !hasUp || !hasDown {
		e.oneSided = true
		e.width = math.MaxFloat64
		switch { // the smallest change that keeps the order
		case hasUp:
			e.middle = float64(min(up, 0))
		case hasDown:
			e.middle = float64(max(-down, 0))
		}
		return
	}
	e.origin = float64(e.up.list[0].at)
	if up+down < 0 {
		e.slope = e.bestSlope()
	}
	e.middle, e.width = e.place(e.slope)
}

// fastest is the largest part by which a clock is thought to run faster than another.
const fastest = 1e-3

// bestSlope returns the slope of the line that keeps farthest from all bounds, or breaks them least. It is the
// slope that the bounds of one side follow if these keep closer to it and it breaks no more. The distance at a
// slope is half the gap between the lowest upper and the highest lower bound, which is concave in the slope.
// O(stretches).
func (e *edge) bestSlope() float64 {
	low, high := -fastest, fastest
	for range 100 {
		if a, b := low+(high-low)/3, high-(high-low)/3; e.distance(a) < e.distance(b) {
			low = a
		} else {
			high = b
		}
	}
	best := (low + high) / 2
	if e.distance(best) <= e.distance(0) {
		best = 0
	}
	least, most := min(e.distance(best), 0), e.spread(best)
	for _, slope := range [...]float64{e.up.slope(), -e.down.slope()} {
		if s := e.spread(slope); math.Abs(slope) <= fastest && s < most && e.distance(slope) >= least-1 {
			best, most = slope, s
		}
	}
	return best
}

// place returns the estimate of the difference between the bounds of a slope, and its uncertainty. Messages that a
// receiver waits for arrive at once, so that the smallest differences of that side are alike in all stretches;
// those that wait for a late receiver are as different as the work. So the estimate is nearer to the side that
// spreads less, and in the middle if both spread as much.
func (e *edge) place(slope float64) (middle, width float64) {
	upper, lower := e.between(slope)
	half := (upper - lower) / 2
	up, down := e.up.spread(e.origin, slope), e.down.spread(e.origin, -slope)
	if min(len(e.up.list), len(e.down.list)) < 3 {
		up, down = math.Abs(half), math.Abs(half)
	}
	up, down = up+surely, down+surely
	return (upper*down + lower*up) / (up + down), min(math.Abs(half), up*down/(up+down))
}

// surely is the least spread assumed for the smallest difference of a side, ns.
const surely = 200

// spread is the smaller one of the two sides.
func (e *edge) spread(slope float64) float64 {
	return min(e.up.spread(e.origin, slope), e.down.spread(e.origin, -slope))
}

// spread is how far the smallest values of stretches are above the smallest of all, in the middle of them, next to a
// line.
func (b *bounds) spread(origin, slope float64) float64 {
	values := make([]float64, len(b.list))
	for i, x := range b.list {
		values[i] = float64(x.least) - slope*(float64(x.at)-origin)
	}
	slices.Sort(values)
	return values[len(values)/2] - values[0]
}

// slope is that of the smallest values of stretches: the middle of those between any two.
func (b *bounds) slope() float64 {
	var list []float64
	for i, x := range b.list {
		for _, y := range b.list[:i] {
			list = append(list, float64(x.least-y.least)/float64(max(x.at-y.at, 1)))
		}
	}
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)/2]
}

func (e *edge) distance(slope float64) float64 {
	upper, lower := e.between(slope)
	return (upper - lower) / 2
}

// between returns the bounds at the origin of the lines of a slope; the upper is below the lower if no line keeps
// them.
func (e *edge) between(slope float64) (upper, lower float64) {
	upper, lower = math.MaxFloat64, -math.MaxFloat64
	for _, x := range e.up.list {
		upper = min(upper, float64(x.least)-slope*(float64(x.at)-e.origin))
	}
	for _, x := range e.down.list {
		lower = max(lower, -float64(x.least)-slope*(float64(x.at)-e.origin))
	}
	return upper, lower
}

func square(x float64) float64 { return x * x }

// at is the difference at a time.
func (e *edge) at(t float64) float64 { return e.middle + e.slope*(t-e.origin) }
