package waiting

import (
	"cmp"
	"slices"
	"sort"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Message goes from one unit to another.
type Message struct {
	From, To       int32
	Sent, Received trace.Time
}

// bySending orders messages by the time of sending.
func bySending(a, b Message) int {
	switch {
	case a.Sent != b.Sent:
		return cmp.Compare(a.Sent, b.Sent)
	case a.From != b.From:
		return int(a.From - b.From)
	case a.To != b.To:
		return int(a.To - b.To)
	}
	return cmp.Compare(a.Received, b.Received)
}

// A Late is one wait for one message.
type Late struct {
	// Cause is late, Waiter waits for it, in Region from Begin on.
	Cause, Waiter int32
	Region        trace.RegionID
	Begin         trace.Time
	// Skew is the time that the waiter waited until the other was ready, Own the part of it that the cause
	// is to blame for, Transfer the wait after that.
	Skew, Own, Transfer trace.Time
	Receiver            bool // the receiver is late, and the sender waits
}

// Messages finds the waits of messages. If one call completes several, only the last counts, so that no
// time counts twice. ends are the times at which each unit left collectives, see Ends; whole says that the
// window begins with the run. O(n log n).
func Messages(list []Message, waits []*UnitWaits, ends [][]trace.Time, whole bool) []Late {
	at := &blame{waits, ends, whole}
	type call struct {
		unit int32
		stay int
	}
	last := map[call]int{} // of the messages that a call completes
	out := []Late{}
	for i := range list {
		m := &list[i]
		if m.From == m.To {
			continue
		}
		if k, ok := waits[m.To].At(m.Received); ok {
			c := call{m.To, k}
			if j, seen := last[c]; !seen || list[j].Sent < m.Sent {
				last[c] = i
			}
		}
		if late, ok := at.receiver(m); ok {
			out = append(out, late)
		}
	}
	for c, i := range last {
		if late, ok := at.sender(&list[i], &waits[c.unit].Stays[c.stay]); ok {
			out = append(out, late)
		}
	}
	slices.SortFunc(out, func(a, b Late) int {
		switch {
		case a.Begin != b.Begin:
			return cmp.Compare(a.Begin, b.Begin)
		case a.Waiter != b.Waiter:
			return int(a.Waiter - b.Waiter)
		case a.Cause != b.Cause:
			return int(a.Cause - b.Cause)
		case a.Receiver != b.Receiver && b.Receiver:
			return -1
		case a.Receiver != b.Receiver:
			return 1
		}
		return cmp.Compare(a.Skew, b.Skew)
	})
	return out
}

// blame knows how long units worked on their own.
type blame struct {
	waits []*UnitWaits
	ends  [][]trace.Time
	whole bool
}

// own is the time that a unit worked on its own since its last collective.
// Before the first one it is the time since the run began, which only a window
// that begins with the run can tell.
func (b *blame) own(unit int32, t trace.Time) (trace.Time, bool) {
	ends := b.ends[unit]
	since := trace.Time(0)
	i := sort.Search(len(ends), func(i int) bool { return ends[i] > t })
	if i > 0 {
		since = ends[i-1]
	}
	l := b.waits[unit]
	return t - since - (l.Waited(t) - l.Waited(since)), i > 0 || b.whole
}

func (b *blame) share(cause int32, ready trace.Time, waiter int32, begin, skew trace.Time) trace.Time {
	x, known := b.own(cause, ready)
	y, too := b.own(waiter, begin)
	if !known || !too {
		return 0
	}
	return min(max(x-y, 0), skew)
}

// sender is the wait of a receiving call for its last message.
func (b *blame) sender(m *Message, s *Stay) (Late, bool) {
	if m.Sent <= s.Begin || m.Received < m.Sent {
		return Late{}, false
	}
	skew := min(m.Sent, s.End) - s.Begin
	return Late{Cause: m.From, Waiter: m.To, Region: s.Region, Begin: s.Begin, Skew: skew,
		Own: b.share(m.From, m.Sent, m.To, s.Begin, skew), Transfer: s.End - s.Begin - skew}, true
}

// receiver is the wait of a sending call that lasts until the receiver comes.
func (b *blame) receiver(m *Message) (Late, bool) {
	k, ok := b.waits[m.From].At(m.Sent)
	j, posted := b.waits[m.To].At(m.Received)
	if !ok || !posted || m.Received < m.Sent {
		return Late{}, false
	}
	s, r := &b.waits[m.From].Stays[k], &b.waits[m.To].Stays[j]
	if r.Begin <= s.Begin || s.End < r.Begin {
		return Late{}, false
	}
	skew := r.Begin - s.Begin
	return Late{Cause: m.To, Waiter: m.From, Region: s.Region, Begin: s.Begin, Skew: skew,
		Own: b.share(m.To, r.Begin, m.From, s.Begin, skew), Transfer: s.End - r.Begin, Receiver: true}, true
}
