package read

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// The time by region of all lanes together is stored with a run of many lanes: nearly every picture begins with it,
// for colours and for legends, and it would read each lane.
const (
	totalsName    = "totals"
	totalsVersion = 1
	lanesOfTotals = 8192
)

// A totalsHead says of which version and of which content of the store the totals are, with a checksum of them.
type totalsHead struct {
	Version, Generation uint64
	Sum, Count          uint32
}

// A keptTotal is the time of one region.
type keptTotal struct {
	Region               uint32
	Calls                int64
	Exclusive, Inclusive trace.Sum
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// TotalTime implements store.Totaler.
func (r *Reader) TotalTime(ctx context.Context, w store.Window) (*store.TotalTable, error) {
	whole := w.Locations == nil && w.Begin <= 0 && w.End >= r.End
	if !whole || !r.manyLanes() {
		return r.times.TotalTime(ctx, w)
	}
	if t := r.whole.Load(); t != nil {
		return t, nil
	}
	t, ok := r.keptTotals()
	if !ok {
		var err error
		if t, err = r.times.TotalTime(ctx, w); err != nil {
			return nil, err
		}
		_ = r.Keep(totalsName, r.encodeTotals(t)) // those that cannot be kept are made again
	}
	r.whole.Store(t)
	return t, nil
}

// manyLanes reports whether sums of the whole run are stored with it.
func (r *Reader) manyLanes() bool { return int(r.C.LocationLane[r.Len()]) >= lanesOfTotals }

func (r *Reader) encodeTotals(t *store.TotalTable) []byte {
	var body, out bytes.Buffer
	for i, region := range t.Region {
		_ = binary.Write(&body, binary.LittleEndian,
			keptTotal{uint32(region), t.Calls[i], t.Exclusive[i], t.Inclusive[i]})
	}
	_ = binary.Write(&out, binary.LittleEndian, totalsHead{totalsVersion, r.Generation(),
		crc32.Checksum(body.Bytes(), castagnoli), uint32(len(t.Region))})
	return append(out.Bytes(), body.Bytes()...)
}

// keptTotals returns the totals next to the store, if they are whole, of this version and of this run.
func (r *Reader) keptTotals() (*store.TotalTable, bool) {
	b, ok := r.Kept(totalsName)
	size := binary.Size(totalsHead{})
	if !ok || len(b) < size {
		return nil, false
	}
	var head totalsHead
	_ = binary.Read(bytes.NewReader(b), binary.LittleEndian, &head)
	b = b[size:]
	if head.Version != totalsVersion || head.Generation != r.Generation() ||
		len(b) != int(head.Count)*binary.Size(keptTotal{}) || crc32.Checksum(b, castagnoli) != head.Sum {
		return nil, false
	}
	totals := make([]keptTotal, head.Count)
	if err := binary.Read(bytes.NewReader(b), binary.LittleEndian, totals); err != nil {
		return nil, false
	}
	t := &store.TotalTable{Region: make([]trace.RegionID, len(totals)), Calls: make([]int64, len(totals)),
		Exclusive: make([]trace.Sum, len(totals)), Inclusive: make([]trace.Sum, len(totals))}
	for i, x := range totals {
		if int(x.Region) >= len(r.Regions()) || i > 0 && x.Region <= totals[i-1].Region {
			return nil, false
		}
		t.Region[i], t.Calls[i] = trace.RegionID(x.Region), x.Calls
		t.Exclusive[i], t.Inclusive[i] = x.Exclusive, x.Inclusive
	}
	return t, true
}
