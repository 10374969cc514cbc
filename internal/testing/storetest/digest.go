package storetest

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A digest is the summary the suite keeps: calls and time per region, and the range it covers. It checks the
// stretches it is built from and the digests it is merged of.
type digest struct {
	mu   sync.Mutex
	list []string
}

func (d *digest) Name() string { return "storetest" }
func (d *digest) Version() int { return 1 }

func (d *digest) fault(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.list) < 10 {
		d.list = append(d.list, fmt.Sprintf(format, args...))
	}
}

func (d *digest) faults() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.list)
}

// content is a digest's block, decoded.
type content struct {
	begin, end  trace.Time
	first, last trace.Time // begins of the first and the last row; first > last without rows
	calls, time map[trace.RegionID]int64
}

func emptyContent(begin, end trace.Time) content {
	return content{begin: begin, end: end, first: 1, last: 0, calls: map[trace.RegionID]int64{},
		time: map[trace.RegionID]int64{}}
}

func (d *digest) Build(dst trace.Block, s *trace.Stretch, regions []trace.Region) trace.Block {
	if fault := checkStretch(s, regions); fault != "" {
		d.fault("%s", fault)
	}
	return contentOf(s).encode(dst)
}

func contentOf(s *trace.Stretch) content {
	c := emptyContent(s.Begin, s.End)
	for i, region := range s.Rows.Region {
		c.calls[region]++
		if i == 0 {
			c.first = s.Rows.Begin[i]
		}
		c.last = s.Rows.Begin[i]
	}
	for _, g := range s.Segments {
		if g.Region != trace.NoRegion {
			c.time[g.Region] += int64(g.End - g.Begin)
		}
	}
	return c
}

// checkStretch describes the fault of a stretch: segments must tile it, rows must begin in it, in order. A row may
// begin at its end if that is the end of the trace, which is not known here.
func checkStretch(s *trace.Stretch, regions []trace.Region) string {
	now := s.Begin
	for _, g := range s.Segments {
		if g.Begin != now || g.End <= g.Begin {
			return fmt.Sprintf("segment [%d, %d) of [%d, %d) does not follow the one before, which ends at %d", g.Begin,
				g.End, s.Begin, s.End, now)
		}
		if (g.Region == trace.NoRegion) != (g.Row == -1) || g.Region == trace.NoRegion && g.Role != trace.RoleNone {
			return fmt.Sprintf("segment [%d, %d): region %d with row %d and role %v", g.Begin, g.End, g.Region, g.Row,
				g.Role)
		}
		if g.Region != trace.NoRegion && int(g.Region) >= len(regions) {
			return fmt.Sprintf("segment [%d, %d): region %d of %d", g.Begin, g.End, g.Region, len(regions))
		}
		now = g.End
	}
	if now != s.End {
		return fmt.Sprintf("segments of [%d, %d) end at %d", s.Begin, s.End, now)
	}
	for i, b := range s.Rows.Begin {
		if b < s.Begin || b > s.End || i > 0 && b < s.Rows.Begin[i-1] {
			return fmt.Sprintf("row %d begins at %d, in [%d, %d)", s.Rows.First+i, b, s.Begin, s.End)
		}
	}
	return ""
}

func (d *digest) Merge(dst trace.Block, a, b trace.Block) trace.Block {
	x, y := decodeContent(a), decodeContent(b)
	if x.end > y.begin || x.first <= x.last && y.first <= y.last && x.last > y.first {
		d.fault("merge of [%d, %d) with [%d, %d): not neighbours in time, first one first", x.begin, x.end, y.begin,
			y.end)
	}
	return x.plus(y).encode(dst)
}

func (c content) plus(o content) content {
	c.end = o.end
	if c.first > c.last {
		c.first, c.last = o.first, o.last
	} else if o.first <= o.last {
		c.last = o.last
	}
	for k, v := range o.calls {
		c.calls[k] += v
	}
	for k, v := range o.time {
		c.time[k] += v
	}
	return c
}

func (c content) encode(dst trace.Block) trace.Block {
	for _, t := range []trace.Time{c.begin, c.end, c.first, c.last} {
		dst = binary.AppendVarint(dst, int64(t))
	}
	for _, m := range []map[trace.RegionID]int64{c.calls, c.time} {
		dst = binary.AppendUvarint(dst, uint64(len(m)))
		for _, k := range slices.Sorted(maps.Keys(m)) {
			dst = binary.AppendVarint(binary.AppendUvarint(dst, uint64(k)), m[k])
		}
	}
	return dst
}

func decodeContent(b trace.Block) content {
	signed := func() int64 { v, n := binary.Varint(b); b = b[n:]; return v }
	unsigned := func() uint64 { v, n := binary.Uvarint(b); b = b[n:]; return v }
	begin, end := trace.Time(signed()), trace.Time(signed())
	c := emptyContent(begin, end)
	c.first, c.last = trace.Time(signed()), trace.Time(signed())
	for _, m := range []map[trace.RegionID]int64{c.calls, c.time} {
		for range unsigned() {
			k := trace.RegionID(unsigned())
			m[k] = signed()
		}
	}
	return c
}
