package sides

import "testing"

func TestOthersAreCountedBeyondOne(t *testing.T) {
	r := &Result{}
	for n, want := range map[int]string{1: "the other location", 13: "the 13 other locations", 61: "the 61 other locations"} {
		if got := r.others(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
