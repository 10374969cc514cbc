package kaleidoscope

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A countedReader counts how often rows are looked at, and says when.
type countedReader struct {
	store.Reader
	peeks atomic.Int64
	each  func(n int64)
}

func (r *countedReader) Peeks() bool { return true }
func (r *countedReader) RowsBefore(id trace.LocationID) int64 {
	return r.Reader.(store.Peeker).RowsBefore(id)
}
func (r *countedReader) Peek(f func(store.Peek) error) error {
	r.each(r.peeks.Add(1))
	return r.Reader.(store.Peeker).Peek(f)
}

// A zoom that nobody waits for any more stops reading, wherever it is.
func TestAZoomThatIsGivenUpStopsReading(t *testing.T) {
	inner := viewtest.OpenLocal(t, viewtest.WriteLocal(t, func(w trace.Writer) { viewtest.WriteSteps(w, 64, 200_000) }))
	r := &countedReader{Reader: inner, each: func(int64) {}}
	cache := derived.NewCache(memory.New(1 << 30))
	zoom := func(ctx context.Context, text string) error {
		values, err := view.NewValues(View, map[string][]string{"zoom": {text}, "paint": {"region"}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = compute(ctx, &view.Request{Runs: []view.Run{{Store: r, Cache: cache}}, Values: values,
			Selection: trace.Selection{End: r.Info().End}, Size: scene.Size{Width: 1200, Height: 900}})
		return err
	}
	for _, text := range []string{"1", "2,0.3,0.2"} {
		if err := zoom(t.Context(), text); err != nil { // sums are made once
			t.Fatal(err)
		}
		r.peeks.Store(0)
		if err := zoom(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		whole := r.peeks.Load()
		if whole < 300 {
			t.Fatalf("zoom %s looks at rows %d times: too few to be given up", text, whole)
		}
		for _, stop := range []int64{1, whole / 2} {
			ctx, cancel := context.WithCancel(t.Context())
			r.peeks.Store(0)
			r.each = func(n int64) {
				if n == stop {
					cancel()
				}
			}
			err := zoom(ctx, text)
			cancel()
			r.each = func(int64) {}
			if !errors.Is(err, context.Canceled) {
				t.Errorf("zoom %s, given up at look %d of %d: %v", text, stop, whole, err)
			}
			if n := r.peeks.Load(); n > stop+whole/3 {
				t.Errorf("zoom %s, given up at look %d of %d: went on to %d", text, stop, whole, n)
			}
		}
	}
}
