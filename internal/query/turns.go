package query

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Turns let queries begin, so many at once, and share the places among holders: one holder has at most half of them. A
// place that becomes free goes to the waiting holder with the fewest running queries, then to the one that used the
// least time lately. Time counts whether a query succeeded or not.
type turns struct {
	places int
	now    func() time.Time

	mu      sync.Mutex
	holders map[string]*holder
	running int
	waiting []*turn
}

type holder struct {
	running, waiting int
	used             time.Duration // lately: it halves every halfLife
	at               time.Time     // when used was brought up to date
}

type turn struct {
	of    *holder
	begun chan struct{} // closed when it is its turn
}

const (
	halfLife    = time.Minute
	mostWaiting = 32 // queries of one holder
	mostHolders = 1024
)

// ErrBusy says that a holder has too many queries waiting.
var ErrBusy = errors.New("query: too many of your queries are waiting; wait for some of them")

func newTurns(places int) *turns {
	return &turns{places: places, now: time.Now, holders: map[string]*holder{}}
}

// enter waits for the turn of a holder. leave must be called if there is no error.
func (t *turns) enter(ctx context.Context, name string) (leave func(), err error) {
	t.mu.Lock()
	h := t.holder(name)
	if h.waiting >= mostWaiting {
		t.mu.Unlock()
		return nil, ErrBusy
	}
	w := &turn{of: h, begun: make(chan struct{})}
	h.waiting++
	t.waiting = append(t.waiting, w)
	t.admit()
	t.mu.Unlock()
	select {
	case <-w.begun:
		begun := t.now()
		return sync.OnceFunc(func() { t.leave(h, begun) }), nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, x := range t.waiting {
		if x == w {
			t.waiting = append(t.waiting[:i], t.waiting[i+1:]...)
			h.waiting--
			return nil, context.Cause(ctx)
		}
	}
	h.running-- // it was let in at the same time
	t.running--
	t.admit()
	return nil, context.Cause(ctx)
}

// holder finds a holder by name; t.mu is held.
func (t *turns) holder(name string) *holder {
	h := t.holders[name]
	if h == nil {
		if len(t.holders) >= mostHolders {
			for key, old := range t.holders {
				if old.running+old.waiting == 0 {
					delete(t.holders, key)
				}
			}
		}
		h = &holder{at: t.now()}
		t.holders[name] = h
	}
	return h
}

func (t *turns) leave(h *holder, begun time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h.used = h.lately(t.now()) + t.now().Sub(begun)
	h.at = t.now()
	h.running--
	t.running--
	t.admit()
}

// lately returns the time that a holder used, halved for every halfLife since.
func (h *holder) lately(now time.Time) time.Duration {
	times := now.Sub(h.at) / halfLife
	if times > 40 {
		return 0
	}
	return h.used >> max(times, 0)
}

// admit lets in those for whom there is a place; t.mu is held.
func (t *turns) admit() {
	now := t.now()
	for t.running < t.places {
		best := -1
		for i, w := range t.waiting {
			if w.of.running >= max(1, t.places/2) {
				continue
			}
			if best < 0 || w.of.before(t.waiting[best].of, now) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		w := t.waiting[best]
		t.waiting = append(t.waiting[:best], t.waiting[best+1:]...)
		w.of.waiting--
		w.of.running++
		t.running++
		close(w.begun)
	}
}

func (h *holder) before(o *holder, now time.Time) bool {
	if h.running != o.running {
		return h.running < o.running
	}
	return h.lately(now) < o.lately(now)
}
