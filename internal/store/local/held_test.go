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
		if held := r.Held.Load() + r.RowHeld.Load(); held > 0 != (most > 0) {
			t.Errorf("%d bytes are unpacked after a query, where %d may stay", held, most)
		}
		r.Close()
		if held := r.Held.Load() + r.RowHeld.Load(); held != 0 {
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
	frames := r.RowHeld.Load() / (disk.RowBytes * disk.Frame)
	if given > 1000 || frames > 16 {
		t.Errorf("%d rows are handed out of a window, and %d frames of rows are unpacked for them", given, frames)
	}
}

// Every window has other rows at its edges, and asks for the same sums and nodes: where rows are too much to stay, those do.
func TestRowsAreGivenBackBeforeWhatEveryWindowAsksFor(t *testing.T) {
	defer func(n int64) { rows.MostHeld = n }(rows.MostHeld)
	r := reopen(t, build(t, Options{}, func(w trace.Writer) { writeBench(w, 4, 50_000) }))
	ask := func(most int64) (others, held int64) {
		rows.MostHeld = 1 << 40
		end := r.Info().End
		if _, err := r.Time(context.Background(), store.Window{Begin: end / 9, End: end / 2}); err != nil {
			t.Fatal(err)
		}
		rows.MostHeld = most
		if err := r.Intervals(context.Background(), store.Window{End: end}, func(c *trace.Columns) error {
			_, _ = r.Interval(store.Row{Location: c.Location, Lane: c.Lane, Row: c.First})
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return r.Held.Load(), r.RowHeld.Load()
	}
	others, held := ask(1 << 40)
	if others == 0 || held < others {
		t.Fatalf("%d bytes of rows are unpacked, and %d of others", held, others)
	}
	if o, h := ask(others); o != others || h != 0 {
		t.Errorf("%d bytes of rows are unpacked, and %d of others, where there is room for these", h, o)
	}
	if o, h := ask(others - 1); o != 0 || h != 0 {
		t.Errorf("%d bytes of rows are unpacked, and %d of others, where there is less room", h, o)
	}
}
