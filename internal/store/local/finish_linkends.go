package local

import (
	"context"
	"fmt"
	"math"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// An endFinder finds the intervals at ends of links, location by location. Links
// come in order of time, so that an end of a lane mostly lies a little after the one
// before: it is looked for from there, O(log distance) instead of O(log rows), and
// mostly in memory that was just in use.
type endFinder struct {
	r        *Reader
	unclosed map[trace.RegionID]trace.RegionID
	rows     []uint32                     // by location: how many may be named by number
	placed   map[trace.LocationID][]place // where parents are told: the place of each number
	begins   *beginIndex
	near     []uint32           // by lane: where the last end was found
	order    sorter[linkRecord] // of a batch by location
	lane     uint32             // the one looked at last; its rows are v
	v        laneView
}

// lanesAtOnce is how many lanes are looked at before their pages are given back: the
// system maps a stretch around each place that is touched, in every column.
const lanesAtOnce = 32

// newEndFinders makes one for each side of links, as often as there are workers.
func (f *finisher) newEndFinders() []endFinder {
	list := make([]endFinder, 2*((f.workers+1)/2))
	for i := range list {
		list[i] = endFinder{r: f.rows, unclosed: f.unclosed, rows: f.numbered, placed: f.kinship.placed, begins: f.begins, near: make([]uint32, len(f.rows.c.laneRow)), lane: math.MaxUint32}
	}
	return list
}

// resolveBatch finds the intervals of many links on all cores: half of the finders
// look for where they start, half for where they end.
func (f *finisher) resolveBatch(ctx context.Context, finders []endFinder, batch []linkRecord, places [][2]place) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var g errgroup.Group
	parts := len(finders) / 2
	for i := range finders {
		x := &finders[i]
		lo, hi := len(batch)*(i/2)/parts, len(batch)*(i/2+1)/parts
		g.Go(func() error {
			return guard(func() error {
				x.resolve(batch[lo:hi], places[lo:hi], i&1)
				return nil
			})
		})
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("find the intervals of links: %w", err)
	}
	return nil
}

// resolve finds the intervals at one side of links.
func (x *endFinder) resolve(batch []linkRecord, places [][2]place, side int) {
	keys := x.order.keys[:0]
	for i := range batch {
		id, number := batch[i].fromLocation, batch[i].fromNumber
		if side == 1 {
			id, number = batch[i].toLocation, batch[i].toNumber
		}
		if number-1 < x.rows[id] { // 0 wraps to the largest
			places[i][side] = place{0, int32(number - 1)}
			continue
		}
		if len(x.placed) > 0 && number > 0 {
			if list := x.placed[id]; int(number) <= len(list) {
				places[i][side] = list[number-1]
				continue
			}
		}
		keys = append(keys, sortKey{int64(id), uint32(i)})
	}
	x.order.keys = keys
	if len(keys) == 0 {
		return
	}
	x.order.spread()
	at, lanes := int64(-1), uint32(0)
	for _, k := range x.order.keys {
		if k.key != at {
			at = k.key
			if lanes += x.r.c.locationLane[at+1] - x.r.c.locationLane[at]; lanes > lanesAtOnce {
				x.r.releaseRows()
				lanes = 0
			}
		}
		if r := &batch[k.index]; side == 0 {
			places[k.index][0] = x.find(r.fromLocation, r.fromTime, r.fromRegion)
		} else {
			places[k.index][1] = x.find(r.toLocation, r.toTime, r.toRegion)
		}
	}
}

// find gives the interval that an end of a link means, be it one that nobody left.
func (x *endFinder) find(location trace.LocationID, t trace.Time, region trace.RegionID) place {
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
func (x *endFinder) findOf(location trace.LocationID, t trace.Time, region trace.RegionID) place {
	first, last := x.r.c.locationLane[location], x.r.c.locationLane[location+1]
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
			if row := x.v.meant(way, after, t, region); row >= 0 {
				return place{0, int32(row)}
			}
		}
		return place{-1, -1}
	}
	for ; way <= endsAt; way++ {
		for l := first; l < last; l++ {
			if row := x.v.meant(way, x.after(l, t), t, region); row >= 0 {
				return place{int32(l - first), int32(row)}
			}
		}
	}
	return place{-1, -1}
}

// after turns to a lane and gives its first row that begins later than t.
func (x *endFinder) after(lane uint32, t trace.Time) int {
	if lane != x.lane {
		x.lane, x.v = lane, x.r.lane(int(lane))
	}
	after := firstAfterNear(x.v.begin, t, int(x.near[lane]))
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
func (v *laneView) meant(way, after int, t trace.Time, region trace.RegionID) int {
	switch way {
	case beginsAt:
		for i := after - 1; i >= 0 && v.begin[i] == t; i-- {
			if matches(v.region[i], region) {
				return i
			}
		}
	case isOpenAt:
		return v.openFrom(after-1, t, region)
	case endsAt:
		if region == trace.NoRegion {
			return -1
		}
		i := after - 1
		for i >= 0 && v.begin[i] == t {
			i--
		}
		for ; i >= 0; i = v.up(i) { // what was open just before t
			if v.end(i) == t && v.region[i] == region {
				return i
			}
		}
	}
	return -1
}

// openAt finds the innermost interval of a lane that is open at t.
func openAt(v *laneView, t trace.Time, region trace.RegionID) int {
	return v.openFrom(v.firstAfter(t)-1, t, region)
}

// openFrom finds the innermost interval open at t among row i and its parents.
func (v *laneView) openFrom(i int, t trace.Time, region trace.RegionID) int {
	for ; i >= 0; i = v.up(i) {
		if v.end(i) > t && matches(v.region[i], region) {
			return i
		}
	}
	return -1
}

func matches(have, want trace.RegionID) bool { return want == trace.NoRegion || have == want }

// firstAfterNear is the first index of sorted times that is after t, looked for in
// steps that double from near on.
func firstAfterNear(times []trace.Time, t trace.Time, near int) int {
	lo, hi := 0, len(times) // times before lo are not after t, those from hi on are
	near = min(near, hi)
	if near == hi || times[near] > t {
		hi = near
		for step := 1; hi > lo; step *= 2 {
			at := max(hi-step, lo)
			if times[at] <= t {
				lo = at + 1
				break
			}
			hi = at
		}
	} else {
		lo = near + 1
		for step := 1; lo < hi; step *= 2 {
			at := min(lo+step, hi) - 1
			if times[at] > t {
				hi = at
				break
			}
			lo = at + 1
		}
	}
	return lo + firstFrom(times[lo:hi], t+1)
}
