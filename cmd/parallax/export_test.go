package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	parquet "github.com/parallax-hpc/parallax/internal/export"
)

// exported writes a source as Parquet files and gives the directory.
func exported(t *testing.T, source string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tables")
	var out, errs bytes.Buffer
	if code := run(context.Background(), []string{"export", source, "-o", dir}, &out, &errs); code != 0 {
		t.Fatalf("export: %s", errs.String())
	}
	return dir
}

func TestAnExportHasAFileATableAndItsSchema(t *testing.T) {
	dir := exported(t, "demo:stencil")
	text, err := os.ReadFile(filepath.Join(dir, "schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s parquet.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Tables) < 11 || s.Version != parquet.Version {
		t.Errorf("schema.json has %d tables, version %d", len(s.Tables), s.Version)
	}
	for _, x := range s.Tables {
		head := make([]byte, 4)
		f, err := os.Open(filepath.Join(dir, x.File))
		if err == nil {
			_, err = f.Read(head)
			f.Close()
		}
		if err != nil || string(head) != "PAR1" {
			t.Errorf("%s begins %q, %v", x.File, head, err)
		}
		if q := askSQL(t, "demo:stencil", "select count(*) from "+x.Name); q.Rows[0][0] != float64(x.Rows) {
			t.Errorf("%s has %d rows, by SQL %v", x.Name, x.Rows, q.Rows[0][0])
		}
	}
	var errs bytes.Buffer
	if code := run(context.Background(), []string{"export", "demo:stencil", "-o", dir}, &bytes.Buffer{}, &errs); code != 1 || !strings.Contains(errs.String(), "exists") {
		t.Errorf("over an old export: status %d, %s", code, errs.String())
	}
}

// duckFolder is where DuckDB is installed as a package of node; PARALLAX_DUCKDB is the folder whose
// node_modules has @duckdb/node-api. Tests ask for it before they write what it is to read.
func duckFolder(t testing.TB) string {
	t.Helper()
	folder := os.Getenv("PARALLAX_DUCKDB")
	if folder == "" {
		folder = "../../web"
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules/@duckdb/node-api")); err != nil {
		t.Skip("DuckDB is not here: npm install @duckdb/node-api in a folder, and name it in PARALLAX_DUCKDB")
	}
	return folder
}

// duck asks DuckDB.
func duck(t *testing.T, text string) string {
	t.Helper()
	folder := duckFolder(t)
	const script = `const {DuckDBInstance} = require('@duckdb/node-api');
(async () => {
  const c = await (await DuckDBInstance.create()).connect();
  const r = await c.runAndReadAll(process.argv[1]);
  for (const row of r.getRows()) console.log(row.map(v => v === null ? '' : String(v)).join('|'));
})()`
	cmd := exec.Command("node", "-e", script, text)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("duckdb: %v: %s\n%s", err, out, text)
	}
	return strings.TrimSpace(string(out))
}

// TestDuckDBReadsTheSame: another reader gets from the files what SQL gets from the store.
func TestDuckDBReadsTheSame(t *testing.T) {
	duckFolder(t)
	sources := []string{"demo:stencil"}
	for _, name := range []string{"kineto-ddp-8rank", "otf2-pingpong4"} {
		if found := filepath.Join("../../../shared/data", name); exists(found) {
			sources = append(sources, found)
		}
	}
	for _, source := range sources {
		dir, err := filepath.Abs(exported(t, source))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{
			`select count(*), sum(duration), sum(exclusive), min(begin), max("end"), count(distinct path), count(parent), sum(depth) from intervals`,
			`select region, role, count(*), sum(duration) from intervals group by 1, 2 order by 3 desc, 1 limit 20`,
			`select kind, count(*), sum(size), sum(duration), count(from_row) from links group by 1 order by 1`,
			`select id, parent, name, path, kind, rank, level, last, intervals, aside from locations order by id`,
			`select "of", key, count(*), min(value), max(value) from attributes group by 1, 2 order by 1, 2`,
			`select count(*), min(time), max(time) from instants`,
		} {
			files := text
			for _, name := range []string{"intervals", "links", "locations", "attributes", "instants"} {
				files = strings.ReplaceAll(files, "from "+name, fmt.Sprintf("from '%s/%s.parquet'", filepath.ToSlash(dir), name))
			}
			got := duck(t, files)
			var lines []string
			for _, row := range askSQL(t, source, text).Rows {
				var cells []string
				for _, v := range row {
					switch x := v.(type) {
					case nil:
						cells = append(cells, "")
					case float64:
						cells = append(cells, fmt.Sprintf("%.0f", x))
					default:
						cells = append(cells, fmt.Sprint(x))
					}
				}
				lines = append(lines, strings.Join(cells, "|"))
			}
			if want := strings.Join(lines, "\n"); got != want {
				t.Errorf("%s: %s\nDuckDB:\n%.500s\nSQL:\n%.500s", source, text, got, want)
			}
		}
	}
}

// A result of a query as a file: types are those of its values, equal names are told apart.
func TestDuckDBReadsAResult(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.parquet")
	var errs bytes.Buffer
	text := "select 1 as a, 2.5 as b, 'x' as c, null as d, 7 as a union all select 3, 4, 5, 6, null"
	if code := run(context.Background(), []string{"query", "demo:stencil", text, "-o", file}, &bytes.Buffer{}, &errs); code != 0 {
		t.Fatal(errs.String())
	}
	got := duck(t, fmt.Sprintf("select a, b, c, d, a_2, typeof(a), typeof(b), typeof(c) from '%s' order by a", filepath.ToSlash(file)))
	if want := "1|2.5|x||7|BIGINT|DOUBLE|VARCHAR\n3|4|5|6||BIGINT|DOUBLE|VARCHAR"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Row groups end where locations do, and their statistics let a reader skip.
func TestRowGroupsHaveStatistics(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a million rows")
	}
	duckFolder(t)
	dir, err := filepath.Abs(exported(t, "demo:stencil?intervals=1000000"))
	if err != nil {
		t.Fatal(err)
	}
	got := duck(t, fmt.Sprintf(`select count(*) > 5, bool_and(stats_min_value is not null and stats_max_value is not null), max(row_group_num_rows) <= 131072
		from parquet_metadata('%s/intervals.parquet') where path_in_schema in ('location', 'begin')`, filepath.ToSlash(dir)))
	if got != "true|true|true" {
		t.Errorf("several groups, statistics, size: %s", got)
	}
}
