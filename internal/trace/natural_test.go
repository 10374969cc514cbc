package trace_test

import (
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestNamesAreOrderedAsPeopleCount(t *testing.T) {
	want := []string{"", "1", "01", "2", "8.ppk", "16.ppk", "256.ppk", "epoch_1proc", "epoch_2proc", "epoch_16proc", "rank", "rank 2", "rank 10"}
	got := slices.Clone(want)
	slices.Reverse(got)
	if slices.SortFunc(got, trace.CompareNatural); !slices.Equal(got, want) {
		t.Errorf("sorted: %q", got)
	}
}
