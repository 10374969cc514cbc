package share_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parallax-hpc/parallax/internal/analysis/share"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// The walker must find what painting finds, whatever the window and wherever
// the batches are cut.
func TestWalkerTilesTheWindow(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		regions := someRegions(1 + rng.IntN(12))
		length := 40 + rng.IntN(200)
		l := randomLane(rng, length, 100, regions)
		begin := rng.IntN(length)
		end := begin + 1 + rng.IntN(length-begin)

		var got []trace.Segment
		emit := func(s trace.Segment) { // an empty interval may split what it lies in
			if n := len(got); n > 0 && got[n-1].Row == s.Row && got[n-1].End == s.Begin {
				got[n-1].End = s.End
				return
			}
			got = append(got, s)
		}
		var w share.Walker
		w.Start(trace.Time(begin), regions)
		for _, c := range batches(rng, l, begin, end) {
			w.Add(&c, emit)
		}
		w.Finish(trace.Time(end), emit)
		if d := cmp.Diff(l.segments(begin, end), got); d != "" {
			t.Fatalf("seed %d, window [%d, %d): %s", seed, begin, end, d)
		}
	}
}

// batches hands out the rows that begin in the window, cut at random; the first
// batch has those open at its begin as the chain of parents.
func batches(rng *rand.Rand, l *lane, begin, end int) []trace.Columns {
	first, last := 0, 0
	var open []trace.OpenInterval
	for i, b := range l.cols.Begin {
		if int(b) < begin {
			first = i + 1
			if int(l.cols.End(i)) > begin {
				open = append(open, trace.OpenInterval{Row: i, Begin: b, End: l.cols.End(i), Region: l.cols.Region[i]})
			}
		}
		if int(b) < end {
			last = i + 1
		}
	}
	out := []trace.Columns{l.slice(first, first)}
	out[0].Open = open
	for first < last {
		next := min(last, first+1+rng.IntN(20))
		out = append(out, l.slice(first, next))
		first = next
	}
	return out
}

// Folding lanes must say at each instant what the highest role says.
func TestFoldTakesEachInstantOnce(t *testing.T) {
	wins := func(a, b trace.Role) trace.Role { return max(a, b) }
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 4))
		regions := someRegions(1 + rng.IntN(12))
		const length = 120
		var folded []share.Piece
		want := make([]share.Piece, length)
		for n := range 1 + rng.IntN(4) {
			l := randomLane(rng, length, 30, regions)
			var pieces []share.Piece
			for _, s := range l.segments(0, length) {
				if s.Region != trace.NoRegion || rng.IntN(2) == 0 { // gaps say the same as nothing open
					pieces = append(pieces, share.Piece{Segment: s, Lane: n})
				}
			}
			folded = share.Fold(nil, folded, pieces, wins)
			for x := range want {
				if l.role[x] > want[x].Role {
					want[x].Role, want[x].Region, want[x].Row, want[x].Lane = l.role[x], l.region[x], l.row[x], n
				}
			}
		}
		got := make([]share.Piece, length)
		for _, p := range folded {
			for x := p.Begin; x < p.End; x++ {
				got[x].Role, got[x].Region, got[x].Row, got[x].Lane = p.Role, p.Region, p.Row, p.Lane
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("seed %d: %s", seed, d)
		}
	}
}

// A collector must give, for lanes of several locations in batches, what
// painting and folding by hand give.
func TestCollectorFoldsEveryLocation(t *testing.T) {
	wins := func(a, b trace.Role) trace.Role { return max(a, b) }
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 5))
		regions := someRegions(1 + rng.IntN(12))
		keep := make([]bool, len(regions))
		for i := range keep {
			keep[i] = rng.IntN(4) > 0
		}
		const length, locations = 150, 3
		begin := rng.IntN(length)
		end := begin + 1 + rng.IntN(length-begin)
		var want, got [locations][length]share.Piece
		lanes := [locations][]*lane{}
		for id := range lanes {
			for n := range 1 + rng.IntN(3) {
				l := randomLane(rng, length, 40, regions)
				lanes[id] = append(lanes[id], l)
				for x := begin; x < end; x++ {
					if w := &want[id][x]; l.row[x] >= 0 && keep[l.region[x]] && l.role[x] > w.Role {
						w.Role, w.Region, w.Row, w.Lane = l.role[x], l.region[x], l.row[x], n
					}
				}
			}
		}
		rows := 0
		c := share.Collector{
			Begin: trace.Time(begin), End: trace.Time(end), Regions: regions, Keep: keep, Wins: wins,
			Lanes: func(id trace.LocationID) int { return len(lanes[id]) },
			Row:   func(*trace.Columns, int) { rows++ },
			Emit: func(id trace.LocationID, p share.Piece) {
				for x := p.Begin; x < p.End; x++ {
					w := &got[id][x]
					w.Role, w.Region, w.Row, w.Lane = p.Role, p.Region, p.Row, p.Lane
				}
			},
		}
		wantRows := 0
		for id := range lanes {
			for n, l := range lanes[id] {
				for _, b := range batches(rng, l, begin, end) {
					b.Location, b.Lane = trace.LocationID(id), n
					wantRows += b.Len()
					c.Add(&b)
				}
			}
		}
		c.Close()
		if d := cmp.Diff(want, got); d != "" || rows != wantRows {
			t.Fatalf("seed %d: %d of %d rows; %s", seed, rows, wantRows, d)
		}
	}
}

// TestSumOfABinEqualsItsSegments: a bin summed by its rows has the time of each region that
// its segments have, bin after bin.
func TestSumOfABinEqualsItsSegments(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	regions := []trace.Region{{Role: trace.RoleCompute}, {Role: trace.RoleAnnotation}, {Role: trace.RoleIdle}, {Role: trace.RoleIO}}
	for range 300 {
		c := nestedRows(rng, 4+rng.IntN(40), len(regions))
		var slow, fast share.Walker
		slow.Start(0, regions)
		fast.Start(0, regions)
		var want, got share.Tally
		for i, end := 0, trace.Time(0); i < c.Len(); {
			end += trace.Time(1 + rng.IntN(40))
			hi, open := i, trace.Time(0)
			for ; hi < c.Len() && c.Begin[hi] < end; hi++ {
				for slow.Next(c.Begin[hi]) {
					want.Add(slow.Segment.Region, slow.Segment.End-slow.Segment.Begin)
					open += openTime(&slow.Segment)
				}
				slow.Push(c.End(hi), c.Region[hi], hi)
			}
			for slow.Next(end) {
				want.Add(slow.Segment.Region, slow.Segment.End-slow.Segment.Begin)
				open += openTime(&slow.Segment)
			}
			if sum := fast.Sum(c, i, hi, end, &got); sum != open {
				t.Fatalf("%d ns open until %d, want %d", sum, end, open)
			}
			for r := range regions {
				if id := trace.RegionID(r); got.Time(id) != want.Time(id) {
					t.Fatalf("region %d until %d: %d, want %d", r, end, got.Time(id), want.Time(id))
				}
			}
			got.Reset()
			want.Reset()
			i = hi
		}
	}
}

func openTime(s *trace.Segment) trace.Time {
	if s.Region == trace.NoRegion {
		return 0
	}
	return s.End - s.Begin
}

// nestedRows makes rows in preorder, some of them empty.
func nestedRows(rng *rand.Rand, n, regions int) *trace.Columns {
	c := &trace.Columns{}
	var open []int
	now := trace.Time(0)
	for i := range n {
		now += trace.Time(rng.IntN(6))
		for k := len(open); k > 0 && c.End(open[k-1]) <= now; k-- {
			open = open[:k-1]
		}
		d, parent := trace.Time(rng.IntN(60)), -1
		if k := len(open); k > 0 {
			parent = open[k-1]
			d = min(d, c.End(parent)-now)
		}
		c.Begin, c.Duration = append(c.Begin, now), append(c.Duration, d)
		c.Region, c.Parent = append(c.Region, trace.RegionID(rng.IntN(regions))), append(c.Parent, int32(parent))
		open = append(open, i)
	}
	return c
}
