package share

import (
	"encoding/binary"
	"math"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A long block lists every region of a stretch, so that merging loses nothing and
// the winner of a digest is certain. It lives only while a summary tree is built:
//
//	head   longHead bytes: time of each role, rows, empty ones, the extremes, the last
//	       region, and the slack
//	list   region (u32) and time (u64) of each region with time, in no order
//
// Past longListed regions the smaller ones are dropped, and slack says how much time any region may have
// beyond its listed time: a bound that adds up.
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

// A builder holds the buffers for building a block.
type builder struct {
	tally  Tally
	digest Digest // only what a head has
}

var (
	builders = sync.Pool{New: func() any { return new(builder) }}
	places   = sync.Pool{New: func() any { return new(placeTable) }}
)

// Build appends the long block of one stretch. O(segments + rows).
func (Summary) Build(dst trace.Block, s *trace.Stretch, _ []trace.Region) trace.Block {
	x := builders.Get().(*builder)
	x.headOf(s)
	dst = slices.Grow(dst, longHead+longEntry*len(x.tally.Regions()))
	dst = x.digest.appendHead(dst)
	for _, r := range x.tally.Regions() {
		if at := x.tally.Time(r); at > 0 {
			dst = appendEntry(dst, r, at)
		}
	}
	x.tally.Reset()
	builders.Put(x)
	return dst
}

// Merge appends the long block of two neighbours: the head of both, the list of the first, and the second's
// additions to it. O(regions). Blocks that are none make one that is none either.
func (Summary) Merge(dst trace.Block, a, b trace.Block) trace.Block {
	if !isLong(a) || !isLong(b) {
		return dst
	}
	at := len(dst)
	dst = append(dst, a...)
	mergeHeads(dst[at:], b)
	if len(a)-longHead <= fewEntries*longEntry {
		return mergeFew(dst, at, b[longHead:])
	}
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

// fewEntries is the length of a list that is searched from its begin.
const fewEntries = 16

// mergeFew adds the entries of a list to the short one of the block at dst[at:].
func mergeFew(dst trace.Block, at int, list trace.Block) trace.Block {
	own := len(dst)
next:
	for ; len(list) > 0; list = list[longEntry:] {
		region := binary.LittleEndian.Uint32(list)
		for i := at + longHead; i < own; i += longEntry {
			if e := dst[i : i+longEntry]; binary.LittleEndian.Uint32(e) == region {
				binary.LittleEndian.PutUint64(e[4:],
					binary.LittleEndian.Uint64(e[4:])+binary.LittleEndian.Uint64(list[4:]))
				continue next
			}
		}
		dst = append(dst, list[:longEntry]...)
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

// headOf counts the parts of a fixed size, and the time of each region.
func (x *builder) headOf(s *trace.Stretch) {
	d, t := &x.digest, &x.tally
	d.Role, d.Empty, d.Last = [trace.RoleCount]trace.Time{}, 0, trace.NoRegion
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
	none := Extreme{Region: trace.NoRegion}
	d.Longest, d.Shortest = none, none
	regions := s.Rows.Region[:len(s.Rows.Duration)]
	longest, shortest := trace.Time(0), trace.Time(math.MaxInt64)
	for i, dur := range s.Rows.Duration {
		if dur <= 0 {
			if d.Empty++; s.Rows.Begin[i] >= lastEnd {
				d.Last = regions[i]
			}
			continue
		}
		if dur >= longest {
			d.Longest = longer(d.Longest, Extreme{dur, regions[i]})
			longest = dur
		}
		if dur <= shortest {
			d.Shortest = shorter(d.Shortest, Extreme{dur, regions[i]})
			shortest = dur
		}
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
