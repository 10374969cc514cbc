package otf2

import (
	"context"
	"sync"
	"sync/atomic"
)

// A channel is what messages have in common that do not overtake each other: a
// communicator, two processes and a tag. Mostly one location of each process uses it,
// and posts its receives in the order of their completion: then the k-th send belongs
// to the k-th receive as they are read, and both wait in queues. The halves of all
// other channels go through the spools, which sort them.
type channel struct {
	key      key
	digest   uint64
	id       uint16
	ends     [2]int32    // the locations whose halves are in queues: who sends, who receives; -1 before any
	mixed    atomic.Bool // the halves are not in order, or others also have some
	received queue
}

// channels finds channels by their key. It holds a bounded number: what is not among
// them when it is full never is, so that all halves of a channel go the same way.
type channels struct {
	most int

	mu    sync.Mutex
	byKey map[key]*channel
	list  []*channel // by id
	slots *slots

	senders []sender
}

// mostChannels is how many channels there can be, channelBytes about what one takes
// beside what waits on it: itself, its place in the table, and a receiver.
const (
	mostChannels = 1 << 16
	channelBytes = 384
)

// A sender is a location that sends, with what it sent.
type sender struct {
	at   int32
	sent queue
}

// newChannels makes room for so many channels, as far as they take half of the memory.
func newChannels(memory int64, most int) *channels {
	return &channels{most: min(most, mostChannels, int(memory/2/channelBytes)), byKey: map[key]*channel{}, slots: newSlots(memory)}
}

// find gives the channel for halves of a location, or makes it; nil where they must go
// to the spools.
func (c *channels) find(k *key, digest uint64, side int, at int32) *channel {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.byKey[*k]
	if x == nil {
		if len(c.list) >= c.most {
			return nil
		}
		x = &channel{key: *k, digest: digest, id: uint16(len(c.list)), ends: [2]int32{-1, -1}}
		c.byKey[*k] = x
		c.list = append(c.list, x)
		c.slots.take(channelBytes)
	}
	switch x.ends[side] {
	case -1:
		x.ends[side] = at
	case at:
	default:
		x.mixed.Store(true)
		return nil
	}
	return x
}

// sent takes what a location has sent.
func (c *channels) sent(at int32, q *queue) {
	if q.count == 0 {
		return
	}
	q.seal(c.slots)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.senders = append(c.senders, sender{at, *q})
}

func (c *channels) close() {
	c.byKey, c.list, c.senders = nil, nil, nil
	c.slots.close()
}

// settle ends all queues, and gives the halves of channels that cannot be joined as
// they were read to the spools of m.
func (c *channels) settle(ctx context.Context, m *matcher) error {
	mixed := false
	for _, x := range c.list {
		x.received.seal(c.slots)
		mixed = mixed || x.mixed.Load()
	}
	if err := c.slots.failed(); err != nil || !mixed {
		return err
	}
	var out halves
	for i := range c.senders {
		s := &c.senders[i]
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for r, n := s.sent.read(c.slots), uint32(0); r.nextSend(); n++ {
			if x := c.list[r.channel]; x.mixed.Load() {
				h := half{key: x.key, digest: x.digest, order: r.time, at: uint32(s.at), seq: n, size: r.size}
				h.place(r.time, r.call)
				out.add(m, 0, &h)
			}
		}
	}
	for _, x := range c.list {
		if !x.mixed.Load() {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for r, n := x.received.read(c.slots), uint32(0); r.nextReceive(); n++ {
			h := half{key: x.key, digest: x.digest, order: r.posted, at: uint32(x.ends[1]), seq: n}
			h.place(r.time, r.call)
			out.add(m, 1, &h)
		}
	}
	out.flush(m)
	return c.slots.failed()
}
