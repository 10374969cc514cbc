package otf2

import (
	"cmp"
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// What two records have in common, by which they find each other.
type matchKind uint8

const (
	// matchMessage: communicator, sending process, receiving process, tag; in the
	// order of sending, and of posting the receive (MPI messages do not overtake).
	matchMessage matchKind = iota
	// matchTeam: team and member; the fork of the team's first thread, and the
	// begin of the other threads, in order.
	matchTeam
	matchJoin // the same for the ends of the other threads and the join
	// matchThread: contingent, process and sequence number.
	matchThread
	matchWait
	// matchTask: team or process, creator and number; its first switch counts.
	matchTask
	matchKinds
)

var matchLinks = [matchKinds]trace.LinkKind{
	trace.LinkMessage, trace.LinkSpawn, trace.LinkWake, trace.LinkSpawn, trace.LinkWake, trace.LinkSpawn,
}

// A key is what both ends of a link share.
type key struct {
	kind    matchKind
	a, b, c uint32 // as matchKind says
	d       uint64
}

// A half is one end of a link on its way to the other. It holds no pointers.
type half struct {
	digest uint64 // of key
	key
	order  trace.Time
	at     uint32 // location, index of definition
	seq    uint32 // among the halves of the location
	region trace.RegionID
	number uint32 // of the call, see trace.End
	time   trace.Time
	size   int64
}

// setDigest makes the half ready to be sorted.
func (h *half) setDigest() { h.digest = h.key.mixed() }

// mixed is a digest of the key.
func (k *key) mixed() uint64 {
	return mix(mix(mix(mix(0, uint64(k.kind)<<32|uint64(k.a)), uint64(k.b)), uint64(k.c)), k.d)
}

// sameKey orders halves by what they have in common.
func sameKey(x, y *half) int {
	if x.digest != y.digest {
		return cmp.Compare(x.digest, y.digest)
	}
	return cmp.Or(cmp.Compare(x.kind, y.kind), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b), cmp.Compare(x.c, y.c), cmp.Compare(x.d, y.d))
}

var halfOrder = ordering[half]{
	digest: func(h *half) (uint64, int64) { return h.digest, int64(h.order) },
	compare: func(x, y *half) int {
		return cmp.Or(sameKey(x, y), cmp.Compare(x.at, y.at), cmp.Compare(x.seq, y.seq))
	},
}

// place says where an end lies.
func (h *half) place(t trace.Time, c call) { h.time, h.region, h.number = t, c.region, c.number }

// end is where a half lies.
func (h *half) end() end { return end{at: h.at, time: h.time, call: call{h.region, h.number}} }

// A pair is two halves that found each other.
type pair struct {
	key           *key
	size          int64
	cause, effect end
}

type end struct {
	at   uint32 // location, index of definition
	call call
	time trace.Time
}

// A matcher joins halves that come from different files, in bounded memory: messages
// by channel, as they were read, where that is enough, all others by sorting.
type matcher struct {
	channels    *channels
	parts       [matchParts]sides
	collectives *spool[participation]
	// incomplete are processes with receives that were asked for and never
	// completed: which of their messages these took cannot be told.
	incomplete []bool
}

// sides are causes and effects.
type sides [2]*spool[half]

// matchParts is in how many parts halves are joined, side by side; the highest bits of
// the digest say in which.
const (
	partBits   = 1
	matchParts = 1 << partBits
)

func (h *half) part() uint64 { return h.digest >> (64 - partBits) }

// newMatcher makes one that uses queues for at most so many channels.
func newMatcher(memory int64, channels, processes int) *matcher {
	m := &matcher{
		channels:    newChannels(memory*3/5, channels),
		collectives: newSpool(memory/10, participationOrder), incomplete: make([]bool, processes),
	}
	for i := range m.parts {
		for side := range m.parts[i] {
			m.parts[i][side] = newSpool(memory*3/20/matchParts, halfOrder)
		}
	}
	return m
}

func (m *matcher) close() {
	m.channels.close()
	for i := range m.parts {
		m.parts[i][0].close()
		m.parts[i][1].close()
	}
	m.collectives.close()
}

// matched counts how a kind of link went.
type matched struct {
	links, causes, effects int64 // pairs, and halves without the other
	unsure                 int64 // halves left alone because receives are missing
	backwards              int64 // effects before their cause
	worst                  trace.Time
}

// pair counts a pair.
func (s *matched) pair(p *pair) {
	s.links++
	if d := p.cause.time - p.effect.time; d > 0 {
		s.backwards++
		s.worst = max(s.worst, d)
	}
}

func (s *matched) add(o *matched) {
	s.links += o.links
	s.causes += o.causes
	s.effects += o.effects
	s.unsure += o.unsure
	s.backwards += o.backwards
	s.worst = max(s.worst, o.worst)
}

// join calls f for every pair, with the part of the matching it comes from: one
// goroutine at a time for each. Messages of channels come first, in order of time, the
// others in order of what they have in common; with several workers parts of them at
// the same time. It is called once. O(n log n).
func (m *matcher) join(ctx context.Context, workers int, f func(part int, p *pair)) (stats [matchKinds]matched, err error) {
	if err := m.channels.settle(ctx, m); err != nil {
		return stats, err
	}
	if stats[matchMessage], err = m.channels.join(ctx, m.incomplete, func(p *pair) { f(0, p) }); err != nil {
		return stats, err
	}
	var parts [matchParts][matchKinds]matched
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for i := range m.parts {
		g.Go(func() (err error) {
			parts[i], err = m.joinPart(ctx, &m.parts[i], func(p *pair) { f(i, p) })
			return err
		})
	}
	err = g.Wait()
	for i := range parts {
		for k := range stats {
			stats[k].add(&parts[i][k])
		}
	}
	return stats, err
}

// halves are blocks on their way to the spools.
type halves [matchParts][2][]half

// add gives a half whose digest is known to the matcher.
func (b *halves) add(m *matcher, side int, h *half) {
	part := h.part()
	to := &b[part][side]
	if *to = append(*to, *h); len(*to) == blockRecords {
		*to = m.parts[part][side].add(*to)
	}
}

// flush gives what was collected.
func (b *halves) flush(m *matcher) {
	for i := range m.parts {
		for side, s := range m.parts[i] {
			b[i][side] = s.add(b[i][side])
		}
	}
}
