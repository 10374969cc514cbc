// Package wake follows wake-up chains back from a wait: it finds the activity and place that the waiter
// waited for, through all actors that waited themselves.
//
// An actor's time is stretches. One that waits ends where another actor wakes it, and one is
// born where another makes it. So the way back from a moment goes along an actor to the
// end of its last wait, goes on at that moment on the one that woke it, and so on. It covers each moment
// once, and its pieces add up to the time it goes back, in whole nanoseconds.
package wake

import (
	"cmp"
	"slices"
	"sort"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// None stands for no actor, no place, and for time of which nothing is recorded.
const None int32 = -1

// A Log holds the activities of actors within a time range.
type Log struct {
	tracks []track
}

type track struct {
	stretches []stretch
	wakes     []woken
	sorted    bool
}

type stretch struct {
	begin, end trace.Time
	what       int32
	is         Mode
}

// A Mode is how an actor spends its time.
type Mode uint8

// The modes.
const (
	Works Mode = iota
	Waits      // for another, or for an event of no actor
	Rests      // until there is something to do for those that will wait for it
)

// A woken is an actor that is woken, or born.
type woken struct {
	at        trace.Time
	by, place int32
}

// New makes a log of actors.
func New(actors int) *Log { return &Log{tracks: make([]track, actors)} }

// Add records an activity of an actor. Stretches of one actor do not overlap; they may come in any order.
// Different actors may be fed at once.
func (l *Log) Add(actor int32, begin, end trace.Time, what int32, is Mode) {
	if end > begin {
		t := &l.tracks[actor]
		t.stretches, t.sorted = append(t.stretches, stretch{begin, end, what, is}), false
	}
}

// Wake says who woke an actor, or made it, at a moment, and where the other was then.
func (l *Log) Wake(actor int32, at trace.Time, by, place int32) {
	t := &l.tracks[actor]
	t.wakes, t.sorted = append(t.wakes, woken{at, by, place}), false
}

// Sort puts all in order. It comes before Walk and Each.
func (l *Log) Sort() {
	for i := range l.tracks {
		if t := &l.tracks[i]; !t.sorted {
			slices.SortStableFunc(t.stretches, func(a, b stretch) int { return cmp.Compare(a.begin, b.begin) })
			slices.SortStableFunc(t.wakes, func(a, b woken) int { return cmp.Compare(a.at, b.at) })
			t.sorted = true
		}
	}
}

// Each calls f for the stretches of an actor, in order.
func (l *Log) Each(actor int32, f func(begin, end trace.Time, what int32)) {
	for _, s := range l.tracks[actor].stretches {
		f(s.begin, s.end, s.what)
	}
}

// Place is where the other was that woke an actor at a moment, None where it is not known.
func (l *Log) Place(actor int32, at trace.Time) int32 {
	if w := l.tracks[actor].wokenAt(at); w != nil {
		return w.place
	}
	return None
}

// A Piece of the way back is on one actor.
type Piece struct {
	Actor      int32
	What       int32 // it did; None where nothing is recorded
	Begin, End trace.Time
	// Place is where the actor was when it woke the one before on the way, and How the region in which that
	// one waited. Both are None on the first actor; How also if the other was made there.
	Place, How int32
	Hops       int
}

// mostAtOnce is how many actors may wake each other at one moment; more only do in
// contradictory records.
const mostAtOnce = 64

// Walk goes back from a moment of an actor to another, and calls f for each piece, the last first.
// It gives the number of pieces. O(pieces × log stretches).
func (l *Log) Walk(actor int32, from, to trace.Time, f func(*Piece)) (n int) {
	p := Piece{Actor: actor, Place: None, How: None}
	tell := func(begin, end trace.Time, what int32) {
		p.Begin, p.End, p.What = max(begin, from), end, what
		f(&p)
		n++
	}
	var through []Piece // where the way left those who waited
	for at, stands := to, 0; at > from; stands++ {
		t := &l.tracks[p.Actor]
		i := sort.Search(len(t.stretches), func(i int) bool { return t.stretches[i].begin >= at }) - 1
		if i < 0 { // before its time: who made it?
			w := t.wokenAt(at)
			if w == nil || w.by == p.Actor || stands > mostAtOnce {
				tell(from, at, None)
				return n
			}
			p.Actor, p.Place, p.How, p.Hops = w.by, w.place, None, p.Hops+1
			continue
		}
		s := &t.stretches[i]
		if s.end < at {
			tell(s.end, at, None)
			at, stands = s.end, 0
			continue
		}
		if w := t.wokenAt(s.end); s.is != Works && s.end == at && w != nil && w.by != p.Actor {
			if stands > mostAtOnce {
				tell(from, at, None)
				return n
			}
			through = append(through, p)
			p.Actor, p.Place, p.How, p.Hops = w.by, w.place, s.what, p.Hops+1
			continue
		}
		if k := len(through) - 1; s.is == Rests && k >= 0 {
			// It had nothing to do before. An actor that waited for it waited for no other until then.
			before := through[k]
			through = through[:k]
			if b := l.tracks[before.Actor].waitAt(at); b < at {
				tell(b, at, s.what)
				at, stands = b, 0
			}
			p = before
			continue
		}
		tell(s.begin, at, s.what)
		at, stands = s.begin, 0
	}
	return n
}

// waitAt is where the wait begins in which an actor is just before a moment; the moment itself where it does not wait.
func (t *track) waitAt(at trace.Time) trace.Time {
	i := sort.Search(len(t.stretches), func(i int) bool { return t.stretches[i].begin >= at }) - 1
	if i >= 0 && t.stretches[i].is == Waits && t.stretches[i].end >= at {
		return t.stretches[i].begin
	}
	return at
}

// wokenAt is who woke it at a moment; nil.
func (t *track) wokenAt(at trace.Time) *woken {
	i := sort.Search(len(t.wakes), func(i int) bool { return t.wakes[i].at >= at })
	if i < len(t.wakes) && t.wakes[i].at == at {
		return &t.wakes[i]
	}
	return nil
}
