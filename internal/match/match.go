// Package match joins the records of different locations about the same operation:
// sends and receives, forks and begins of threads, collective operations. Unmatched
// records are counted.
//
// A Half is one side. Halves go to a spool that puts together those with the same key
// (match.go), or, for the messages of busy channels, to queues in the order of
// sending (queue.go, join.go). Memory is bounded, whatever the number of messages.
package match

import (
	"cmp"
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A matchKind lists the fields by which two records find each other.
type matchKind uint8

const (
	// matchMessage: communicator, sending process, receiving process, tag; in the
	// order of sending, and of posting the receive (MPI messages do not overtake).
	Message matchKind = iota
	// matchTeam: team and member; the fork of the team's first thread, and the
	// begin of the other threads, in order.
	Team
	Join // the same for the ends of the other threads and the join
	// matchThread: contingent, process and sequence number.
	Thread
	Wait
	// matchTask: team or process, creator and number; its first switch counts.
	Task
	Kinds
)

var Links = [Kinds]trace.LinkKind{
	trace.LinkMessage, trace.LinkSpawn, trace.LinkWake, trace.LinkSpawn, trace.LinkWake, trace.LinkSpawn,
}

// A Key is the fields that both ends of a link share.
type Key struct {
	Kind    matchKind
	A, B, C uint32 // as matchKind says
	D       uint64
}

// A Half is one end of a link on its way to the other. It holds no pointers.
type Half struct {
	Hash uint64 // of key
	Key
	Order  trace.Time
	At     uint32 // location, index of definition
	Seq    uint32 // among the halves of the location
	region trace.RegionID
	number uint32 // of the call, see trace.End
	time   trace.Time
	Size   int64
}

// SetHash makes the half ready to be sorted.
func (h *Half) SetHash() { h.Hash = h.Key.Mixed() }

// Mixed is a hash of the key.
func (k *Key) Mixed() uint64 {
	return spool.Mix(spool.Mix(spool.Mix(spool.Mix(0, uint64(k.Kind)<<32|uint64(k.A)), uint64(k.B)), uint64(k.C)), k.D)
}

// sameKey orders halves by their keys.
func sameKey(x, y *Half) int {
	if x.Hash != y.Hash {
		return cmp.Compare(x.Hash, y.Hash)
	}
	return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B), cmp.Compare(x.C, y.C),
		cmp.Compare(x.D, y.D))
}

var halfOrder = spool.Grouping[Half]{
	Hash: func(h *Half) (uint64, int64) { return h.Hash, int64(h.Order) },
	Compare: func(x, y *Half) int {
		return cmp.Or(sameKey(x, y), cmp.Compare(x.At, y.At), cmp.Compare(x.Seq, y.Seq))
	},
}

// Place says where an end lies.
func (h *Half) Place(t trace.Time, c Call) { h.time, h.region, h.number = t, c.Region, c.Number }

// end is where a half lies.
func (h *Half) end() End { return End{At: h.At, Time: h.time, Call: Call{h.region, h.number}} }

// A Pair is two halves that found each other.
type Pair struct {
	Key           *Key
	Size          int64
	Cause, Effect End
}

type End struct {
	At   uint32 // location, index of definition
	Call Call
	Time trace.Time
}

// A Matcher joins halves that come from different files, in bounded memory: messages
// by channel, as they were read, where that is enough, all others by sorting.
type Matcher struct {
	Channels    *channels
	parts       [Parts]sides
	Collectives *spool.Grouped[Participation]
	// incomplete are processes with receives that were asked for and never
	// completed: which of their messages these took is unknown.
	Incomplete []bool
	// Sharer takes all halves and participations instead, if it is not nil.
	Sharer Sharer
}

// sides are causes and effects.
type sides [2]*spool.Grouped[Half]

// matchParts is in how many parts halves are joined, side by side; the highest bits of
// the hash say in which.
const (
	partBits = 1
	Parts    = 1 << partBits
)

func (h *Half) part() uint64 { return h.Hash >> (64 - partBits) }

// New makes one that uses queues for at most so many channels.
func New(memory int64, channels, processes int) *Matcher {
	m := &Matcher{
		Channels:    newChannels(memory*3/5, channels),
		Collectives: spool.NewGrouped(memory/10, participationOrder), Incomplete: make([]bool, processes),
	}
	for i := range m.parts {
		for side := range m.parts[i] {
			m.parts[i][side] = spool.NewGrouped(memory*3/20/Parts, halfOrder)
		}
	}
	return m
}

func (m *Matcher) Close() {
	m.Channels.close()
	for i := range m.parts {
		m.parts[i][0].Close()
		m.parts[i][1].Close()
	}
	m.Collectives.Close()
}

// Matched counts how a kind of link went.
type Matched struct {
	Links, Causes, Effects int64 // pairs, and halves without the other
	Unsure                 int64 // halves left alone because receives are missing
}

// Add adds the counts of another part.
func (s *Matched) Add(o *Matched) {
	s.Links += o.Links
	s.Causes += o.Causes
	s.Effects += o.Effects
	s.Unsure += o.Unsure
}

// An Output takes pairs as values made of them. Fill is called by several goroutines at a time and copies the data
// that it needs from a pair; the values it fills are used again. Take has many of them in order, and is called by one
// goroutine at a time.
type Output[T any] struct {
	Fill func(*T, *Pair)
	Take func([]T)
}

// JoinAll gives every pair. Messages of channels come first, in order of time, the others in order of their keys;
// with several workers parts of them at the same time. It is called once. O(n log n).
func JoinAll[T any](ctx context.Context, m *Matcher, workers int, out Output[T]) (stats [Kinds]Matched, err error) {
	if err := m.Channels.settle(ctx, m); err != nil {
		return stats, err
	}
	if stats[Message], err = join(ctx, m.Channels, workers, m.Incomplete, out); err != nil {
		return stats, err
	}
	var mu sync.Mutex
	one := Output[T]{Fill: out.Fill, Take: func(list []T) {
		mu.Lock()
		defer mu.Unlock()
		out.Take(list)
	}}
	var parts [Parts][Kinds]Matched
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for i := range m.parts {
		g.Go(func() (err error) {
			b := batch[T]{out: one}
			parts[i], err = m.joinPart(ctx, &m.parts[i], b.add)
			b.flush()
			return err
		})
	}
	err = g.Wait()
	for i := range parts {
		for k := range stats {
			stats[k].Add(&parts[i][k])
		}
	}
	return stats, err
}

// A batch holds the results of one goroutine until they are given.
type batch[T any] struct {
	out  Output[T]
	made []T
}

const batchPairs = 512

func (b *batch[T]) add(p *Pair) {
	if b.made == nil {
		b.made = make([]T, 0, batchPairs)
	}
	b.made = b.made[:len(b.made)+1]
	if b.out.Fill(&b.made[len(b.made)-1], p); len(b.made) == batchPairs {
		b.flush()
	}
}

func (b *batch[T]) flush() {
	if len(b.made) > 0 {
		b.out.Take(b.made)
		b.made = b.made[:0]
	}
}

// Halves are blocks on their way to the spools.
type Halves [Parts][2][]Half

// Add passes a half whose hash is known to the matcher.
func (b *Halves) Add(m *Matcher, side int, h *Half) {
	part := h.part()
	to := &b[part][side]
	if *to = append(*to, *h); len(*to) == spool.BlockRecords {
		*to = m.take(int(part), side, *to)
	}
}

// take passes a block of halves on, and returns one for the next.
func (m *Matcher) take(part, side int, block []Half) []Half {
	if m.Sharer == nil {
		return m.parts[part][side].Add(block)
	}
	m.Sharer.Halves(side, block)
	return block[:0]
}

// Attend passes a block of participations on, and returns one for the next.
func (m *Matcher) Attend(block []Participation) []Participation {
	if m.Sharer == nil {
		return m.Collectives.Add(block)
	}
	m.Sharer.Attend(block)
	return block[:0]
}

// Flush passes on the collected halves.
func (b *Halves) Flush(m *Matcher) {
	for i := range m.parts {
		for side := range m.parts[i] {
			b[i][side] = m.take(i, side, b[i][side])
		}
	}
}

// A Call is one that was given to the stream, as which in number; 0: not known.
type Call struct {
	Region trace.RegionID
	Number uint32
}
