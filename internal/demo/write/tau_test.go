package write_test

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/demo/write"
	"github.com/parallax-hpc/parallax/internal/importer/importertest"
	"github.com/parallax-hpc/parallax/internal/importer/tau"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// sums adds up totals by the name of the region.
func sums(t *testing.T, r store.Reader) map[string]view.Total {
	t.Helper()
	out := map[string]view.Total{}
	w := store.Window{End: r.Info().End + 1}
	err := view.Totals(context.Background(), r, w, view.DefaultMetric(r.Metrics()), func(list []view.Total) {
		for _, x := range list {
			s := out[r.Regions()[x.Region].Name]
			s.Calls += x.Calls
			s.Inclusive += x.Inclusive
			s.Exclusive += x.Exclusive
			out[r.Regions()[x.Region].Name] = s
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A trace and the profile written of it must answer alike.
func TestTAUHoldsTheProfileOfATrace(t *testing.T) {
	for _, name := range []string{"stencil", "g5k188", "training"} {
		t.Run(name, func(t *testing.T) {
			d, ok := demo.Find(name)
			if !ok {
				t.Fatal("no such demo")
			}
			m := storetest.NewMemory()
			if err := d.Write(context.Background(), demo.Options{}, m); err != nil {
				t.Fatal(err)
			}
			want := sums(t, m.Reader())
			path := filepath.Join(t.TempDir(), "profiles")
			f, err := write.TAU.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Write(context.Background(), demo.Options{}, f); err != nil {
				t.Fatal(err)
			}
			if err := f.Commit(); err != nil {
				t.Fatal(err)
			}
			r := importertest.Import(t, tau.Format, path)
			got := sums(t, r)
			near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(a, b, 1) }
			for region, w := range want {
				if g := got[region]; g.Calls != w.Calls || !near(g.Inclusive, w.Inclusive) || !near(g.Exclusive, w.Exclusive) {
					t.Errorf("%s: %+v, want %+v", region, g, w)
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d regions, want %d", len(got), len(want))
			}
			messages := func(r store.Reader) (n, bytes int64) {
				_ = r.Links(context.Background(), store.Window{End: r.Info().End + 1}, func(l *store.LinkColumns) error {
					for i := range l.Kind {
						if l.Kind[i] == trace.LinkMessage {
							n += max(l.Count[i], 1)
							bytes += max(l.Size[i], 0)
						}
					}
					return nil
				})
				return n, bytes
			}
			n0, b0 := messages(m.Reader())
			if n1, b1 := messages(r); n0 != n1 || b0 != b1 {
				t.Errorf("%d messages of %d bytes, want %d of %d", n1, b1, n0, b0)
			}
		})
	}
}
