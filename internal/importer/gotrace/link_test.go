package gotrace

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// An unnumbered writer keeps to itself which rows the ends of links are.
type unnumbered struct {
	trace.Writer
	links, ends int
}

func (u *unnumbered) Link(l trace.Link) {
	u.links++
	for _, end := range []*trace.End{&l.From, &l.To} {
		if end.Number > 0 {
			u.ends++
			end.Number = 0
		}
	}
	u.Writer.Link(l)
}

// An endRow is where both ends of a link were found.
type endRow struct {
	from, to         trace.LocationID
	fromRow, toRow   int32
	fromLane, toLane int32
}

func TestLinksNameTheRowsThatASearchFinds(t *testing.T) {
	for _, path := range []string{"testdata/tree.trace", "go-sync/sync.trace", "go-nethttp/nethttp.trace", "go-compile/gocompile.trace"} {
		t.Run(path, func(t *testing.T) {
			if filepath.Dir(path) != "testdata" {
				path = importertest.Shared(t, path)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s, err := importer.NewSourceFS("sample", fstest.MapFS{"x": {Data: data}})
			if err != nil {
				t.Fatal(err)
			}
			run := importer.ClaimAs(Format, s)[0]
			var rows [2][]endRow
			for i := range rows {
				path := filepath.Join(t.TempDir(), "x.plx")
				w, err := local.Create(path, local.Options{})
				if err != nil {
					t.Fatal(err)
				}
				u := &unnumbered{Writer: w}
				if i == 0 {
					err = run.Import(t.Context(), w)
				} else if err = run.Import(t.Context(), u); u.ends < u.links*3/2 {
					t.Errorf("%d of %d ends of links are told by number", u.ends, 2*u.links)
				}
				if err == nil {
					err = w.Finish(t.Context())
				}
				if err != nil {
					t.Fatal(err)
				}
				rows[i] = endRows(t, path)
			}
			if !slices.Equal(rows[0], rows[1]) || len(rows[0]) == 0 {
				t.Errorf("%d links end on other rows than a search finds", len(rows[0]))
			}
		})
	}
}

func endRows(t *testing.T, path string) (rows []endRow) {
	t.Helper()
	r, err := local.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	err = r.Links(t.Context(), store.Window{End: r.Info().End + 1}, func(l *store.LinkColumns) error {
		for i := range l.Kind {
			rows = append(rows, endRow{l.FromLocation[i], l.ToLocation[i], l.FromRow[i], l.ToRow[i], l.FromLane[i], l.ToLane[i]})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
