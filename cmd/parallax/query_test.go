package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/view"
)

// queried is the result of `parallax query --json`.
type queried struct {
	Columns []struct{ Name, Unit string }
	Rows    [][]any
	More    bool
}

func askSQL(t *testing.T, source, text string, more ...string) queried {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(context.Background(), append([]string{"query", source, text, "--json"}, more...), &out, &errs); code != 0 {
		t.Fatalf("query %s: %s", source, errs.String())
	}
	var q queried
	if err := json.Unmarshal(out.Bytes(), &q); err != nil {
		t.Fatalf("query %s: %v: %s", source, err, out.String())
	}
	return q
}

// countedSets are sources of every kind there is: traces, profiles, samples, spans.
func countedSets(t *testing.T) []string {
	sets := []string{"demo:stencil", "demo:quicksort"}
	for _, pattern := range []string{
		"../../internal/importer/*/testdata/*.json", "../../internal/importer/otf2/testdata/*", "../../internal/importer/tau/testdata/*", "../../internal/importer/cube/testdata/*.cubex", "../../internal/importer/paje/testdata/*.trace",
		"../../../shared/data/*",
	} {
		found, _ := filepath.Glob(pattern)
		for _, f := range found {
			if !strings.HasSuffix(f, ".md") && !strings.Contains(f, "sources") && !strings.HasSuffix(f, "public") && !strings.HasSuffix(f, "readers") && !strings.HasSuffix(f, "faults") && !strings.HasSuffix(f, "ml") {
				sets = append(sets, f)
			}
		}
	}
	return sets
}

// TestCountsBySQLAreThoseOfInfo: every table has as many rows as `parallax info` says.
func TestCountsBySQLAreThoseOfInfo(t *testing.T) {
	cache := t.TempDir()
	asked := 0
	for _, set := range countedSets(t) {
		var out, errs bytes.Buffer
		if run(context.Background(), []string{"info", set, "--json", "--cache", cache}, &out, &errs) != 0 {
			continue // not a run by itself
		}
		var info view.InfoJSON
		if err := json.Unmarshal(out.Bytes(), &info); err != nil {
			t.Fatal(err)
		}
		if testing.Short() && info.Intervals > 1e5 {
			continue
		}
		asked++
		q := askSQL(t, set, `select (select count(*) from locations), (select count(*) from regions), (select count(*) from intervals where not inferred), (select count(*) from links),
			(select count(*) from intervals where inferred), (select count(*) from counters), (select count(*) from samples), (select count(*) from instants), (select count(callpath) from profile), (select "end" from runs)`, "--cache", cache)
		want := []any{float64(info.Locations), float64(info.Regions), float64(info.Intervals), float64(info.Links),
			float64(info.Inferred), float64(info.Counters), float64(info.Samples), float64(info.Instants), float64(info.ProfileRows), float64(info.End)}
		for i, w := range want {
			if q.Rows[0][i] != w {
				t.Errorf("%s: count %d by SQL is %v, info says %v", set, i, q.Rows[0][i], w)
			}
		}
	}
	if asked < 4 {
		t.Errorf("only %d sets were asked", asked)
	}
}

func TestAQueryIsWrittenByTheEndingOfItsFile(t *testing.T) {
	dir := t.TempDir()
	for ending, want := range map[string]string{
		"csv":     "rank,n\n0,",
		"parquet": "PAR1",
		"json":    `{"columns":[{"name":"rank","unit":""},{"name":"n","unit":""}],"rows":[`,
	} {
		file := filepath.Join(dir, "x."+ending)
		var errs bytes.Buffer
		if code := run(context.Background(), []string{"query", "demo:stencil", "select rank, count(*) as n from intervals group by 1 order by 1", "-o", file, "--cache", dir}, &bytes.Buffer{}, &errs); code != 0 {
			t.Fatal(errs.String())
		}
		got, err := os.ReadFile(file)
		if err != nil || !strings.HasPrefix(string(got), want) {
			t.Errorf("%s begins %.80q, %v; want %q", file, got, err, want)
		}
	}
}

func TestFindingsCanBeAsked(t *testing.T) {
	q := askSQL(t, "demo:stencil", "select kind, text, location from findings() limit 1")
	if len(q.Rows) != 1 || q.Rows[0][0] != "straggler" {
		t.Errorf("the demo has a straggler; the first finding is %v", q.Rows)
	}
}
