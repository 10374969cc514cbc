package local

import (
	"context"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
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

// Between blocks there are a few rows at each edge of a window, however long its lanes are: no more are unpacked, or
// every window of a run of many ranks would go through thousands of rows of each.
func TestSummariesOfAWindowUnpackTheRowsAtItsEdges(t *testing.T) {
	defer func(n int64) { rows.MostHeld = n }(rows.MostHeld)
	rows.MostHeld = 1 << 40
	path := build(t, Options{Summaries: []trace.Summary{benchSummary{}}}, func(w trace.Writer) { writeBench(w, 1, 100_000) })
	r := reopen(t, path, benchSummary{})
	end := r.Info().End
	var given int64
	err := r.Summaries(context.Background(), "bench", store.Window{Begin: end / 7, End: end / 3}, store.Coarsest, store.Visitor{
		Closed: true,
		Block:  func(trace.LocationID, int, trace.Time, trace.Time, trace.Block) error { return nil },
		Rows:   func(s *trace.Stretch) error { given += int64(s.Rows.Len()); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	frames := r.Held.Load() / (disk.RowBytes * disk.Frame)
	if given > 1000 || frames > 16 {
		t.Errorf("%d rows are handed out of a window, and %d frames of rows are unpacked for them", given, frames)
	}
}
