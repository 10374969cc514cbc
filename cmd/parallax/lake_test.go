package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/lake"
)

// intoLake exports a source into a lake and gives what was printed.
func intoLake(t *testing.T, dir, source string, options ...string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	code := run(context.Background(), append([]string{"export", source, "--lake", dir}, options...), &out, &out)
	return out.String(), code
}

// chromeTrace writes a trace whose regions have names that are alike in their first 24 bytes.
func chromeTrace(t *testing.T, name string, length int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"traceEvents":[`)
	for i := range 300 {
		fmt.Fprintf(&b, `{"ph":"X","pid":%d,"tid":1,"ts":%d,"dur":%d,"name":"solve_the_equation_on_the_%s"},`, i%2, i*length,
			length/2+i%7, []string{"coarse_grid", "fine_grid", "zone"}[i%3])
	}
	b.WriteString(`{"ph":"i","pid":0,"tid":1,"ts":1,"name":"mark"}]}`)
	path := filepath.Join(t.TempDir(), name+".json")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestALakeAnswersForEachRunAsTheRunItself(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lake")
	runs := map[string]string{"stencil": "demo:stencil", "short": chromeTrace(t, "short", 100),
		"long": chromeTrace(t, "long", 250)}
	for name, source := range runs {
		if out, code := intoLake(t, dir, source, "--as", name, "--project", "p/"+name[:1], "--key", "commit=c-"+name,
			"--start", "2026-0"+fmt.Sprint(len(name))+"-01T00:00:00Z"); code != 0 {
			t.Fatal(out)
		}
	}
	for _, q := range []string{
		"select count(*), sum(exclusive), sum(duration), min(begin), max(end) from intervals",
		"select region, count(*), sum(exclusive) from intervals group by region order by region",
		"select count(*), sum(duration) from intervals where region = 'solve_the_equation_on_the_fine_grid'",
		"select count(*) from intervals where region like '%zone' and duration > 60000 and rank is null",
		"select count(*), sum(size) from links",
		"select region, sum(calls), sum(exclusive) from profile group by region order by region",
		"select region, sum(calls), min(low), max(high) from durations group by region order by region",
		"select count(*), sum(intervals) from locations",
		"select name, format, intervals, links from runs",
	} {
		for name, source := range runs {
			over := strings.Replace(q, " from ", ", max(run) from ", 1)
			over = strings.Replace(over, " where ", " where run = '"+name+"' and ", 1)
			if !strings.Contains(q, " where ") {
				at := strings.Index(over+" group by", " group by")
				over = over[:at] + " where run = '" + name + "'" + over[at:]
			}
			want, got := askSQL(t, source, q).Rows, askSQL(t, dir, over).Rows
			for i := range got { // without the name of the run
				last := len(strings.Split(strings.SplitN(q, " from ", 2)[0], ","))
				got[i] = append(got[i][:last:last], got[i][last+1:]...)
			}
			if !reflect.DeepEqual(want, got) {
				t.Errorf("%s\n%s: %v\nlake: %v", q, name, want, got)
			}
		}
	}
	if q := askSQL(t, dir, "select run, project, month, datetime(run_start/1000000, 'unixepoch') from runs order by run_start"); fmt.Sprint(q.Rows) !=
		"[[long p/l 2026-04 2026-04-01 00:00:00] [short p/s 2026-05 2026-05-01 00:00:00] [stencil p/s 2026-07 2026-07-01 00:00:00]]" {
		t.Errorf("runs: %v", q.Rows)
	}
	if q := askSQL(t, dir, "select run, value from keys where key = 'commit' and project = 'p/s' order by 1"); fmt.Sprint(q.Rows) !=
		"[[short c-short] [stencil c-stencil]]" {
		t.Errorf("keys: %v", q.Rows)
	}
}

func TestARunComesBackFromALake(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lake")
	for _, s := range []string{"demo:stencil", chromeTrace(t, "other", 100)} {
		if out, code := intoLake(t, dir, s); code != 0 {
			t.Fatal(out)
		}
	}
	back := filepath.Join(dir, "_runs", "stencil")
	for _, view := range []string{"timeline", "moments", "profile", "commmatrix", "treemap"} {
		want, got := jsonOf(t, view, "demo:stencil"), jsonOf(t, view, back)
		if !bytes.Equal(want, got) {
			t.Errorf("%s: of the source and of the lake differ: %.300s … %.300s", view, want, got)
		}
	}
}

// jsonOf is the data of a view.
func jsonOf(t *testing.T, view, source string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.json")
	var out bytes.Buffer
	if code := run(context.Background(), []string{"view", view, source, "-o", path}, &out, &out); code != 0 {
		t.Fatal(out.String())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, data, _ := bytes.Cut(text, []byte(`"data":`))
	return data
}

func TestALakeOnlyGrows(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lake")
	source := chromeTrace(t, "night", 100)
	add := func(options ...string) string {
		out, code := intoLake(t, dir, source, options...)
		return fmt.Sprint(code, " ", out)
	}
	if out := add("--start", "2026-11-01T00:00:00Z"); !strings.HasPrefix(out, "0 ") {
		t.Fatal(out)
	}
	files := func() (list []string) {
		_ = filepath.WalkDir(dir, func(p string, _ os.DirEntry, _ error) error { list = append(list, p); return nil })
		return list
	}
	before := files()
	if out := add("--start", "2026-11-02T00:00:00Z"); !strings.Contains(out, "night.json@2026-11-02T00:00:00") {
		t.Error("the same name on another night: ", out)
	}
	if out := add("--start", "2026-11-02T00:00:00Z"); !strings.HasPrefix(out, "1 ") || !strings.Contains(out, "--as") {
		t.Error("the same run again: ", out)
	}
	if out := add("--as", "_hidden.or/so", "--start", "2026-11-03T00:00:00Z"); !strings.HasPrefix(out, "0 ") {
		t.Error(out)
	}
	after := files()
	for _, f := range before {
		if _, err := os.Stat(f); err != nil {
			t.Error(err)
		}
	}
	for _, f := range after {
		if base := filepath.Base(f); strings.HasSuffix(base, ".parquet") && (base[0] == '_' || base[0] == '.') {
			t.Errorf("%s is hidden from engines", f)
		}
	}
	if q := askSQL(t, dir, "select run, count(*) from intervals group by 1 order by 1"); fmt.Sprint(q.Rows) !=
		"[[_hidden.or/so 300] [night.json 300] [night.json@2026-11-02T00:00:00 300]]" {
		t.Errorf("%v", q.Rows)
	}
	for _, bad := range [][]string{{"--start", "yesterday"}, {"--key", "commit"}, {"-o", "x"}} {
		if out := add(bad...); !strings.HasPrefix(out, "2 ") {
			t.Errorf("%v: %s", bad, out)
		}
	}
}

func TestADamagedLakeIsAnErrorNotAShorterAnswer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lake")
	if out, code := intoLake(t, dir, chromeTrace(t, "night", 100), "--start", "2026-11-01T00:00:00Z"); code != 0 {
		t.Fatal(out)
	}
	ask := func() string {
		var out bytes.Buffer
		code := run(context.Background(), []string{"query", dir, "select sum(exclusive) from intervals"}, &out, &out)
		return fmt.Sprint(code, " ", out.String())
	}
	path := filepath.Join(dir, "intervals", "project="+lake.DefaultProject, "month=2026-11", "night.json.parquet")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range [][]byte{whole[:len(whole)/2], nil} {
		if err := os.WriteFile(path, damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		if out := ask(); !strings.HasPrefix(out, "1 ") || !strings.Contains(out, "night") {
			t.Error(out)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if out := ask(); !strings.HasPrefix(out, "1 ") || !strings.Contains(out, "export it again") {
		t.Error(out)
	}
}
