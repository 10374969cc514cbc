package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"go.uber.org/goleak"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const small = `
region solve role=compute
region MPI_Send role=communication category=MPI
location machine node0
  location process "rank 0" rank=0
    0..100 solve
      10..20 MPI_Send
      30..60 MPI_Send
  location process "rank 1" rank=1
    0..50 solve
location machine node1
  location process "rank 2" rank=2
    0..80 solve
      0..80 MPI_Send
  location process <script> rank=3
`

// A probe is a view for tests: it counts what is asked of it, and does as told.
type probe struct {
	computed, drawn atomic.Int64
	compute         func(context.Context, *view.Request) error
	rects           int
}

func (p *probe) view() *view.View {
	return &view.View{
		Name: "probe", Title: "Probe", Summary: "for tests", HowToRead: "Do not.", Runs: 2,
		Needs: view.Needs{Intervals: true}, Options: view.Use("top", "busy", "show", "p"),
		Compute: func(ctx context.Context, q *view.Request) (view.Result, error) {
			p.computed.Add(1)
			if p.compute != nil {
				if err := p.compute(ctx, q); err != nil {
					return nil, err
				}
			}
			return &probeResult{probe: p, q: q}, ctx.Err()
		},
	}
}

type probeResult struct {
	probe *probe
	q     *view.Request
}

func (r *probeResult) Data() any {
	return map[string]any{"begin": r.q.Selection.Begin, "end": r.q.Selection.End, "locations": r.q.Selection.Locations, "regions": r.q.Selection.Regions, "runs": len(r.q.Runs)}
}

func (r *probeResult) Table() *view.Table {
	nan := 0.0
	return &view.Table{
		Columns: []view.Column{{Name: "name", Unit: ""}, {Name: "time", Unit: "ns"}, {Name: "share", Unit: "share"}},
		Rows:    [][]any{{"b", int64(2), 0.5}, {"a", int64(10), nan / nan}, {"c", nil, 0.25}},
		Regions: []trace.RegionID{1, 0, 2},
	}
}

func (r *probeResult) Scene(size scene.Size) *scene.Scene {
	r.probe.drawn.Add(1)
	s := scene.New(size, "probe", "A probe.")
	m := &scene.Rect{}
	m.Add(10, 10, 20, 20, scene.UIData)
	m.SetItem(s.Item(1, size.Width, size.Height))
	for i := range r.probe.rects {
		m.Add(float32(i)*float32(size.Width)/float32(r.probe.rects), 40, 0.1, 8, scene.UIData)
	}
	s.AddLayer("bars", -1, m)
	return s
}

func (r *probeResult) Fact(it scene.Item) (view.Fact, bool) {
	return view.Fact{Title: fmt.Sprintf("a box in %d × %d", it.A, it.B)}, true
}

func (r *probeResult) Notes() []string { return []string{"a note"} }

// A harness is a server behind an HTTP listener, and a client that holds its token.
type harness struct {
	t    *testing.T
	s    *Server
	http *httptest.Server
}

func start(t *testing.T, change func(*Config)) *harness {
	t.Helper()
	c := Config{
		Version: "test", Token: "secret", Views: []*view.View{(&probe{}).view()},
		Formats: []*importer.Format{{Name: "paje", Title: "Paje", Import: func(context.Context, importer.Run, trace.Writer) error { return nil }}, {Name: "cube", Title: "Cube", Advice: "convert it"}},
		Runs:    []view.Run{{Name: "small.trace", Source: "small.trace", Store: storetest.Text(t, small)}},
		Assets: fstest.MapFS{
			"index.html": {Data: []byte("<!doctype html><title>Parallax</title>" + strings.Repeat(" ", 500))},
			"main.js":    {Data: []byte("export {}")},
		},
		UploadDir: t.TempDir(),
		Demos:     []Demo{{Name: "stencil", Title: "Stencil", Truth: "node 3 is slow"}},
		Export: map[string]Exporter{"svg": func(w io.Writer, s *scene.Scene, theme scene.Theme) error {
			_, err := fmt.Fprintf(w, "<svg %s %g>", theme, s.Width)
			return err
		}},
	}
	if change != nil {
		change(&c)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{t: t, s: s, http: httptest.NewServer(s)}
	t.Cleanup(func() {
		h.http.Client().CloseIdleConnections()
		h.http.Close()
		s.Close()
	})
	return h
}

// ask sends a request with the token; change may alter it.
func (h *harness) ask(method, path, body string, change func(*http.Request)) (*http.Response, string) {
	h.t.Helper()
	r, err := http.NewRequest(method, h.http.URL+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer secret")
	if strings.HasPrefix(body, "{") || path == "/api/runs" {
		r.Header.Set("Content-Type", "application/json")
	}
	if change != nil {
		change(r)
	}
	client := *h.http.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := client.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return answer, string(got)
}

// get wants a status and reads the JSON answer into v, where given.
func (h *harness) get(path string, status int, v any) string {
	h.t.Helper()
	answer, body := h.ask("GET", path, "", nil)
	if answer.StatusCode != status {
		h.t.Fatalf("GET %s answers %d, want %d: %s", path, answer.StatusCode, status, body)
	}
	if v != nil {
		if err := json.Unmarshal([]byte(body), v); err != nil {
			h.t.Fatalf("GET %s: %v in %s", path, err, body)
		}
	}
	return body
}

// failure wants an error of a kind that says a word.
func (h *harness) failure(path string, status int, kind, word string) {
	h.t.Helper()
	var e apiError
	body := h.get(path, status, &e)
	if e.Kind != kind || !strings.Contains(body, word) {
		h.t.Errorf("GET %s gives %s, want kind %q with %q", path, body, kind, word)
	}
}

func TestListsOfTheAPIHaveTheirContent(t *testing.T) {
	h := start(t, nil)
	for path, words := range map[string][]string{
		"/api/session": {`"version":"test"`, `"remote":false`, `"canOpen":false`, `"beside":false`},
		"/api/views":   {`"name":"probe"`, `"howToRead":"Do not."`, `"intervals":true`, `"name":"top"`, `"choices":["dominant"`},
		"/api/formats": {`"name":"paje","title":"Paje","reads":true`, `"reads":false,"advice":"convert it"`},
		"/api/home":    {`"truth":"node 3 is slow"`, `"recent":[]`},
		"/api/runs":    {`"id":"small.trace"`, `"state":"ready"`, `"progress":1`, `"error":null`, `"missing":{}`},
	} {
		body := h.get(path, 200, nil)
		for _, w := range words {
			if !strings.Contains(body, w) {
				t.Errorf("%s lacks %s: %s", path, w, body)
			}
		}
	}
}

func TestUnknownPathsRunsAndViewsAreNotFound(t *testing.T) {
	h := start(t, nil)
	h.failure("/api/nothing", 404, "not-found", "no such path")
	h.failure("/api/runs/other/info", 404, "not-found", "other")
	h.failure("/api/runs/small.trace/views/none/scene", 404, "not-found", "none")
	h.failure("/api/runs/small.trace/views/probe/blob", 404, "not-found", "blob")
	h.get("/missing.js", 404, nil)
}

func TestInfoIsThatOfTheCommandLine(t *testing.T) {
	h := start(t, nil)
	var got view.InfoJSON
	h.get("/api/runs/small.trace/info", 200, &got)
	if got.Locations != 6 || got.Intervals != 6 || got.Ranks != 4 || len(got.RegionTable) != 2 {
		t.Errorf("got %+v", got)
	}
}

// brokenReader is a store whose queries fail.
type brokenReader struct{ store.Reader }

func (brokenReader) Time(context.Context, store.Window) (*store.TimeTable, error) {
	return nil, errors.New("read column: disk error")
}

func TestAFailingStoreIsAReadableError(t *testing.T) {
	h := start(t, func(c *Config) { c.Runs[0].Store = brokenReader{c.Runs[0].Store} })
	h.failure("/api/runs/small.trace/info", 422, "failed", "disk error")
}

func TestRunsGetIDsThatAreGoodInAddresses(t *testing.T) {
	for name, want := range map[string]string{
		"run.otf2": "run.otf2", "/a/b c/": "b-c", "": "run", "..": "run", "<script>": "script", "ä": "run", strings.Repeat("x", 99): strings.Repeat("x", 60),
	} {
		if got := slug(name); got != want {
			t.Errorf("slug(%q) = %q, want %q", name, got, want)
		}
	}
	h := start(t, func(c *Config) {
		for range 2 {
			c.Runs = append(c.Runs, view.Run{Name: "small.trace", Store: storetest.Text(t, small)})
		}
	})
	body := h.get("/api/runs", 200, nil)
	if !strings.Contains(body, `"small.trace-2"`) || !strings.Contains(body, `"small.trace-3"`) {
		t.Error("runs of one name share an id:", body)
	}
}

// Nothing of an upload or a run is left behind by a server that was closed.
func TestCloseLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	closed := &closeCounter{Reader: storetest.Text(t, small)}
	h := start(t, func(c *Config) {
		c.UploadDir = dir
		c.Runs[0].Store = closed
		c.Open = func(context.Context, Opening) ([]view.Run, error) { return nil, errors.New("no") }
	})
	h.ask("POST", "/api/upload?name=a.json", "{}", nil)
	h.s.Close()
	if n := closed.count.Load(); n != 1 {
		t.Errorf("the store was closed %d times, want once", n)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%d files are left", len(left))
	}
}

type closeCounter struct {
	store.Reader
	count atomic.Int64
}

func (c *closeCounter) Close() error { c.count.Add(1); return nil }
