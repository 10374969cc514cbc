package diagnose

import "testing"

func TestOnlyMoreThanHalfIsMost(t *testing.T) {
	for part, want := range map[float64]string{51: "most", 50: "the largest part", 47: "the largest part"} {
		if got := mostWord(part, 100); got != want {
			t.Errorf("%v of 100 is %s", part, got)
		}
	}
}
