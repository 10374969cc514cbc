package otf2

import (
	"math"
	"math/bits"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A timer turns ticks of the archive's clock into nanoseconds since its start.
// It remembers the whole second it is in, so that a conversion is one division
// of 64 bits, exact to the nearest nanosecond.
type timer struct {
	resolution uint64 // ticks a second
	origin     uint64 // ticks at the start
	plain      bool   // a tick is a nanosecond
	narrow     bool   // resolution × 10^9 fits 64 bits
	second     int64  // the current one
	begin      uint64 // its first tick
}

const nanoseconds = 1_000_000_000

func newTimer(resolution, origin uint64) timer {
	t := timer{resolution: resolution, origin: origin, plain: resolution == nanoseconds, begin: origin}
	t.narrow = resolution <= math.MaxUint64/nanoseconds-1
	return t
}

func (t *timer) at(ticks uint64) trace.Time {
	if t.plain {
		return trace.Time(ticks - t.origin)
	}
	if t.narrow {
		if d := ticks - t.begin; d < t.resolution {
			return trace.Time(t.second*nanoseconds + int64((d*nanoseconds+t.resolution/2)/t.resolution))
		}
	}
	return t.move(ticks)
}

// move goes to the second that ticks are in.
func (t *timer) move(ticks uint64) trace.Time {
	d := int64(ticks - t.origin)
	t.second = d / int64(min(t.resolution, math.MaxInt64))
	if d < 0 && d%int64(min(t.resolution, math.MaxInt64)) != 0 {
		t.second--
	}
	t.begin = t.origin + uint64(t.second)*t.resolution
	rest := ticks - t.begin
	hi, lo := bits.Mul64(rest, nanoseconds)
	lo, carry := bits.Add64(lo, t.resolution/2, 0)
	ns, _ := bits.Div64((hi+carry)%t.resolution, lo, t.resolution)
	return trace.Time(t.second*nanoseconds + int64(ns))
}

// A clockOffset is a measurement of the writer: the offset from this location's clock to the clock of all, at a time.
type clockOffset struct {
	ticks  uint64
	offset int64
}

// A correction puts the ticks of one location on the clock of all: between two
// measurements the offset is interpolated, before the first and after the last
// the nearest pair is extended.
type correction struct {
	offsets []clockOffset
	now     int // the pair in use
	slope   float64
}

// add appends a measurement. One that is no later than the one before replaces it.
func (c *correction) add(o clockOffset) {
	for n := len(c.offsets); n > 0 && c.offsets[n-1].ticks >= o.ticks; n-- {
		c.offsets = c.offsets[:n-1]
	}
	c.offsets = append(c.offsets, o)
	c.use(0)
}

func (c *correction) use(i int) {
	c.now, c.slope = i, 0
	if i+1 < len(c.offsets) {
		a, b := c.offsets[i], c.offsets[i+1]
		c.slope = float64(b.offset-a.offset) / float64(b.ticks-a.ticks)
	}
}

func (c *correction) at(ticks uint64) uint64 {
	if len(c.offsets) == 0 {
		return ticks
	}
	for c.now+2 < len(c.offsets) && ticks > c.offsets[c.now+1].ticks {
		c.use(c.now + 1)
	}
	for c.now > 0 && ticks <= c.offsets[c.now].ticks {
		c.use(c.now - 1)
	}
	o := &c.offsets[c.now]
	if c.slope == 0 {
		return ticks + uint64(o.offset)
	}
	d := float64(int64(ticks - o.ticks))
	return ticks + uint64(o.offset+int64(math.RoundToEven(c.slope*d)))
}
