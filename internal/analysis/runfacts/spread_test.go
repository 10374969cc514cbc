package runfacts_test

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
)

func TestPredictionsMoveRowsWithinOneKindOnly(t *testing.T) {
	for _, x := range []struct {
		name   string
		kinds  []int32
		places []int32
		values []float64
		want   float64
	}{
		{"one kind, one without calls", []int32{0, 0, 0}, []int32{0, 1}, []float64{6, 3}, 3},
		{"only GPUs call, all alike", []int32{0, 1, 0, 1}, []int32{1, 3}, []float64{5, 5}, 0},
		{"only GPUs call, one more", []int32{0, 1, 0, 1}, []int32{1, 3}, []float64{2, 8}, 3},
		{"both kinds", []int32{0, 1, 0, 1}, []int32{0, 1, 2, 3}, []float64{1, 100, 3, 200}, 51},
	} {
		if got := runfacts.MovedByKind(x.kinds, x.places, x.values); got != x.want {
			t.Errorf("%s: %v, want %v", x.name, got, x.want)
		}
	}
}
