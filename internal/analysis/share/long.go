package share

import (
	"encoding/binary"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A long block lists every region of a stretch, so that merging loses nothing and
// the winner of a digest is certain. It lives only while a forest is built:
//
//	head   longHead bytes: time of each role, rows, empty ones, the extremes, the last
//	       region, and the slack
//	list   region (u32) and time (u64) of each region with time, in no order
//
// Past longListed regions the smaller ones are dropped, and slack says how much time
// any region may have beyond what is listed of it: a bound that adds up.
const (
	longListed = 1 << 14
	longEntry  = 12
	longHead   = 8 * (trace.RoleCount + 8)
)

// A Summary makes digests; see trace.Condenser.
type Summary struct{}

var _ trace.Condenser = Summary{}

func (Summary) Name() string { return Name }
func (Summary) Version() int { return 4 }

var (
	tallies = sync.Pool{New: func() any { return new(Tally) }}
	places  = sync.Pool{New: func() any { return new(placeTable) }}
)

// Build appends the long block of one stretch. O(segments + rows).
func (Summary) Build(dst trace.Block, s *trace.Stretch, _ []trace.Region) trace.Block {
	t := tallies.Get().(*Tally)
	d := headOf(s, t)
	dst = d.appendHead(dst)
	for _, r := range t.Regions() {
		if at := t.Time(r); at > 0 {
			dst = appendEntry(dst, r, at)
		}
	}
	t.Reset()
	tallies.Put(t)
	return dst
}

// Merge appends the long block of two neighbours: the head of both, the list of the
// first, and what the second adds to it. O(regions). Blocks that are none make one
// that is none either.
func (Summary) Merge(dst trace.Block, a, b trace.Block) trace.Block {
	var x, y Digest
	if !x.head(a) || !y.head(b) {
		return dst
	}
	x.mergeHead(&y)
	at := len(dst)
	dst = append(x.appendHead(dst), a[longHead:]...)
	p := places.Get().(*placeTable)
	defer places.Put(p)
	for i := at + longHead; i < len(dst); i += longEntry {
		p.put(binary.LittleEndian.Uint32(dst[i:]), i)
	}
	for e := b[longHead:]; len(e) > 0; e = e[longEntry:] {
		region, t := binary.LittleEndian.Uint32(e), binary.LittleEndian.Uint64(e[4:])
		if i := p.get(region); i > 0 {
			binary.LittleEndian.PutUint64(dst[i+4:], binary.LittleEndian.Uint64(dst[i+4:])+t)
			continue
		}
		dst = append(dst, e[:longEntry]...)
	}
	for e := a[longHead:]; len(e) > 0; e = e[longEntry:] {
		p.put(binary.LittleEndian.Uint32(e), 0)
	}
	if (len(dst)-at-longHead)/longEntry > longListed {
		dst = dst[:at+cutLong(dst[at:])]
	}
	return dst
}

// Condense appends the digest of a long block.
func (Summary) Condense(dst, long trace.Block) trace.Block {
	var d Digest
	if !d.head(long) {
		return dst
	}
	d.list(long[longHead:])
	return d.Append(dst)
}

// Of is the digest of one stretch.
func Of(s *trace.Stretch) (d Digest) {
	long := Summary{}.Build(nil, s, nil)
	d.head(long)
	d.list(long[longHead:])
	return d
}

// headOf counts the parts of a fixed size, and the time of each region.
func headOf(s *trace.Stretch, t *Tally) Digest {
	d := Digest{Last: trace.NoRegion}
	lastEnd := s.Begin
	for i := range s.Segments {
		g := &s.Segments[i]
		d.Role[g.Role] += g.End - g.Begin
		if g.Region != trace.NoRegion {
			t.Add(g.Region, g.End-g.Begin)
			d.Last, lastEnd = g.Region, g.End
		}
	}
	d.Rows = int64(s.Rows.Len())
	d.Longest.Region, d.Shortest.Region = trace.NoRegion, trace.NoRegion
	for i, dur := range s.Rows.Duration {
		x := Extreme{dur, s.Rows.Region[i]}
		d.Longest = longer(d.Longest, x)
		d.Shortest = shorter(d.Shortest, x)
		if dur > 0 {
			continue
		}
		if d.Empty++; s.Rows.Begin[i] >= lastEnd {
			d.Last = x.Region
		}
	}
	return d
}

// mergeHead adds the neighbour that follows d, but for the list.
func (d *Digest) mergeHead(b *Digest) {
	for i := range d.Role {
		d.Role[i] += b.Role[i]
	}
	d.Rows += b.Rows
	d.Empty += b.Empty
	d.Slack += b.Slack
	d.Longest = longer(d.Longest, b.Longest)
	d.Shortest = shorter(d.Shortest, b.Shortest)
	if b.Last != trace.NoRegion {
		d.Last = b.Last
	}
}

func longer(a, b Extreme) Extreme {
	if b.Region == trace.NoRegion || b.Duration == 0 {
		return a
	}
	if a.Region == trace.NoRegion || b.Duration > a.Duration || b.Duration == a.Duration && b.Region < a.Region {
		return b
	}
	return a
}

func shorter(a, b Extreme) Extreme {
	if b.Region == trace.NoRegion || b.Duration == 0 {
		return a
	}
	if a.Region == trace.NoRegion || b.Duration < a.Duration || b.Duration == a.Duration && b.Region < a.Region {
		return b
	}
	return a
}
