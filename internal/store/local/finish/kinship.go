package finish

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// If a stream is ByParent, nesting follows the parents given by links. They are held while records come, four bytes
// per interval: formats that record parents hold more than that themselves, since a parent may come after its
// children.

// parents returns the parents of a location's intervals, as a Builder wants them.
func (f *finisher) parents(s *write.Stream) []uint32 {
	if !s.ByParent {
		return nil
	}
	if s.Gaps { // numbers are not reliable
		return nil
	}
	list := f.Kin[s.Location]
	for i, p := range list {
		if p > s.Rows {
			list[i] = 0
		}
	}
	list = list[:min(len(list), int(s.Rows))]
	if cut := trace.CutCircles(list); cut > 0 {
		f.Report(trace.Repaired, "intervals that are their own ancestors, made roots", cut, "")
	}
	return list
}

// A kin holds the relations of a location's rows to other lanes.
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

// kinship gathers the relations of all locations.
type kinship struct {
	mu      sync.Mutex
	callers []kinCaller
	covers  []laneCover
	placed  map[trace.LocationID][]linkPlace
	unnamed map[trace.LocationID]bool // numbers are not reliable
}

type laneCover struct {
	location   trace.LocationID
	lane       int32
	row        uint64
	begin, end trace.Time
}

// add takes the rows of a location, which are all at their place.
func (k *kinship) add(id trace.LocationID, s *rowSink, gaps bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range s.kin.callers {
		k.callers = append(k.callers, kinCaller{s.row(c.row), s.row(c.caller)})
	}
	for _, c := range s.kin.covers {
		k.covers = append(k.covers, laneCover{id, c.lane, s.starts[c.lane] + uint64(c.row), c.begin, c.end})
	}
	if k.placed == nil {
		k.placed, k.unnamed = map[trace.LocationID][]linkPlace{}, map[trace.LocationID]bool{}
	}
	places := make([]linkPlace, len(s.places.at))
	for i, p := range s.places.at {
		places[i] = linkPlace{int32(p >> 32), int32(uint32(p))}
	}
	k.placed[id], k.unnamed[id] = places, gaps
}

// writeKinship writes the tables caller and cover.
func (f *finisher) writeKinship(context.Context) error {
	if err := f.joinFarCallers(); err != nil {
		return err
	}
	k := &f.kinship
	row, caller := make([]uint64, len(k.callers)), make([]uint64, len(k.callers))
	for i, at := range ascending(len(k.callers), func(i int) uint64 { return k.callers[i].row }) {
		row[i], caller[i] = k.callers[at.Index].row, k.callers[at.Index].caller
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
		regions, err := spool.MapWhole(filepath.Join(f.Dir, "interval.region.u32"))
		if err != nil {
			return err
		}
		defer regions.Close()
		of := spool.ViewOf[trace.RegionID](regions.Bytes)
		for i, c := range k.covers {
			lane[i], region[i] = first[c.location]+uint32(c.lane), of[c.row]
			begin[i], end[i] = c.begin, c.end
		}
	}
	k.callers, k.covers, f.Kin, f.Far = nil, nil, nil, nil
	return cmp.Or(
		disk.WriteColumn(f.Dir, "caller.row.u64", row), disk.WriteColumn(f.Dir, "caller.caller.u64", caller),
		disk.WriteColumn(f.Dir, "cover.lane.u32", lane), disk.WriteColumn(f.Dir, "cover.region.u32", region),
		disk.WriteColumn(f.Dir, "cover.begin.i64", begin), disk.WriteColumn(f.Dir, "cover.end.i64", end),
	)
}

// ascending returns the order of n numbers, equal ones as they are. Digit by digit: there may be as many as spans.
func ascending(n int, number func(i int) uint64) []spool.SortKey {
	if n == 0 {
		return nil
	}
	var s spool.Sorter[struct{}]
	s.Keys = make([]spool.SortKey, n)
	for i := range s.Keys {
		s.Keys[i] = spool.SortKey{Key: int64(number(i)), Index: uint32(i)}
	}
	s.Spread()
	return s.Keys
}

// firstLanes returns the first lane of each location.
func (f *finisher) firstLanes() ([]uint32, error) {
	m, err := spool.MapWhole(filepath.Join(f.Dir, "location.lane.u32"))
	if err != nil {
		return nil, err
	}
	defer m.Close()
	return slices.Clone(spool.ViewOf[uint32](m.Bytes)), nil
}

// unsaid leaves out spawn links that nesting says already: from a row to one directly
// in it.
func (f *linker) unsaid(batch []write.LinkRecord, places [][2]linkPlace) []write.LinkRecord {
	if len(f.kinship.placed) == 0 {
		return batch
	}
	n := 0
	for i := range batch {
		r, from, to := &batch[i], places[i][0], places[i][1]
		if r.Kind == trace.LinkSpawn && r.FromLocation == r.ToLocation && from.lane == to.lane && to.row >= 0 &&
			f.kinship.placed[r.ToLocation] != nil &&
			f.rows.C.Parent[f.rows.C.LaneRow[f.rows.C.LocationLane[r.ToLocation]+uint32(to.lane)]+
				uint64(to.row)] == from.row {
			continue
		}
		batch[n], places[n] = batch[i], places[i]
		n++
	}
	return batch[:n]
}
