package server

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
)

// Panels let a newer request of a panel cancel the older ones, also where the
// browser does not tell us that it has left (a proxy or a tunnel in between).
// A panel is known by an id of the page's choice; requests of different kinds
// (scene, pick, table) do not cancel each other.
type panels struct {
	mu   sync.Mutex
	last map[string]*panel
	tick int64 // counts requests, to find the panel used longest ago
}

type panel struct {
	seq    int64
	used   int64
	active map[*ticket]bool
}

// A ticket is one request of a panel under way.
type ticket struct {
	seq    int64
	cancel context.CancelCauseFunc
}

// maxPanels bounds the remembered panels; the least recently used go first.
const maxPanels = 1024

func newPanels() *panels { return &panels{last: map[string]*panel{}} }

// enter reads panel and seq from a request. The context it gives ends when a
// newer request of the panel comes; leave must be called.
func (p *panels) enter(r *http.Request, kind string) (ctx context.Context, leave func(), err error) {
	q := r.URL.Query()
	id := q.Get("panel")
	if id == "" {
		return r.Context(), func() {}, nil
	}
	seq, err := strconv.ParseInt(q.Get("seq"), 10, 64)
	if err != nil || len(id) > 100 {
		return nil, nil, usage(errors.New("panel wants a name of at most 100 letters, and seq a whole number"))
	}
	return p.take(r.Context(), kind+" "+id, seq)
}

func (p *panels) take(parent context.Context, key string, seq int64) (context.Context, func(), error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.last[key]
	if now == nil {
		p.forget()
		now = &panel{seq: seq, active: map[*ticket]bool{}}
		p.last[key] = now
	}
	p.tick++
	now.used = p.tick
	if seq < now.seq {
		return nil, nil, errSuperseded
	}
	now.seq = seq
	for t := range now.active {
		if t.seq < seq {
			t.cancel(errSuperseded)
		}
	}
	ctx, cancel := context.WithCancelCause(parent)
	t := &ticket{seq, cancel}
	now.active[t] = true
	return ctx, func() {
		cancel(nil)
		p.mu.Lock()
		delete(now.active, t)
		p.mu.Unlock()
	}, nil
}

// forget makes room for one more panel: idle ones, oldest first.
func (p *panels) forget() {
	for len(p.last) >= maxPanels {
		oldest := ""
		for key, x := range p.last {
			if len(x.active) == 0 && (oldest == "" || x.used < p.last[oldest].used) {
				oldest = key
			}
		}
		if oldest == "" {
			return // all are at work; requests are bounded, so panels are
		}
		delete(p.last, oldest)
	}
}
