package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/server"
	"github.com/spf13/pflag"
)

type faulty struct{}

func (faulty) Write([]byte) (int, error) { panic("made to fail") }

func TestInternalErrorsHaveTheirOwnExitStatus(t *testing.T) {
	var errs bytes.Buffer
	if status := run(context.Background(), []string{"version"}, faulty{}, &errs); status != 3 || !strings.Contains(errs.String(), "internal error") || !strings.Contains(errs.String(), "made to fail") {
		t.Errorf("%d: %s", status, &errs)
	}
}

func TestValuesNearTheLargestAreShown(t *testing.T) {
	dir := t.TempDir()
	for rank, most := range []string{"1.7e308", "9e307", "9e307"} {
		text := "3 templated_functions_MULTI_TIME\n# Name Calls Subrs Excl Incl ProfileCalls # <metadata></metadata>\n" +
			"\"main\" 1 2 1e308 " + most + " 0 GROUP=\"A\"\n\"a\" 1e308 0 " + most + " " + most + " 0 GROUP=\"A\"\n\"b\" 1 0 5 1e308 0 GROUP=\"A\"\n0 aggregates\n0 userevents\n"
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("profile.%d.0.0", rank)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"view", "profile", dir, "--quiet"}, {"view", "groups", dir, "--quiet"}, {"view", "boxprofile", dir, "--quiet"}, {"view", "histogram", dir, "--quiet"}, {"view", "treemap", dir, "--quiet"}, {"info", dir, "--json", "--quiet"}} {
		status, out, errs := parallax(t, args...)
		var any any
		if err := json.Unmarshal([]byte(out), &any); err != nil || status != 0 {
			t.Errorf("%v: %d %v %s", args, status, err, errs)
		}
		if args[1] == "profile" && !strings.Contains(out, "are null") {
			t.Errorf("no note: %s", out)
		}
	}
}

func TestTheProgramCarriesTheLicencesOfOthers(t *testing.T) {
	status, out, _ := parallax(t, "licences")
	if status != 0 || !strings.Contains(out, "github.com/spf13/pflag") || !strings.Contains(out, "Redistribution") {
		t.Errorf("%d: %.200s", status, out)
	}
}

func TestTablesForASpreadsheetHoldNoFormula(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "a.json")
	os.WriteFile(source, []byte(`{"traceEvents":[{"ph":"X","name":"=HYPERLINK(1)","pid":1,"tid":1,"ts":0,"dur":5},{"ph":"X","name":"@SUM(1)","pid":1,"tid":1,"ts":9,"dur":5},{"ph":"X","name":"+cmd|x","pid":1,"tid":1,"ts":16,"dur":5}]}`), 0o600)
	for _, sheet := range []bool{false, true} {
		out := filepath.Join(dir, "x.csv")
		args := []string{"view", "profile", source, "-o", out, "--quiet"}
		if sheet {
			args = append(args, "--spreadsheet")
		}
		if status, _, errs := parallax(t, args...); status != 0 {
			t.Fatal(errs)
		}
		text, _ := os.ReadFile(out)
		for _, name := range []string{"=HYPERLINK(1)", "@SUM(1)", "+cmd|x"} {
			if guarded := strings.Contains(string(text), "\n'"+name+","); guarded != sheet {
				t.Errorf("for a spreadsheet: %v, %s guarded: %v", sheet, name, guarded)
			}
		}
	}
}

func TestAnUploadLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	fs := pflag.NewFlagSet("open", pflag.ContinueOnError)
	openFlags(fs)
	cache := filepath.Join(dir, "cache")
	if err := fs.Parse([]string{"--cache", cache}); err != nil {
		t.Fatal(err)
	}
	e := &env{stdout: io.Discard, stderr: io.Discard, flags: fs, budget: memory.New(1 << 30)}
	l, err := e.loader()
	if err != nil {
		t.Fatal(err)
	}
	c := e.serverConfig(l, nil)
	c.Token, c.UploadDir = "token", filepath.Join(dir, "uploads")
	os.Mkdir(c.UploadDir, 0o700)
	s, err := server.New(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ask := func(method, path, body string) (int, string) {
		r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer token")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	if status, body := ask(http.MethodPost, "/api/upload?name=up.json", `{"traceEvents":[{"ph":"X","name":"w","pid":1,"tid":1,"ts":0,"dur":5}]}`); status != 202 {
		t.Fatalf("%d %s", status, body)
	}
	for range 24_000 {
		if _, body := ask(http.MethodGet, "/api/runs", ""); strings.Contains(body, `"ready"`) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if status, body := ask(http.MethodGet, "/api/runs/up.json/views/profile/data", ""); status != 200 || !strings.Contains(body, `"w"`) {
		t.Fatalf("%d %s", status, body)
	}
	if status, _ := ask(http.MethodDelete, "/api/runs/up.json", ""); status != 204 {
		t.Fatalf("%d", status)
	}
	stores, _ := filepath.Glob(filepath.Join(cache, "*.plx"))
	uploads, _ := filepath.Glob(filepath.Join(c.UploadDir, "*", "*"))
	if len(stores) > 0 || len(uploads) > 0 {
		t.Errorf("after it was closed there are %v %v", stores, uploads)
	}
	s.Close()
	if left, _ := os.ReadDir(c.UploadDir); len(left) > 0 {
		t.Errorf("after the end there is %v", left)
	}
}

// An upload that is opened once more with its clocks fitted is kept with the upload, too.
func TestAnUploadWithFittedClocksIsKeptWithTheUpload(t *testing.T) {
	c, err := load.OpenCache(filepath.Join(t.TempDir(), "cache"))
	if err != nil {
		t.Fatal(err)
	}
	source, keep := filepath.Join(t.TempDir(), "up.json"), t.TempDir()
	trace := `{"traceEvents":[{"ph":"X","name":"w","pid":1,"tid":1,"ts":0,"dur":5}]}`
	if err := os.WriteFile(source, []byte(trace), 0o600); err != nil {
		t.Fatal(err)
	}
	runs, err := openFor(context.Background(), newLoader(c, 64<<20, nil), server.Opening{
		Sources: []string{source}, Align: "messages", Keep: keep, Progress: func(int64, int64) {},
	}, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		r.Store.Close()
	}
	stores, _ := filepath.Glob(filepath.Join(c.Dir, "*.plx"))
	kept, _ := filepath.Glob(filepath.Join(keep, "*.plx"))
	if len(stores) > 0 || len(kept) != 1 {
		t.Errorf("in the cache of all runs: %v; with the upload: %v", stores, kept)
	}
}

func TestATableThatDoesNotFitIsRefused(t *testing.T) {
	source := "demo:uniform?locations=16&intervals=200000" // nearly every call has a path of its own
	for kind, want := range map[string]int{"csv": 1, "svg": 0} {
		file := filepath.Join(t.TempDir(), "x."+kind)
		status, _, errs := parallax(t, "view", "calltree", source, "--quiet", "--memory", "128MiB", "-o", file)
		if status != want || (want == 1) != strings.Contains(errs, "128 MiB of memory") {
			t.Errorf("%s: status %d, want %d: %s", kind, status, want, errs)
		}
		if _, err := os.Stat(file); (err == nil) != (want == 0) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
