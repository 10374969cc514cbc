package otf2

import (
	"slices"
	"testing"
)

func TestFilesAreReadInOrderButForThoseThatOthersWouldWaitFor(t *testing.T) {
	many := slices.Repeat([]int64{70, 72, 69, 71}, 16) // of nearly one size
	for _, c := range []struct {
		sizes []int64
		first []int32
	}{
		{many, []int32{0, 1, 2, 3}},
		{append(slices.Clone(many), 900, 1000), []int32{65, 64, 0, 1}},
		{[]int64{5, 9, 7}, []int32{1, 2, 0}},
	} {
		order := make([]int32, len(c.sizes))
		for i := range order {
			order[i] = int32(i)
		}
		inTurn(order, func(i int32) int64 { return c.sizes[i] }, 2)
		if got := order[:len(c.first)]; !slices.Equal(got, c.first) {
			t.Errorf("%d files: first %v, want %v", len(c.sizes), got, c.first)
		}
	}
}
