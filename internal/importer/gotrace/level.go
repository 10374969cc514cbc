package gotrace

import (
	"encoding/binary"

	xtrace "golang.org/x/exp/trace"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A level is a counter of goroutines in some state.
//
// Goroutines that were there before the trace show up one by one in its first
// generation, each with the state that it has had from the beginning. So values are
// held until that generation ends, and then written with all of them counted.
type level struct {
	id      trace.CounterID
	n       int
	before  int        // that were in the state when the trace began
	held    []byte     // changes: the time since the one before, twice, and one more if it is up
	at      trace.Time // of the last of them
	settled bool
}

// countStates keeps the counters of goroutines.
func (c *converter) countStates(t trace.Time, from, to xtrace.GoState) {
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
func (c *converter) existed(t trace.Time, l *level) {
	if l.settled { // a trace that tells it late
		c.count(t, l, 1)
		return
	}
	l.before++
}

// count changes a level by one, up or down.
func (c *converter) count(t trace.Time, l *level, by int) {
	if l.settled {
		l.n += by
		c.main.Sample(l.id, t, float64(l.n))
		return
	}
	if len(l.held) == 0 {
		l.at = c.first
	}
	packed := uint64(t-l.at) << 1
	if by > 0 {
		packed |= 1
	}
	l.held, l.at = binary.AppendUvarint(l.held, packed), t
}

// settle writes what was held.
func (c *converter) settle(l *level) {
	if l.settled || !c.started {
		return
	}
	c.main.Sample(l.id, c.first, float64(l.before))
	l.n = l.before
	for at, held := c.first, l.held; len(held) > 0; {
		packed, n := binary.Uvarint(held)
		held = held[n:]
		at += trace.Time(packed >> 1)
		l.n += 2*int(packed&1) - 1
		c.main.Sample(l.id, at, float64(l.n))
	}
	l.held, l.settled = nil, true
}
