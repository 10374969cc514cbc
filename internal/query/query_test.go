package query_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parallax-hpc/parallax/internal/query"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// two is two ranks: each in main, which calls work and MPI_Recv by turns.
func two(tb testing.TB) store.Reader {
	return viewtest.Local(tb, func(w trace.Writer) { viewtest.WriteSteps(w, 2, 4000) })
}

func database(r store.Reader) *query.Database {
	return &query.Database{Runs: []*table.Run{{Name: "run", Source: "test", Store: r}}}
}

// ask runs a query and gives its rows as text, and how many rows were read.
func ask(tb testing.TB, d *query.Database, text string) (rows []string, read int64) {
	tb.Helper()
	r, err := d.Query(context.Background(), text, query.Limits{Time: time.Hour})
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	defer r.Close()
	for r.Next() {
		cells := []string{}
		for _, c := range r.Row() {
			cells = append(cells, query.Cell(c))
		}
		rows = append(rows, strings.Join(cells, " "))
	}
	if r.Err() != nil {
		tb.Fatalf("%s: %v", text, r.Err())
	}
	return rows, r.Read()
}

func one(tb testing.TB, d *query.Database, text string) string {
	tb.Helper()
	rows, _ := ask(tb, d, text)
	if len(rows) != 1 {
		tb.Fatalf("%s: %d rows, want 1", text, len(rows))
	}
	return rows[0]
}

func TestCountsAreThoseOfTheStore(t *testing.T) {
	r := two(t)
	d := database(r)
	i := r.Info()
	for name, want := range map[string]int64{
		"intervals": i.Intervals, "links": i.Links, "samples": i.Samples, "instants": i.Instants,
		"locations": int64(r.Locations().Len()), "regions": int64(len(r.Regions())), "counters": int64(len(r.Counters())), "runs": 1,
	} {
		if got := one(t, d, "select count(*) from "+name); got != fmt.Sprint(want) {
			t.Errorf("%s has %s rows, the store %d", name, got, want)
		}
	}
}

// A window of a run costs the window: counted in rows that were looked at.
func TestConditionsSpareReading(t *testing.T) {
	r := two(t)
	d := database(r)
	end := int64(r.Info().End)
	_, all := ask(t, d, "select count(*) from intervals")
	if all != r.Info().Intervals {
		t.Fatalf("a full scan looks at %d rows of %d", all, r.Info().Intervals)
	}
	for _, c := range []struct {
		where string
		most  int64
	}{
		{fmt.Sprintf("begin >= %d and begin < %d", end/2, end/2+end/100), all / 50},
		{fmt.Sprintf("begin between %d and %d", end/2, end/2+end/100), all / 50},
		{fmt.Sprintf(`"end" > %d and begin < %d`, end/2, end/2+end/100), all / 50},
		{fmt.Sprintf("begin > %d.5 and begin < %d.25", end/2, end/2+end/100), all / 50},
		{"location = (select max(location) from intervals)", all},
		{"rank = 1", all/2 + 10},
		{"rank in (0, 7)", all/2 + 10},
		{"path like '%1'", all/2 + 10},
		{"region = 'nowhere'", 0},
		{"region like 'no such%'", 0},
		{"role = 'io' and region_id = 100000", 0},
		{"begin < 0", 0},
		{"begin > 5 and begin < 5", 0},
		{"lane = 0 and row = 7 and location = (select min(id) from locations where intervals > 0)", 1 + 8},
	} {
		// The same without a chance to spare anything: a unary plus hides the column from the planner.
		hidden := c.where
		for _, name := range []string{"begin", `"end"`, "location =", "rank", "path", "region_id", "region", "role", "lane", "row"} {
			hidden = strings.ReplaceAll(hidden, name+" ", "+"+name+" ")
		}
		hidden = strings.ReplaceAll(hidden, "++", "+")
		got, read := ask(t, d, "select location, lane, row, begin, region from intervals where "+c.where+" order by 1, 2, 3")
		want, _ := ask(t, d, "select location, lane, row, begin, region from intervals where "+hidden+" order by 1, 2, 3")
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %d rows, without pushing down %d", c.where, len(got), len(want))
		}
		if c.where != "location = (select max(location) from intervals)" && read > c.most {
			t.Errorf("%s: looked at %d of %d rows, want at most %d", c.where, read, all, c.most)
		}
	}
}

func TestAQueryOnlyReads(t *testing.T) {
	d := database(two(t))
	for _, text := range []string{
		"create table x(a)", "drop table intervals", "delete from intervals", "insert into locations(id) values (1)", "update regions set name = ''",
		"attach 'x.db' as y", "attach ':memory:' as y", "pragma journal_mode = wal", "pragma writable_schema = on", "vacuum into 'x.db'",
		"select load_extension('x')", "create temp table y as select 1", "select 1; create temp table y as select 1", "begin",
		"detach main", "/* select */ attach 'x.db' as y", "-- select 1\npragma query_only = off", "explain pragma query_only = off", "select 1;;pragma query_only = off",
		"with x as (select 1) insert into sqlite_schema select 1, 1, 1, 1, 1", "with x as (select 1) delete from intervals", "pragma table_info = 1",
		"select '; /*' ; vacuum into 'x.db' -- */", "select [a;b] from (select 1 as \"a;b\"); drop table intervals", "replace into locations(id) values (1)",
		"explain query plan vacuum into 'x.db'", "pragma main.journal_mode", "reindex", "savepoint x", "select writefile('x.db', 'x')", "select edit('x')",
	} {
		r, err := d.Query(context.Background(), text, query.Limits{Time: time.Hour})
		if err == nil {
			for r.Next() {
			}
			err = r.Err()
			r.Close()
		}
		if err == nil {
			t.Errorf("%s: passed", text)
		}
	}
	if _, err := os.Stat("x.db"); err == nil {
		t.Error("a query wrote a file")
	}
}

// What looks at the text before the engine does takes it apart as the engine would.
func TestStatementsThatAskPass(t *testing.T) {
	d := database(two(t))
	for text, want := range map[string]string{
		"  -- why\n/* because */ select 1 ; -- end":                 "1",
		"select 'it''s; here'":                                      "it's; here",
		"select \"a;b\" from (select 2 as [a;b]);;":                 "2",
		"WITH x AS (VALUES (3)) SELECT * FROM x":                    "3",
		"values (4)":                                                "4",
		"select name from pragma_table_info('links') where cid = 0": "kind",
		"select count(*) from pragma_optimize":                      "0",
		"select '/*' || 5":                                          "/*5",
	} {
		if got := one(t, d, text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"pragma table_info(intervals)", "pragma main.table_info(intervals)", "explain query plan select * from intervals", "explain select 1"} {
		if rows, _ := ask(t, d, text); len(rows) == 0 {
			t.Errorf("%s: no rows", text)
		}
	}
}

func TestErrorsSayWhatIsWrong(t *testing.T) {
	d := database(two(t))
	for text, want := range map[string]string{
		"":                                    "no SQL given",
		"select":                              "incomplete input",
		"selec 1":                             `near "selec": a query only reads, so it begins with select`,
		"select x from intervals":             "no such column: x; docs/tables.md lists",
		"select * from events":                "no such table: events; docs/tables.md lists",
		"select * from busy(0)":               "a step of 0 ns",
		"select * from calls(0, 1, 'colour')": "neither region nor location",
		"drop table intervals":                "a query only reads",
	} {
		_, err := d.Query(context.Background(), text, query.Limits{Time: time.Hour})
		if err == nil {
			r, _ := d.Query(context.Background(), text, query.Limits{Time: time.Hour})
			for r.Next() {
			}
			err = r.Err()
			r.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestAQueryEndsWithItsTimeAndItsContext(t *testing.T) {
	d := database(two(t))
	const endless = "with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c"
	rows, err := d.Query(context.Background(), endless, query.Limits{Time: 50 * time.Millisecond})
	if err == nil {
		for rows.Next() {
		}
		err = rows.Err()
		rows.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "longer than 50ms") {
		t.Errorf("an endless query ends with %v", err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	mine := errors.New("the user left")
	time.AfterFunc(20*time.Millisecond, func() { cancel(mine) })
	rows, err = d.Query(ctx, "select count(*) from intervals a, intervals b, intervals c", query.Limits{})
	if err == nil {
		for rows.Next() {
		}
		err = rows.Err()
		rows.Close()
	}
	if !errors.Is(err, mine) {
		t.Errorf("a cancelled query ends with %v", err)
	}
}

func TestReadingStopsAtTheRowLimit(t *testing.T) {
	r := two(t)
	d := database(r)
	rows, err := d.Query(context.Background(), "select * from intervals", query.Limits{Rows: 5})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for rows.Next() {
		n++
	}
	if n != 5 || !rows.More() || rows.Err() != nil {
		t.Errorf("%d rows, more %v, %v", n, rows.More(), rows.Err())
	}
	rows.Close()
	goleak.VerifyNone(t)
}

func TestTextsHaveABound(t *testing.T) {
	d := database(two(t))
	rows, err := d.Query(context.Background(), "select length(zeroblob(100000000))", query.Limits{})
	if err == nil {
		for rows.Next() {
		}
		err = rows.Err()
		rows.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "too big") {
		t.Errorf("100 MB in one cell: %v", err)
	}
}

func TestFunctionsAgreeWithTheRows(t *testing.T) {
	r := two(t)
	d := database(r)
	end := int64(r.Info().End)
	for _, c := range []struct{ fast, slow string }{
		{"select region, sum(calls), sum(exclusive) from time_in() group by 1 order by 1",
			"select region, count(*), sum(exclusive) from intervals group by 1 order by 1"},
		{fmt.Sprintf("select region, sum(calls) from time_in(%d, %d) where rank = 1 group by 1 having sum(calls) > 0 order by 1", end/3, end/2),
			fmt.Sprintf("select region, count(*) from intervals where begin >= %d and begin < %d and rank = 1 group by 1 order by 1", end/3, end/2)},
		{"select region, calls, total, min, max from calls() order by 1",
			"select region, count(*), sum(duration), min(duration), max(duration) from intervals group by 1 order by 1"},
		{"select location, region, calls from calls(null, null, 'location') order by 1, 2",
			"select location, region, count(*) from intervals group by 1, 2 order by 1, 2"},
		{"select location, sum(busy), sum(busy + communication + synchronization + idle + overhead + annotation + none) from busy(1000) group by 1 order by 1",
			fmt.Sprintf("select location, sum(case when role in ('compute', 'io', 'copy') then exclusive else 0 end), %d from intervals group by 1 order by 1", end)},
	} {
		fast, _ := ask(t, d, c.fast)
		slow, _ := ask(t, d, c.slow)
		if strings.Join(fast, "\n") != strings.Join(slow, "\n") || len(fast) == 0 {
			t.Errorf("%s\n%s\n%s\n%s", c.fast, strings.Join(fast, "\n"), c.slow, strings.Join(slow, "\n"))
		}
	}
}

func TestRunsStandUnderTheirNames(t *testing.T) {
	a, b := two(t), storetest.Text(t, "")
	d := &query.Database{Runs: []*table.Run{{Name: "a", Store: a}, {Name: "the other", Store: b}}}
	got := one(t, d, `select (select count(*) from intervals), (select count(*) from "the other".intervals), (select name from "the other".runs)`)
	if want := fmt.Sprintf("%d 0 the other", a.Info().Intervals); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Aggregates have the unit of their column, and tables for people say units in their heads.
func TestAggregatesHaveTheUnitOfTheirColumn(t *testing.T) {
	d := database(two(t))
	for text, want := range map[string]string{
		"select region, sum(exclusive) from time_in() group by 1 order by 2 desc limit 5":   "region  sum(exclusive) (ns)",
		"select region, sum(i.duration) as time, count(*) from intervals i group by 1":      "region  time (ns)  count(*)",
		"select quantile(duration, 0.5), max(depth), sum(duration)/2 from intervals":        "quantile(duration, 0.5) (ns)  max(depth)  sum(duration)/2",
		"select begin, region from intervals where region = 'sum(duration) from x' limit 1": "begin (ns)  region",
	} {
		rows, err := d.Query(context.Background(), text, query.Limits{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var b strings.Builder
		if err := rows.WriteTable(&b); err != nil {
			t.Error(err)
		}
		rows.Close()
		head, _, _ := strings.Cut(b.String(), "\n")
		if got := strings.Join(strings.Fields(head), " "); got != strings.Join(strings.Fields(want), " ") {
			t.Errorf("%s: head %q, want %q", text, got, want)
		}
	}
}

func TestUnitsComeFromTheTables(t *testing.T) {
	d := database(two(t))
	rows, err := d.Query(context.Background(), "select duration as d, region, count(*) from intervals", query.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if c := rows.Columns; c[0].Name != "d" || c[0].Unit != "ns" || c[1].Unit != "" || c[1].Kind != table.Text || c[2].Kind != 0 {
		t.Errorf("columns %+v", c)
	}
}
