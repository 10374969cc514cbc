package query

import "testing"

// HoldAtMost sets how many values of a group are in memory, for one test.
func HoldAtMost(tb testing.TB, n int) {
	before := mostHeld
	mostHeld = n
	tb.Cleanup(func() { mostHeld = before })
}
