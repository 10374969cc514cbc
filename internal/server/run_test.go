package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/view"
)

// state waits until a run is in a state.
func (h *harness) state(id, want string) runState {
	h.t.Helper()
	var all []runState
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		h.get("/api/runs", 200, &all)
		for _, s := range all {
			if s.ID == id && s.State == want {
				return s
			}
		}
	}
	h.t.Fatalf("run %q is never %s: %+v", id, want, all)
	return runState{}
}

// withOpener starts a server without runs that opens by f.
func withOpener(t *testing.T, f Opener) *harness {
	t.Helper()
	return start(t, func(c *Config) { c.Runs, c.Open = nil, f })
}

func (h *harness) open(body string, status int) []runState {
	h.t.Helper()
	answer, text := h.ask("POST", "/api/runs", body, nil)
	if answer.StatusCode != status {
		h.t.Fatalf("POST /api/runs %s answers %d, want %d: %s", body, answer.StatusCode, status, text)
	}
	var out []runState
	if status < 300 {
		if err := json.Unmarshal([]byte(text), &out); err != nil {
			h.t.Fatal(err)
		}
	}
	return out
}

func TestOpeningShowsProgressAndThenTheRun(t *testing.T) {
	halfway, goOn := make(chan struct{}), make(chan struct{})
	calls := 0
	h := withOpener(t, func(_ context.Context, o Opening) ([]view.Run, error) {
		calls++
		o.Progress(50, 200)
		close(halfway)
		<-goOn
		return []view.Run{{Name: "Stencil", Source: o.Sources[0], Store: storetest.Text(t, small)}}, nil
	})
	got := h.open(`{"sources": ["demo:stencil"]}`, 202)
	if len(got) != 1 || got[0].ID != "stencil" || got[0].State != "importing" {
		t.Fatalf("got %+v", got)
	}
	<-halfway
	if s := h.state("stencil", "importing"); s.Progress != 0.25 {
		t.Errorf("progress %g, want 0.25", s.Progress)
	}
	h.failure("/api/runs/stencil/info", 409, "importing", "still")
	h.open(`{"sources": ["demo:stencil"]}`, 202) // asking again does not import again
	close(goOn)
	if s := h.state("stencil", "ready"); s.Name != "Stencil" || s.Progress != 1 || s.Generation == "" {
		t.Errorf("got %+v", s)
	}
	h.open(`{"sources": ["demo:stencil"]}`, 202)
	if calls != 1 {
		t.Errorf("imported %d times, want once", calls)
	}
	h.get("/api/runs/stencil/info", 200, nil)
}

// The clocks of a run are fitted on request: its sources are opened once more, beside it.
func TestARunIsOpenedOnceMoreWithItsClocksFitted(t *testing.T) {
	h := withOpener(t, func(_ context.Context, o Opening) ([]view.Run, error) {
		text := small
		if o.Align == "messages" {
			text = "property \"clock alignment\" \"by calls\"\n" + text
		}
		return []view.Run{{Name: "Shop", Source: o.Sources[0], Store: storetest.Text(t, text)}}, nil
	})
	h.open(`{"sources": ["shop.json"]}`, 202)
	h.state("shop.json", "ready")
	for range 2 { // asked twice it is the same run
		if got := h.open(`{"like": "shop.json", "align": "messages"}`, 202); len(got) != 1 || got[0].ID != "Shop--clocks-fitted" {
			t.Fatalf("got %+v", got)
		}
		if s := h.state("Shop--clocks-fitted", "ready"); s.Name != "Shop, clocks fitted" || s.Source != "shop.json" {
			t.Errorf("got %+v", s)
		}
	}
	h.open(`{"like": "shop.json", "align": "collectives"}`, 202)
	if s := h.state("Shop--clocks-fitted-2", "failed"); s.Error == nil || !strings.Contains(s.Error.Message, "no clocks were fitted") {
		t.Errorf("got %+v", s)
	}
	h.open(`{"like": "shop.json"}`, 400)
	h.open(`{"like": "shop.json", "align": "magic"}`, 400)
	h.open(`{"like": "nobody", "align": "messages"}`, 404)
}

func TestFailedImportSaysWhatAndWhatToDo(t *testing.T) {
	broken := true
	h := withOpener(t, func(context.Context, Opening) ([]view.Run, error) {
		if !broken {
			return []view.Run{{Name: "a", Store: storetest.Text(t, small)}}, nil
		}
		return nil, fmt.Errorf("import: %w", &importer.Error{File: "a.prv", Place: "line 12", Cause: "7 fields, want 8", Hint: "is it cut off?", Kind: importer.ErrMalformed})
	})
	h.open(`{"sources": ["a.prv"]}`, 202)
	e := h.state("a.prv", "failed").Error
	if e == nil || e.Kind != "malformed" || e.Hint != "is it cut off?" || !strings.Contains(e.Message, "line 12") || strings.Contains(e.Message, "cut off") {
		t.Errorf("got %+v", e)
	}
	h.failure("/api/runs/a.prv/info", 409, "malformed", "line 12")
	broken = false
	h.open(`{"sources": ["a.prv"]}`, 202) // a failed one may be tried again
	h.state("a.prv", "ready")
}

func TestSourcesMayBeSeveralRunsAndSomeMayFail(t *testing.T) {
	h := withOpener(t, func(context.Context, Opening) ([]view.Run, error) {
		return []view.Run{{Name: "one", Source: "d/one", Store: storetest.Text(t, small)}, {Name: "two", Source: "d/two", Store: storetest.Text(t, small)}}, errors.New("d/three: unknown format")
	})
	h.open(`{"sources": ["d"]}`, 202)
	h.state("d", "ready")
	h.state("two", "ready")
	if e := h.state("d-failed", "failed").Error; e == nil || !strings.Contains(e.Message, "three") {
		t.Errorf("got %+v", e)
	}
}

func TestPanicInAReaderIsAFailedImport(t *testing.T) {
	h := withOpener(t, func(context.Context, Opening) ([]view.Run, error) { panic("reader") })
	h.open(`{"sources": ["x"]}`, 202)
	if e := h.state("x", "failed").Error; e == nil || e.Kind != "internal" {
		t.Errorf("got %+v", e)
	}
}

func TestClosingAnImportCancelsIt(t *testing.T) {
	started, cancelled := make(chan struct{}), make(chan struct{})
	h := withOpener(t, func(ctx context.Context, _ Opening) ([]view.Run, error) {
		close(started)
		<-ctx.Done()
		close(cancelled)
		return nil, ctx.Err()
	})
	h.open(`{"sources": ["x"]}`, 202)
	within(t, "the import starts", started)
	h.ask("DELETE", "/api/runs/x", "", nil)
	within(t, "the import is cancelled", cancelled)
}

func TestOpeningRefusesNonsense(t *testing.T) {
	h := withOpener(t, func(context.Context, Opening) ([]view.Run, error) { return nil, errors.New("no") })
	for _, body := range []string{
		``, `{`, `[]`, `{"sources": []}`, `{"sources": [""]}`, `{"sources": "a"}`, `{"other": 1}`, `{"batch": "none"}`,
		`{"sources": ["a\u0000b"]}`, `{"sources": ["` + strings.Repeat("a", 5000) + `"]}`, `{"sources": ["` + strings.Repeat("a", 2<<20) + `"]}`,
	} {
		h.open(body, 400)
	}
	h = start(t, nil) // without an opener
	h.open(`{"sources": ["a"]}`, 404)
}

func TestUploadIsStreamedToDiskAndOpened(t *testing.T) {
	var sources []string
	var content string
	h := withOpener(t, func(_ context.Context, o Opening) ([]view.Run, error) {
		sources = o.Sources
		b, err := os.ReadFile(o.Sources[0])
		content = string(b)
		return []view.Run{{Name: filepath.Base(o.Sources[0]), Source: o.Sources[0], Store: storetest.Text(t, small)}}, err
	})
	answer, body := h.ask("POST", "/api/upload?name=my+trace.json", "records", nil)
	if answer.StatusCode != 202 || !strings.Contains(body, `"my-trace.json"`) {
		t.Fatalf("answers %d %s", answer.StatusCode, body)
	}
	h.state("my-trace.json", "ready")
	if content != "records" {
		t.Errorf("the file holds %q", content)
	}
	h.ask("DELETE", "/api/runs/my-trace.json", "", nil)
	if _, err := os.Stat(sources[0]); !errors.Is(err, os.ErrNotExist) {
		t.Error("the upload outlives its run:", err)
	}
	if h.s.uploads.bytes != 0 {
		t.Errorf("%d bytes are still counted", h.s.uploads.bytes)
	}
}

func TestFilesOfABatchAreOpenedTogether(t *testing.T) {
	var found []string
	h := withOpener(t, func(_ context.Context, o Opening) ([]view.Run, error) {
		err := filepath.WalkDir(o.Sources[0], func(p string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				rel, _ := filepath.Rel(o.Sources[0], p)
				found = append(found, filepath.ToSlash(rel))
			}
			return err
		})
		return []view.Run{{Name: filepath.Base(o.Sources[0]), Store: storetest.Text(t, small)}}, err
	})
	for _, name := range []string{"run/a/0.evt", "run/a/1.evt", "run/traces.otf2"} {
		if answer, body := h.ask("POST", "/api/upload?batch=b1&name="+name, "x", nil); answer.StatusCode != 201 {
			t.Fatalf("%s answers %d %s", name, answer.StatusCode, body)
		}
	}
	if answer, _ := h.ask("POST", "/api/upload?batch=b1&name=run/a/0.evt", "again", nil); answer.StatusCode != 400 {
		t.Errorf("the same name twice answers %d", answer.StatusCode)
	}
	h.open(`{"batch": "b1"}`, 202)
	h.state("run", "ready")
	if strings.Join(found, " ") != "a/0.evt a/1.evt traces.otf2" {
		t.Errorf("found %v", found)
	}
}

func TestUploadsStayInTheirDirectory(t *testing.T) {
	dir := t.TempDir()
	h := start(t, func(c *Config) {
		c.UploadDir = filepath.Join(dir, "up")
		os.Mkdir(c.UploadDir, 0o700)
		c.Open = func(context.Context, Opening) ([]view.Run, error) { return nil, errors.New("no") }
	})
	for _, name := range []string{
		"", ".", "..", "../evil", "a/../../evil", "/etc/evil", "a//b", "./a", "a/", "a%00b", `..\evil`, `C:\evil`, "a%2F..%2F..%2Fevil",
		strings.Repeat("a", 300), strings.Repeat("a/", 600) + "b",
	} {
		if answer, body := h.ask("POST", "/api/upload?batch=b&name="+name, "x", nil); answer.StatusCode != 400 {
			t.Errorf("%.40q answers %d %s", name, answer.StatusCode, body)
		}
	}
	left, _ := os.ReadDir(dir)
	if len(left) != 1 {
		t.Errorf("files were written outside: %v", left)
	}
}

func TestUploadsAreLimited(t *testing.T) {
	h := start(t, func(c *Config) {
		c.UploadLimit = 1000
		c.Open = func(context.Context, Opening) ([]view.Run, error) { return nil, errors.New("no") }
	})
	send := func(name string, n int) int {
		answer, _ := h.ask("POST", "/api/upload?batch=b&name="+name, strings.Repeat("x", n), nil)
		return answer.StatusCode
	}
	if s := send("a", 600); s != 201 {
		t.Errorf("600 bytes answer %d", s)
	}
	if s := send("b", 600); s != 413 {
		t.Errorf("600 more answer %d, want 413", s)
	}
	if s := send("c", 300); s != 201 {
		t.Errorf("300 bytes answer %d: room was lost", s)
	}
}
