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
func (h *half) setDigest() {
	h.digest = mix(mix(mix(uint64(h.kind)<<32|uint64(h.a), uint64(h.b)), uint64(h.c)), h.d)
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

// A matcher joins halves that come from different files, in bounded memory.
type matcher struct {
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

func newMatcher(memory int64, processes int) *matcher {
	m := &matcher{collectives: newSpool(memory/5, participationOrder), incomplete: make([]bool, processes)}
	for i := range m.parts {
		for side := range m.parts[i] {
			m.parts[i][side] = newSpool(memory*2/5/matchParts, halfOrder)
		}
	}
	return m
}

func (m *matcher) close() {
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

func (s *matched) add(o *matched) {
	s.links += o.links
	s.causes += o.causes
	s.effects += o.effects
	s.unsure += o.unsure
	s.backwards += o.backwards
	s.worst = max(s.worst, o.worst)
}

// join calls f for every pair, in order of what they have in common; with several
// workers parts of them at the same time. O(n log n).
func (m *matcher) join(ctx context.Context, workers int, f func(part int, cause, effect *half)) (stats [matchKinds]matched, err error) {
	var parts [matchParts][matchKinds]matched
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for i := range m.parts {
		g.Go(func() (err error) {
			parts[i], err = m.joinPart(ctx, &m.parts[i], func(cause, effect *half) { f(i, cause, effect) })
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

func (m *matcher) joinPart(ctx context.Context, part *sides, f func(cause, effect *half)) (stats [matchKinds]matched, err error) {
	doubtful, err := m.doubtful(ctx, part)
	if err != nil {
		return stats, err
	}
	w, err := part.walk()
	if err != nil {
		return stats, err
	}
	for n := 0; w.cause != nil || w.effect != nil; n++ {
		if n&0xffff == 0 && ctx.Err() != nil {
			return stats, ctx.Err()
		}
		side := w.side()
		switch {
		case side < 0:
			s := &stats[w.cause.kind]
			if len(doubtful) > 0 && doubtful[w.cause.key] {
				s.unsure++
			} else {
				s.causes++
			}
			err = w.nextCause()
		case side > 0:
			s := &stats[w.effect.kind]
			switch {
			case w.effect.kind == matchTask && w.paired: // it goes on with the task
			case len(doubtful) > 0 && doubtful[w.effect.key]:
				s.unsure++
			default:
				s.effects++
			}
			err = w.nextEffect()
		case len(doubtful) > 0 && doubtful[w.cause.key]:
			stats[w.cause.kind].unsure += 2
			err = cmp.Or(w.nextCause(), w.nextEffect())
		default:
			s := &stats[w.cause.kind]
			s.links++
			if d := w.cause.time - w.effect.time; d > 0 {
				s.backwards++
				s.worst = max(s.worst, d)
			}
			f(w.cause, w.effect)
			err = w.nextPair()
		}
		if err != nil {
			return stats, err
		}
	}
	return stats, nil
}

// doubtful finds the keys of messages to processes with incomplete receives where
// sends and receives differ in number: there the k-th receive need not belong to
// the k-th send. It goes over everything once more, where there are such processes.
func (m *matcher) doubtful(ctx context.Context, part *sides) (map[key]bool, error) {
	any := false
	for _, x := range m.incomplete {
		any = any || x
	}
	if !any {
		return nil, nil
	}
	w, err := part.walk()
	if err != nil {
		return nil, err
	}
	keys := map[key]bool{}
	for n := 0; w.cause != nil || w.effect != nil; n++ {
		if n&0xffff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		side := w.side()
		h := w.cause
		if side > 0 {
			h = w.effect
		}
		if side != 0 && h.kind == matchMessage && int(h.c) < len(m.incomplete) && m.incomplete[h.c] {
			keys[h.key] = true
		}
		if side <= 0 {
			err = w.nextCause()
		}
		if side >= 0 && err == nil {
			err = w.nextEffect()
		}
		if err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// A walk goes through causes and effects side by side.
type walk struct {
	causes, effects *sorted[half]
	cause, effect   *half
	paired          bool // the effect before had the same key and found its cause
	last            key
}

func (s *sides) walk() (*walk, error) {
	w := &walk{}
	var g errgroup.Group
	g.Go(func() (err error) {
		w.causes, err = s[0].sorted()
		return err
	})
	g.Go(func() (err error) {
		w.effects, err = s[1].sorted()
		return err
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return w, cmp.Or(w.nextCause(), w.nextEffect())
}

// side says whose key comes first: <0 the cause's, >0 the effect's, 0 the same.
func (w *walk) side() int {
	switch {
	case w.effect == nil:
		return -1
	case w.cause == nil:
		return 1
	}
	return sameKey(w.cause, w.effect)
}

func (w *walk) nextCause() (err error) {
	w.cause, err = w.causes.next()
	return err
}

func (w *walk) nextEffect() (err error) {
	w.effect, err = w.effects.next()
	w.paired = w.paired && w.effect != nil && w.effect.key == w.last
	return err
}

func (w *walk) nextPair() error {
	w.paired, w.last = true, w.cause.key
	return cmp.Or(w.nextCause(), w.nextEffect())
}
