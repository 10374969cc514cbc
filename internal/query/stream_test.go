package query_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/query"
	"github.com/parallax-hpc/parallax/internal/table"
)

// stream gives the rows of a statement as ask does, and its columns with their types.
func stream(tb testing.TB, d *query.Database, text string, limits query.Limits, params ...any) (rows []string,
	columns string, more bool) {
	tb.Helper()
	limits.Time = time.Minute
	s, err := d.Stream(tb.Context(), text, limits, params...)
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	defer s.Close()
	err = s.Each(func(b *table.Batch) error {
		for i := range b.Rows {
			var cells []string
			for c := range b.Columns {
				if b.Columns[c].Kind != s.Columns[c].Kind {
					tb.Fatalf("%s: column %d is %s, said to be %s", text, c, b.Columns[c].Kind, s.Columns[c].Kind)
				}
				cells = append(cells, query.Cell(b.Columns[c].Value(i)))
			}
			rows = append(rows, strings.Join(cells, " "))
		}
		return nil
	})
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	var names []string
	for _, c := range s.Columns {
		names = append(names, c.Name+" "+c.Kind.String())
	}
	return rows, strings.Join(names, ", "), s.More()
}

// Statements that go past the engine give the rows that the engine gives, and so do those that do not.
func TestStreamsGiveWhatTheEngineGives(t *testing.T) {
	d := database(two(t))
	for text, direct := range map[string]bool{
		"select * from intervals":                                                           true,
		`select location, begin, "end", region from intervals limit 7`:                      true,
		"SELECT Region AS r, intervals.begin FROM intervals WHERE rank = 1;":                true,
		"select begin from intervals where begin between 1e3 and 9000.5 and role = 'mpi'":   true,
		"select begin, begin, parent from intervals where parent >= 0 and depth == 1":       true,
		"select region from intervals where region = 'MPI_Recv' limit -1":                   true,
		"select region from intervals where region = 'it''s' or begin < 5":                  false,
		"select region, calls, p50 from calls(null, 50000) where calls > 2":                 true,
		"select region, path from calls(0, null, 'location')":                               true,
		"select id, path, parent from locations where id >= -3":                             true,
		"select inclusive, exclusive from profile where inclusive > 5":                      false,
		"select begin from intervals where begin > '5' limit 3":                             false,
		"select begin from intervals where parent = null":                                   false,
		"select begin + 1 from intervals limit 3":                                           false,
		"select distinct region from intervals":                                             false,
		"select region from intervals order by begin limit 9":                               false,
		"select region from intervals limit 3 offset 2":                                     false,
		"select i.region from intervals i join locations l on l.id = i.location limit 5000": false,
		"select begin from intervals limit 2 union all select 'x'":                          false,
		"select \"nope\" from intervals limit 2":                                            false,
		"select count(*), sum(begin), avg(begin), min(region) from intervals":               false,
		"select sum(begin), avg(begin), min(region), max(rank) from intervals where rank=9": false,
	} {
		if strings.Contains(text, "union") {
			text = "select begin from (select begin from intervals limit 2) union all select 'x'"
		}
		want, _ := ask(t, d, text)
		got, _, _ := stream(t, d, text, query.Limits{})
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d rows, want %d, or others", text, len(got), len(want))
		}
		if is := query.IsDirect(t, d, text); is != direct {
			t.Errorf("%s: direct is %v", text, is)
		}
	}
}

func TestStreamsHaveTheTypesOfTheirTables(t *testing.T) {
	d := database(two(t))
	for text, want := range map[string]string{
		"select path, p99 from calls()":                                      "path text, p99 number",
		"select region, begin from intervals where begin < 0":                "region text, begin integer",
		"select sum(begin) as s, count(*) as n from intervals where rank=9":  "s integer, n integer",
		"select avg(begin) as m, min(path) as p from intervals where rank=9": "m number, p text",
	} {
		if _, got, _ := stream(t, d, text, query.Limits{}); got != want {
			t.Errorf("%s\n\thas %s, want %s", text, got, want)
		}
	}
}

// Values stand beside the text, by place or by name.
func TestParametersAreValues(t *testing.T) {
	d := database(two(t))
	count := func(text string, params ...any) string {
		rows, _, _ := stream(t, d, text, query.Limits{}, params...)
		return fmt.Sprint(len(rows))
	}
	all := count("select begin from intervals where region = 'MPI_Recv'")
	for text, params := range map[string][]any{
		"select begin from intervals where region = ?":            {"MPI_Recv"},
		"select begin from intervals where region = :a":           {sql.Named("a", "MPI_Recv")},
		"select begin + 0 from intervals where region = ?":        {"MPI_Recv"},
		"select begin + 0 from intervals where region = @a":       {sql.Named("a", "MPI_Recv")},
		"select begin from intervals where region = $a and 1 = 1": {sql.Named("a", "MPI_Recv")},
	} {
		if got := count(text, params...); got != all {
			t.Errorf("%s: %s rows, want %s", text, got, all)
		}
	}
	if n := count("select begin from intervals where region = ?", "x' or 1 --"); n != "0" {
		t.Errorf("a text became a condition: %s rows", n)
	}
	for _, text := range []string{"select begin from intervals where region = ?", "select ?"} {
		if _, err := d.Stream(t.Context(), text, query.Limits{}); err == nil ||
			!strings.Contains(err.Error(), "parameters without a value") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A bound on rows cuts, and says so where there would be more.
func TestStreamsKeepToTheirBound(t *testing.T) {
	d := database(two(t))
	for text, more := range map[string]bool{
		"select begin from intervals": true, "select begin from intervals limit 5": false,
		"select begin + 0 from intervals": true, "select begin + 0 from intervals limit 5": false,
	} {
		rows, _, cut := stream(t, d, text, query.Limits{Rows: 5})
		if len(rows) != 5 || cut != more {
			t.Errorf("%s: %d rows, more is %v", text, len(rows), cut)
		}
	}
}
