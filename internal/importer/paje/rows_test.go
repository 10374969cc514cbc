package paje

import (
	"context"
	"iter"
	"sync"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A row is one interval of a store, for tests that look at all of them.
type row struct {
	location   trace.LocationID
	region     trace.RegionID
	begin, end trace.Time
}

// rows gives all intervals, in no order.
func rows(t *testing.T, r store.Reader) iter.Seq[row] {
	t.Helper()
	var mu sync.Mutex
	var all []row
	w := store.Window{End: r.Info().End}
	for id := range r.Locations().Len() { // by name, so that those aside are there
		w.Locations = append(w.Locations, trace.LocationID(id))
	}
	err := r.Intervals(context.Background(), w, func(c *trace.Columns) error {
		mu.Lock()
		defer mu.Unlock()
		for i := range c.Len() {
			all = append(all, row{c.Location, c.Region[i], c.Begin[i], c.End(i)})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(row) bool) {
		for _, x := range all {
			if !yield(x) {
				return
			}
		}
	}
}
