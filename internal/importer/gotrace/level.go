package gotrace

import (
	"encoding/binary"
	"fmt"

	xtrace "golang.org/x/exp/trace"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A levels counts, over time, how many goroutines are alive and how many could run.
type levels struct {
	dictionary

	main    trace.Stream // of the process: counters, and instants without a goroutine
	first   trace.Time
	started bool

	alive    level
	runnable level
}

// A level is a counter of goroutines in some state.
//
// Goroutines that were there before the trace show up one by one in its first
// generation, each with the state that it has had from the beginning. So values are
// held until that generation ends, and then written with all of them counted.
//
// A busy scheduler changes such a number millions of times a second. The first
// levelExact changes are written as they are; from then on, of the changes within
// levelStep the first, the lowest, the highest and the last.
type level struct {
	id      trace.CounterID
	n       int
	before  int        // that were in the state when the trace began
	held    [][]byte   // changes: the time since the one before, twice, and one more if it is up
	at      trace.Time // of the last of them
	settled bool

	open                    bool       // there are values of a step
	end                     trace.Time // of the step
	first, low, high, final value
	written                 int
	thinned                 bool
}

// A value is a level from a time on.
type value struct {
	at    trace.Time
	n     int
	order int // counts the values of a step
}

const (
	heldChunk  = 1 << 14 // bytes
	levelExact = 1 << 16
	levelStep  = 10_000 // ns
)

// see takes a value of the level.
func (c *levels) see(l *level, t trace.Time, n int) {
	l.n = n
	if l.written < levelExact {
		c.main.Sample(l.id, t, float64(n))
		l.written++
		return
	}
	v := value{t, n, l.final.order + 1}
	if t >= l.end || !l.open {
		c.write(l)
		l.open, l.end, v.order = true, t-(t-c.first)%levelStep+levelStep, 0
		l.first, l.low, l.high, l.final = v, v, v, v
		return
	}
	l.final = v
	if n < l.low.n {
		l.low = v
	}
	if n > l.high.n {
		l.high = v
	}
}

// write writes the values of the step that is over.
func (c *levels) write(l *level) {
	if !l.open {
		return
	}
	low, high := l.low, l.high
	if high.order < low.order {
		low, high = high, low
	}
	order, written := -1, 0
	for _, v := range [...]value{l.first, low, high, l.final} {
		if v.order > order {
			c.main.Sample(l.id, v.at, float64(v.n))
			order = v.order
			written++
		}
	}
	l.thinned = l.thinned || written <= l.final.order
	l.open = false
}

// countStates keeps the counters of goroutines.
func (c *levels) countStates(t trace.Time, from, to xtrace.GoState) {
	switch from {
	case xtrace.GoUndetermined:
		c.existed(t, &c.alive)
		if to == xtrace.GoRunnable {
			c.existed(t, &c.runnable)
		}
		return
	case xtrace.GoNotExist:
		c.count(t, &c.alive, 1)
	case xtrace.GoRunnable:
		c.count(t, &c.runnable, -1)
	}
	switch to {
	case xtrace.GoNotExist:
		c.count(t, &c.alive, -1)
	case xtrace.GoRunnable:
		c.count(t, &c.runnable, 1)
	}
}

// existed counts a goroutine that was in the state from the beginning.
func (c *levels) existed(t trace.Time, l *level) {
	if l.settled { // a trace that tells it late
		c.count(t, l, 1)
		return
	}
	l.before++
}

// count changes a level by one, up or down.
func (c *levels) count(t trace.Time, l *level, by int) {
	if l.settled {
		c.see(l, t, l.n+by)
		return
	}
	n := len(l.held)
	if n == 0 {
		l.at = c.first
	}
	if n == 0 || cap(l.held[n-1])-len(l.held[n-1]) < binary.MaxVarintLen64 {
		l.held = append(l.held, make([]byte, 0, heldChunk))
		n++
	}
	packed := uint64(t-l.at) << 1
	if by > 0 {
		packed |= 1
	}
	l.held[n-1], l.at = binary.AppendUvarint(l.held[n-1], packed), t
}

// settle writes the held value.
func (c *levels) settle(l *level) {
	if l.settled || !c.started {
		return
	}
	c.see(l, c.first, l.before)
	at, n := c.first, l.n
	for _, held := range l.held {
		for i := 0; i < len(held); {
			packed := uint64(held[i])
			size := 1
			if packed >= 0x80 {
				packed, size = binary.Uvarint(held[i:])
			}
			i += size
			at += trace.Time(packed >> 1)
			n += 2*int(packed&1) - 1
			c.see(l, at, n)
		}
	}
	l.held, l.settled = nil, true
}

// closeLevels writes the remaining values of the counters.
func (c *levels) closeLevels() {
	for _, l := range []*level{&c.alive, &c.runnable} {
		c.settle(l)
		c.write(l)
	}
	if c.alive.thinned || c.runnable.thinned {
		c.w.Property("goroutine counters",
			fmt.Sprintf("from change %d on the first, lowest, highest and last of every 10 µs", levelExact))
	}
}
