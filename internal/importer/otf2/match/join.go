package match

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A receiver is the side of a channel that is looked at when a send comes.
type receiver struct {
	queueReader
	key  *Key
	at   uint32
	left int64 // receives that are not taken
	way  receiverWay
}

type receiverWay uint8

const (
	joined    receiverWay = iota // by the order of sends and receives
	elsewhere                    // the spools join them
	unsure                       // receives are missing, see matcher.doubtful
)

// join calls f for every pair of a channel's halves, in order of the time of sending
// and the location, and counts them. O(n log locations).
func (c *channels) join(ctx context.Context, incomplete []bool, f func(*Pair)) (stats Matched, err error) {
	if len(c.list) == 0 {
		return stats, nil
	}
	slices.SortFunc(c.senders, func(a, b sender) int { return cmp.Compare(a.at, b.at) })
	receivers := c.receivers()
	c.markUnsure(receivers, incomplete)
	var p Pair
	m := newMerge(c)
	for n := 0; ; n++ {
		if n&0xffff == 0 && ctx.Err() != nil {
			return stats, ctx.Err()
		}
		i, ok := m.next()
		if !ok {
			break
		}
		s := &m.senders[i]
		r := &receivers[s.channel]
		switch {
		case r.way == elsewhere:
		case r.way == unsure:
			stats.Unsure++
		case !r.nextReceive():
			stats.Causes++
		default:
			r.left--
			p.Key, p.Size = r.key, s.size
			p.Cause.At, p.Cause.Time, p.Cause.Call.Region, p.Cause.Call.Number = uint32(c.senders[i].at), s.time, s.call.Region, s.call.Number
			p.Effect.At, p.Effect.Time, p.Effect.Call.Region, p.Effect.Call.Number = r.at, r.time, r.call.Region, r.call.Number
			stats.pair(&p)
			f(&p)
		}
		m.move(i)
	}
	for i := range receivers {
		switch r := &receivers[i]; r.way {
		case joined:
			stats.Effects += r.left
		case unsure:
			stats.Unsure += r.left
		}
	}
	return stats, c.Slots.failed()
}

func (c *channels) receivers() []receiver {
	list := make([]receiver, len(c.list))
	for i, x := range c.list {
		list[i] = receiver{queueReader: x.Received.read(c.Slots), key: &x.key, at: uint32(x.ends[1]), left: x.Received.count}
		if x.Mixed.Load() {
			list[i].way = elsewhere
		}
	}
	return list
}

// markUnsure finds the channels to processes with incomplete receives where sends and
// receives differ in number. It goes over all sends once more, where there are such.
func (c *channels) markUnsure(receivers []receiver, incomplete []bool) {
	if !slices.Contains(incomplete, true) {
		return
	}
	more := make([]int64, len(receivers)) // sends than receives
	for i := range receivers {
		more[i] = -receivers[i].left
	}
	for i := range c.senders {
		for r := c.senders[i].sent.read(c.Slots); r.nextSend(); {
			more[r.channel]++
		}
	}
	for i := range receivers {
		r := &receivers[i]
		if to := int(r.key.C); r.way == joined && more[i] != 0 && to < len(incomplete) && incomplete[to] {
			r.way = unsure
		}
	}
}

// A merge goes through the sends of all locations in order of time: a tournament in
// which every match remembers its loser, O(log locations) a send.
type merge struct {
	senders []queueReader
	matches []contender // the winner of all, then the losers; a leaf i is below match (i+len)/2
}

// A contender is a sender with the time of its next send.
type contender struct {
	time   trace.Time
	sender uint32
}

func (a contender) before(b contender) bool {
	return a.time < b.time || a.time == b.time && a.sender < b.sender
}

func newMerge(c *channels) *merge {
	n := 1
	for n < len(c.senders) {
		n *= 2
	}
	m := &merge{senders: make([]queueReader, len(c.senders)), matches: make([]contender, n)}
	for i := range c.senders {
		m.senders[i] = c.senders[i].sent.read(c.Slots)
	}
	m.matches[0] = m.play(1)
	return m
}

// contender goes to the next send of a sender.
func (m *merge) contender(i uint32) contender {
	if int(i) < len(m.senders) && m.senders[i].nextSend() {
		return contender{m.senders[i].time, i}
	}
	return contender{math.MaxInt64, math.MaxUint32}
}

// play gives the winner among all below a match, and sets the losers.
func (m *merge) play(at int) contender {
	if n := len(m.matches); at >= n {
		return m.contender(uint32(at - n))
	}
	a, b := m.play(2*at), m.play(2*at+1)
	if b.before(a) {
		a, b = b, a
	}
	m.matches[at] = b
	return a
}

// next gives the sender whose send is next; false after the last.
func (m *merge) next() (uint32, bool) {
	i := m.matches[0].sender
	return i, i != math.MaxUint32
}

// move goes past the send of the sender that was next.
func (m *merge) move(i uint32) {
	c := m.contender(i)
	for at := (int(i) + len(m.matches)) / 2; at > 0; at /= 2 {
		if x := &m.matches[at]; x.before(c) {
			*x, c = c, *x
		}
	}
	m.matches[0] = c
}
