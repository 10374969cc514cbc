package chrometrace

import (
	"fmt"
	"testing"
)

func TestCoordinatesAreReadFromNames(t *testing.T) {
	for name, want := range map[string]string{
		"PP rank 2, TP rank 0, compute": "map[pp:2 tp:0]",
		"dp_rank=3 pp_rank=1":           "map[dp:3 pp:1]",
		"EP-rank 7":                     "map[ep:7]",
		"http rank 3":                   "map[]",
		"rank 5":                        "map[]",
		"":                              "map[]",
	} {
		if got := fmt.Sprint(coordinates(name)); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}
