package read

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// The time of each location by region is stored with a run of very many short lanes, which have no sums of their own: a
// question about each location of the whole run would unpack all rows. The table is cut into blocks of locations, which
// all cores read; numbers are varints:
//
//	for each location: 0 if it has the regions of the one before, else their number plus one and the regions,
//	                   each as the difference from the one before
//	for each of its regions: calls, exclusive time, inclusive time less the exclusive
const (
	timesName    = "times"
	timesVersion = 1
	timesBlock   = 2048 // locations
)

// A timesHead says of which version and of which content of the store the table is, with a checksum of the rest: for
// each block its cells and its bytes, and the blocks.
type timesHead struct {
	Version, Generation uint64
	Sum, Blocks         uint32
}

type timesOfBlock struct{ Cells, Bytes uint32 }

// Time implements store.Reader.
func (r *Reader) Time(ctx context.Context, w store.Window) (*store.TimeTable, error) {
	if !w.Whole(r) || !r.keepsTimes() {
		return r.times.Time(ctx, w)
	}
	r.making.Lock() // others that ask meanwhile find it stored
	t, err := r.keptTimes()
	if t == nil && err == nil {
		defer r.making.Unlock()
		if t, err = r.times.Time(ctx, w); err == nil {
			_ = r.keepTimes(t) // one that cannot be kept is made again
		}
		return t, err
	}
	r.making.Unlock()
	return t, err
}

// keepsTimes reports whether the table is stored: with enough lanes, most of which are short.
func (r *Reader) keepsTimes() bool {
	if r.Enter() != nil {
		return false
	}
	defer r.Leave()
	lanes := uint64(r.C.LocationLane[r.Len()])
	return r.manyLanes() && r.C.LaneRow[lanes] <= rows.Short*lanes
}

// KeepSums stores what pictures of many locations begin with: times of all lanes, and of each location.
func (r *Reader) KeepSums(ctx context.Context) error {
	whole := store.Window{End: r.End}
	if !r.manyLanes() {
		return nil
	}
	if r.keepsTimes() {
		if _, err := r.Time(ctx, whole); err != nil {
			return err
		}
	}
	_, err := r.TotalTime(ctx, whole)
	return err
}

// timed returns the locations that the table of a whole run has, in blocks.
func (r *Reader) timed() (ids []trace.LocationID) {
	for _, x := range r.Ranges(nil) {
		for id := x[0]; id < x[1]; id++ {
			if r.C.LocationLane[id] < r.C.LocationLane[id+1] {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

func (r *Reader) keepTimes(t *store.TimeTable) error {
	n := len(t.Locations)
	parts := make([][]byte, (n+timesBlock-1)/timesBlock)
	_ = parallel.For(context.Background(), len(parts), func(k int) {
		parts[k] = appendTimes(nil, t, k*timesBlock, min((k+1)*timesBlock, n))
	})
	var index, out bytes.Buffer
	for k, b := range parts {
		cells := t.Offsets[min((k+1)*timesBlock, n)] - t.Offsets[k*timesBlock]
		_ = binary.Write(&index, binary.LittleEndian, timesOfBlock{uint32(cells), uint32(len(b))})
	}
	body := slices.Concat(append([][]byte{index.Bytes()}, parts...)...)
	_ = binary.Write(&out, binary.LittleEndian,
		timesHead{timesVersion, r.Generation(), crc32.Checksum(body, castagnoli), uint32(len(parts))})
	if out.Len()+len(body) > store.MostKept {
		return nil
	}
	return r.Keep(timesName, append(out.Bytes(), body...))
}

// appendTimes appends a block: locations [from, to) of the table.
func appendTimes(dst []byte, t *store.TimeTable, from, to int) []byte {
	var before []trace.RegionID
	for k := from; k < to; k++ {
		a, b := t.Offsets[k], t.Offsets[k+1]
		if regions := t.Region[a:b]; k > from && slices.Equal(regions, before) {
			dst = append(dst, 0)
		} else {
			dst = binary.AppendUvarint(dst, uint64(len(regions))+1)
			last := trace.RegionID(0)
			for _, region := range regions {
				dst = binary.AppendUvarint(dst, uint64(region-last))
				last = region
			}
			before = regions
		}
		for i := a; i < b; i++ {
			dst = binary.AppendVarint(dst, t.Calls[i])
			dst = binary.AppendVarint(dst, int64(t.Exclusive[i]))
			dst = binary.AppendVarint(dst, int64(t.Inclusive[i]-t.Exclusive[i]))
		}
	}
	return dst
}

// keptTimes returns the table next to the store; nil: there is none that is whole, of this version and of this run.
func (r *Reader) keptTimes() (*store.TimeTable, error) {
	if err := r.Enter(); err != nil {
		return nil, err
	}
	defer r.Leave()
	b, ok := r.Kept(timesName)
	size := binary.Size(timesHead{})
	if !ok || len(b) < size {
		return nil, nil
	}
	var head timesHead
	_ = binary.Read(bytes.NewReader(b), binary.LittleEndian, &head)
	b = b[size:]
	var ids []trace.LocationID
	if err := r.Guarded(context.Background(), func() error { ids = r.timed(); return nil }); err != nil {
		return nil, err
	}
	blocks := make([]timesOfBlock, (len(ids)+timesBlock-1)/timesBlock)
	if head.Version != timesVersion || head.Generation != r.Generation() || int(head.Blocks) != len(blocks) ||
		len(b) < binary.Size(blocks) || crc32.Checksum(b, castagnoli) != head.Sum {
		return nil, nil
	}
	_ = binary.Read(bytes.NewReader(b), binary.LittleEndian, blocks)
	b = b[binary.Size(blocks):]
	cells, ends, total := make([]int, len(blocks)+1), make([]int, len(blocks)+1), 0
	for k, x := range blocks {
		cells[k+1], ends[k+1] = cells[k]+int(x.Cells), ends[k]+int(x.Bytes)
	}
	if total = cells[len(blocks)]; ends[len(blocks)] != len(b) || total > len(b) {
		return nil, nil
	}
	t := &store.TimeTable{Locations: ids, Offsets: make([]int, len(ids)+1), Region: make([]trace.RegionID, total),
		Exclusive: make([]trace.Time, total), Inclusive: make([]trace.Time, total), Calls: make([]int64, total)}
	t.Offsets[len(ids)] = total
	var bad atomic.Bool
	_ = parallel.For(context.Background(), len(blocks), func(k int) {
		first, last := k*timesBlock, min((k+1)*timesBlock, len(ids))
		if !readTimes(b[ends[k]:ends[k+1]], t, first, last, cells[k], cells[k+1], len(r.Regions())) {
			bad.Store(true)
		}
	})
	if bad.Load() {
		return nil, nil
	}
	return t, nil
}

// readTimes reads a block: locations [from, to) of the table, whose cells are [at, end). It reports whether the block
// is as appendTimes writes it.
func readTimes(b []byte, t *store.TimeTable, from, to, at, end, regions int) bool {
	x := varints{b: b}
	var before []trace.RegionID
	for k := from; k < to; k++ {
		t.Offsets[k] = at
		n := len(before)
		head := x.unsigned()
		if head > 0 {
			n = int(min(head-1, uint64(end)+1))
		}
		if n > end-at || k == from && head == 0 {
			return false
		}
		list := t.Region[at : at+n]
		if head == 0 {
			copy(list, before)
		} else {
			region := uint64(0)
			for i := range list {
				region += x.unsigned()
				if region >= uint64(regions) {
					return false
				}
				list[i] = trace.RegionID(region)
			}
			before = list
		}
		for i := at; i < at+n; i++ {
			t.Calls[i] = x.signed()
			exclusive := x.signed()
			t.Exclusive[i], t.Inclusive[i] = trace.Time(exclusive), trace.Time(exclusive+x.signed())
		}
		at += n
	}
	return at == end && len(x.b) == 0 && !x.bad
}

// A varints reads numbers; past the end they are 0, and it is bad.
type varints struct {
	b   []byte
	bad bool
}

func (x *varints) unsigned() uint64 {
	if len(x.b) > 0 && x.b[0] < 0x80 {
		v := x.b[0]
		x.b = x.b[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(x.b)
	if n <= 0 {
		x.b, x.bad = nil, true
		return 0
	}
	x.b = x.b[n:]
	return v
}

func (x *varints) signed() int64 {
	u := x.unsigned()
	return int64(u>>1) ^ -int64(u&1)
}
