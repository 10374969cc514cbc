package query

import "testing"

// HoldAtMost sets how many values of a group are in memory, for one test.
func HoldAtMost(tb testing.TB, n int) {
	before := mostHeld
	mostHeld = n
	tb.Cleanup(func() { mostHeld = before })
}

// IsDirect reports whether a statement goes past the engine.
func IsDirect(tb testing.TB, d *Database, text string) bool {
	r, err := d.prepare(tb.Context(), text, Limits{}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	return newDirect(d, text, r.origins, nil) != nil
}

// ReadInPartsOf sets how many rows a goroutine takes at once, for one test.
func ReadInPartsOf(tb testing.TB, rows int64) {
	before := partRows
	partRows = rows
	tb.Cleanup(func() { partRows = before })
}
