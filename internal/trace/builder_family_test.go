package trace_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A coverTable also keeps the stretches in which children in other lanes run.
type coverTable struct {
	table
	covered map[[2]int32][][2]trace.Time
}

func (t *coverTable) Cover(lane, row int32, begin, end trace.Time) {
	if t.covered == nil {
		t.covered = map[[2]int32][][2]trace.Time{}
	}
	k := [2]int32{lane, row}
	t.covered[k] = append(t.covered[k], [2]trace.Time{begin, end})
}

// union is the time that ranges cover, clipped.
func union(ranges [][2]trace.Time, begin, end trace.Time) (sum trace.Time) {
	slices.SortFunc(ranges, func(a, b [2]trace.Time) int { return cmp.Compare(a[0], b[0]) })
	at := begin
	for _, r := range ranges {
		if lo, hi := max(r[0], at), min(r[1], end); hi > lo {
			sum += hi - lo
			at = hi
		}
	}
	return sum
}

// Where parents are told, every row lies in its parent or keeps it as its caller, lies in
// no other, and its exclusive time is its duration less the union of its children.
func TestBuilderFollowsParents(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		n := 1 + rnd.IntN(90)
		times := 1 + rnd.IntN(120)
		var spans []trace.Span
		parents := make([]uint32, n)
		opt := trace.BuilderOptions{StreamOptions: trace.StreamOptions{ByParent: true, Unordered: true}, Intervals: true, Parents: parents}
		out := new(coverTable)
		var b trace.Builder
		b.Reset(opt, out)
		for i := range n {
			begin := trace.Time(rnd.IntN(times))
			s := trace.Span{Begin: begin, End: begin + trace.Time(rnd.IntN(1+rnd.IntN(times))), Region: trace.RegionID(i % 5), Seq: uint32(i)}
			spans = append(spans, s)
			if k := rnd.IntN(n + 1); k < n && k != i && rnd.IntN(6) > 0 {
				parents[i] = uint32(k) + 1
			}
		}
		trace.CutCircles(parents)
		for _, s := range spans {
			b.Interval(s.Begin, s.End, s.Region)
		}
		if _, err := b.Finish(); err != nil {
			t.Fatal(err)
		}
		if out.closed != n || len(out.faults) > 0 {
			t.Fatalf("seed %d: %d of %d rows closed, %v", seed, out.closed, n, out.faults)
		}
		inLane := map[uint32]trace.Time{}
		for _, lane := range out.lanes {
			for i, r := range lane {
				parent := uint32(0)
				if r.Parent >= 0 {
					p := lane[r.Parent]
					parent = p.Seq + 1
					inLane[p.Seq] += r.Duration
					if p.Begin > r.Begin || p.Begin+p.Duration < r.Begin+r.Duration {
						t.Fatalf("seed %d: row %d does not lie within its parent", seed, i)
					}
				}
				if r.Caller != 0 {
					if r.Parent >= 0 {
						t.Fatalf("seed %d: a row has two parents: %+v", seed, r)
					}
					parent = r.Caller
				}
				if parent != parents[r.Seq] {
					t.Fatalf("seed %d: span %d has parent %d, want %d", seed, r.Seq, int(parent)-1, int(parents[r.Seq])-1)
				}
				for k := i + 1; k < len(lane) && lane[k].Begin < r.Begin+r.Duration; k++ {
					if lane[k].Depth <= r.Depth {
						t.Fatalf("seed %d: rows %d and %d of a lane overlap", seed, i, k)
					}
				}
			}
		}
		for l, lane := range out.lanes {
			for i, r := range lane {
				var children [][2]trace.Time
				for c := range parents {
					if parents[c] == r.Seq+1 {
						children = append(children, [2]trace.Time{spans[c].Begin, spans[c].End})
					}
				}
				if want := r.Duration - union(children, r.Begin, r.Begin+r.Duration); r.Exclusive != want {
					t.Fatalf("seed %d: span %d has %d exclusive, want %d", seed, r.Seq, r.Exclusive, want)
				}
				pieces := out.covered[[2]int32{int32(l), int32(i)}]
				var sum trace.Time
				for _, p := range pieces {
					sum += p[1] - p[0]
				}
				if r.Exclusive != r.Duration-inLane[r.Seq]-sum || sum != union(pieces, r.Begin, r.Begin+r.Duration) {
					t.Fatalf("seed %d: span %d: %d exclusive of %d with %d in its lane and %v covered", seed, r.Seq, r.Exclusive, r.Duration, inLane[r.Seq], pieces)
				}
			}
		}
	}
}

func TestBuilderFollowsParentsInManyLanes(t *testing.T) {
	const n = 2000
	parents := make([]uint32, n+1)
	out := new(coverTable)
	var b trace.Builder
	b.Reset(trace.BuilderOptions{StreamOptions: trace.StreamOptions{ByParent: true}, Intervals: true, Parents: parents}, out)
	b.Interval(0, 10*n, 0)
	for i := range trace.Time(n) { // all run at once
		parents[i+1] = 1
		b.Interval(1+i, 5*n+i, 1)
	}
	if _, err := b.Finish(); err != nil {
		t.Fatal(err)
	}
	if root := out.lanes[0][0]; len(out.lanes) != n || root.Exclusive != 10*n-(6*n-2) {
		t.Errorf("%d lanes, the root has %d of its own", len(out.lanes), root.Exclusive)
	}
}

func TestCirclesOfParentsAreCut(t *testing.T) {
	parents := []uint32{2, 3, 1, 1, 5, 9, 0, 7} // 0→1→2→0, 3 below; 4 its own; 5 out of range
	if cut := trace.CutCircles(parents); cut != 2 {
		t.Errorf("%d cut, want 2", cut)
	}
	for i := range parents {
		at := i
		for range len(parents) + 1 {
			if at >= len(parents) || parents[at] == 0 {
				at = -1
				break
			}
			at = int(parents[at] - 1)
		}
		if at != -1 {
			t.Fatalf("%d is its own ancestor: %v", i, parents)
		}
	}
}
