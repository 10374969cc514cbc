package server

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"strings"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/render/wire"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A result is a computed view with the outputs made from it so far. Views allow one user at a time, so every use holds
// the lock.
type result struct {
	request *view.Request
	view    *view.View
	value   view.Result
	lock    chan struct{} // holds one element while free; a channel so that waiting can be cancelled

	scene   *scene.Scene // drawn at the request's size
	encoded [2][]byte    // exact and coarse
	table   *view.Table
	order   []int32 // of the table's rows, as sorted last
	sorted  sortKey
	size    atomic.Int64 // bytes counted in the cache

	own      int64 // bytes of the value, with shared ones
	drawnOf  *scene.Scene
	listedOf *view.Table
	drawn    int64 // bytes of the scene and the table that were counted last
	listed   int64
}

type sortKey struct {
	column     string
	descending bool
}

// compute finds or makes the result of a request.
func (s *computer) compute(ctx context.Context, q *viewRequest) (*entry, *result, error) {
	e, err := s.cache.get(ctx, q.key(), q.needed(), func(ctx context.Context) (made, error) {
		var out *result
		if q.view.Report.Findings {
			s.limiter.expectScan(q.costs(), q.runs[0].Store.Info().Intervals)
		}
		err := s.limiter.do(ctx, q.costs(), s.guarded("view "+q.view.Name, func() error {
			req, err := q.request()
			if err != nil {
				return err
			}
			value, err := view.Ask(ctx, q.view, req)
			if err != nil {
				return err
			}
			out = &result{request: req, view: q.view, value: value, lock: make(chan struct{}, 1)}
			out.lock <- struct{}{}
			return nil
		}))
		m := made{value: out}
		if err == nil {
			m.bytes, m.on = view.HeldBy(out.request, out.value)
			out.own = m.bytes
			for _, h := range m.on {
				out.own += h.Size()
			}
		}
		return m, err
	})
	if err != nil {
		return nil, nil, err
	}
	return e, e.value.(*result), nil
}

// A making is a kind of output made from a result; it decides how much memory is needed.
type making uint8

const (
	ofPicture making = iota
	ofTable
	ofTwin // the whole of it as JSON
)

// takes estimates the bytes of memory that an output of the result needs. A table and JSON write out in full the short
// form that the result holds.
func (r *result) takes(what making) int64 {
	const picture = 4 << 20
	switch {
	case what == ofTwin:
		return picture + view.ToTell(r.value, r.own)
	case what == ofTable && r.table == nil:
		return picture + view.ToList(r.value, r.own)
	}
	return picture
}

// use runs f alone on a result, in a slot, when there is memory for it. Outputs that f adds to the result are counted.
func (s *computer) use(ctx context.Context, e *entry, r *result, what making, f func() error) error {
	select {
	case <-r.lock:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { r.lock <- struct{}{} }()
	done, err := s.cache.budget.Finish(ctx, r.takes(what)) // before the slot: who has one may have to end first
	if err != nil {
		return err
	}
	defer done()
	err = s.limiter.finish(ctx, "draw "+r.view.Name, s.guarded("view "+r.view.Name, func() error {
		err := f()
		return cmp.Or(err, view.Failed(r.value))
	}))
	now := r.bytes()
	s.cache.grow(e, now-r.size.Swap(now))
	return err
}

// bytes returns the size of the outputs made so far.
func (r *result) bytes() int64 {
	if r.scene != r.drawnOf {
		var s memory.Sizer
		s.Ignore(r.value)
		r.drawnOf, r.drawn = r.scene, s.Of(r.scene)
	}
	if r.table != r.listedOf {
		var s memory.Sizer
		r.listedOf, r.listed = r.table, s.Of(r.table)
	}
	return int64(len(r.encoded[0])+len(r.encoded[1])) + int64(4*len(r.order)) + r.drawn + r.listed
}

// draw lays the result out once.
func (r *result) draw() *scene.Scene {
	if r.scene == nil {
		r.scene = r.value.Scene(r.request.Size)
		r.scene.Notes = union(r.scene.Notes, r.value.Notes())
	}
	return r.scene
}

// withTitleAndLegend returns the picture as a file shows it, with title, legend and notes; size: as large
// as on paper, nil: as it was asked for. Letter names it among others of a figure.
func (r *result) withTitleAndLegend(size *scene.Picture, letter string, theme scene.Theme) *scene.Scene {
	draw := func(size scene.Size) *scene.Scene {
		s := r.value.Scene(size)
		s.Notes = union(s.Notes, r.value.Notes())
		if letter != "" {
			s.Title = strings.TrimSpace("(" + letter + ") " + s.Title)
		}
		s.Legend = scene.JoinSame(s.Legend, theme)
		return s
	}
	if size != nil {
		return size.AddTitleAndLegend(draw)
	}
	return scene.AddTitleAndLegend(r.request.Size, draw)
}

// pick asks by a place of the scene, or by the number of an item where it is not negative.
func (r *result) pick(at [2]float64, item int) (view.Fact, bool, error) {
	s := r.draw()
	if item < 0 {
		return view.PickAt(r.value, s, at[0], at[1])
	}
	it, _ := s.ItemOf(item)
	return view.FactOf(r.value, it)
}

// mostFacts is how many bytes of facts travel with a scene, before they are packed.
const mostFacts = 64 << 10

// encode returns the scene's bytes, exact or coarse, without the columns that the page has already. The omitted
// columns depend on the page, so the bytes are not cached.
func (r *result) encode(coarse bool, have []string) ([]byte, error) {
	if len(have) > 0 && !coarse {
		return wire.Encode(r.draw(), wire.Extra{Have: have, Facts: r.facts(), Briefs: r.briefs()})
	}
	at := 0
	if coarse {
		at = 1
	}
	if r.encoded[at] != nil {
		return r.encoded[at], nil
	}
	drawn, extra := r.draw(), wire.Extra{}
	if coarse {
		if less, changed := wire.Coarsen(drawn); changed {
			drawn, extra.Coarse = less, true
		}
	}
	if extra.Facts = r.facts(); !extra.Coarse {
		extra.Briefs = r.briefs()
	}
	var err error
	r.encoded[at], err = wire.Encode(drawn, extra)
	return r.encoded[at], err
}

// facts returns the facts of the scene's items that the page shows without a request.
func (r *result) facts() json.RawMessage { return view.HeldFacts(r.value, r.draw(), mostFacts) }

// briefs returns the same for items that are very many.
func (r *result) briefs() (out []wire.Briefs) {
	for _, block := range view.HeldBriefs(r.value, r.draw()) {
		b := wire.Briefs{First: block.First}
		for i := range block.Briefs {
			x := &block.Briefs[i]
			b.Things = append(b.Things, wire.Thing{Title: x.Title, On: x.On, Region: uint32(x.Region)})
			b.Begin, b.End = append(b.Begin, int64(x.Begin)), append(b.End, int64(x.End))
			b.Count = append(b.Count, uint32(min(max(x.Count, 1), math.MaxUint32)))
		}
		out = append(out, b)
	}
	return out
}

// union keeps the order of a and adds the elements that only b has.
func union(a, b []string) []string {
	out := append([]string{}, a...)
	seen := map[string]bool{}
	for _, x := range a {
		seen[x] = true
	}
	for _, x := range b {
		if !seen[x] {
			out = append(out, x)
			seen[x] = true
		}
	}
	return out
}
