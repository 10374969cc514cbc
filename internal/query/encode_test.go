package query_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/query"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// encoded gives the rows of a statement as text, made on several goroutines where that is possible.
func encoded(tb testing.TB, d *query.Database, text string) (rows []string, batches int) {
	tb.Helper()
	s, err := d.Stream(tb.Context(), text, query.Limits{Time: time.Minute})
	if err != nil {
		tb.Fatal(err)
	}
	defer s.Close()
	err = query.Encode(s, func(b *table.Batch) (lines []string, err error) {
		for i := range b.Rows {
			var cells []string
			for c := range b.Columns {
				cells = append(cells, query.Cell(b.Columns[c].Value(i)))
			}
			lines = append(lines, strings.Join(cells, " "))
		}
		return lines, nil
	}, func(lines []string) error {
		rows = append(rows, lines...)
		batches++
		return nil
	})
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return rows, batches
}

// Rows that are read in parts are those of one scan, in its order: of one long lane, of locations below others, of
// lanes whose rows overlap, and under conditions.
func TestRowsReadInPartsAreThoseOfOneScan(t *testing.T) {
	query.ReadInPartsOf(t, 100)
	for name, r := range map[string]func(t *testing.T) store.Reader{
		"ranks": func(t *testing.T) store.Reader { return two(t) },
		"one long lane": func(t *testing.T) store.Reader {
			return viewtest.Local(t, func(w trace.Writer) { viewtest.WriteSteps(w, 1, 5000) })
		},
		"GPUs below processes": func(t *testing.T) store.Reader { return viewtest.Import(t, "data", "kineto-ddp-8rank") },
		"overlapping spans": func(t *testing.T) store.Reader {
			return viewtest.Import(t, "data", "public", "zipkin", "smartthings", "smartthings-mobile-web-install.json")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := r(t)
			d := database(r)
			middle := r.Info().End / 2
			for _, text := range []string{
				"select * from intervals",
				"select begin, begin, region, parent from intervals where depth = 1",
				fmt.Sprintf("select * from intervals where begin >= %d", middle),
				fmt.Sprintf(`select * from intervals where "end" > %d and begin <= %d`, middle, middle),
				fmt.Sprintf(`select * from intervals where "end" <= %d`, middle),
				"select * from intervals where rank = 0 and duration > 10",
				"select * from intervals where location between 1 and 1",
				"select * from intervals where location > 1000000",
				"select * from intervals limit 150",
				"select id, path from locations",
			} {
				want, _, _ := stream(t, d, text, query.Limits{})
				got, batches := encoded(t, d, text)
				if !slices.Equal(got, want) {
					t.Errorf("%s: %d rows, want %d, or others", text, len(got), len(want))
				}
				if text == "select * from intervals" && len(want) > 1000 && batches < len(want)/200 {
					t.Errorf("%d rows came in %d batches: not read in parts", len(want), batches)
				}
			}
		})
	}
}

// An error of the writer ends the readers, and the query fails by it.
func TestAWriterThatFailsEndsAllReaders(t *testing.T) {
	query.ReadInPartsOf(t, 100)
	s, err := database(two(t)).Stream(t.Context(), "select * from intervals", query.Limits{Time: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	full := errors.New("no space")
	written := 0
	err = query.Encode(s, func(b *table.Batch) (int, error) { return b.Rows, nil }, func(int) error {
		if written++; written == 3 {
			return full
		}
		return nil
	})
	if !errors.Is(err, full) || written != 3 {
		t.Errorf("%v after %d batches", err, written)
	}
}
