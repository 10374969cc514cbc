package finish

import (
	"context"
	"fmt"
	"math"
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
	unclosed map[trace.RegionID]trace.RegionID
	rows     []uint32                         // by location: how many may be named by number
	placed   map[trace.LocationID][]linkPlace // where parents are told: the place of each number
	begins   *beginIndex
	left     []uint32                       // links of the batch whose interval is not named
	near     []uint32                       // by lane: where the last end was found
	order    spool.Sorter[write.LinkRecord] // of a batch by location
	looked   *atomic.Int64                  // lanes that all finders looked at since pages were given back
	most     int64                          // of them
	lane     uint32                         // the one looked at last; its rows are v
	v        rows.Lane
}

// lanesAtOnce is how many lanes each finder looks at, on average, before pages are given back: the
// system maps a stretch around each place that is touched, in every column. It is done for all at
// once, since all cores stop for it.
const lanesAtOnce = 32

// newEndFinders makes one for each side of links, as often as there are workers.
func (f *linker) newEndFinders() []endFinder {
	list := make([]endFinder, 2*((f.workers+1)/2))
	looked := new(atomic.Int64)
	for i := range list {
		list[i] = endFinder{r: f.rows, unclosed: f.unclosed, rows: f.numbered, placed: f.kinship.placed, begins: f.begins, near: make([]uint32, len(f.rows.C.LaneRow)), looked: looked, most: int64(lanesAtOnce * len(list)), lane: math.MaxUint32}
	}
	return list
}

// resolveBatch finds the intervals of many links on all cores: half of the finders
// look for where they start, half for where they end. Those that are named are told at once; of
// the others each finder has all of some locations, so that it goes through their lanes once.
func (f *linker) resolveBatch(ctx context.Context, finders []endFinder, batch []write.LinkRecord, places [][2]linkPlace) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	parts := len(finders) / 2
	err := eachFinder(finders, func(i int, x *endFinder) {
		x.name(batch, places, len(batch)*(i/2)/parts, len(batch)*(i/2+1)/parts, i&1)
	})
	left := 0
	for i := range finders {
		left += len(finders[i].left)
	}
	if err == nil && left > 0 {
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

// name tells the intervals at one side of links [lo, hi) that are named by number; what is left is to be looked for.
func (x *endFinder) name(batch []write.LinkRecord, places [][2]linkPlace, lo, hi, side int) {
	x.left = x.left[:0]
	for i := lo; i < hi; i++ {
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
		x.left = append(x.left, uint32(i))
	}
}

// endOf is where a link starts, or ends, and the number of the interval there.
func endOf(r *write.LinkRecord, side int) (trace.LocationID, uint32) {
	if side == 0 {
		return r.FromLocation, r.FromNumber
	}
	return r.ToLocation, r.ToNumber
}

// resolve finds the intervals of what all finders of its side have left, at its share of the locations.
func (x *endFinder) resolve(finders []endFinder, batch []write.LinkRecord, places [][2]linkPlace, n int) {
	side, parts := n&1, len(finders)/2
	keys := x.order.Keys[:0]
	for k := side; k < len(finders); k += 2 {
		for _, i := range finders[k].left {
			if id, _ := endOf(&batch[i], side); int(id)%parts == n/2 {
				keys = append(keys, spool.SortKey{Key: int64(id), Index: i})
			}
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
		if r := &batch[k.Index]; side == 0 {
			places[k.Index][0] = x.find(r.FromLocation, r.FromTime, r.FromRegion)
		} else {
			places[k.Index][1] = x.find(r.ToLocation, r.ToTime, r.ToRegion)
		}
	}
}

// find gives the interval that an end of a link means, be it one that nobody left.
func (x *endFinder) find(location trace.LocationID, t trace.Time, region trace.RegionID) linkPlace {
	at := x.findOf(location, t, region)
	if open, ok := x.unclosed[region]; ok && at.row < 0 {
		return x.findOf(location, t, open)
	}
	return at
}

// findOf gives the interval that an end of a link means: one that begins at t, else
// the innermost open at t, in the first lane that has one. With a region only its
// intervals count, and one that ends at t serves where none is open: a receive is
// often stamped with the time of its leave.
func (x *endFinder) findOf(location trace.LocationID, t trace.Time, region trace.RegionID) linkPlace {
	first, last := x.r.C.LocationLane[location], x.r.C.LocationLane[location+1]
	at, known := x.begins.find(x.r, location, t, region)
	if at.row >= 0 {
		return at
	}
	way := beginsAt
	if known {
		way = isOpenAt
	}
	if last-first == 1 { // most locations: one search for all ways
		for after := x.after(first, t); way <= endsAt; way++ {
			if row := meant(&x.v, way, after, t, region); row >= 0 {
				return linkPlace{0, int32(row)}
			}
		}
		return linkPlace{-1, -1}
	}
	for ; way <= endsAt; way++ {
		for l := first; l < last; l++ {
			if row := meant(&x.v, way, x.after(l, t), t, region); row >= 0 {
				return linkPlace{int32(l - first), int32(row)}
			}
		}
	}
	return linkPlace{-1, -1}
}

// after turns to a lane and gives its first row that begins later than t.
func (x *endFinder) after(lane uint32, t trace.Time) int {
	if lane != x.lane {
		x.lane, x.v = lane, x.r.Lane(int(lane))
	}
	after := rows.FirstAfterNear(x.v.Begin, t, int(x.near[lane]))
	x.near[lane] = uint32(after)
	return after
}

// The ways in which an interval may be meant, the first that finds one decides.
const (
	beginsAt = iota
	isOpenAt
	endsAt
)

// meant finds the interval that is meant in one way; after is the first row that
// begins later than t.
func meant(v *rows.Lane, way, after int, t trace.Time, region trace.RegionID) int {
	switch way {
	case beginsAt:
		for i := after - 1; i >= 0 && v.Begin[i] == t; i-- {
			if rows.Matches(v.Region[i], region) {
				return i
			}
		}
	case isOpenAt:
		return rows.OpenFrom(v, after-1, t, region)
	case endsAt:
		if region == trace.NoRegion {
			return -1
		}
		i := after - 1
		for i >= 0 && v.Begin[i] == t {
			i--
		}
		for ; i >= 0; i = v.Up(i) { // what was open just before t
			if v.End(i) == t && v.Region[i] == region {
				return i
			}
		}
	}
	return -1
}
