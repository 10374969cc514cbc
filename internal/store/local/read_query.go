package local

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A damage is what a query panics with where a column cannot be right.
type damage string

// guard runs part of a query. A column that is damaged in a way no checksum was
// asked about ends the query with an error, not the process: a value out of range,
// or a page that the disk no longer gives.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case damage:
			err = fmt.Errorf("column %s: %w", string(p), ErrDamaged)
		case interface {
			error
			RuntimeError()
		}:
			err = fmt.Errorf("%w (%w)", ErrDamaged, p)
		default:
			panic(p)
		}
	}()
	return f()
}

// A calleePanic is a panic in code that a query calls: it is passed on as it is.
type calleePanic struct {
	value any
	stack []byte
}

func (p calleePanic) String() string { return fmt.Sprintf("%v\n%s", p.value, p.stack) }

// shield keeps guard from taking a panic in a callback for damage.
func shield[T any](f func(T) error) func(T) error {
	return func(x T) error {
		defer passOn()
		return f(x)
	}
}

// passOn is deferred around code of others.
func passOn() {
	if p := recover(); p != nil {
		panic(calleePanic{p, debug.Stack()})
	}
}

// A shielded summary does the same for the code of a summary.
type shielded struct {
	trace.Summary
	condenser trace.Condenser // nil: blocks are kept as they are
}

func shieldSummary(s trace.Summary) shielded {
	c, _ := s.(trace.Condenser)
	return shielded{s, c}
}

func (s shielded) Build(dst trace.Block, x *trace.Stretch, regions []trace.Region) trace.Block {
	defer passOn()
	return s.Summary.Build(dst, x, regions)
}

func (s shielded) Merge(dst trace.Block, a, b trace.Block) trace.Block {
	defer passOn()
	return s.Summary.Merge(dst, a, b)
}

func (s shielded) Condense(dst, long trace.Block) trace.Block {
	defer passOn()
	return s.condenser.Condense(dst, long)
}

// errClosed is the error of a query after Close.
var errClosed = errors.New("the store is closed")

// enter keeps Close waiting until leave.
func (r *Reader) enter() error {
	r.life.RLock()
	if r.closed {
		r.life.RUnlock()
		return errClosed
	}
	return nil
}

func (r *Reader) leave() { r.life.RUnlock() }

// A window is a store.Window with the rule of the trace's end: one that reaches
// the end of the trace also holds what begins at the very end.
type window struct {
	begin trace.Time
	until trace.Time // rows that begin in [begin, until) begin in the window
	end   trace.Time // time is clipped to [begin, end)
}

func (r *Reader) window(w store.Window) window {
	out := window{begin: max(w.Begin, 0), until: w.End, end: min(w.End, r.info.End)}
	if w.End >= r.info.End {
		out.until = r.info.End + 1
	}
	return out
}

// A ranges is a set of locations as ranges [first, end), ascending.
type ranges [][2]trace.LocationID

// ranges gives the locations that a window asks for, with all below them but for
// those aside that are not named.
func (r *Reader) ranges(ids []trace.LocationID) ranges {
	n := trace.LocationID(r.tree.Len())
	if ids == nil {
		return r.without(ranges{{0, n}}, nil)
	}
	var out ranges
	for _, id := range ids {
		if id >= n {
			continue
		}
		end := r.tree.Last[id] + 1
		if k := len(out); k > 0 && id <= out[k-1][1] {
			out[k-1][1] = max(out[k-1][1], end)
			continue
		}
		out = append(out, [2]trace.LocationID{id, end})
	}
	return r.without(out, ids)
}

// isAside reports whether the time of a location counts for none above it.
func (r *Reader) isAside(id trace.LocationID) bool {
	_, found := slices.BinarySearch(r.aside, id)
	return found
}

// without takes the locations aside out of a set, but for those that are named.
// O(ranges + locations aside).
func (r *Reader) without(set ranges, named []trace.LocationID) ranges {
	if len(r.aside) == 0 {
		return set
	}
	var out ranges
	next := 0
	for _, x := range set {
		for ; next < len(r.aside) && r.aside[next] < x[1]; next++ {
			id := r.aside[next]
			if id < x[0] {
				continue
			}
			if _, ok := slices.BinarySearch(named, id); ok {
				continue
			}
			if id > x[0] {
				out = append(out, [2]trace.LocationID{x[0], id})
			}
			x[0] = id + 1
		}
		if x[0] < x[1] {
			out = append(out, x)
		}
	}
	return out
}

// split cuts the ranges into pieces for parallel work: many small ones, so that
// cores stay busy where locations differ. Only pieces with rows are kept.
func (r *Reader) split(set ranges) ranges {
	total := 0
	for _, x := range set {
		total += int(r.holders[x[1]] - r.holders[x[0]])
	}
	size := trace.LocationID(min(max(total/(8*r.workers), 1), 4096))
	var out ranges
	for _, x := range set {
		for x[0] < x[1] {
			end := min(x[0]+size, x[1])
			if r.holders[end] > r.holders[x[0]] {
				out = append(out, [2]trace.LocationID{x[0], end})
			}
			x[0] = end
		}
	}
	return out
}

// parallel calls f for each piece, on all cores, worker by worker.
func (r *Reader) parallel(ctx context.Context, pieces ranges, f func(ctx context.Context, worker, piece int) error) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for worker := range min(r.workers, len(pieces)) {
		g.Go(func() error {
			return guard(func() error {
				for {
					i := int(next.Add(1) - 1)
					if i >= len(pieces) {
						return nil
					}
					if ctx.Err() != nil {
						return context.Cause(ctx)
					}
					if err := f(ctx, worker, i); err != nil {
						return err
					}
				}
			})
		})
	}
	return g.Wait()
}

// eachLane calls f for every lane of the locations, in order within a location.
func (r *Reader) eachLane(ctx context.Context, ids []trace.LocationID, f func(id trace.LocationID, lane int, v *laneView) error) error {
	pieces := r.split(r.ranges(ids))
	return r.parallel(ctx, pieces, func(ctx context.Context, _, i int) error {
		for id := pieces[i][0]; id < pieces[i][1]; id++ {
			first, last := r.c.locationLane[id], r.c.locationLane[id+1]
			for n := first; n < last; n++ {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				v := r.lane(int(n))
				if err := f(id, int(n-first), &v); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// lookup finds a lane of a location.
func (r *Reader) lookup(location trace.LocationID, lane int) (laneView, bool) {
	if int(location) >= r.tree.Len() || lane < 0 || lane >= int(r.c.locationLane[location+1]-r.c.locationLane[location]) {
		return laneView{}, false
	}
	return r.lane(int(r.c.locationLane[location]) + lane), true
}
