package local

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// build makes a store of what fill writes and gives its path.
func build(tb testing.TB, o Options, fill func(trace.Writer)) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "run.plx")
	w, err := Create(path, o)
	if err != nil {
		tb.Fatal(err)
	}
	fill(w)
	if err := w.Finish(context.Background()); err != nil {
		tb.Fatal(err)
	}
	return path
}

func reopen(tb testing.TB, path string, summaries ...trace.Summary) *Reader {
	tb.Helper()
	r, err := Open(path, summaries)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := r.Close(); err != nil {
			tb.Error(err)
		}
	})
	return r
}

func TestStorePassesTheSuite(t *testing.T) {
	for _, o := range []struct {
		name string
		opt  Options
	}{
		{"in memory", Options{}},
		{"spilling", Options{Memory: 1, Workers: 3}},
	} {
		t.Run(o.name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T, fill func(trace.Writer), summaries []trace.Summary) store.Reader {
				opt := o.opt
				opt.Summaries = summaries
				r := reopen(t, build(t, opt, fill), summaries...)
				if err := r.Verify(); err != nil {
					t.Error(err)
				}
				return r
			})
		})
	}
}
