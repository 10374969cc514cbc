package local

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Where a stream is ByParent, nesting follows what links say of parents. It is kept
// while records come, four bytes an interval: formats that tell parents hold more than
// that of each themselves, since a parent may come after its children.

// relate notes the parent of an interval, both by their number on the stream. The first
// word counts.
func (w *Writer) relate(at trace.LocationID, child, parent uint32) {
	list := w.kin[at]
	if int(child) > len(list) {
		list = slices.Grow(list, int(child)-len(list))[:child]
		w.kin[at] = list
	}
	if list[child-1] == 0 {
		list[child-1] = parent
	}
}

// parents gives those of a location's intervals, as a Builder wants them.
func (f *finisher) parents(s *stream) []uint32 {
	if !s.byParent {
		return nil
	}
	if s.gaps { // numbers do not mean what they say
		return nil
	}
	list := f.kin[s.location]
	for i, p := range list {
		if p > s.rows {
			list[i] = 0
		}
	}
	list = list[:min(len(list), int(s.rows))]
	if cut := trace.CutCircles(list); cut > 0 {
		f.Report(trace.Repaired, "intervals that are their own ancestors, made roots", cut, "")
	}
	return list
}

// A kin is what a location's rows have to do with other lanes.
type kin struct {
	callers []kinCaller
	covers  []kinCover
}

func (k *kin) reset() { k.callers, k.covers = k.callers[:0], k.covers[:0] }

// A kinCaller is a row and its caller: records by number, later rows of table interval.
type kinCaller struct{ row, caller uint64 }

type kinCover struct {
	lane, row  int32
	begin, end trace.Time
}

// kinship gathers what all locations have.
type kinship struct {
	mu      sync.Mutex
	callers []kinCaller
	covers  []laneCover
	placed  map[trace.LocationID][]place
}

type laneCover struct {
	location   trace.LocationID
	lane       int32
	row        uint64
	begin, end trace.Time
}

// add takes the rows of a location, which are all at their place.
func (k *kinship) add(id trace.LocationID, s *rowSink) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range s.kin.callers {
		k.callers = append(k.callers, kinCaller{s.row(c.row), s.row(c.caller)})
	}
	for _, c := range s.kin.covers {
		k.covers = append(k.covers, laneCover{id, c.lane, s.starts[c.lane] + uint64(c.row), c.begin, c.end})
	}
	if k.placed == nil {
		k.placed = map[trace.LocationID][]place{}
	}
	places := make([]place, len(s.places.at))
	for i, p := range s.places.at {
		places[i] = place{int32(p >> 32), int32(uint32(p))}
	}
	k.placed[id] = places
}

// writeKinship writes the tables caller and cover.
func (f *finisher) writeKinship(context.Context) error {
	k := &f.kinship
	slices.SortFunc(k.callers, func(a, b kinCaller) int { return cmp.Compare(a.row, b.row) })
	row, caller := make([]uint64, len(k.callers)), make([]uint64, len(k.callers))
	for i, c := range k.callers {
		row[i], caller[i] = c.row, c.caller
	}
	slices.SortFunc(k.covers, func(a, b laneCover) int {
		return cmp.Or(cmp.Compare(a.location, b.location), cmp.Compare(a.lane, b.lane), cmp.Compare(a.begin, b.begin))
	})
	n := len(k.covers)
	lane, region := make([]uint32, n), make([]trace.RegionID, n)
	begin, end := make([]trace.Time, n), make([]trace.Time, n)
	if n > 0 {
		first, err := f.firstLanes()
		if err != nil {
			return err
		}
		regions, err := mapWhole(filepath.Join(f.dir, "interval.region.u32"))
		if err != nil {
			return err
		}
		defer regions.close()
		of := viewOf[trace.RegionID](regions.bytes)
		for i, c := range k.covers {
			lane[i], region[i] = first[c.location]+uint32(c.lane), of[c.row]
			begin[i], end[i] = c.begin, c.end
		}
	}
	k.callers, k.covers, f.kin = nil, nil, nil
	return cmp.Or(
		writeColumn(f.dir, "caller.row.u64", row), writeColumn(f.dir, "caller.caller.u64", caller),
		writeColumn(f.dir, "cover.lane.u32", lane), writeColumn(f.dir, "cover.region.u32", region),
		writeColumn(f.dir, "cover.begin.i64", begin), writeColumn(f.dir, "cover.end.i64", end),
	)
}

// firstLanes gives the first lane of each location.
func (f *finisher) firstLanes() ([]uint32, error) {
	m, err := mapWhole(filepath.Join(f.dir, "location.lane.u32"))
	if err != nil {
		return nil, err
	}
	defer m.close()
	return slices.Clone(viewOf[uint32](m.bytes)), nil
}

// unsaid leaves out spawn links that nesting says already: from a row to one directly
// in it.
func (f *finisher) unsaid(batch []linkRecord, places [][2]place) []linkRecord {
	if len(f.kinship.placed) == 0 {
		return batch
	}
	n := 0
	for i := range batch {
		r, from, to := &batch[i], places[i][0], places[i][1]
		if r.kind == trace.LinkSpawn && r.fromLocation == r.toLocation && from.lane == to.lane && to.row >= 0 && f.kinship.placed[r.toLocation] != nil &&
			f.rows.c.parent[f.rows.c.laneRow[f.rows.c.locationLane[r.toLocation]+uint32(to.lane)]+uint64(to.row)] == from.row {
			continue
		}
		batch[n], places[n] = batch[i], places[i]
		n++
	}
	return batch[:n]
}
