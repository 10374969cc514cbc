package profile

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A profile of very many regions that does not fit is refused before its rows are made.
func TestAProfileThatDoesNotFitIsRefusedBeforeItIsMade(t *testing.T) {
	r := &result{regions: make([]trace.Region, 500_000), bins: 8}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ctx, done := memory.New((int64(before.HeapAlloc) + 32<<20) * 16 / 9).Work(context.Background()) // so much may be live
	defer done()
	err := r.sum(ctx)
	runtime.ReadMemStats(&after)
	if much := new(memory.Exceeded); !errors.As(err, &much) {
		t.Fatalf("%v, want that it is refused", err)
	}
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 32<<20 {
		t.Errorf("%d MiB were taken where there was room for 32", taken>>20)
	}
}

// Sorting rows takes no memory for each comparison.
func TestSortingRowsTakesNoMemory(t *testing.T) {
	r := &result{regions: make([]trace.Region, 5000), rows: make([]row, 5000)}
	for i := range r.rows {
		r.regions[i].Name = fmt.Sprint("function ", i)
		r.rows[i] = row{region: trace.RegionID(i), value: float64(i * 7919 % 997)}
	}
	if n := testing.AllocsPerRun(1, func() { _ = r.sort("value") }); n > 100 {
		t.Errorf("%v allocations for %d rows", n, len(r.rows))
	}
}
