package local

import (
	"context"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Columns that are unpacked take memory: it is counted, stays while there is room for it, and goes with the store.
func TestUnpackedColumnsAreCountedAndGivenBack(t *testing.T) {
	defer func(n int64) { rows.MostHeld = n }(rows.MostHeld)
	path := build(t, Options{}, func(w trace.Writer) { writeRandom(w, 3, 1500) })
	for _, most := range []int64{1 << 40, 0} {
		rows.MostHeld = most
		r := reopen(t, path)
		if err := r.Intervals(context.Background(), store.Window{End: r.Info().End}, func(*trace.Columns) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if held := r.Held.Load(); held > 0 != (most > 0) {
			t.Errorf("%d bytes are unpacked after a query, where %d may stay", held, most)
		}
		r.Close()
		if held := r.Held.Load(); held != 0 {
			t.Errorf("%d bytes are counted of a store that is closed", held)
		}
	}
}
