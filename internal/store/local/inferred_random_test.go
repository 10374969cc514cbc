package local

import (
	"math/rand/v2"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A recordedCall is a call or an annotation of a made run, with those inside.
type recordedCall struct {
	begin, end trace.Time
	mark       bool
	inside     []recordedCall
}

// someCalls makes calls in a stretch of time. Annotations lie within annotations alone, or within calls, as it comes.
func someCalls(r *rand.Rand, begin, end trace.Time, depth int) (out []recordedCall) {
	for at := begin; at < end && len(out) < 6; {
		at += trace.Time(r.IntN(3) * r.IntN(8))
		if at >= end {
			break
		}
		c := recordedCall{begin: at, end: min(at+trace.Time(1+r.IntN(30)), end), mark: r.IntN(3) == 0}
		if depth > 0 {
			c.inside = someCalls(r, c.begin, c.end, depth-1)
		}
		out, at = append(out, c), c.end
	}
	return out
}

// Whatever calls and annotations a rank records, its work is the time from its first record to its last in which no call
// is open, to the nanosecond, and the same from Enter and Leave as from intervals.
func TestWorkIsExactlyTheTimeWithoutCalls(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		var list [3][]recordedCall
		for i := range list {
			list[i] = append([]recordedCall{{end: 1}}, someCalls(r, 1, 200, 2)...) // the run begins at 0
			list[i] = append(list[i], recordedCall{begin: 210, end: 211}, recordedCall{begin: 220, end: 230})
		}
		for _, whole := range []bool{false, true} {
			run := callsOnly(t, func(w *Writer, rank int, s trace.Stream) {
				mark, call := w.Region(trace.Region{Name: "mark", Role: trace.RoleAnnotation}), w.Region(trace.Region{Name: "MPI_Recv"})
				var write func([]recordedCall)
				write = func(list []recordedCall) {
					for _, c := range list {
						region := call
						if c.mark {
							region = mark
						}
						if whole {
							write(c.inside)
							s.Interval(c.begin, c.end, region)
							continue
						}
						s.Enter(c.begin, region)
						write(c.inside)
						s.Leave(c.end, region)
					}
				}
				write(list[rank])
			})
			for rank := range list {
				want, got := workOfCalls(list[rank]), make([]bool, 230)
				depth := make([]uint16, 230)
				for _, x := range staysOf(t, run, trace.LocationID(rank)) {
					for at := x.begin; at < x.end; at++ {
						if x.depth >= depth[at] {
							depth[at], got[at] = x.depth, x.name == "(not recorded)"
						}
					}
				}
				for at := range want {
					if got[at] != want[at] {
						t.Fatalf("seed %d, whole %v, rank %d at %d: work %v, want %v\n%+v\n%v", seed, whole, rank, at, got[at], want[at],
							list[rank], staysOf(t, run, trace.LocationID(rank)))
					}
				}
			}
		}
	}
}

// workOfCalls says of each nanosecond whether it is work.
func workOfCalls(list []recordedCall) []bool {
	out := make([]bool, 230)
	for at := list[0].begin; at < 230; at++ {
		out[at] = true
	}
	var mark func([]recordedCall)
	mark = func(list []recordedCall) {
		for _, c := range list {
			for at := c.begin; at < c.end && !c.mark; at++ {
				out[at] = false
			}
			mark(c.inside)
		}
	}
	mark(list)
	return out
}
