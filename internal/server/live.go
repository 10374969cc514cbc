package server

import (
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/view"
)

// A Live is a run that is replaced by a newer state of itself while people look at it:
// a file that grows, spans that arrive. Its id stays, its generation changes.
type Live struct {
	registry *registry
	id       string
	lineage  lineage
}

// Live lists a run that has no content yet: it is waited for like an import.
func (s *Server) Live(name, source string) *Live {
	g := s.runs
	g.mu.Lock()
	defer g.mu.Unlock()
	x := &run{id: g.freeID(name), sources: []string{source}, state: "importing", live: true, cancel: func() {}}
	x.Run = view.Run{Name: name, Source: source}
	g.runs = append(g.runs, x)
	return &Live{registry: g, id: x.id}
}

// Set shows another state. Computations on the one before finish first; then its store is closed and done called. Set
// returns false, and gives the run back, if it is not wanted any more: the user closed it, or the server ends.
func (l *Live) Set(r view.Run, done func()) bool {
	g := l.registry
	l.lineage.add(r.Store)
	g.mu.Lock()
	at := slices.IndexFunc(g.runs, func(x *run) bool { return x.id == l.id })
	if at < 0 {
		g.mu.Unlock()
		r.Cache.Close()
		r.Store.Close()
		done()
		return false
	}
	before := g.runs[at]
	g.runs[at] = &run{id: l.id, sources: before.sources, state: "ready", live: true, lineage: &l.lineage, Run: r,
		after: done, cancel: func() {}}
	g.mu.Unlock()
	g.server.cache.forget(before)
	before.retire()
	return true
}

// Ended reports whether the run is not wanted any more.
func (l *Live) Ended() bool {
	g := l.registry
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.server.ctx.Err() != nil || !slices.ContainsFunc(g.runs, func(x *run) bool { return x.id == l.id })
}

// Do runs f as work of the server: Close waits for it, and ends its context.
func (s *Server) Do(f func(context.Context)) {
	s.work.Add(1)
	go func() {
		defer s.work.Done()
		f(s.ctx)
	}()
}

// retire closes a run that is listed no more as soon as it is not in use.
func (x *run) retire() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	x.closeIfUnused()
}
