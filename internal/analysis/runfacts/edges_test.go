package runfacts

import (
	"math"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A forged store may end at the end of all times.
func TestBinEdgesReachTheLargestTime(t *testing.T) {
	level := levelOf(math.MaxInt64, 2*windowBins)
	edges := BinEdges(0, math.MaxInt64, level)
	if len(edges) > 2*windowBins+2 || edges[len(edges)-1] != trace.Time(math.MaxInt64) {
		t.Errorf("%d edges up to %d", len(edges), edges[len(edges)-1])
	}
	for i := range edges[1:] {
		if edges[i] >= edges[i+1] {
			t.Fatalf("edge %d is %d, the next %d", i, edges[i], edges[i+1])
		}
	}
}
