package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/lake"
	"github.com/parallax-hpc/parallax/internal/query"
	"github.com/parallax-hpc/parallax/internal/store/clickhouse"
	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/testing/chdbtest"
	"github.com/parallax-hpc/parallax/internal/warehouse"
)

// questions are asked of a lake in a directory and of one in a database, in the same words.
var questions = []struct{ name, text string }{
	{"percentile of a region by commit", `select run, min(high) as p95 from (
		select run, high, sum(calls) over (partition by run order by high) as upto,
		sum(calls) over (partition by run) as n
		from durations where project = 'solver' and region = 'MPI_Waitall') as x
		where upto >= 0.95 * n group by run order by run`},
	{"top regions of a run", `select region, sum(calls) as n, sum(exclusive) as own from profile
		where project = 'solver' and run = 'night 2' group by region order by own desc, region limit 10`},
	{"time of ranks in a window", `select rank, region, count(*) as n,
		sum(case when "end" < 4000000 then "end" else 4000000 end -
		case when begin > 1000000 then begin else 1000000 end) as ns
		from intervals where run = 'night 1' and begin < 4000000 and "end" > 1000000
		group by rank, region order by rank, region`},
	{"slowest calls", `select run, path, region, begin, duration from intervals where project = 'solver'
		order by duration desc, run, path, begin limit 100`},
	{"calls over a threshold by month", `select month, count(*) as n from intervals
		where project = 'solver' and duration > 100000 group by month order by month`},
	{"spans by key", `select k.value as version, count(*) as n, max(i.duration) as longest from intervals i
		join keys k on k.run = i.run and k.key = 'version' group by k.value order by k.value`},
	{"a region across ranks", `select rank, sum(calls) as n, sum(inclusive) as t from profile
		where project = 'solver' and run = 'night 1' and region = 'MPI_Waitall' group by rank order by rank`},
	{"messages by pair", `select from_rank, to_rank, sum("count") as n, sum(size * "count") as bytes,
		min(duration) as least
		from links where run = 'night 1' and kind = 'message' group by from_rank, to_rank order by from_rank, to_rank`},
	{"runs by machine", `select k.value as machine, count(*) as n from runs r
		join keys k on k.run = r.run and k.key = 'machine'
		group by k.value order by k.value`},
	{"nulls",
		`select count(*) as n, count(parent) as inner_calls, count(category) as named
		from intervals where run = 'night 1'`},
	{"definitions",
		`select kind, count(*) as n, count(parent) as p from locations
		where run = 'night 1' group by kind order by kind`},
}

// asTables imports a source and opens it as tables, for the test.
func asTables(t testing.TB, source string) *table.Run {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.plx")
	if status, _, said := parallax(t, "import", source, "-o", path, "--quiet"); status != 0 {
		t.Fatal(said)
	}
	r, err := newLoader(nil, 0, nil).OpenPlace(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Store.Close() })
	return &table.Run{Name: r.Name, Source: r.Source, Store: r.Store}
}

// A lake in a database answers as one in a directory does, and DuckDB over the files of that: every row of every table,
// and ten questions in the same words. Needs current engines, see make test-engine.
func TestEngineAnswersAsTheLakeInADirectory(t *testing.T) {
	engine := chdbtest.Start(t)
	ctx := context.Background()
	place, dir := warehouse.On(clickhouse.NewServer(engine, "engine")), filepath.Join(t.TempDir(), "lake")
	for _, x := range []struct{ as, source, project, start, keys string }{
		{"night 1", "demo:stencil?locations=8", "solver", "2026-10-30T03:00:00Z",
			"commit=a1 machine=it's\\big version=1"},
		{"night 2", "demo:stencil?locations=8&seed=2", "solver", "2026-11-02T03:00:00Z",
			"commit=b2 machine=small version=2"},
		{"shop", "demo:shop", "shop", "2026-11-03T03:00:00Z", "service=web version=2"},
		{"short", chromeTrace(t, "short", 100), "chrome", "2026-11-03T04:00:00Z", ""},
	} {
		start, err := time.Parse(time.RFC3339, x.start)
		if err != nil {
			t.Fatal(err)
		}
		about := lake.About{Run: x.as, Project: x.project, Start: start.UnixMicro(), Clock: "as given",
			Keys: map[string]string{}, Outline: []byte(x.as + "\x00\xff")}
		for _, k := range strings.Fields(x.keys) {
			key, value, _ := strings.Cut(k, "=")
			about.Keys[key] = value
		}
		of := asTables(t, x.source)
		if _, err := lake.Append(ctx, dir, of, about, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := place.Append(ctx, of, about); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range warehouse.Standard {
		if err := engine.Exec(ctx, fmt.Sprintf("set %s = '%v'", name, value)); err != nil {
			t.Fatal(err)
		}
	}
	files, err := lake.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	here := &query.Database{Runs: []*table.Run{{Name: dir, Source: dir}}, Only: files}
	other := startDuck(t, dir)
	ask := func(where, text string) string {
		t.Helper()
		var b strings.Builder
		if where == "DuckDB" {
			rows, _, err := other.ask(text)
			if err != nil {
				t.Errorf("%s: %v\n%s", where, err, text)
			}
			for _, row := range rows {
				for _, c := range row {
					fmt.Fprint(&b, c, "|")
				}
				b.WriteByte('\n')
			}
			return b.String()
		}
		var rows *query.Rows
		var err error
		if where == "here" {
			rows, err = here.Query(ctx, text, query.Limits{})
		} else {
			rows, err = place.Query(ctx, text, query.Limits{})
		}
		if err != nil {
			t.Errorf("%s: %v\n%s", where, err, text)
			return ""
		}
		defer rows.Close()
		for rows.Next() {
			for _, c := range rows.Row() {
				if f, ok := c.(float64); ok && f == math.Trunc(f) {
					c = int64(f)
				}
				fmt.Fprint(&b, c, "|")
			}
			b.WriteByte('\n')
		}
		if rows.Err() != nil {
			t.Errorf("%s: %v\n%s", where, rows.Err(), text)
		}
		return b.String()
	}
	same := func(name, text string) {
		t.Helper()
		want, got := ask("here", text), ask("there", text)
		if want != got || want == "" {
			t.Errorf("%s:\n%.2000s\nin a directory:\n%.2000s", name, got, want)
		}
		if strings.HasPrefix(want, "0|") {
			return // a table without rows has no files
		}
		if got := ask("DuckDB", text); got != want {
			t.Errorf("%s:\n%.2000s in DuckDB\nin a directory:\n%.2000s", name, got, want)
		}
	}
	for _, q := range questions {
		same(q.name, q.text)
	}
	for _, f := range files {
		var sums []string
		for _, c := range f.Columns {
			switch {
			case c.Name == "run_start":
			case c.Kind == table.Text:
				sums = append(sums, fmt.Sprintf(`count("%[1]s"), count(distinct "%[1]s")`, c.Name))
			case c.Kind == table.Number:
				sums = append(sums, fmt.Sprintf(`count("%[1]s"), min("%[1]s"), max("%[1]s")`, c.Name))
			default:
				sums = append(sums, fmt.Sprintf(`count("%[1]s"), sum("%[1]s" %% 1000003)`, c.Name))
			}
		}
		same("all of "+f.Name, "select count(*), "+strings.Join(sums, ", ")+` from "`+f.Name+`"`)
	}
	got := ask("there", "select commit, clock_time from intervals where run = 'night 1' order by clock_time limit 1")
	if !strings.HasPrefix(got, "a1|2026-10-30 03:00:00") {
		t.Errorf("commit and time: %s", got)
	}
	runs, err := place.Runs(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range runs {
		names = append(names, r.Run)
		if string(r.Outline) != r.Run+"\x00\xff" {
			t.Errorf("run %q has the outline %q", r.Run, r.Outline)
		}
	}
	if got := strings.Join(names, ", "); got != "night 1, night 2, shop, short" {
		t.Errorf("runs: %s", got)
	}
	if err := place.Remove(ctx, "night 1"); err != nil {
		t.Fatal(err)
	}
	if got := ask("there", "select count(*) from intervals where run = 'night 1'"); got != "0|\n" {
		t.Errorf("removed: %s", got)
	}
	if got := ask("there", "select count(*) from intervals_rows where run = 'night 1'"); got != "0|\n" {
		t.Errorf("removed rows: %s", got)
	}
	if err := place.Remove(ctx, "night 1"); err == nil || !strings.Contains(err.Error(), "no run") {
		t.Errorf("removed twice: %v", err)
	}
	killed := "insert into lake_runs (run_id, project, run, run_start, clock, keys, state, changed) values " +
		"(7, 'solver', 'killed', now(), '', map(), 'loading', %d)"
	rows := "insert into intervals_rows (run_id, project, run, run_start) values (7, 'solver', 'killed', now())"
	for _, at := range []struct {
		ago  time.Duration
		left string
	}{{time.Hour, "1|\n"}, {25 * time.Hour, "0|\n"}} {
		for _, text := range []string{fmt.Sprintf(killed, time.Now().Add(-at.ago).UnixNano()), rows} {
			if err := engine.Exec(ctx, text); err != nil {
				t.Fatal(err)
			}
		}
		about := lake.About{Run: "after " + at.ago.String(), Project: "solver"}
		if _, err := place.Append(ctx, asTables(t, chromeTrace(t, "after", 10)), about); err != nil {
			t.Fatal(err)
		}
		if got := ask("there", "select count(*) from intervals_rows where run_id = 7"); got != at.left {
			t.Errorf("rows of an export that was killed %s ago: %s", at.ago, got)
		}
		if err := engine.Exec(ctx, "truncate table lake_runs"); err != nil {
			t.Fatal(err)
		}
	}
}
