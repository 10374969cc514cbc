package local

import (
	"cmp"
	"context"
	"path/filepath"
	"sort"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A beginIndex finds the intervals of a location that begin at a time, over all its
// lanes at once. It exists while links are resolved, for locations of many lanes:
// asking each lane for each link would take links × lanes.
type beginIndex struct {
	entries []beginEntry // by location, begin, lane, row
	places  map[trace.LocationID][2]int
	m       *mapping
}

type beginEntry struct {
	begin     trace.Time
	lane, row uint32
}

// manyLanes is the number of lanes past which a location is indexed.
const manyLanes = 8

// indexBegins sorts the rows of all locations with many lanes, outside memory.
func (f *finisher) indexBegins(ctx context.Context) (*beginIndex, error) {
	x := &beginIndex{places: map[trace.LocationID][2]int{}}
	c := &f.rows.c
	column, err := createColumn[beginEntry](f.temp, "begins")
	if err != nil {
		return nil, err
	}
	out := cursor[beginEntry]{to: column}
	rows := newSpool[beginEntry](f.temp, f.memory/4)
	defer rows.close()
	by := order[beginEntry]{
		func(e *beginEntry) int64 { return int64(e.begin) },
		func(a, b *beginEntry) int { return cmp.Or(cmp.Compare(a.lane, b.lane), cmp.Compare(a.row, b.row)) },
	}
	for id := range len(c.locationLane) - 1 {
		first, last := c.locationLane[id], c.locationLane[id+1]
		if last-first <= manyLanes {
			continue
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		rows.reset()
		for n := first; n < last; n++ {
			for i, t := range f.rows.lane(int(n)).begin {
				if err := rows.Add(beginEntry{t, n - first, uint32(i)}); err != nil {
					return nil, err
				}
			}
		}
		from := int(out.position())
		err := rows.sorted(nil, by, func(e *beginEntry) error {
			out.add(*e)
			return out.err
		})
		if err != nil {
			return nil, err
		}
		x.places[trace.LocationID(id)] = [2]int{from, int(out.position())}
	}
	if err := cmp.Or(out.finish(), column.close()); err != nil {
		return nil, err
	}
	path := filepath.Join(f.temp, "begins")
	if x.m, err = mapWhole(path); err != nil {
		return nil, err
	}
	x.entries = viewOf[beginEntry](x.m.bytes)
	return x, nil
}

func (x *beginIndex) close() { _ = x.m.close() }

// find gives the interval that begins at t in the lowest lane, the innermost there;
// known is false where the location is not indexed.
func (x *beginIndex) find(r *Reader, location trace.LocationID, t trace.Time, region trace.RegionID) (at place, known bool) {
	at = place{-1, -1}
	of, ok := x.places[location]
	if !ok {
		return at, false
	}
	list := x.entries[of[0]:of[1]]
	first := r.c.locationLane[location]
	for i := sort.Search(len(list), func(i int) bool { return list[i].begin >= t }); i < len(list) && list[i].begin == t; i++ {
		e := list[i]
		if at.lane >= 0 && e.lane != uint32(at.lane) {
			break
		}
		if matches(r.c.region[r.c.laneRow[first+e.lane]+uint64(e.row)], region) {
			at = place{int32(e.lane), int32(e.row)}
		}
	}
	return at, true
}
