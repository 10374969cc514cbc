package share

import (
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Summary is the summary that a store keeps. The exact parts merge the same in
// any order; the bounds on regions depend on the order of merging and are
// sound in every one.
type Summary struct{}

var _ trace.Summary = Summary{}

func (Summary) Name() string { return Name }
func (Summary) Version() int { return 3 }

// Build appends the block of one stretch. O(segments + rows).
func (Summary) Build(dst trace.Block, s *trace.Stretch, _ []trace.Region) trace.Block {
	d := Of(s)
	return d.Append(dst)
}

// Merge appends the block of two neighbours. Blocks that are no digests make a
// block that is none either.
func (Summary) Merge(dst trace.Block, a, b trace.Block) trace.Block {
	var x, y Digest
	if !x.Decode(a) || !y.Decode(b) {
		return dst
	}
	x.Merge(&y)
	return x.Append(dst)
}

var tallies = sync.Pool{New: func() any { return new(Tally) }}

// Of builds the digest of one stretch.
func Of(s *trace.Stretch) Digest {
	d := Digest{Last: trace.NoRegion}
	t := tallies.Get().(*Tally)
	lastEnd := s.Begin
	for i := range s.Segments {
		g := &s.Segments[i]
		d.Role[g.Role] += g.End - g.Begin
		if g.Region != trace.NoRegion {
			t.Add(g.Region, g.End-g.Begin)
			d.Last, lastEnd = g.Region, g.End
		}
	}
	d.list(t)
	t.Reset()
	tallies.Put(t)

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

// list fills Top and Bound with what was counted exactly.
func (d *Digest) list(t *Tally) {
	for _, r := range t.Regions() {
		e := Entry{Region: r, Low: t.Time(r), High: t.Time(r)}
		if e.Low == 0 {
			continue
		}
		d.Bound = max(d.Bound, d.insert(e).High)
	}
}

// insert puts e in its place in Top and gives back what fell out.
func (d *Digest) insert(e Entry) (out Entry) {
	i := d.Count
	for i > 0 && before(e, d.Top[i-1]) {
		i--
	}
	if d.Count == Listed {
		if i == Listed {
			return e
		}
		out = d.Top[Listed-1]
		d.Count--
	}
	copy(d.Top[i+1:d.Count+1], d.Top[i:d.Count])
	d.Top[i] = e
	d.Count++
	return out
}

// before orders entries by upper bound, lower bound, id.
func before(a, b Entry) bool {
	if a.High != b.High {
		return a.High > b.High
	}
	if a.Low != b.Low {
		return a.Low > b.Low
	}
	return a.Region < b.Region
}

// Merge adds the neighbour that follows d.
//
// A region listed on one side alone has, on the other, anything from 0 to that
// side's bound. What falls out of the list raises the bound. No bound exceeds
// the open time that no listed region is known to hold.
func (d *Digest) Merge(b *Digest) {
	a := *d
	*d = Digest{Rows: a.Rows + b.Rows, Empty: a.Empty + b.Empty, Last: b.Last, Bound: a.Bound + b.Bound}
	for i := range d.Role {
		d.Role[i] = a.Role[i] + b.Role[i]
	}
	d.Longest = longer(a.Longest, b.Longest)
	d.Shortest = shorter(a.Shortest, b.Shortest)
	if b.Last == trace.NoRegion {
		d.Last = a.Last
	}
	for _, e := range a.Top[:a.Count] {
		other := b.entry(e.Region)
		e.Low += other.Low
		e.High += other.High
		d.Bound = max(d.Bound, d.insert(e).High)
	}
	for _, e := range b.Top[:b.Count] {
		if !slices.ContainsFunc(a.Top[:a.Count], func(x Entry) bool { return x.Region == e.Region }) {
			e.High += a.Bound
			d.Bound = max(d.Bound, d.insert(e).High)
		}
	}
	d.tighten()
}

// entry gives the bounds of any region.
func (d *Digest) entry(r trace.RegionID) Entry {
	for _, e := range d.Top[:d.Count] {
		if e.Region == r {
			return e
		}
	}
	return Entry{Region: r, High: d.Bound}
}

// tighten lowers upper bounds to what the rest of the open time allows.
func (d *Digest) tighten() {
	rest := d.Open()
	for _, e := range d.Top[:d.Count] {
		rest -= e.Low
	}
	d.Bound = min(d.Bound, rest)
	for i := range d.Top[:d.Count] {
		e := &d.Top[i]
		e.High = min(e.High, e.Low+rest)
	}
	slices.SortFunc(d.Top[:d.Count], func(a, b Entry) int {
		if before(a, b) {
			return -1
		}
		return 1
	})
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
