package align

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// stretches bounds how many parts of the time of a pair are kept apart.
const stretches = 16

// bounds keep the smallest value in each of a few stretches of time. A stretch is
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
		if value < b.list[i].least {
			b.list[i].least, b.list[i].at = value, at
		}
		return
	}
	b.list = append(b.list, bound{})
	copy(b.list[i+1:], b.list[i:])
	b.list[i] = bound{k, at, value}
	for len(b.list) > stretches {
		b.join()
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
			if x.least < kept[n-1].least {
				kept[n-1] = x
			}
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
	e.middle = float64(up-down) / 2
	e.width = float64(up+down) / 2
	if e.width < 0 {
		e.line()
	}
}

// line fits a line to the middles of the bounds that are near in time: each
// stretch of one direction with the nearest of the other. Narrow ones weigh more.
func (e *edge) line() {
	var w, x, y, xx, xy float64
	type point struct{ at, middle, half float64 }
	var points []point
	for _, u := range e.up.list {
		d := e.down.nearest(u.at)
		at := (float64(u.at) + float64(d.at)) / 2
		points = append(points, point{at, float64(u.least-d.least) / 2, math.Abs(float64(u.least+d.least)) / 2})
	}
	least := math.MaxFloat64
	for _, p := range points {
		least = min(least, p.half)
	}
	e.origin = points[0].at
	for _, p := range points {
		k := 1 / square(p.half+least+1000)
		at := p.at - e.origin
		w, x, y, xx, xy = w+k, x+k*at, y+k*p.middle, xx+k*at*at, xy+k*at*p.middle
	}
	if det := w*xx - x*x; len(points) > 2 && det > 1e-9*w*xx {
		e.slope = (w*xy - x*y) / det
		e.middle = (y - e.slope*x) / w
	}
	e.width = least
}

func square(x float64) float64 { return x * x }

func (b *bounds) nearest(at trace.Time) bound {
	best := b.list[0]
	for _, x := range b.list[1:] {
		if abs(x.at-at) < abs(best.at-at) {
			best = x
		}
	}
	return best
}

func abs(t trace.Time) trace.Time { return max(t, -t) }

// at is the difference at a time.
func (e *edge) at(t float64) float64 { return e.middle + e.slope*(t-e.origin) }
