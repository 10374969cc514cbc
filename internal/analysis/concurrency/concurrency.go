// Package concurrency finds how many are at work at once: when one works alone and who
// waits meanwhile, and when more could run than there are places to run.
package concurrency

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A State is the activity of an actor.
type State uint8

// The states. Away is time that says nothing: overhead, or before a thread is made.
const (
	Away State = iota
	Busy
	Waiting // it has nothing to do
	Ready   // it could run, and may not
	States
)

// An Event is an actor that begins to do something else.
type Event struct {
	At    trace.Time
	Actor int32
	State State
	Label int32 // of its activity, or of its wait
}

// A Starve is an actor that waits while another alone is busy, each with its label.
type Starve struct {
	Actor, Label int32
	Alone, With  int32
	Begin, End   trace.Time
}

// A Sweep goes through a run once, in order of time. It holds a few words an actor.
type Sweep struct {
	// Span, if set, is called for each time range in which no actor changes.
	Span func(begin, end trace.Time, in *[States]int)
	// Alone, if set, is called for each time range in which one actor alone is busy, with the label of its
	// work.
	Alone func(actor, label int32, begin, end trace.Time)
	// Starved, if set, is called for each stretch that an actor waits while another alone is
	// busy. Those of one actor come in order.
	Starved func(Starve)

	state []State
	label []int32
	since []trace.Time // an actor waits while another is alone
	in    [States]int
	// Sums over those who are busy: of one they say who it is.
	actors int64
	alone  int32
	from   trace.Time // since when one actor is alone with one label
	at     trace.Time
}

// New begins a sweep of actors, all of them away.
func New(actors int, begin trace.Time) *Sweep {
	s := &Sweep{state: make([]State, actors), label: make([]int32, actors), since: make([]trace.Time, actors),
		alone: -1, at: begin}
	s.in[Away] = actors
	return s
}

// Feed takes events of a time range, in any order; those of an actor at one moment
// count in the order given. All are after those of the last call. O(n log n + changes of who
// is alone × actors).
func (s *Sweep) Feed(events []Event) {
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	for i := 0; i < len(events); {
		t := events[i].At
		s.upto(t)
		for ; i < len(events) && events[i].At == t; i++ {
			s.change(&events[i])
		}
		s.look(t)
	}
}

// Cut reports open intervals up to a time; they go on after it.
func (s *Sweep) Cut(t trace.Time) {
	s.upto(t)
	s.closeAlone(t)
	s.from = t
}

func (s *Sweep) upto(t trace.Time) {
	if t > s.at {
		if s.Span != nil {
			s.Span(s.at, t, &s.in)
		}
		s.at = t
	}
}

func (s *Sweep) change(e *Event) {
	a := e.Actor
	old := s.state[a]
	if old == e.State && s.label[a] == e.Label {
		return
	}
	if old == Waiting {
		s.starve(a, e.At)
	}
	if a == s.alone && old == Busy {
		if e.State == Busy {
			s.closeAlone(e.At)
			s.from = e.At
		} else {
			s.closeAlone(e.At)
			s.alone = -1
		}
	}
	if old == Busy {
		s.actors -= int64(a)
	}
	if e.State == Busy {
		s.actors += int64(a)
	}
	s.in[old]--
	s.in[e.State]++
	s.state[a], s.label[a], s.since[a] = e.State, e.Label, e.At
}

// look finds out who is alone after the changes of a moment.
func (s *Sweep) look(t trace.Time) {
	now := int32(-1)
	if s.in[Busy] == 1 {
		now = int32(s.actors)
	}
	if now == s.alone {
		return
	}
	s.closeAlone(t)
	s.alone, s.from = now, t
	if now >= 0 {
		for a, st := range s.state {
			if st == Waiting {
				s.since[a] = t
			}
		}
	}
}

func (s *Sweep) tell(t trace.Time) {
	if s.alone >= 0 && t > s.from && s.Alone != nil {
		s.Alone(s.alone, s.label[s.alone], s.from, t)
	}
}

// closeAlone ends the stretch of who was alone, and the waits for it.
func (s *Sweep) closeAlone(t trace.Time) {
	if s.alone < 0 {
		return
	}
	s.tell(t)
	if s.Starved != nil {
		for a, st := range s.state {
			if st == Waiting {
				s.starve(int32(a), t)
			}
		}
	}
}

func (s *Sweep) starve(a int32, t trace.Time) {
	if s.alone >= 0 && s.Starved != nil && t > s.since[a] {
		s.Starved(Starve{a, s.label[a], s.alone, s.label[s.alone], s.since[a], t})
	}
	s.since[a] = t
}
