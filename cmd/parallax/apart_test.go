package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/query"
	"github.com/parallax-hpc/parallax/internal/view"
)

// newAsker is an asker whose queries have so much memory and disk, and a run to ask.
func newAsker(t *testing.T, bounds query.Bounds) (*asker, []view.Run) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.plx")
	if status, _, said := parallax(t, "import", "demo:stencil", "-o", path); status != 0 {
		t.Fatal(said)
	}
	r, err := newLoader(nil, 0, nil).OpenPlace(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Store.Close() })
	a := anAsker()
	if bounds.Memory > 0 {
		a.apart.Bounds.Memory = bounds.Memory
	}
	if bounds.Disk > 0 {
		a.apart.Bounds.Disk = bounds.Disk
	}
	return a, []view.Run{r}
}

func anAsker() *asker { return &asker{apart: query.NewApart(query.Itself, 0)} }

// drained asks and reads all rows.
func drained(a *asker, runs []view.Run, text string, limits query.Limits) (rows [][]any, err error) {
	r, err := a.database(runs).Query(context.Background(), text, limits)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for r.Next() {
		rows = append(rows, r.Row())
	}
	return rows, r.Err()
}

func show(rows [][]any, err error) string { return fmt.Sprintf("%v %v", rows, err) }

func TestAQueryApartAnswersAsHere(t *testing.T) {
	a, runs := newAsker(t, query.Bounds{})
	for _, text := range []string{
		"select region, sum(exclusive), count(*), 1.5, null, x'0102' from time_in() group by 1 order by 1",
		"select kind, count(*) from links group by 1", "select median(duration) from intervals", "select from nothing",
		"select * from nothing", "values (1, 'a')", "drop table x",
	} {
		here := func() (rows [][]any, err error) {
			r, err := newDatabase(runs).Query(context.Background(), text, query.Limits{})
			if err != nil {
				return nil, err
			}
			defer r.Close()
			for r.Next() {
				rows = append(rows, append([]any{}, r.Row()...))
			}
			return rows, r.Err()
		}
		want, wantErr := here()
		got, err := drained(a, runs, text, query.Limits{})
		if show(want, wantErr) != show(got, err) {
			t.Errorf("%s:\n%s\nhere:\n%s", text, show(got, err), show(want, wantErr))
		}
	}
}

func TestAQueryTakesNoMoreMemoryThanItsShare(t *testing.T) {
	a, runs := newAsker(t, query.Bounds{})
	for _, text := range []string{
		"select " + strings.TrimSuffix(strings.Repeat("randomblob(16000000),", 100), ","),
		"with recursive n(i, b) as (select 1, randomblob(1000000) union all select i + 1, randomblob(1000000) from n limit 300) " +
			"select group_concat(hex(b)) from n",
		"with recursive n(i, b) as (values (1, zeroblob(8000000)) union select i + 1, randomblob(8000000) from n " +
			"limit 1000) select count(*), json_group_array(hex(b)) from n group by i % 2",
	} {
		_, err := drained(a, runs, text, query.Limits{Time: time.Hour, Rows: 1})
		var much *memory.Exceeded
		if err == nil {
			t.Errorf("%.60s: answered", text)
		} else if !errors.As(err, &much) && !strings.Contains(err.Error(), "out of memory") &&
			!strings.Contains(err.Error(), "too big") {
			t.Errorf("%.60s: %v", text, err)
		}
	}
	if rows, err := drained(a, runs, "select count(*) from intervals", query.Limits{}); err != nil || len(rows) != 1 {
		t.Errorf("afterwards: %v %v", rows, err)
	}
}

func TestAQueryTakesNoMoreDiskThanItsShare(t *testing.T) {
	a, runs := newAsker(t, query.Bounds{Memory: 256 << 20, Disk: 20 << 20})
	_, err := drained(a, runs, "select a.begin, b.begin, hex(randomblob(500)) from intervals a, intervals b order by 3",
		query.Limits{Time: time.Hour})
	if err == nil || !strings.Contains(err.Error(), "temporary files") && !strings.Contains(err.Error(), "disk I/O") &&
		!strings.Contains(err.Error(), "full") {
		t.Errorf("%v", err)
	}
}

// The engine cannot be interrupted within a function.
func TestAQueryThatCannotBeInterruptedIsEnded(t *testing.T) {
	a, runs := newAsker(t, query.Bounds{Memory: 256 << 20})
	_, err := drained(a, runs, "select instr(zeroblob(16000000), cast(zeroblob(8000000) as blob) || x'01')",
		query.Limits{Time: time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("%v", err)
	}
}

func TestRowsThatAreTooLargeAreAnError(t *testing.T) {
	a, runs := newAsker(t, query.Bounds{Memory: 256 << 20})
	_, err := drained(a, runs, "select hex(randomblob(1000000)) from intervals", query.Limits{Bytes: 8 << 20})
	if err == nil || !strings.Contains(err.Error(), "more than 8 MiB") {
		t.Errorf("%v", err)
	}
}
