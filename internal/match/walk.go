package match

import (
	"cmp"
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/spool"
)

// joinPart joins the halves in the spools of a part, key by key.
func (m *Matcher) joinPart(ctx context.Context, part *sides, f func(*Pair)) (stats [Kinds]Matched, err error) {
	doubtful, err := m.doubtful(ctx, part)
	if err != nil {
		return stats, err
	}
	w, err := part.walk()
	if err != nil {
		return stats, err
	}
	var p Pair
	for n := 0; w.cause != nil || w.effect != nil; n++ {
		if n&0xffff == 0 && ctx.Err() != nil {
			return stats, ctx.Err()
		}
		side := w.side()
		switch {
		case side < 0:
			s := &stats[w.cause.Kind]
			if len(doubtful) > 0 && doubtful[w.cause.Key] {
				s.Unsure++
			} else {
				s.Causes++
			}
			err = w.nextCause()
		case side > 0:
			s := &stats[w.effect.Kind]
			switch {
			case w.effect.Kind == Task && w.paired: // it goes on with the task
			case len(doubtful) > 0 && doubtful[w.effect.Key]:
				s.Unsure++
			default:
				s.Effects++
			}
			err = w.nextEffect()
		case len(doubtful) > 0 && doubtful[w.cause.Key]:
			stats[w.cause.Kind].Unsure += 2
			err = cmp.Or(w.nextCause(), w.nextEffect())
		default:
			p = Pair{&w.cause.Key, w.cause.Size, w.cause.end(), w.effect.end()}
			stats[w.cause.Kind].Links++
			f(&p)
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
func (m *Matcher) doubtful(ctx context.Context, part *sides) (map[Key]bool, error) {
	any := false
	for _, x := range m.Incomplete {
		any = any || x
	}
	if !any {
		return nil, nil
	}
	w, err := part.walk()
	if err != nil {
		return nil, err
	}
	keys := map[Key]bool{}
	for n := 0; w.cause != nil || w.effect != nil; n++ {
		if n&0xffff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		side := w.side()
		h := w.cause
		if side > 0 {
			h = w.effect
		}
		if side != 0 && h.Kind == Message && int(h.C) < len(m.Incomplete) && m.Incomplete[h.C] {
			keys[h.Key] = true
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
	causes, effects *spool.GroupedReader[Half]
	cause, effect   *Half
	paired          bool // the effect before had the same key and found its cause
	last            Key
}

func (s *sides) walk() (*walk, error) {
	w := &walk{}
	var g errgroup.Group
	g.Go(func() (err error) {
		w.causes, err = s[0].Sorted()
		return err
	})
	g.Go(func() (err error) {
		w.effects, err = s[1].Sorted()
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
	w.cause, err = w.causes.Next()
	return err
}

func (w *walk) nextEffect() (err error) {
	w.effect, err = w.effects.Next()
	w.paired = w.paired && w.effect != nil && w.effect.Key == w.last
	return err
}

func (w *walk) nextPair() error {
	w.paired, w.last = true, w.cause.Key
	return cmp.Or(w.nextCause(), w.nextEffect())
}
