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

// join gives every pair of a channel's halves, in order of the time of sending and the
// location, and counts them. O(n log locations).
//
// A channel has one sender, so that groups of senders have nothing in common: with
// several workers each joins the messages of a group, and their results are put in
// order.
func join[T any](ctx context.Context, c *channels, workers int, incomplete []bool, out Output[T]) (stats Matched,
	err error) {
	if len(c.list) == 0 {
		return stats, nil
	}
	slices.SortFunc(c.senders, func(a, b sender) int { return cmp.Compare(a.at, b.at) })
	receivers := c.receivers()
	c.markUnsure(receivers, incomplete)
	if workers > 1 {
		err = joinGroups(ctx, c, receivers, max(min(workers, len(c.senders)/leastSenders), 1), &stats, out)
	} else {
		b := batch[T]{out: out}
		err = c.joinGroup(ctx, receivers, 0, len(c.senders), &stats, b.add)
		b.flush()
	}
	if err != nil {
		return stats, err
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

// joinGroup joins the messages of a range of senders.
func (c *channels) joinGroup(ctx context.Context, receivers []receiver, from, to int, stats *Matched,
	f func(*Pair)) error {
	var p Pair
	m := newMerge(c, c.senders[from:to])
	for n := 0; ; n++ {
		if n&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		i, ok := m.next()
		if !ok {
			return nil
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
			p.Cause.At, p.Cause.Time, p.Cause.Call.Region, p.Cause.Call.Number = uint32(c.senders[from+int(i)].at),
				s.time, s.call.Region, s.call.Number
			p.Effect.At, p.Effect.Time, p.Effect.Call.Region, p.Effect.Call.Number = r.at, r.time, r.call.Region,
				r.call.Number
			stats.Links++
			f(&p)
		}
		m.move(i)
	}
}

func (c *channels) receivers() []receiver {
	list := make([]receiver, len(c.list))
	for i, x := range c.list {
		list[i] = receiver{queueReader: x.Received.read(c.Slots), key: &x.key, at: uint32(x.ends[1]),
			left: x.Received.count}
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

// A merge goes through the sends of many locations in order of time.
type merge struct {
	senders []queueReader
	tournament
}

// A tournament finds the first of many: every match remembers its loser, so that it
// takes O(log contenders) when one moves on.
type tournament struct {
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

// over is who has no more to send: all others come before.
var over = contender{math.MaxInt64, math.MaxUint32}

func newMerge(c *channels, senders []sender) *merge {
	m := &merge{senders: make([]queueReader, len(senders))}
	for i := range senders {
		m.senders[i] = senders[i].sent.read(c.Slots)
	}
	m.start(len(senders), m.contender)
	return m
}

// contender goes to the next send of a sender.
func (m *merge) contender(i uint32) contender {
	if m.senders[i].nextSend() {
		return contender{m.senders[i].time, i}
	}
	return over
}

// move goes past the send of the sender that was next.
func (m *merge) move(i uint32) { m.replace(i, m.contender(i)) }

// start lets n contenders play.
func (t *tournament) start(n int, first func(i uint32) contender) {
	size := 1
	for size < n {
		size *= 2
	}
	t.matches = make([]contender, size)
	t.matches[0] = t.play(1, func(i uint32) contender {
		if int(i) < n {
			return first(i)
		}
		return over
	})
}

// play returns the winner among all below a match, and sets the losers.
func (t *tournament) play(at int, first func(i uint32) contender) contender {
	if n := len(t.matches); at >= n {
		return first(uint32(at - n))
	}
	a, b := t.play(2*at, first), t.play(2*at+1, first)
	if b.before(a) {
		a, b = b, a
	}
	t.matches[at] = b
	return a
}

// next gives who is first; false after the last.
func (t *tournament) next() (uint32, bool) {
	i := t.matches[0].sender
	return i, i != math.MaxUint32
}

// replace puts c, the next contender of i, in the winner's place.
func (t *tournament) replace(i uint32, c contender) {
	for at := (int(i) + len(t.matches)) / 2; at > 0; at /= 2 {
		if x := &t.matches[at]; x.before(c) {
			*x, c = c, *x
		}
	}
	t.matches[0] = c
}
