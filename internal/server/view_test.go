package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/parallax-hpc/parallax/internal/render/wire"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/view"
)

const probeURL = "/api/runs/small.trace/views/probe/"

// withProbe starts a server whose one view is the probe.
func withProbe(t *testing.T, p *probe) *harness {
	t.Helper()
	return start(t, func(c *Config) { c.Views = []*view.View{p.view()} })
}

// header reads the JSON header of a scene.
func header(t *testing.T, body string) map[string]any {
	t.Helper()
	if len(body) < 4 {
		t.Fatalf("a scene of %d bytes", len(body))
	}
	n := int(body[0]) | int(body[1])<<8 | int(body[2])<<16 | int(body[3])<<24
	var h map[string]any
	if err := json.Unmarshal([]byte(body[4:4+n]), &h); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestOneResultServesPictureTableDataAndPick(t *testing.T) {
	p := &probe{}
	h := withProbe(t, p)
	q := "?width=300&height=200&from=10&to=50%25&top=3"
	answer, body := h.ask("GET", probeURL+"scene"+q, "", nil)
	if answer.Header.Get("Content-Type") != wire.ContentType || header(t, body)["width"] != 300.0 {
		t.Errorf("scene is %s of %v", answer.Header.Get("Content-Type"), header(t, body)["width"])
	}
	if notes := header(t, body)["notes"]; len(notes.([]any)) != 1 {
		t.Errorf("the result's notes are missing: %v", notes)
	}
	var pick pickJSON
	h.get(probeURL+"pick"+q+"&x=15&y=15.5", 200, &pick)
	if pick.Fact == nil || pick.Fact.Title != "a box in 300 × 200" {
		t.Errorf("pick gives %+v", pick.Fact)
	}
	h.get(probeURL+"pick"+q+"&x=0&y=0", 200, &pick)
	if pick.Fact != nil {
		t.Errorf("nothing is there, but pick gives %+v", pick.Fact)
	}
	h.get(probeURL+"table"+q, 200, nil)
	h.get(probeURL+"data"+q, 200, nil)
	h.get(probeURL+"scene?top=3&to=50%25&from=10&height=200&width=300", 200, nil) // another order, the same request
	if n := p.computed.Load(); n != 1 {
		t.Errorf("computed %d times, want once", n)
	}
	if n := p.drawn.Load(); n != 1 {
		t.Errorf("drawn %d times, want once", n)
	}
	h.get(probeURL+"scene"+q+"1", 200, nil)
	if n := p.computed.Load(); n != 2 {
		t.Errorf("another request was computed %d times in all, want 2", n)
	}
}

func TestSelectionAndOptionsReachTheView(t *testing.T) {
	h := start(t, nil)
	var got struct {
		Source    string
		Selection struct{ Begin, End, Locations, Regions int }
		Options   map[string]any
		Notes     []string
		Data      struct{ Locations, Regions []int }
	}
	h.get(probeURL+"data?from=10&to=50ns&locations=node0&locations=%234&regions=MPI_*&busy=a&busy=b&p=0.5", 200, &got)
	if got.Selection.Begin != 10 || got.Selection.End != 50 || got.Selection.Locations != 3 || len(got.Data.Regions) != 1 {
		t.Errorf("selection %+v, data %+v", got.Selection, got.Data)
	}
	if len(got.Options["busy"].([]any)) != 2 || got.Options["p"] != 0.5 || got.Source != "small.trace" {
		t.Errorf("options %+v of %q", got.Options, got.Source)
	}
	h.get(probeURL+"data?locations=%234&locations=%233&locations=%234", 200, &got)
	if len(got.Data.Locations) != 1 || got.Data.Locations[0] != 3 {
		t.Errorf("ids give %v, want the topmost of them", got.Data.Locations)
	}
}

func TestWrongRequestsListTheValidValues(t *testing.T) {
	h := start(t, nil)
	for q, word := range map[string]string{
		"scene?width=0":                                "1 to",
		"scene?width=1e9":                              "1 to",
		"scene?width=NaN":                              "1 to",
		"scene?width=abc":                              "abc",
		"scene?width=16000&height=16000":               "too many",
		"scene?nonsense=1":                             "--nonsense",
		"scene?top=x":                                  "whole number",
		"scene?p=7":                                    "from 0 to 1",
		"scene?show=odd":                               "dominant",
		"scene?top=1&top=2":                            "2 times",
		"scene?from=abc":                               "abc",
		"scene?from=9e999s":                            "number",
		"scene?from=90&to=10":                          "empty",
		"scene?locations=zzz":                          "zzz",
		"scene?locations=re:(":                         "pattern",
		"scene?locations=%23999":                       "999",
		"scene?regions=role:none":                      "role",
		"scene?with=gone":                              "gone",
		"pick?x=1":                                     "y",
		"pick?x=Inf&y=1":                               "x",
		"table?sort=zzz":                               "zzz",
		"table?limit=-1":                               "limit",
		"table?descending=perhaps":                     "descending",
		"export?format=exe":                            "svg",
		"export?format=svg&theme=pink":                 "light or dark",
		"export?format=svg&theme=drak":                 "did you mean dark?",
		"export?format=svg&hues=saef":                  "did you mean safe?",
		"export?format=svq":                            "did you mean svg?",
		"scene?panel=p&seq=x":                          "seq",
		"scene?" + strings.Repeat("locations=a&", 300): "300 times",
		"scene?busy=%zz":                               "escape",
	} {
		answer, body := h.ask("GET", probeURL+q, "", nil)
		if (answer.StatusCode != 400 && answer.StatusCode != 404) || !strings.Contains(body, word) {
			t.Errorf("%.60s answers %d %s, want 400 with %q", q, answer.StatusCode, body, word)
		}
	}
	answer, _ := h.ask("GET", probeURL+"scene?from="+strings.Repeat("9", maxQuery), "", nil)
	if answer.StatusCode != 414 {
		t.Errorf("a query that is too long answers %d, want 414", answer.StatusCode)
	}
}

func TestEmptySelectionIsAnAnswerForThePageAndAnErrorForFiles(t *testing.T) {
	p := &probe{compute: func(context.Context, *view.Request) error { return view.Empty("choose more", "no interval here") }}
	h := withProbe(t, p)
	_, body := h.ask("GET", probeURL+"scene?width=300", "", nil)
	if e := header(t, body)["empty"].(map[string]any); e["what"] != "no interval here" || e["hint"] != "choose more" {
		t.Errorf("scene says %v", e)
	}
	var page tablePage
	h.get(probeURL+"table?width=300", 200, &page)
	if page.Empty == nil || page.Total != 0 {
		t.Errorf("table says %+v", page)
	}
	h.get(probeURL+"pick?width=300&x=1&y=1", 200, nil)
	h.failure(probeURL+"data?width=300", 422, "empty", "choose more")
	h.failure(probeURL+"export?format=csv&width=300", 422, "empty", "no interval")
	if n := p.computed.Load(); n != 1 {
		t.Errorf("an empty selection was computed %d times, want once", n)
	}
}

func TestViewSaysWhatTheRunLacks(t *testing.T) {
	h := start(t, func(c *Config) {
		v := (&probe{}).view()
		v.Needs = view.Needs{Links: true}
		c.Views = []*view.View{v}
	})
	h.failure(probeURL+"scene", 422, "needs", "links")
	if body := h.get("/api/runs", 200, nil); !strings.Contains(body, `"missing":{"probe":"this view needs links`) {
		t.Error("the list of runs does not say so:", body)
	}
}

func TestFailuresOfAViewAreNotKept(t *testing.T) {
	fail := true
	h := withProbe(t, &probe{compute: func(context.Context, *view.Request) error {
		if fail {
			return errors.New("metric \"x\" is not known")
		}
		return nil
	}})
	h.failure(probeURL+"scene", 422, "failed", "not known")
	fail = false
	h.get(probeURL+"scene", 200, nil)
}

func TestPanicInAViewIsAnAnswerAndALogEntry(t *testing.T) {
	var log bytes.Buffer
	p := &probe{compute: func(_ context.Context, q *view.Request) error {
		var none []int
		_ = none[len(q.Runs)]
		return nil
	}}
	h := start(t, func(c *Config) {
		c.Views = []*view.View{p.view()}
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
	})
	h.failure(probeURL+"scene", 500, "internal", "internal error")
	if !strings.Contains(log.String(), "index out of range") || !strings.Contains(log.String(), "view_test.go") {
		t.Errorf("the log lacks cause or stack: %s", log.String())
	}
	h.get("/api/runs", 200, nil) // and the server goes on
}

func TestTablePagesAndSorts(t *testing.T) {
	h := start(t, nil)
	for q, want := range map[string]string{
		"":                              `[["b",2,0.5],["a",10,null],["c",null,0.25]] [1,0,2]`,
		"?sort=time":                    `[["b",2,0.5],["a",10,null],["c",null,0.25]] [1,0,2]`,
		"?sort=time&descending=true":    `[["a",10,null],["b",2,0.5],["c",null,0.25]] [0,1,2]`,
		"?sort=name":                    `[["a",10,null],["b",2,0.5],["c",null,0.25]] [0,1,2]`,
		"?sort=share&limit=1":           `[["c",null,0.25]] [2]`,
		"?sort=share&limit=1&offset=1":  `[["b",2,0.5]] [1]`,
		"?offset=99":                    `[] []`,
		"?sort=name&offset=1&limit=0":   `[] []`,
		"?offset=9223372036854775807":   `[] []`,
		"?sort=share&descending=1":      `[["b",2,0.5],["c",null,0.25],["a",10,null]] [1,2,0]`,
		"?sort=name&descending=t&top=1": `[["c",null,0.25],["b",2,0.5],["a",10,null]] [2,1,0]`,
	} {
		var got tablePage
		h.get(probeURL+"table"+q, 200, &got)
		rows, _ := json.Marshal(got.Rows)
		regions, _ := json.Marshal(got.Regions)
		if s := string(rows) + " " + string(regions); s != want || got.Total != 3 {
			t.Errorf("table%s gives %s of %d, want %s", q, s, got.Total, want)
		}
	}
}

func TestExportsAreFilesToKeep(t *testing.T) {
	p := &probe{}
	h := withProbe(t, p)
	for format, want := range map[string]struct{ contentType, begin string }{
		"svg":  {"image/svg+xml", "<svg dark 300>"},
		"csv":  {"text/csv; charset=utf-8", "name,time,share\nb,2,0.5\n"},
		"json": {"application/json", `{"view":"probe","source":"small.trace"`},
	} {
		answer, body := h.ask("GET", probeURL+"export?theme=dark&width=300&height=200&format="+format, "", nil)
		if answer.Header.Get("Content-Type") != want.contentType || !strings.HasPrefix(body, want.begin) {
			t.Errorf("%s is %s: %.80s", format, answer.Header.Get("Content-Type"), body)
		}
		if got := answer.Header.Get("Content-Disposition"); got != "attachment; filename=small.trace-probe."+format {
			t.Errorf("%s: %s", format, got)
		}
	}
	// The file's picture has another size than the page's; picking must not notice.
	var pick pickJSON
	h.get(probeURL+"pick?width=300&height=200&x=15&y=15", 200, &pick)
	if pick.Fact == nil || pick.Fact.Title != "a box in 300 × 200" {
		t.Errorf("after an export pick gives %+v", pick.Fact)
	}
}

func TestSlowLinesGetPackedAndCoarseAnswers(t *testing.T) {
	p := &probe{rects: 20_000}
	h := withProbe(t, p)
	rate := func(v, accept string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Set("Parallax-Rate", v)
			r.Header.Set("Accept-Encoding", accept)
		}
	}
	plain, exact := h.ask("GET", probeURL+"scene?width=800", "", rate("900000000", "gzip, zstd"))
	if plain.Header.Get("Content-Encoding") != "" {
		t.Error("an answer on a fast line is packed")
	}
	packed, body := h.ask("GET", probeURL+"scene?width=800", "", rate("100000", "gzip, zstd"))
	if packed.Header.Get("Content-Encoding") != "zstd" || len(body)*2 > len(exact) {
		t.Errorf("encoding %q of %d bytes for %d", packed.Header.Get("Content-Encoding"), len(body), len(exact))
	}
	z, _ := zstd.NewReader(nil)
	defer z.Close()
	if got, err := z.DecodeAll([]byte(body), nil); err != nil || string(got) != exact {
		t.Error("the packed answer is another one")
	}
	packed, _ = h.ask("GET", probeURL+"scene?width=800", "", rate("100000", "zstd;q=0, gzip"))
	if got := packed.Header.Get("Content-Encoding"); got != "gzip" {
		t.Errorf("encoding %q, want gzip", got)
	}
	_, coarse := h.ask("GET", probeURL+"scene?width=800&coarse=1", "", nil)
	if header(t, coarse)["coarse"] != true || len(coarse)*4 > len(exact) {
		t.Errorf("a coarse scene of %d bytes for %d", len(coarse), len(exact))
	}
	if n := p.computed.Load(); n != 1 {
		t.Errorf("computed %d times for coarse and exact, want once", n)
	}
	h = start(t, func(c *Config) { c.Remote = true; c.Views = []*view.View{p.view()} })
	remote, _ := h.ask("GET", probeURL+"scene?width=800", "", func(r *http.Request) { r.Header.Set("Accept-Encoding", "gzip") })
	if remote.Header.Get("Content-Encoding") != "gzip" {
		t.Error("with --remote answers are not packed")
	}
}

func TestSeveralRunsAreComparedInOneRequest(t *testing.T) {
	h := start(t, func(c *Config) {
		c.Runs = append(c.Runs, view.Run{Name: "other", Source: "other", Store: storetest.Text(t, small)})
	})
	if body := h.get(probeURL+"data?with=other", 200, nil); !strings.Contains(body, `"runs":2`) {
		t.Error(body)
	}
	h.failure(probeURL+"data?with=other&with=other", 400, "usage", "shows at most 2 runs, and 3 are given")
	h.failure(probeURL+"data?with=small.trace", 400, "usage", "not compared with itself")
	h.get(probeURL+"data?colours-of=other", 200, nil)
	h.failure(probeURL+"data?colours-of=gone", 404, "not-found", "gone")
}
