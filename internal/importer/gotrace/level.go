package gotrace

import (
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
	before  int // that were in the state when the trace began
	held    []change
	settled bool
}

// A change is a level after one, without those from before the trace.
type change struct {
	at trace.Time
	n  int
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

func (c *converter) count(t trace.Time, l *level, by int) {
	l.n += by
	if l.settled {
		c.main.Sample(l.id, t, float64(l.n))
		return
	}
	l.held = append(l.held, change{t, l.n})
}

// settle writes what was held.
func (c *converter) settle(l *level) {
	if l.settled || !c.started {
		return
	}
	c.main.Sample(l.id, c.first, float64(l.before))
	for _, h := range l.held {
		c.main.Sample(l.id, h.at, float64(l.before+h.n))
	}
	l.n += l.before
	l.held, l.settled = nil, true
}
