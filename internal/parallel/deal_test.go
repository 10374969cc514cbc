package parallel

import (
	"runtime"
	"slices"
	"testing"
)

func TestShardsGetTheirValuesInTheOrderOfParts(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cores := range []int{1, 3, 8} {
		runtime.GOMAXPROCS(cores)
		for _, shards := range []int{1, 2, 7} {
			for _, parts := range []int{0, 1, 5, 100, 333} {
				got, want := make([][]int, shards), make([][]int, shards)
				for x := range parts * 10 {
					want[x%shards] = append(want[x%shards], x)
				}
				Deal(parts, shards, func(part int, to func(int, int)) {
					for x := part * 10; x < part*10+10; x++ {
						to(x%shards, x)
					}
				}, func(shard, x int) { got[shard] = append(got[shard], x) })
				if !slices.EqualFunc(got, want, slices.Equal[[]int]) {
					t.Errorf("%d cores, %d parts, %d shards: %v, want %v", cores, parts, shards, got, want)
				}
			}
		}
	}
}
