package main

import (
	"archive/tar"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rankFile writes one rank of a job in a format with a file for each rank.
func rankFile(t *testing.T, path string, rank int, length float64) string {
	t.Helper()
	text := fmt.Sprintf(`{"schemaVersion":1,"distributedInfo":{"rank":%d,"world_size":2},"traceEvents":[`+
		`{"ph":"X","cat":"cpu_op","pid":%d,"tid":1,"ts":0,"dur":%.3f,"name":"solve"},`+
		`{"ph":"X","cat":"cpu_op","pid":%d,"tid":1,"ts":%.3f,"dur":10,"name":"write"}]}`, rank, 100+rank, length, 100+rank, length+1)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// archived puts a directory into a tar.
func archived(t *testing.T, dir, path string) string {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(f)
	if err := w.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// takenRuns are the runs that compare makes of its sources: "A job-0 2 2" is side, name, files and ranks.
func takenRuns(t *testing.T, args ...string) []string {
	t.Helper()
	status, out, problem := parallax(t, append(append([]string{"compare"}, args...), "--json")...)
	var d struct {
		Data struct {
			Runs []struct {
				Side, Run string
				Files     []string
				Ranks     int
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatalf("status %d: %v: %s", status, err, problem)
	}
	var list []string
	for _, r := range d.Data.Runs {
		list = append(list, fmt.Sprint(r.Side, " ", r.Run, " ", len(r.Files), " ", r.Ranks))
	}
	return list
}

// Directories, globs, archives and names decide which files are which run.
func TestFilesBecomeRuns(t *testing.T) {
	dir := t.TempDir()
	flat, deep := filepath.Join(dir, "flat"), filepath.Join(dir, "deep")
	for job := range 4 {
		for rank := range 2 {
			length := float64(1000 + 10*job + rank)
			rankFile(t, filepath.Join(flat, fmt.Sprintf("job-%d_rank%d.json", job, rank)), rank, length)
			rankFile(t, filepath.Join(deep, fmt.Sprint("job-", job), fmt.Sprintf("rank%d.json", rank)), rank, length)
		}
	}
	glob := func(text string) string { return filepath.Join(dir, text) }
	tars := []string{}
	for job := range 4 {
		tars = append(tars, archived(t, filepath.Join(deep, fmt.Sprint("job-", job)), filepath.Join(dir, fmt.Sprintf("job-%d.tar", job))))
	}
	counts := func(list []string) (out []string) {
		for _, s := range list {
			f := strings.Fields(s)
			out = append(out, f[0]+" "+strings.Join(f[len(f)-2:], " "))
		}
		return out
	}
	four := []string{"A 2 2", "A 2 2", "B 2 2", "B 2 2"}
	for _, c := range []struct {
		what string
		args []string
		want []string
	}{
		{"names", []string{flat, "--run-by", `(job-\d)`, "--by", "half", "--key", "half=/job-([01])/", "--key", "half=/job-[23](_)/"}, nil},
		{"globs and names", []string{glob("flat/job-[01]*"), "--", glob("flat/job-[23]*"), "--run-by", `(job-\d)`}, four},
		{"globs of directories", []string{glob("deep/job-[01]"), "--", glob("deep/job-[23]")}, four},
		{"directories by names", []string{glob("deep/job-[01]"), "--", glob("deep/job-[23]"), "--run-by", `job-(\d)/`}, four},
		{"archives", []string{tars[0], tars[1], "--", tars[2], tars[3]}, four},
		{"jobs in an archive", []string{archived(t, deep, filepath.Join(dir, "deep.tar")), "--by", "half", "--key", "half=/job-([01])/", "--key", "half=/job-[23](/)/"}, nil},
		{"names in an archive", []string{archived(t, flat, filepath.Join(dir, "flat.tar")), "--run-by", `(job-\d)`, "--by", "half", "--key", "half=/job-([01])/", "--key", "half=/job-[23](_)/"}, nil},
		{"rank files of several jobs", []string{glob("flat/job-[01]*"), "--", glob("flat/job-[23]*")}, four},
	} {
		t.Run(c.what, func(t *testing.T) {
			got := takenRuns(t, c.args...)
			if c.want == nil {
				if len(got) != 4 {
					t.Errorf("%q", got)
				}
			} else if !slices.Equal(counts(got), c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	left, right := filepath.Join(dir, "left"), filepath.Join(dir, "right")
	for _, side := range []string{left, right} { // jobs of the same name on both sides
		for rank := range 2 {
			rankFile(t, filepath.Join(side, fmt.Sprintf("job-1_rank%d.json", rank)), rank, 1000)
		}
	}
	want := []string{"A left/job-1 2 2", "B right/job-1 2 2"}
	if got := takenRuns(t, left, "--", right, "--run-by", `(job-\d)`); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, c := range [][]string{{"--run-by", "job-[0-9]"}, {"--run-by", "(night)"}, {"--run-by", "("}} {
		if status, out, problem := parallax(t, append([]string{"compare", flat, "--by", "half"}, c...)...); status != 2 || problem == "" {
			t.Errorf("%q: status %d: %s%s", c, status, out, problem)
		}
	}
	if status, _, problem := parallax(t, "compare", glob("none-*"), "--", flat); status != 1 || !strings.Contains(problem, "none-") {
		t.Errorf("status %d: %s", status, problem)
	}
}
