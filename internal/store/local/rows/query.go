package rows

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// errClosed is the error of a query after Close.
var ErrClosed = errors.New("the store is closed")

// Enter keeps Close waiting until leave.
func (r *Table) Enter() error {
	r.life.RLock()
	if r.closed {
		r.life.RUnlock()
		return ErrClosed
	}
	return nil
}

// Leave ends a query. If much is unpacked, of this run and others, and no query is running, it is given back.
func (r *Table) Leave() {
	r.life.RUnlock()
	full := r.Fetched.Full() && len(r.C.CallerRow) == 0 // the columns of callers are used when queries are over
	much := r.Held.Load()+r.RowHeld.Load() > 0 && memory.TooMuchOutside(MostHeld, 1)
	if (much || full) && r.life.TryLock() {
		defer r.life.Unlock()
		switch {
		case r.closed:
		case full:
			r.Forget()
			r.Fetched.Forget()
		default:
			r.forgetMost()
		}
	}
}

// forgetMost releases rows, which mostly are other ones for every window, and keeps sums and nodes, which every
// window asks for; unless that is not enough. They must not be in use.
func (r *Table) forgetMost() {
	if r.RowHeld.Load() > r.Held.Load() {
		r.Checks.Of("interval").Forget()
		r.Sure.Forget()
		r.RowHeld.Clear()
		if !memory.TooMuchOutside(MostHeld, 1) {
			return
		}
	}
	r.Forget()
}

// MostHeld is how many bytes of packed columns stay unpacked between queries, of all runs; a budget may leave less.
// Tests keep none, so that each query must touch the bytes it uses.
var MostHeld int64 = 512 << 20

// ForgetRows releases unpacked rows [a, b), which must not be in use elsewhere.
func (r *Table) ForgetRows(a, b uint64) {
	if r.Sure != nil {
		r.Sure.ForgetRows(a, b)
	}
}

// Forget releases unpacked columns. They must not be in use.
func (r *Table) Forget() {
	r.Checks.Forget()
	r.Sure.Forget()
	r.Held.Clear()
	r.RowHeld.Clear()
}

// Guarded runs a query that is one goroutine's. Its requests to a remote store end when it is cancelled.
func (r *Table) Guarded(ctx context.Context, f func() error) error {
	defer r.Fetched.While(ctx)()
	err := disk.Guard(f)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// A Window is a store.Window with the rule of the trace's end: one that reaches the end of the trace also holds rows
// that begin at the very end.
type Window struct {
	Begin trace.Time
	Until trace.Time // rows that begin in [begin, until) begin in the window
	End   trace.Time // time is clipped to [begin, end)
}

func (r *Table) Window(w store.Window) Window {
	out := Window{Begin: max(w.Begin, 0), Until: w.End, End: min(w.End, r.End)}
	if w.End >= r.End {
		out.Until = r.End + 1
	}
	return out
}

// A Ranges is a set of locations as ranges [first, end), ascending.
type Ranges [][2]trace.LocationID

// Ranges returns the locations that a window asks for, with all below them but for
// those aside that are not named.
func (r *Table) Ranges(ids []trace.LocationID) Ranges {
	n := trace.LocationID(r.Len())
	if ids == nil {
		return r.Without(Ranges{{0, n}}, nil)
	}
	var out Ranges
	for _, id := range ids {
		if id >= n {
			continue
		}
		end := r.C.LocationLast[id] + 1
		if k := len(out); k > 0 && id <= out[k-1][1] {
			out[k-1][1] = max(out[k-1][1], end)
			continue
		}
		out = append(out, [2]trace.LocationID{id, end})
	}
	return r.Without(out, ids)
}

// IsAside reports whether the time of a location counts for none above it.
func (r *Table) IsAside(id trace.LocationID) bool {
	_, found := slices.BinarySearch(r.Aside, id)
	return found
}

// Without takes the locations aside out of a set, but for those that are named.
// O(ranges + locations aside).
func (r *Table) Without(set Ranges, named []trace.LocationID) Ranges {
	if len(r.Aside) == 0 {
		return set
	}
	var out Ranges
	next := 0
	for _, x := range set {
		for ; next < len(r.Aside) && r.Aside[next] < x[1]; next++ {
			id := r.Aside[next]
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

// Split cuts the ranges into pieces for parallel work: many small ones, so that
// cores stay busy where locations differ. Only pieces with rows are kept.
func (r *Table) Split(set Ranges) Ranges {
	total := 0
	for _, x := range set {
		total += int(r.Holders[x[1]] - r.Holders[x[0]])
	}
	size := trace.LocationID(min(max(total/(8*r.Workers), 1), 4096))
	var out Ranges
	for _, x := range set {
		for x[0] < x[1] {
			end := min(x[0]+size, x[1])
			if r.Holders[end] > r.Holders[x[0]] {
				out = append(out, [2]trace.LocationID{x[0], end})
			}
			x[0] = end
		}
	}
	return out
}

// Parallel calls f for each piece, on all cores, worker by worker.
func (r *Table) Parallel(ctx context.Context, pieces Ranges,
	f func(ctx context.Context, worker, piece int) error) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	defer r.Fetched.While(ctx)()
	whole := ctx
	var next atomic.Int64
	var caught parallel.Caught
	g, ctx := errgroup.WithContext(ctx)
	for worker := range min(r.Workers, len(pieces)) {
		g.Go(func() error {
			return caught.Do(func() error {
				return disk.Guard(func() error {
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
		})
	}
	err := g.Wait()
	caught.Pass()
	if whole.Err() != nil && err != nil {
		return context.Cause(whole) // not the error of a missing block that it waited for
	}
	return err
}

// EachLane calls f for every lane of the locations, in order within a location. The lane is valid until f returns.
func (r *Table) EachLane(ctx context.Context, ids []trace.LocationID, pass *Pass,
	f func(id trace.LocationID, lane int, v *Lane) error) error {
	pieces := r.Split(r.Ranges(ids))
	own, passers := make([]*disk.RowSlices, r.Workers), make([]*Passer, r.Workers)
	batch := max(min(mostBatched/max(min(r.Workers, len(pieces)), 1), BatchRows), leastBatch)
	defer func() {
		for _, s := range own {
			if s != nil {
				r.scratch.Put(s)
			}
		}
	}()
	return r.Parallel(ctx, pieces, func(ctx context.Context, worker, i int) error {
		if own[worker] == nil {
			if own[worker], _ = r.scratch.Get().(*disk.RowSlices); own[worker] == nil {
				own[worker] = new(disk.RowSlices)
			}
			passers[worker] = r.Passer(pass)
		}
		end := int(r.C.LocationLane[pieces[i][1]])
		var v Lane // one for all: there may be millions of lanes
		for id := pieces[i][0]; id < pieces[i][1]; id++ {
			first, last := r.C.LocationLane[id], r.C.LocationLane[id+1]
			for n := first; n < last; n++ {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				v = passers[worker].Lane(int(n), end)
				v.own, v.batch = own[worker], batch
				if err := f(id, int(n-first), &v); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

const (
	// mostBatched is how many rows all workers have in hand: those of a remote store are many, since most of them
	// wait.
	mostBatched = 1 << 22
	leastBatch  = 1 << 12
)

// Lookup finds a lane of a location.
func (r *Table) Lookup(location trace.LocationID, lane int) (Lane, bool) {
	if int(location) >= r.Len() || lane < 0 || lane >= int(r.C.LocationLane[location+1]-r.C.LocationLane[location]) {
		return Lane{}, false
	}
	return r.LaneByRows(int(r.C.LocationLane[location]) + lane), true
}

// RowNumber returns the number among all rows of one in a lane.
func (r *Table) RowNumber(location trace.LocationID, lane, row int) (uint64, bool) {
	if int(location) >= r.Len() || lane < 0 || lane >= int(r.C.LocationLane[location+1]-r.C.LocationLane[location]) {
		return 0, false
	}
	n := int(r.C.LocationLane[location]) + lane
	at := r.C.LaneRow[n] + uint64(row)
	return at, row >= 0 && at < r.C.LaneRow[n+1]
}

// Has reports whether a location is in the set. O(log ranges).
func (s Ranges) Has(id trace.LocationID) bool {
	lo, hi := 0, len(s)
	for lo < hi {
		mid := (lo + hi) / 2
		if s[mid][1] <= id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo < len(s) && s[lo][0] <= id
}
