package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/query"
	views "github.com/parallax-hpc/parallax/internal/view/all"
)

// parallax runs the program in this process with a cache of its own.
func parallax(t testing.TB, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	status = run(context.Background(), args, &out, &err)
	return status, out.String(), err.String()
}

// asProgram in the environment makes the test binary the program.
const asProgram = "PARALLAX_TEST_AS_PROGRAM"

// peakFile in the environment names a file into which the program writes what Linux says of its memory at the end. The
// usage that wait returns is no less than that of the process that started it.
const peakFile = "PARALLAX_TEST_PEAK"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" || os.Getenv(query.WorkerVariable) != "" { // a test started us as the program itself
		os.Unsetenv(asProgram)
		if file := os.Getenv(peakFile); file != "" {
			os.Unsetenv(peakFile)
			status := run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)
			text, _ := os.ReadFile("/proc/self/status")
			_ = os.WriteFile(file, text, 0o600)
			os.Exit(status)
		}
		main()
	}
	dir, err := os.MkdirTemp("", "parallax-test-*")
	if err != nil {
		panic(err)
	}
	os.Setenv("PARALLAX_CACHE", dir)
	debug.SetGCPercent(100) // as the program runs: what fits into a budget is tested here
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

func TestExitStatusTellsWrongUsageFromBadInput(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.json")
	os.WriteFile(empty, nil, 0o644)
	garbage := filepath.Join(t.TempDir(), "garbage.bin")
	os.WriteFile(garbage, []byte("\x00\x01\x02 nothing that anybody writes"), 0o644)
	for _, c := range []struct {
		name   string
		args   []string
		status int
		want   string // part of stderr
	}{
		{"help", []string{"help"}, 0, ""},
		{"help of a verb", []string{"help", "view"}, 0, ""},
		{"--help of a verb", []string{"info", "--help"}, 0, ""},
		{"an unknown verb", []string{"frobnicate"}, 2, "neither a command nor a file"},
		{"an unknown flag", []string{"info", "--colours"}, 2, "parallax help info"},
		{"no source", []string{"info"}, 2, "no source given"},
		{"no such file", []string{"info", "no/such/file"}, 1, "no/such/file"},
		{"an empty file", []string{"info", empty}, 1, "empty"},
		{"an unknown format", []string{"info", garbage}, 1, "garbage.bin"},
		{"no such view", []string{"view", "pie", "demo:stencil"}, 2, "no view \"pie\""},
		{"an ending nobody writes", []string{"view", "timeline", "demo:stencil", "-o", "x.gif"}, 2, ".svg"},
		{"an option of another view", []string{"view", "activity", "demo:stencil", "--ring", "4"}, 2, "has no option --ring"},
		{"a location nobody has", []string{"view", "activity", "demo:stencil", "--locations", "nobody"}, 1, "matches none"},
		{"an empty time range", []string{"view", "activity", "demo:stencil", "--from", "90%", "--to", "10%"}, 1, "empty"},
		{"a picture too large", []string{"view", "activity", "demo:stencil", "--size", "99999x9"}, 2, "WIDTHxHEIGHT"},
		{"no such demo", []string{"info", "demo:nothing"}, 2, "demo --list"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, _, stderr := parallax(t, c.args...)
			if status != c.status || !strings.Contains(stderr, c.want) {
				t.Errorf("status %d, stderr %q; want %d, %q", status, stderr, c.status, c.want)
			}
			if status != 0 && !strings.HasPrefix(stderr, "parallax: ") {
				t.Errorf("stderr must say who speaks: %q", stderr)
			}
		})
	}
}

func TestInfoListsTheContentOfASource(t *testing.T) {
	status, stdout, stderr := parallax(t, "info", "demo:stencil", "--json")
	if status != 0 {
		t.Fatal(stderr)
	}
	var info map[string]any
	if err := json.Unmarshal([]byte(stdout), &info); err != nil {
		t.Fatal(err)
	}
	if info["ranks"] != 64.0 || info["begin"] != 0.0 || info["intervals"].(float64) < 10000 {
		t.Errorf("ranks %v, begin %v, intervals %v", info["ranks"], info["begin"], info["intervals"])
	}
	for _, list := range []string{"sources", "region_table", "metrics", "topologies", "report"} {
		if _, ok := info[list].([]any); !ok {
			t.Errorf("%s is %v, want a list", list, info[list])
		}
	}
	var exclusive, calls float64
	for _, r := range info["region_table"].([]any) {
		exclusive += r.(map[string]any)["exclusive"].(float64)
		calls += r.(map[string]any)["calls"].(float64)
	}
	if calls != info["intervals"] || exclusive <= 0 {
		t.Errorf("the region table has %v calls, the run %v intervals", calls, info["intervals"])
	}
}

func TestViewsAreWrittenInEveryForm(t *testing.T) {
	dir := t.TempDir()
	for ending, magic := range map[string]string{"svg": "<svg", "png": "\x89PNG", "pdf": "%PDF", "json": "{\"view\":\"timeline\"", "csv": ""} {
		file := filepath.Join(dir, "x."+ending)
		if status, _, stderr := parallax(t, "view", "timeline", "demo:stencil", "-o", file, "--size", "800x400"); status != 0 {
			t.Fatalf("%s: %s", ending, stderr)
		}
		b, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(b[:min(len(b), 300)]), magic) || len(b) < 100 {
			t.Errorf("%s begins with %q, %v", ending, b[:min(len(b), 60)], err)
		}
	}
	left, _ := os.ReadDir(dir)
	if len(left) != 5 {
		t.Errorf("%d files are left, want 5 and no temporary one", len(left))
	}
}

// A run that is given and not shown is a wrong answer: every view shows it, or says no.
func TestNoViewIgnoresAFurtherRun(t *testing.T) {
	for _, v := range views.Views {
		status, one, stderr := parallax(t, "view", v.Name, "--run", "a=demo:stencil", "--size", "500x300")
		// A view may say what it needs and the demo has not.
		if status != 0 && !strings.Contains(stderr, "needs") && !strings.Contains(stderr, "in the selection; ") && !strings.Contains(stderr, "takes two runs or more") {
			t.Fatalf("%s: %s", v.Name, stderr)
		}
		status, two, stderr := parallax(t, "view", v.Name, "--run", "a=demo:stencil", "--run", "b=demo:pascal", "--size", "500x300")
		switch {
		case v.Runs < 2 && (status != 2 || !strings.Contains(stderr, "shows one run, and 2 are given") || !strings.Contains(stderr, "contrast")):
			t.Errorf("%s: status %d, %q", v.Name, status, stderr)
		case status == 1 && strings.Contains(stderr, "this view needs"): // neither run has it
		case v.Runs >= 2 && (status != 0 || one == two):
			t.Errorf("%s shows the same with and without another run; status %d, %s", v.Name, status, stderr)
		}
	}
	if status, _, stderr := parallax(t, "view", "contrast", "demo:stencil", "--run", "b=demo:stencil", "--run", "c=demo:stencil"); status != 2 || !strings.Contains(stderr, "at most 2 runs") {
		t.Errorf("status %d, %q", status, stderr)
	}
}

func TestFlagsOfTheReleaseBeforeAreAccepted(t *testing.T) {
	for _, args := range [][]string{{"callmatrix", "--stretch", "linear"}, {"callmatrix", "--alike", "time"}, {"profile", "--hues", "safe"}, {"profile", "--region", "MPI_*"}} {
		if status, _, stderr := parallax(t, append([]string{"view", args[0], "demo:stencil?intervals=500", "--size", "500x300"}, args[1:]...)...); status != 0 {
			t.Errorf("%v: status %d, %s", args, status, stderr)
		}
	}
}

func TestTheSameRequestGivesTheSameBytes(t *testing.T) {
	_, a, _ := parallax(t, "view", "activity", "demo:stencil", "--from", "100ms", "--to", "50%", "--locations", "rank:0-7")
	_, b, _ := parallax(t, "view", "activity", "demo:stencil", "--from", "100ms", "--to", "50%", "--locations", "rank:0-7")
	if a != b || !json.Valid([]byte(a)) {
		t.Error("two runs of the same command differ")
	}
}

func TestStoresAreKeptWhileTheirSourceStaysTheSame(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "t.json")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	count := func() string {
		_, stdout, stderr := parallax(t, "info", file, "--json", "--cache", filepath.Join(dir, "cache"))
		var info struct{ Intervals json.Number }
		if err := json.Unmarshal([]byte(stdout), &info); err != nil {
			t.Fatal(err, stderr)
		}
		return info.Intervals.String()
	}
	stores := func() int {
		list, _ := filepath.Glob(filepath.Join(dir, "cache", "*.plx"))
		return len(list)
	}
	one := `{"name":"a","ph":"X","ts":1,"dur":5,"pid":1,"tid":1}`
	write("[" + one + "]")
	if a, b := count(), count(); a != "1" || b != "1" || stores() != 1 {
		t.Errorf("%s and %s intervals in %d stores, want 1 and 1 in 1", a, b, stores())
	}
	write("[" + one + "," + strings.Replace(one, `"ts":1`, `"ts":9`, 1) + "]")
	if n := count(); n != "2" || stores() != 2 {
		t.Errorf("after a change: %s intervals in %d stores, want 2 in 2", n, stores())
	}
	if status, _, _ := parallax(t, "cache", "clear", "--cache", filepath.Join(dir, "cache")); status != 0 || stores() != 0 {
		t.Errorf("%d stores are left after a clear", stores())
	}
}

func TestImportedStoresOpenLikeTheirSource(t *testing.T) {
	store := filepath.Join(t.TempDir(), "run.plx")
	if status, stdout, stderr := parallax(t, "import", "demo:stencil", "-o", store); status != 0 || !strings.Contains(stdout, "intervals") {
		t.Fatal(stdout, stderr)
	}
	strip := func(s string) string { _, rest, _ := strings.Cut(s, `"selection"`); return rest }
	_, a, _ := parallax(t, "view", "activity", store)
	_, b, _ := parallax(t, "view", "activity", "demo:stencil")
	if strip(a) != strip(b) {
		t.Error("the store and its source give different numbers")
	}
}

func TestSeveralRunsInADirectoryAreListedNotMixed(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"a.json", "b.json"} {
		os.WriteFile(filepath.Join(dir, n), []byte(`[{"name":"`+n+`","ph":"X","ts":1,"dur":5,"pid":1,"tid":1}]`), 0o644)
	}
	status, _, stderr := parallax(t, "info", dir)
	if status != 1 || !strings.Contains(stderr, "a.json") || !strings.Contains(stderr, "b.json") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

func TestSizesAreReadWithUnits(t *testing.T) {
	for s, want := range map[string]int64{"256MiB": 256 << 20, "2G": 2 << 30, "1000": 1000, "1.5k": 1536, "1TiB": 1 << 40} {
		if got, err := parseSize(s); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "MiB", "-1G", "1X"} {
		if got, err := parseSize(s); err == nil {
			t.Errorf("%q is read as %d", s, got)
		}
	}
}
