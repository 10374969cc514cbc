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
		if testing.Short() && n > 5*leastSort {
			continue
		}
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

func TestSortMergesAFewSortedLists(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		var list []int
		for range chance.IntN(40) {
			at := chance.IntN(50)
			for range chance.IntN(30) {
				at += chance.IntN(4)
				list = append(list, at)
			}
		}
		want := slices.Sorted(slices.Values(list))
		if Sort(list, cmp.Compare[int]); !slices.Equal(list, want) {
			t.Fatalf("%v, want %v", list, want)
		}
	}
}
