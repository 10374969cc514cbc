package pack

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Parents and exclusive times of nested rows are told by the other columns: nearly nothing is left of them, and all comes back, whatever
// the rows hold.
func TestFoldedRowsComeBack(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for round := range 200 {
		n := 1 + random.IntN(Frame)
		first := uint64(random.IntN(1000))
		lanes := []uint64{0}
		for at := uint64(random.IntN(600)); at < first+uint64(n); at += uint64(1 + random.IntN(200)) {
			lanes = append(lanes, at, at)[:len(lanes)+1+random.IntN(2)] // some are empty
		}
		lanes = append(lanes, first+uint64(n)+5)
		r := nested(random, first, n, lanes)
		if round%4 == 0 { // nothing that nests
			for i := range n {
				r.Parent[i], r.Depth[i], r.Exclusive[i] = int32(random.Uint32()), uint16(random.Uint32()), trace.Time(random.Uint64())
			}
		}
		parent, exclusive := slices.Clone(r.Parent), slices.Clone(r.Exclusive)
		r.Fold(lanes)
		left := 0
		for i := range n {
			if r.Parent[i] != 0 || r.Exclusive[i] != 0 {
				left++
			}
		}
		if round%4 != 0 && left > 12*len(lanes) {
			t.Errorf("%d of %d rows are not told by the others", left, n)
		}
		r.Unfold(lanes)
		if !slices.Equal(r.Parent, parent) || !slices.Equal(r.Exclusive, exclusive) {
			t.Fatalf("round %d: %d rows from %d on do not come back", round, n, first)
		}
	}
}

// nested makes rows of lanes, at most six deep, the first of a lane's rows at the top.
func nested(random *rand.Rand, first uint64, n int, lanes []uint64) *Rows {
	r := &Rows{First: first, Duration: make([]trace.Time, n), Exclusive: make([]trace.Time, n), Parent: make([]int32, n), Depth: make([]uint16, n)}
	var stack []int32 // rows of the lane
	start := lanes[0]
	for _, l := range lanes {
		if l <= first {
			start = l
		}
	}
	if start < first {
		stack = append(stack, 0)
	}
	for i := range n {
		at := first + uint64(i)
		if slices.Contains(lanes, at) {
			start, stack = at, stack[:0]
		}
		if len(stack) > 0 {
			stack = stack[:1+random.IntN(len(stack))]
		}
		r.Parent[i], r.Depth[i] = -1, uint16(len(stack))
		if len(stack) > 0 {
			r.Parent[i] = stack[len(stack)-1]
		}
		r.Duration[i] = trace.Time(random.IntN(1000))
		r.Exclusive[i] += r.Duration[i]
		if p := int64(start) + int64(r.Parent[i]) - int64(first); r.Parent[i] >= 0 && p >= 0 {
			r.Exclusive[p] -= r.Duration[i]
		}
		if len(stack) < 6 {
			stack = append(stack, int32(at-start))
		}
	}
	return r
}
