package share_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parallax-hpc/parallax/internal/analysis/share"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A lane is rows in preorder, with what is innermost at each nanosecond painted
// by the simplest means.
type lane struct {
	cols   trace.Columns
	region []trace.RegionID // by time
	role   []trace.Role
	row    []int
}

// randomLane nests intervals at random in [0, length).
func randomLane(rng *rand.Rand, length, rows int, regions []trace.Region) *lane {
	l := &lane{region: make([]trace.RegionID, length), role: make([]trace.Role, length), row: make([]int, length)}
	for t := range l.region {
		l.region[t], l.row[t] = trace.NoRegion, -1
	}
	var nest func(begin, end, parent, depth int)
	nest = func(begin, end, parent, depth int) {
		for t := begin; t < end && len(l.cols.Begin) < rows; {
			b := t + rng.IntN(1+(end-t)/2)
			e := min(end, b+rng.IntN(1+max(1, (end-b)/(1+rng.IntN(8)))))
			row := len(l.cols.Begin)
			r := trace.RegionID(rng.IntN(len(regions)))
			l.add(b, e, r, parent, depth)
			role := regions[r].Role
			for x := b; x < e; x++ {
				if role == trace.RoleAnnotation && l.role[x] != trace.RoleNone {
					l.region[x], l.row[x] = r, row
					continue
				}
				l.region[x], l.role[x], l.row[x] = r, role, row
			}
			if depth < 4 && e-b > 2 {
				nest(b, e, row, depth+1)
			}
			t = e
			if b == e {
				t++
			}
		}
	}
	nest(0, length, -1, 0)
	return l
}

func (l *lane) add(begin, end int, r trace.RegionID, parent, depth int) {
	c := &l.cols
	c.Begin = append(c.Begin, trace.Time(begin))
	c.Duration = append(c.Duration, trace.Time(end-begin))
	c.Region = append(c.Region, r)
	c.Parent = append(c.Parent, int32(parent))
	c.Depth = append(c.Depth, uint16(depth))
	c.Exclusive = append(c.Exclusive, 0)
}

// segments of [begin, end) from the painting.
func (l *lane) segments(begin, end int) []trace.Segment {
	var out []trace.Segment
	for t := begin; t < end; t++ {
		if n := len(out); n > 0 && out[n-1].Row == l.row[t] {
			out[n-1].End = trace.Time(t + 1)
			continue
		}
		out = append(out, trace.Segment{Begin: trace.Time(t), End: trace.Time(t + 1), Region: l.region[t], Row: l.row[t], Role: l.role[t]})
	}
	return out
}

// stretch of [begin, end).
func (l *lane) stretch(begin, end int) *trace.Stretch {
	i, _ := slices.BinarySearch(l.cols.Begin, trace.Time(begin))
	j, _ := slices.BinarySearch(l.cols.Begin, trace.Time(end))
	return &trace.Stretch{Begin: trace.Time(begin), End: trace.Time(end), Rows: l.slice(i, j), Segments: l.segments(begin, end)}
}

func (l *lane) slice(i, j int) trace.Columns {
	c := l.cols
	c.First = i
	c.Begin, c.Duration, c.Exclusive = c.Begin[i:j], c.Duration[i:j], c.Exclusive[i:j]
	c.Region, c.Parent, c.Depth = c.Region[i:j], c.Parent[i:j], c.Depth[i:j]
	return c
}

func someRegions(n int) []trace.Region {
	out := make([]trace.Region, n)
	for i := range out {
		out[i].Role = trace.Role(1 + i%(trace.RoleCount-1))
	}
	return out
}

func condensed(long trace.Block) trace.Block { return share.Summary{}.Condense(nil, long) }

func TestBuildByHand(t *testing.T) {
	const none = trace.NoRegion
	s := &trace.Stretch{Begin: 0, End: 100,
		Rows: trace.Columns{Begin: []trace.Time{10, 20, 60, 95}, Duration: []trace.Time{80, 30, 7, 0}, Region: []trace.RegionID{3, 1, 2, 5}},
		Segments: []trace.Segment{
			{Begin: 0, End: 10, Region: none, Row: -1},
			{Begin: 10, End: 20, Region: 3, Row: 0, Role: trace.RoleCompute},
			{Begin: 20, End: 50, Region: 1, Row: 1, Role: trace.RoleCommunication},
			{Begin: 50, End: 60, Region: 3, Row: 0, Role: trace.RoleCompute},
			{Begin: 60, End: 67, Region: 2, Row: 2, Role: trace.RoleIO},
			{Begin: 67, End: 90, Region: 3, Row: 0, Role: trace.RoleCompute},
			{Begin: 90, End: 100, Region: none, Row: -1},
		}}
	want := share.Digest{
		Rows: 4, Empty: 1, Longest: share.Extreme{Duration: 80, Region: 3}, Shortest: share.Extreme{Duration: 7, Region: 2}, Last: 5,
		Top: [share.Listed]share.Entry{{Region: 3, Time: 43}, {Region: 1, Time: 30}, {Region: 2, Time: 7}}, Count: 3, Decided: true,
	}
	want.Role[trace.RoleNone] = 20
	want.Role[trace.RoleCompute] = 43
	want.Role[trace.RoleCommunication] = 30
	want.Role[trace.RoleIO] = 7

	var got share.Digest
	if !got.Decode(condensed(share.Summary{}.Build(nil, s, nil))) {
		t.Fatal("the block does not decode")
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if r, certain := got.Dominant(); r != 3 || !certain {
		t.Errorf("dominant %d, certain %v; want 3 for certain", r, certain)
	}
	if got.Open() != 80 || !got.Exact() {
		t.Errorf("open %d, exact %v", got.Open(), got.Exact())
	}
}

func TestARangeWithoutRegionsHasNoDominantRegion(t *testing.T) {
	d := share.Of(&trace.Stretch{Begin: 0, End: 5, Segments: []trace.Segment{{End: 5, Region: trace.NoRegion, Row: -1}}})
	if r, certain := d.Dominant(); r != trace.NoRegion || !certain {
		t.Errorf("dominant %d, certain %v", r, certain)
	}
	if d.Last != trace.NoRegion || d.Longest.Region != trace.NoRegion || d.Role[trace.RoleNone] != 5 {
		t.Errorf("%+v", d)
	}
}

// Merging the blocks of a lane's pieces, in any order, must give the digest of the
// whole: with regions of like size and of many more than a digest lists.
func TestMergeIsExactInEveryOrder(t *testing.T) {
	beyond := 0
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 1))
		regions := someRegions(1 + rng.IntN(300))
		length := 50 + rng.IntN(800)
		l := randomLane(rng, length, 10+rng.IntN(600), regions)
		if rng.IntN(2) == 0 { // many regions of like size
			for x := range l.region {
				r := trace.RegionID(rng.IntN(len(regions)))
				l.region[x], l.role[x], l.row[x] = r, regions[r].Role, x
			}
		}
		var got share.Digest
		if !got.Decode(condensed(mergeAtRandom(rng, l, length, 40, regions))) {
			t.Fatal("the block does not decode")
		}
		whole := share.Of(l.stretch(0, length))
		checkExactParts(t, &got, &whole)
		if d := cmp.Diff(whole, got); d != "" {
			t.Error(d)
		}
		if !checkTimes(t, &got, l, regions) {
			t.Error("the winner is not certain")
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		if got.Rest > 0 {
			beyond++
		}
	}
	if beyond < 100 { // or the test says nothing
		t.Errorf("only %d digests leave regions out", beyond)
	}
}

// mergeAtRandom builds blocks of pieces and merges neighbours until one is left.
func mergeAtRandom(rng *rand.Rand, l *lane, length, piece int, regions []trace.Region) trace.Block {
	var blocks []trace.Block
	for at := 0; at < length; {
		end := min(length, at+1+rng.IntN(piece))
		blocks = append(blocks, share.Summary{}.Build(nil, l.stretch(at, end), regions))
		at = end
	}
	for len(blocks) > 1 {
		i := rng.IntN(len(blocks) - 1)
		blocks[i] = share.Summary{}.Merge(nil, blocks[i], blocks[i+1])
		blocks = slices.Delete(blocks, i+1, i+2)
	}
	return blocks[0]
}

// With more regions than a long block lists the times are bounds: sound, and honest
// about when they do not decide.
func TestMergeOfVeryManyRegionsIsSound(t *testing.T) {
	certain := map[bool]int{}
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 4))
		regions := someRegions(30_000)
		const length = 100_000
		l := &lane{region: make([]trace.RegionID, length), role: make([]trace.Role, length), row: make([]int, length)}
		hot := int(seed%2) * 10 // every tenth nanosecond or never
		for x := range l.region {
			r := trace.RegionID(rng.IntN(len(regions)))
			if hot > 0 && x%hot == 0 {
				r = 7
			}
			l.region[x], l.role[x], l.row[x] = r, regions[r].Role, x
		}
		var got share.Digest
		if !got.Decode(condensed(mergeAtRandom(rng, l, length, 20_000, regions))) {
			t.Fatal("the block does not decode")
		}
		if got.Slack == 0 {
			t.Fatal("nothing was left out: the test says nothing")
		}
		certain[checkTimes(t, &got, l, regions)]++
	}
	if certain[true] == 0 || certain[false] == 0 {
		t.Errorf("certain in %d cases, uncertain in %d: want both", certain[true], certain[false])
	}
}

func checkExactParts(t *testing.T, got, want *share.Digest) {
	t.Helper()
	if got.Role != want.Role || got.Rows != want.Rows || got.Empty != want.Empty || got.Longest != want.Longest || got.Shortest != want.Shortest || got.Last != want.Last {
		t.Errorf("exact parts differ:\n got %+v\nwant %+v", got, want)
	}
}

// checkTimes holds what is listed against the painting, and gives the certainty.
func checkTimes(t *testing.T, d *share.Digest, l *lane, regions []trace.Region) (certain bool) {
	t.Helper()
	truth := make([]trace.Time, len(regions))
	for _, r := range l.region {
		if r != trace.NoRegion {
			truth[r]++
		}
	}
	listed := map[trace.RegionID]trace.Time{}
	for _, e := range d.Top[:d.Count] {
		listed[e.Region] = e.Time
	}
	winner := trace.NoRegion
	for r, have := range truth {
		low, high := trace.Time(0), d.Rest+d.Slack
		if t, ok := listed[trace.RegionID(r)]; ok {
			low, high = t, t+d.Slack
		}
		if have < low || have > high {
			t.Errorf("region %d has %d, the digest says %d to %d", r, have, low, high)
		}
		if have > 0 && (winner == trace.NoRegion || have > truth[winner]) {
			winner = trace.RegionID(r)
		}
	}
	r, certain := d.Dominant()
	if certain && r != winner {
		t.Errorf("dominant for certain is %d, but %d has more", r, winner)
	}
	return certain
}

func TestExactHoldsOnlyIfAllTimesAreKnown(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 2))
		regions := someRegions(1 + rng.IntN(6))
		l := randomLane(rng, 200, 60, regions)
		a := share.Of(l.stretch(0, 200))
		if !a.Exact() {
			continue
		}
		sum := trace.Time(0)
		for _, e := range a.Top[:a.Count] {
			sum += e.Time
		}
		if sum != a.Open() {
			t.Fatalf("seed %d: exact, but %d of %d ns listed", seed, sum, a.Open())
		}
	}
}

func TestATallyAddsUpAnyRegion(t *testing.T) {
	var tally share.Tally
	for round := range 3 {
		rng := rand.New(rand.NewPCG(uint64(round), 9))
		want := map[trace.RegionID]trace.Time{}
		for range 500 {
			r, d := trace.RegionID(rng.IntN(6))*1500+trace.RegionID(rng.IntN(3)), trace.Time(rng.IntN(9))
			want[r] += d
			tally.Add(r, d)
		}
		tally.Add(trace.NoRegion, 1000)
		if len(tally.Regions()) != len(want) {
			t.Fatalf("%d regions, want %d", len(tally.Regions()), len(want))
		}
		best, most := tally.Dominant()
		for r, d := range want {
			if tally.Time(r) != d || d > most || d == most && r < best {
				t.Fatalf("region %d has %d, want %d; dominant is %d with %d", r, tally.Time(r), d, best, most)
			}
		}
		tally.Reset()
		if r, d := tally.Dominant(); r != trace.NoRegion || d != 0 {
			t.Fatalf("after Reset region %d has %d", r, d)
		}
	}
}

func TestBlocksThatAreNoDigestsAreRefused(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	regions := someRegions(30)
	long := share.Summary{}.Build(nil, randomLane(rng, 300, 80, regions).stretch(0, 300), regions)
	good := condensed(long)
	var d, again share.Digest
	if !d.Decode(good) {
		t.Fatal("the block does not decode")
	}
	if !again.Decode(d.Append(nil)) || d != again {
		t.Error("a digest written and read again differs")
	}
	if !again.DecodeWinner(good) || again.Count != 1 || again.Top[0] != d.Top[0] || again.Role != d.Role || again.Rows != d.Rows {
		t.Errorf("the winner is read as %+v of %+v", again, d)
	}
	for n := range good {
		if d.Decode(good[:n]) {
			t.Errorf("%d of %d bytes decode", n, len(good))
		}
	}
	for _, b := range []trace.Block{nil, append(slices.Clone(good), 0), make(trace.Block, 4096), slices.Repeat(trace.Block{0xff}, 64)} {
		if d.Decode(b) {
			t.Errorf("%d bytes decode", len(b))
		}
	}
	for _, torn := range []trace.Block{nil, long[:5], long[:len(long)-1]} {
		if got := (share.Summary{}).Merge(nil, long, torn); len(got) != 0 {
			t.Errorf("merging with a torn block gives %d bytes", len(got))
		}
		if got := condensed(torn); len(got) != 0 {
			t.Errorf("a torn block is condensed to %d bytes", len(got))
		}
	}
}

func BenchmarkBuild256Rows(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	regions := someRegions(200)
	l := randomLane(rng, 1<<16, 256, regions)
	s := l.stretch(0, 1<<16)
	var dst trace.Block
	b.ReportAllocs()
	for b.Loop() {
		dst = share.Summary{}.Build(dst[:0], s, regions)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(s.Rows.Len()), "ns/row")
	b.ReportMetric(float64(len(dst)), "bytes")
}

func BenchmarkMerge(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	regions := someRegions(200)
	l := randomLane(rng, 1<<14, 4000, regions)
	x := share.Summary{}.Build(nil, l.stretch(0, 1<<13), regions)
	y := share.Summary{}.Build(nil, l.stretch(1<<13, 1<<14), regions)
	var dst trace.Block
	b.ReportAllocs()
	for b.Loop() {
		dst = share.Summary{}.Merge(dst[:0], x, y)
	}
}
