package finish

import (
	"cmp"
	"context"
	"path/filepath"
	"sort"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A beginIndex finds the intervals of a location that begin at a time, over all its
// lanes at once. It exists while links are resolved, for locations of many lanes:
// asking each lane for each link would take links × lanes.
type beginIndex struct {
	entries []beginEntry // by location, begin, lane, row
	places  map[trace.LocationID][2]int
	m       *spool.Mapping
}

type beginEntry struct {
	begin     trace.Time
	lane, row uint32
}

// manyLanes is the number of lanes past which a location is indexed.
const manyLanes = 8

// indexBegins sorts the rows of all locations with many lanes, outside memory.
func (f *linker) indexBegins(ctx context.Context) (*beginIndex, error) {
	x := &beginIndex{places: map[trace.LocationID][2]int{}}
	c := &f.rows.C
	column, err := disk.CreateColumn[beginEntry](f.Temp, "begins")
	if err != nil {
		return nil, err
	}
	out := disk.Cursor[beginEntry]{To: column}
	rows := spool.NewSpool[beginEntry](f.Temp, f.memory/4)
	defer rows.Close()
	frames := f.rows.Frames()
	by := spool.Order[beginEntry]{
		Key:  func(e *beginEntry) int64 { return int64(e.begin) },
		Ties: func(a, b *beginEntry) int { return cmp.Or(cmp.Compare(a.lane, b.lane), cmp.Compare(a.row, b.row)) },
	}
	for id := range len(c.LocationLane) - 1 {
		first, last := c.LocationLane[id], c.LocationLane[id+1]
		named := !f.LooseLinks && (f.numbered[id] > 0 || f.kinship.placed[trace.LocationID(id)] != nil)
		if last-first <= manyLanes || named { // of the few that are named and not there each lane is asked
			continue
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		rows.Reset()
		for n := first; n < last; n++ {
			a, b := c.LaneRow[n], c.LaneRow[n+1]
			for i := a; i < b; i++ {
				if err := rows.Add(beginEntry{frames.Begin(i), n - first, uint32(i - a)}); err != nil {
					return nil, err
				}
			}
		}
		from := int(out.Position())
		err := rows.Sorted(nil, by, func(e *beginEntry) error {
			out.Add(*e)
			return out.Err
		})
		if err != nil {
			return nil, err
		}
		x.places[trace.LocationID(id)] = [2]int{from, int(out.Position())}
	}
	if err := cmp.Or(out.Finish(), column.Close()); err != nil {
		return nil, err
	}
	path := filepath.Join(f.Temp, "begins")
	if x.m, err = spool.MapWhole(path); err != nil {
		return nil, err
	}
	x.entries = spool.ViewOf[beginEntry](x.m.Bytes)
	return x, nil
}

func (x *beginIndex) close() { _ = x.m.Close() }

// find returns the interval that begins at t in the lowest lane, the innermost there;
// known is false where the location is not indexed.
func (x *beginIndex) find(r *rows.Table, frames *rows.Frames, location trace.LocationID, t trace.Time,
	region trace.RegionID) (at linkPlace, known bool) {
	at = linkPlace{-1, -1}
	of, ok := x.places[location]
	if !ok {
		return at, false
	}
	list := x.entries[of[0]:of[1]]
	first := r.C.LocationLane[location]
	for i := sort.Search(len(list), func(i int) bool { return list[i].begin >= t }); i < len(list) &&
		list[i].begin == t; i++ {
		e := list[i]
		if at.lane >= 0 && e.lane != uint32(at.lane) {
			break
		}
		if rows.Matches(frames.Region(r.C.LaneRow[first+e.lane]+uint64(e.row)), region) {
			at = linkPlace{int32(e.lane), int32(e.row)}
		}
	}
	return at, true
}
