package finish

import (
	"context"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// An endFinder finds the intervals at ends of links, location by location. Links
// come in order of time, so that an end of a lane mostly lies a little after the one
// before: it is looked for from there, O(log distance) instead of O(log rows), and
// mostly in memory that was just in use.
type endFinder struct {
	r        *rows.Table
	frames   *rows.Frames
	unclosed map[trace.RegionID]trace.RegionID
	rows     []uint32                         // by location: how many may be named by number
	placed   map[trace.LocationID][]linkPlace // where parents are recorded: the place of each number
	begins   *beginIndex
	// ends of the batch whose interval is not named, by the finder that looks for it: link<<1 | side
	left   [][]uint32
	near   []uint32                       // by lane: where the last end was found
	order  spool.Sorter[write.LinkRecord] // of a batch by location
	looked *atomic.Int64                  // lanes that all finders looked at since pages were given back
	most   int64                          // of them
}

// lanesAtOnce is how many lanes each finder looks at, on average, before pages are given back: the
// system maps a stretch around each place that is touched, in every column. It is done for all at
// once, since all cores stop for it.
const lanesAtOnce = 32

// newEndFinders makes as many as there are workers.
func (f *linker) newEndFinders() []endFinder {
	list := make([]endFinder, f.workers)
	looked := new(atomic.Int64)
	for i := range list {
		list[i] = endFinder{
			r: f.rows, frames: f.rows.Frames(), unclosed: f.unclosed, rows: f.numbered, placed: f.kinship.placed,
			begins: f.begins,
			left:   make([][]uint32, len(list)), near: make([]uint32, len(f.rows.C.LaneRow)), looked: looked,
			most: int64(lanesAtOnce * len(list)),
		}
	}
	return list
}

// resolveBatch finds the intervals of many links on all cores. Those that are named are found at once; of
// the others each finder has all of some locations, so that it goes through their lanes once.
func (f *linker) resolveBatch(ctx context.Context, finders []endFinder, batch []write.LinkRecord,
	places [][2]linkPlace) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	parts := len(finders)
	var left atomic.Bool
	err := eachFinder(finders, func(i int, x *endFinder) {
		if x.name(batch, places, len(batch)*i/parts, len(batch)*(i+1)/parts) {
			left.Store(true)
		}
	})
	if err == nil && left.Load() {
		err = eachFinder(finders, func(i int, x *endFinder) { x.resolve(finders, batch, places, i) })
	}
	if err != nil {
		return fmt.Errorf("find the intervals of links: %w", err)
	}
	return nil
}

func eachFinder(finders []endFinder, f func(i int, x *endFinder)) error {
	var g errgroup.Group
	for i := range finders {
		g.Go(func() error {
			return disk.Guard(func() error {
				f(i, &finders[i])
				return nil
			})
		})
	}
	return g.Wait()
}

// name tells the intervals of links [lo, hi) that are named by number, and whether others are left to be looked for.
func (x *endFinder) name(batch []write.LinkRecord, places [][2]linkPlace, lo, hi int) (left bool) {
	for k := range x.left {
		x.left[k] = x.left[k][:0]
	}
	for i := lo; i < hi; i++ {
		for side := range 2 {
			id, number := endOf(&batch[i], side)
			if number-1 < x.rows[id] { // 0 wraps to the largest
				places[i][side] = linkPlace{0, int32(number - 1)}
				continue
			}
			if len(x.placed) > 0 && number > 0 {
				if list := x.placed[id]; int(number) <= len(list) {
					places[i][side] = list[number-1]
					continue
				}
			}
			k := int(id) % len(x.left)
			x.left[k] = append(x.left[k], uint32(i<<1|side))
			left = true
		}
	}
	return left
}

// endOf returns the location at which a link starts, or ends, and the number of the interval there.
func endOf(r *write.LinkRecord, side int) (trace.LocationID, uint32) {
	if side == 0 {
		return r.FromLocation, r.FromNumber
	}
	return r.ToLocation, r.ToNumber
}

// resolve finds the intervals of the ends that all finders have left at its share of the locations.
func (x *endFinder) resolve(finders []endFinder, batch []write.LinkRecord, places [][2]linkPlace, n int) {
	keys := x.order.Keys[:0]
	for k := range finders {
		for _, i := range finders[k].left[n] {
			id, _ := endOf(&batch[i>>1], int(i&1))
			keys = append(keys, spool.SortKey{Key: int64(id), Index: i})
		}
	}
	x.order.Keys = keys
	if len(keys) == 0 {
		return
	}
	x.order.Spread()
	at := int64(-1)
	for _, k := range x.order.Keys {
		if k.Key != at {
			at = k.Key
			lanes := int64(x.r.C.LocationLane[at+1] - x.r.C.LocationLane[at])
			if n := x.looked.Add(lanes); n > x.most && x.looked.CompareAndSwap(n, 0) {
				x.r.ReleaseRows()
			}
		}
		i := k.Index >> 1
		if r := &batch[i]; k.Index&1 == 0 {
			places[i][0] = x.find(r.FromLocation, r.FromTime, r.FromRegion)
		} else {
			places[i][1] = x.find(r.ToLocation, r.ToTime, r.ToRegion)
		}
	}
}

// find returns the interval that an end of a link means, even if it was never left.
func (x *endFinder) find(location trace.LocationID, t trace.Time, region trace.RegionID) linkPlace {
	at := x.findOf(location, t, region)
	if open, ok := x.unclosed[region]; ok && at.row < 0 {
		return x.findOf(location, t, open)
	}
	return at
}

// findOf returns the interval that an end of a link means: one that begins at t, else
// the innermost open at t, in the first lane that has one. With a region only its
// intervals count, and one that ends at t serves where none is open: a receive is
// often stamped with the time of its leave.
func (x *endFinder) findOf(location trace.LocationID, t trace.Time, region trace.RegionID) linkPlace {
	first, last := x.r.C.LocationLane[location], x.r.C.LocationLane[location+1]
	at, known := x.begins.find(x.r, x.frames, location, t, region)
	if at.row >= 0 {
		return at
	}
	way := beginsAt
	if known {
		way = isOpenAt
	}
	if last-first == 1 { // most locations: one search for all ways
		for after := x.after(first, t); way <= endsAt; way++ {
			if row := x.meant(first, way, after, t, region); row >= 0 {
				return linkPlace{0, int32(row)}
			}
		}
		return linkPlace{-1, -1}
	}
	for ; way <= endsAt; way++ {
		for l := first; l < last; l++ {
			if row := x.meant(l, way, x.after(l, t), t, region); row >= 0 {
				return linkPlace{int32(l - first), int32(row)}
			}
		}
	}
	return linkPlace{-1, -1}
}

// after returns the first row of a lane that begins later than t.
func (x *endFinder) after(lane uint32, t trace.Time) int {
	after := x.frames.FirstAfter(x.r.C.LaneRow[lane], x.r.C.LaneRow[lane+1], t, int(x.near[lane]))
	x.near[lane] = uint32(after)
	return after
}

// The ways in which an interval may be meant, the first that finds one decides.
const (
	beginsAt = iota
	isOpenAt
	endsAt
)

// meant finds the interval of a lane that is meant in one way; after is the first row that
// begins later than t.
func (x *endFinder) meant(lane uint32, way, after int, t trace.Time, region trace.RegionID) int {
	f, first, i := x.frames, x.r.C.LaneRow[lane], after-1
	switch way {
	case beginsAt:
		for ; i >= 0 && f.Begin(first+uint64(i)) == t; i-- {
			if rows.Matches(f.Region(first+uint64(i)), region) {
				return i
			}
		}
	case isOpenAt:
		return f.OpenFrom(first, i, t, region)
	case endsAt:
		if region == trace.NoRegion {
			return -1
		}
		for i >= 0 && f.Begin(first+uint64(i)) == t {
			i--
		}
		for ; i >= 0; i = f.Parent(first + uint64(i)) { // intervals open just before t
			if row := first + uint64(i); f.Region(row) == region && f.End(row) == t {
				return i
			}
		}
	}
	return -1
}
