package share

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// TestFoldingManyLanesIsFoldingOneAfterTheOther, and costs about as much for each lane,
// however many there are.
func TestFoldingManyLanesIsFoldingOneAfterTheOther(t *testing.T) {
	heavier := func(a, b trace.Role) trace.Role { return max(a, b) }
	r := rand.New(rand.NewPCG(7, 7))
	for _, lanes := range []int{0, 1, 2, 3, 7, 64, 100} {
		var f folder
		var want []Piece
		for lane := range lanes {
			var list []Piece
			at := trace.Time(r.IntN(50))
			for row := range r.IntN(8) {
				end := at + trace.Time(1+r.IntN(30))
				list = append(list, Piece{trace.Segment{Begin: at, End: end, Row: row, Region: 1, Role: trace.Role(r.IntN(4))}, lane})
				at = end + trace.Time(r.IntN(3))
			}
			f.add(list, heavier)
			want = Fold(nil, want, list, heavier)
		}
		if got := f.all(heavier); !slices.Equal(got, want) {
			t.Errorf("%d lanes: %v, want %v", lanes, got, want)
		}
	}
}

func TestFoldingOverlappingCallsIsNearlyLinear(t *testing.T) {
	copied := func(lanes int) (n int) {
		var f folder
		count := func(a, b trace.Role) trace.Role { return max(a, b) }
		for lane := range lanes {
			f.add([]Piece{{trace.Segment{Begin: trace.Time(lane), End: trace.Time(lane + lanes), Region: 1, Role: trace.RoleCompute}, lane}}, count)
			for k := range f.lists {
				if k == len(f.lists)-1 {
					n += len(f.lists[k])
				}
			}
		}
		return n
	}
	if a, b := copied(1000), copied(4000); float64(b) > 5*float64(a) {
		t.Errorf("%d pieces are copied for 1,000 lanes and %d for 4,000", a, b)
	}
}
