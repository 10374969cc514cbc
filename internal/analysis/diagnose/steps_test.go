package diagnose

import "testing"

// TestStepsGrowWithActors: each step visits every actor, so that many actors take larger steps, up to a bound of memory.
func TestStepsGrowWithActors(t *testing.T) {
	for actors, want := range map[int]int64{2: 1 << 20, 1 << 13: 1 << 20, 1 << 14: 1 << 21, 1 << 17: 1 << 24, 1 << 20: 1 << 24} {
		if got := stepSize(actors); got != want {
			t.Errorf("%d actors: steps of %d intervals, want %d", actors, got, want)
		}
	}
}
