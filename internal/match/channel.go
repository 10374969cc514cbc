package match

import (
	"context"
	"sync"
	"sync/atomic"
)

// A Channel is a sequence of messages that do not overtake each other: of one
// communicator, two processes and a tag. Mostly one location of each process uses it,
// and posts its receives in the order of their completion: then the k-th send belongs
// to the k-th receive as they are read, and both wait in queues. The halves of all
// other channels go through the spools, which sort them.
type Channel struct {
	key      Key
	hash     uint64
	Id       uint16
	ends     [2]int32    // the locations whose halves are in queues: who sends, who receives; -1 before any
	Mixed    atomic.Bool // the halves are not in order, or others also have some
	Received Queue
}

// channels finds channels by their key. It holds a bounded number: a channel that
// comes when it is full is never added, so that all halves of a channel go the same
// way.
type channels struct {
	most int

	mu    sync.Mutex
	byKey map[Key]*Channel
	list  []*Channel // by id
	Slots *slots

	senders []sender
}

// mostChannels is how many channels there can be. channelBytes is about the size of
// one, without the messages that wait on it: itself, its place in the table, and a
// receiver.
const (
	MostChannels = 1 << 16
	channelBytes = 384
)

// A sender is a location that sends, with its messages.
type sender struct {
	at   int32
	sent Queue
}

// newChannels makes room for so many channels, as far as they take half of the memory.
func newChannels(memory int64, most int) *channels {
	return &channels{most: min(most, MostChannels, int(memory/2/channelBytes)), byKey: map[Key]*Channel{},
		Slots: newSlots(memory)}
}

// Find returns the channel for halves of a location, or makes it; nil if they must go
// to the spools.
func (c *channels) Find(k *Key, hash uint64, side int, at int32) *Channel {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.byKey[*k]
	if x == nil {
		if len(c.list) >= c.most {
			return nil
		}
		x = &Channel{key: *k, hash: hash, Id: uint16(len(c.list)), ends: [2]int32{-1, -1}}
		c.byKey[*k] = x
		c.list = append(c.list, x)
		c.Slots.take(channelBytes)
	}
	switch x.ends[side] {
	case -1:
		x.ends[side] = at
	case at:
	default:
		x.Mixed.Store(true)
		return nil
	}
	return x
}

// Sent takes the messages that a location has sent.
func (c *channels) Sent(at int32, q *Queue) {
	if q.count == 0 {
		return
	}
	q.seal(c.Slots)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.senders = append(c.senders, sender{at, *q})
}

func (c *channels) close() {
	c.byKey, c.list, c.senders = nil, nil, nil
	c.Slots.close()
}

// settle ends all queues, and gives the halves of channels that cannot be joined as
// they were read to the spools of m.
func (c *channels) settle(ctx context.Context, m *Matcher) error {
	mixed := false
	for _, x := range c.list {
		x.Received.seal(c.Slots)
		mixed = mixed || x.Mixed.Load()
	}
	if err := c.Slots.failed(); err != nil || !mixed {
		return err
	}
	var out Halves
	for i := range c.senders {
		s := &c.senders[i]
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for r, n := s.sent.read(c.Slots), uint32(0); r.nextSend(); n++ {
			if x := c.list[r.channel]; x.Mixed.Load() {
				h := Half{Key: x.key, Hash: x.hash, Order: r.time, At: uint32(s.at), Seq: n, Size: r.size}
				h.Place(r.time, r.call)
				out.Add(m, 0, &h)
			}
		}
	}
	for _, x := range c.list {
		if !x.Mixed.Load() {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for r, n := x.Received.read(c.Slots), uint32(0); r.nextReceive(); n++ {
			h := Half{Key: x.key, Hash: x.hash, Order: r.posted, At: uint32(x.ends[1]), Seq: n}
			h.Place(r.time, r.call)
			out.Add(m, 1, &h)
		}
	}
	out.Flush(m)
	return c.Slots.failed()
}
