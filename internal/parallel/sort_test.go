package parallel

import (
	"cmp"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

func TestSortGivesTheSameOnAnyNumberOfCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	chance := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, leastSort, 2*leastSort + 1, 5 * leastSort, 16*leastSort + 77} {
		list := make([]uint32, n)
		for i := range list {
			list[i] = chance.Uint32N(uint32(n)/2 + 1)
		}
		want := slices.Sorted(slices.Values(list))
		for _, cores := range []int{1, 2, 3, 16} {
			runtime.GOMAXPROCS(cores)
			got := slices.Clone(list)
			Sort(got, cmp.Compare[uint32])
			if !slices.Equal(got, want) {
				t.Errorf("%d values on %d cores are not sorted", n, cores)
			}
		}
	}
}
