package finish

import (
	"cmp"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A far is a row and the row at another location that called it, both of table interval.
type far struct {
	row, caller uint64
	location    trace.LocationID // of the caller
	lane        int32
}

// A kinTable holds the part of table interval that callers at other locations need.
type kinTable struct {
	begin, duration []trace.Time
	parent          []int32
	laneRow         []uint64
	firstLane       []uint32
	maps            []*spool.Mapping
}

func (t *kinTable) close() {
	for _, m := range t.maps {
		_ = m.Close()
	}
}

func openKin(dir string) (*kinTable, error) {
	t := &kinTable{}
	open := func(name string, to func([]byte)) error {
		m, err := spool.MapWhole(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		t.maps = append(t.maps, m)
		to(m.Bytes)
		return nil
	}
	err := cmp.Or(
		open("interval.begin.i64", func(b []byte) { t.begin = spool.ViewOf[trace.Time](b) }),
		open("interval.duration.i64", func(b []byte) { t.duration = spool.ViewOf[trace.Time](b) }),
		open("interval.parent.i32", func(b []byte) { t.parent = spool.ViewOf[int32](b) }),
		open("lane.row.u64", func(b []byte) { t.laneRow = spool.ViewOf[uint64](b) }),
		open("location.lane.u32", func(b []byte) { t.firstLane = spool.ViewOf[uint32](b) }),
	)
	if err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// joinFarCallers joins rows with their callers at other locations: they become callers as those
// in other lanes are, and their time is taken off the exclusive time of the caller. O(rows).
func (f *finisher) joinFarCallers() error {
	if len(f.Far) == 0 || len(f.kinship.placed) == 0 {
		return nil
	}
	t, err := openKin(f.Dir)
	if err != nil {
		return err
	}
	defer t.close()
	list := f.acceptFar(t)
	f.kinship.callers = slices.Grow(f.kinship.callers, len(list))
	for _, x := range list {
		f.kinship.callers = append(f.kinship.callers, kinCaller{x.row, x.caller})
	}
	return f.coverFar(t, byCaller(list))
}

func byCaller(list []far) []far {
	out := make([]far, len(list))
	for i, at := range ascending(len(list), func(i int) uint64 { return list[i].caller }) {
		out[i] = list[at.Index]
	}
	return out
}

// acceptFar takes the first caller given for each row that has none at its own location, unless it closes a circle.
func (f *finisher) acceptFar(t *kinTable) (out []far) {
	up := make([]uint64, len(t.begin)) // towards the root of each row
	for n := range len(t.laneRow) - 1 {
		first := t.laneRow[n]
		for i := first; i < t.laneRow[n+1]; i++ {
			if up[i] = i; t.parent[i] >= 0 {
				up[i] = first + uint64(t.parent[i])
			}
		}
	}
	for _, c := range f.kinship.callers {
		up[c.row] = c.caller
	}
	root := func(i uint64) uint64 {
		for up[i] != i {
			up[i] = up[up[i]]
			i = up[i]
		}
		return i
	}
	circles := int64(0)
	out = make([]far, 0, len(f.Far))
	for _, k := range f.Far {
		from, fromLane, ok := f.rowOf(t, k.From, k.FromNumber)
		to, _, is := f.rowOf(t, k.To, k.ToNumber)
		if !ok || !is || up[to] != to {
			continue
		}
		if root(from) == to {
			circles++
			continue
		}
		up[to] = from
		out = append(out, far{to, from, f.order.number[k.From], fromLane})
	}
	if circles > 0 {
		f.Report(trace.Repaired, "intervals that are their own ancestors, made roots", circles, "")
	}
	return out
}

// rowOf finds an interval by its number, where the stream of its location is ByParent.
func (f *finisher) rowOf(t *kinTable, old trace.LocationID, number uint32) (row uint64, lane int32, ok bool) {
	id := f.order.number[old]
	places := f.kinship.placed[id]
	if f.kinship.unnamed[id] || int(number) > len(places) {
		return 0, 0, false
	}
	p := places[number-1]
	return t.laneRow[t.firstLane[id]+uint32(p.lane)] + uint64(p.row), p.lane, true
}

// coverFar takes the time of children at other locations off their callers; list is by caller.
func (f *finisher) coverFar(t *kinTable, list []far) error {
	slices.SortStableFunc(f.kinship.covers, func(a, b laneCover) int { return cmp.Compare(a.row, b.row) })
	file, err := os.OpenFile(filepath.Join(f.Dir, "interval.exclusive.i64"), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	changed := &patch{file: file}
	var children []stretch
	var gaps, parts []stretch
	old, kept := f.kinship.covers, make([]laneCover, 0, len(f.kinship.covers)+len(list)/4)
	for len(list) > 0 {
		x := list[0]
		n := 0
		children = children[:0]
		for ; n < len(list) && list[n].caller == x.caller; n++ {
			c := list[n].row
			children = append(children, stretch{t.begin[c], t.begin[c] + t.duration[c]})
		}
		list = list[n:]
		for len(old) > 0 && old[0].row < x.caller {
			kept, old = append(kept, old[0]), old[1:]
		}
		for len(old) > 0 && old[0].row == x.caller { // time that those in other lanes cover already
			children = append(children, stretch{old[0].begin, old[0].end})
			old = old[1:]
		}
		exclusive := trace.Time(0)
		slices.SortFunc(children, func(a, b stretch) int { return cmp.Compare(a.begin, b.begin) })
		gaps = t.gaps(x, gaps[:0])
		for _, gap := range gaps {
			exclusive += gap.end - gap.begin
			parts = covered(gap, children, parts[:0])
			for _, s := range parts {
				exclusive -= s.end - s.begin
				if len(kept) == cap(kept) {
					kept = slices.Grow(kept, len(kept)+64) // twice as many: append would copy all four times as often
				}
				kept = append(kept, laneCover{x.location, x.lane, x.caller, s.begin, s.end})
			}
		}
		if err := changed.set(x.caller, exclusive); err != nil {
			return err
		}
	}
	f.kinship.covers = append(kept, old...)
	return changed.flush()
}

// A patch changes values of a column, in ascending order: some thousand of them are read and written at a time.
type patch struct {
	file  *os.File
	first uint64 // value of buf
	buf   []byte
}

const patchBytes = 64 << 10

func (p *patch) set(row uint64, v trace.Time) error {
	at := (row - p.first) * 8
	if row < p.first || at >= uint64(len(p.buf)) {
		if err := p.flush(); err != nil {
			return err
		}
		p.first, at = row, 0
		p.buf = slices.Grow(p.buf[:0], patchBytes)[:patchBytes]
		n, err := p.file.ReadAt(p.buf, int64(row)*8)
		if err != nil && err != io.EOF {
			return err
		}
		if p.buf = p.buf[:n&^7]; n < 8 {
			return io.ErrUnexpectedEOF
		}
	}
	binary.LittleEndian.PutUint64(p.buf[at:], uint64(v))
	return nil
}

func (p *patch) flush() error {
	_, err := p.file.WriteAt(p.buf, int64(p.first)*8)
	return err
}

type stretch struct{ begin, end trace.Time }

// gaps appends when a row is innermost in its lane.
func (t *kinTable) gaps(x far, out []stretch) []stretch {
	lane := t.firstLane[x.location] + uint32(x.lane)
	first, last := t.laneRow[lane], t.laneRow[lane+1]
	begin, end := t.begin[x.caller], t.begin[x.caller]+t.duration[x.caller]
	for i := x.caller + 1; i < last && t.parent[i] >= 0 && first+uint64(t.parent[i]) >= x.caller; i++ {
		if first+uint64(t.parent[i]) != x.caller {
			continue
		}
		if t.begin[i] > begin {
			out = append(out, stretch{begin, t.begin[i]})
		}
		begin = max(begin, t.begin[i]+t.duration[i])
	}
	if begin < end {
		out = append(out, stretch{begin, end})
	}
	return out
}

// covered appends the parts of a stretch that some others cover, in order, without overlap. These are by begin.
func covered(gap stretch, by, out []stretch) []stretch {
	for _, s := range by {
		s = stretch{max(s.begin, gap.begin), min(s.end, gap.end)}
		if s.begin >= s.end {
			continue
		}
		if n := len(out); n > 0 && s.begin <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, s.end)
			continue
		}
		out = append(out, s)
	}
	return out
}
