package timeline

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Rows of lanes come one lane after the other; they are put in the order of time as a stable sort does it.
func TestHeldRowsArePutInTheOrderOfTime(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	p := &sharedScan{}
	for round := range 200 {
		p.begun = p.begun[:0]
		for lane := range round % 7 {
			at := trace.Time(0)
			for row := range r.IntN(60) {
				at += trace.Time(r.IntN(3))
				p.begun = append(p.begun, begun{begin: at, lane: lane, row: row})
			}
		}
		want := slices.Clone(p.begun)
		slices.SortStableFunc(want, func(a, b begun) int { return cmp.Compare(a.begin, b.begin) })
		if p.order(); !slices.Equal(p.begun, want) {
			t.Fatalf("round %d: %v, want %v", round, p.begun, want)
		}
		p.begun, p.room = p.room[:0], nil
	}
}
