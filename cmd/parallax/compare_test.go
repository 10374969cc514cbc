package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// chrome writes a run as a Chrome trace: one process that loads, computes and waits.
func chrome(t *testing.T, file string, compute float64) {
	t.Helper()
	text := `[{"name":"process_name","ph":"M","pid":1,"tid":1,"args":{"name":"job"}}`
	at := 0.0
	for _, x := range []struct {
		name   string
		length float64
	}{{"load", 1000}, {"compute", compute}, {"write", 500}} {
		text += fmt.Sprintf(`,{"name":%q,"ph":"X","ts":%g,"dur":%g,"pid":1,"tid":1}`, x.name, at, x.length)
		at += x.length
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text+"]"), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestCompareNamesTheChangedRegion(t *testing.T) {
	dir := t.TempDir()
	var a, b []string
	for i := range 6 {
		a, b = append(a, fmt.Sprintf("%s/old-%d/x.json", dir, i)), append(b, fmt.Sprintf("%s/new-%d/x.json", dir, i))
		chrome(t, a[i], 5000+float64(7*i))
		chrome(t, b[i], 5500+float64(5*i))
	}
	args := append(append(append([]string{"compare"}, a...), "--"), b...)
	status, text, stderr := parallax(t, append(args, "--fail-on", "length=3%", "--fail-on", "compute=50%")...)
	if status != 1 || !strings.Contains(text, "FAILED length=3%") || strings.Contains(text, "FAILED compute") {
		t.Errorf("status %d: %s%s", status, text, stderr)
	}
	for _, want := range []string{"A (n=6)", "+9.8", "p=0.002", "changed", "load"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text has no %q:\n%s", want, text)
		}
	}
	// The same from a directory, by a key in the path, as JSON.
	status, out, stderr := parallax(t, "compare", dir, "--by", "version", "--key", `version=/(old|new)-\d/`, "--json")
	var d struct {
		Data struct {
			A, B []struct{ Keys map[string]string }
			Rows []struct{ Region, Verdict string }
		}
	}
	if err := json.Unmarshal([]byte(out), &d); err != nil || status != 0 {
		t.Fatalf("status %d, %v: %s", status, err, stderr)
	}
	if len(d.Data.A) != 6 || len(d.Data.B) != 6 || d.Data.A[0].Keys["version"] == d.Data.B[0].Keys["version"] {
		t.Errorf("sides are %v and %v", d.Data.A, d.Data.B)
	}
	if r := d.Data.Rows[0]; r.Region != "compute" || r.Verdict != "changed" {
		t.Errorf("the first row is %+v", r)
	}
}

func TestCompareRefusesInvalidArguments(t *testing.T) {
	dir := t.TempDir()
	chrome(t, dir+"/a.json", 100)
	for _, c := range []struct {
		args string
		says string
	}{
		{"compare " + dir + "/a.json", "A... -- B..."},
		{"compare " + dir + "/a.json --", "both sides"},
		{"compare " + dir + "/a.json -- " + dir + "/../" + filepath.Base(dir) + "/a.json", "not compared with itself"},
		{"view contrast " + dir + "/a.json --run " + dir + "/./a.json", "not compared with itself"},
		{"compare a -- b --fail-on length", "--fail-on"},
		{"compare a -- b --fail-on changed=3%", "--fail-on"},
		{"compare a -- b --key commit", "KEY=VALUE"},
		{"compare a -- b --key commit=/x/", "group"},
		{"compare a -- b --by k", "not both"},
	} {
		if status, _, stderr := parallax(t, strings.Fields(c.args)...); status != 2 || !strings.Contains(stderr, c.says) {
			t.Errorf("%s: status %d, %q", c.args, status, stderr)
		}
	}
}

func TestOneRunPerSideAllowsNoDecision(t *testing.T) {
	dir := t.TempDir()
	chrome(t, dir+"/a.json", 5000)
	chrome(t, dir+"/b.json", 6000)
	status, text, _ := parallax(t, "compare", dir+"/a.json", "--", dir+"/b.json", "--fail-on", "length=3%")
	if status != 4 || !strings.Contains(text, "any two runs may differ as much") || !strings.Contains(text, "one run per side") {
		t.Errorf("status %d: %s", status, text)
	}
}

// A directory of nights is as many runs: of plain Chrome files with several ranks each, and of Kineto files that all
// state rank 0. The ranks of one job are one run, as a directory and as files.
func TestCompareListsTheRunsFirst(t *testing.T) {
	dir := t.TempDir()
	must := func(args ...string) {
		t.Helper()
		if status, _, stderr := parallax(t, args...); status != 0 {
			t.Fatalf("%q: %s", args, stderr)
		}
	}
	for side := range 2 {
		for night := range 3 {
			name := fmt.Sprintf("%s/stencil-%d/night-%02d.json", dir, side, night)
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			must("gen", "stencil", "--format", "chrome", "--locations", "4", "--intervals", "3000", "-o", name)
			job := fmt.Sprintf("%s/job-%d-%d", dir, side, night)
			must("gen", "training", "--format", "kineto", "--locations", "2", "--intervals", "2000", "-o", job)
			night := fmt.Sprintf("%s/training-%d/night-%02d.json", dir, side, night)
			if err := os.MkdirAll(filepath.Dir(night), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Link(job+"/rank0.json", night); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		args  string
		runs  int
		files int // of each run
	}{
		{"stencil-0 -- stencil-1", 6, 1},
		{"training-0 -- training-1", 6, 1},
		{"job-0-0 -- job-1-0 job-1-1", 3, 2},
		{"job-0-0/rank0.json job-0-0/rank1.json -- job-1-0/rank0.json job-1-0/rank1.json job-1-1/rank1.json job-1-1/rank0.json", 3, 2},
	} {
		args := []string{"compare"}
		for _, a := range strings.Fields(c.args) {
			if a != "--" {
				a = filepath.Join(dir, a)
			}
			args = append(args, a)
		}
		status, out, stderr := parallax(t, append(args, "--json")...)
		var d struct {
			Data struct {
				Runs []struct {
					Side, Run string
					Files     []string
					Ranks     int
				}
			}
		}
		if err := json.Unmarshal([]byte(out), &d); err != nil || status != 0 {
			t.Fatalf("%s: status %d, %v: %s", c.args, status, err, stderr)
		}
		if len(d.Data.Runs) != c.runs {
			t.Errorf("%s: %d runs, want %d", c.args, len(d.Data.Runs), c.runs)
		}
		for _, r := range d.Data.Runs {
			if len(r.Files) != c.files {
				t.Errorf("%s: run %s of side %s has %d files, want %d", c.args, r.Run, r.Side, len(r.Files), c.files)
			}
		}
		if _, data, _ := strings.Cut(out, `"data":{`); !strings.HasPrefix(data, `"runs":[`) {
			t.Errorf("%s: runs are not first: %.40s", c.args, data)
		}
		if _, text, _ := parallax(t, args...); !strings.HasPrefix(text, "side  run") || strings.Count(text, "\nB  ") == 0 {
			t.Errorf("%s: no table of runs first: %.200s", c.args, text)
		}
	}
}

// A file that no reader knows is refused beside others that are read.
func TestCompareRefusesAFileThatIsNone(t *testing.T) {
	dir := t.TempDir()
	chrome(t, dir+"/a.json", 100)
	chrome(t, dir+"/b.json", 100)
	if err := os.WriteFile(dir+"/letter.txt", []byte("Dear reader,\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	status, _, stderr := parallax(t, "compare", dir+"/a.json", dir+"/letter.txt", "--", dir+"/b.json")
	if status != 1 || !strings.Contains(stderr, "letter.txt") {
		t.Errorf("status %d, %q", status, stderr)
	}
}
