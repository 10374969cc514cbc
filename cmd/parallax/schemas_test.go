package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/schema"
	"github.com/parallax-hpc/parallax/internal/server"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	views "github.com/parallax-hpc/parallax/internal/view/all"
	"github.com/parallax-hpc/parallax/web"
)

// TestSchemasArePublished: docs/schemas has the schema of every view and table, and none
// else. A difference is a change of the contract: -update writes them, and a field that
// went or means something else raises schema.Version.
func TestSchemasArePublished(t *testing.T) {
	const dir = "../../docs/schemas"
	want := map[string][]byte{}
	for _, v := range views.Views {
		s, err := schema.View(v)
		if err != nil {
			t.Fatal(err)
		}
		want["view-"+v.Name+".json"] = indented(t, s)
	}
	for _, x := range newDatabase(nil).Tables() {
		want["table-"+x.Name+".json"] = indented(t, schema.Table(x))
	}
	files, err := filepath.Glob(dir + "/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if want[filepath.Base(f)] != nil {
			continue
		}
		if !viewtest.Updating() {
			t.Errorf("%s describes nothing that is there", f)
		} else if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		path := filepath.Join(dir, name)
		if viewtest.Updating() {
			if err := os.WriteFile(path, want[name], 0o644); err != nil {
				t.Fatal(err)
			}
		} else if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want[name]) {
			t.Errorf("%s is not what is answered (%v); see the difference with -update", path, err)
		}
	}
}

func indented(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

// An api is a server with its description, over demos that have what views need.
type api struct {
	t       *testing.T
	address string
	runs    []string
	views   []*view.View
	paths   map[string]map[string]operation
	common  map[string]*jsonschema.Schema
}

type operation struct {
	Responses map[string]struct {
		Content map[string]struct {
			Schema *jsonschema.Schema `json:"schema"`
		} `json:"content"`
	} `json:"responses"`
}

func startAPI(t *testing.T) *api {
	t.Helper()
	c, err := load.OpenCache(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := newLoader(c, 64<<20, nil)
	runs, err := l.All(t.Context(), []string{"demo:stencil", "demo:training"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Config{Runs: runs, Views: views.Views, Assets: web.Files(), Token: "secret", Ask: anAsker().answerSQL})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	t.Cleanup(func() { h.Close(); s.Close() })
	a := &api{t: t, address: h.URL, views: views.Views}
	var document struct {
		Paths      map[string]map[string]operation
		Components struct {
			Schemas map[string]*jsonschema.Schema
		}
	}
	if status, body := a.get("/api/openapi.json"); status != http.StatusOK {
		t.Fatalf("no description: %s", body)
	} else if err := json.Unmarshal(body, &document); err != nil {
		t.Fatal(err)
	}
	a.paths, a.common = document.Paths, document.Components.Schemas
	var list []struct{ ID string }
	_, body := a.get("/api/runs")
	if err := json.Unmarshal(body, &list); err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		a.runs = append(a.runs, r.ID)
	}
	return a
}

func (a *api) get(path string) (int, []byte) {
	a.t.Helper()
	r, err := http.NewRequestWithContext(a.t.Context(), http.MethodGet, a.address+path, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer secret")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer answer.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(answer.Body); err != nil {
		a.t.Fatal(err)
	}
	return answer.StatusCode, b.Bytes()
}

// check holds an answer against the schema of a path.
func (a *api) check(path string, body []byte) {
	a.t.Helper()
	s := a.paths[path]["get"].Responses["200"].Content["application/json"].Schema
	if s == nil {
		a.t.Errorf("%s is not described", path)
		return
	}
	if data := s.Properties["data"]; data != nil && data.Ref != "" {
		s.Properties["data"] = a.common[strings.TrimPrefix(data.Ref, "#/components/schemas/")]
	}
	r, err := s.Resolve(nil)
	if err != nil {
		a.t.Fatalf("%s: %v", path, err)
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		a.t.Fatalf("%s: %v", path, err)
	}
	if err := r.Validate(v); err != nil {
		a.t.Errorf("%s: %v", path, err)
	}
}

func TestAnswersAreAsTheAPIDescribesThem(t *testing.T) {
	a := startAPI(t)
	asked := map[string]string{"source": "", "upload": "", "report": "", "openapi.json": "", "search": "?q=MPI", "intervals": "?q=MPI", "places": "?locations=rank:1", "causes": "?location=2&lane=0&row=0"} // what needs more than a path, or is no JSON of a type
	for path, methods := range a.paths {
		if _, ok := methods["get"]; !ok || strings.Contains(path, "/views/") {
			continue
		}
		query, special := asked[filepath.Base(path)]
		if special && query == "" {
			continue
		}
		status, body := a.get(strings.ReplaceAll(path, "{run}", a.runs[0]) + query)
		if status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, body)
			continue
		}
		a.check(path, body)
	}
	for _, what := range []string{"table", "data"} {
		_, body := a.get("/api/runs/" + a.runs[0] + "/views/profile/" + what)
		a.check("/api/runs/{run}/views/{view}/"+what, body)
	}
	for _, v := range a.views {
		seen := 0
		for _, run := range a.runs {
			status, body := a.get("/api/runs/" + run + "/views/" + v.Name + "/data")
			if status == http.StatusOK {
				a.check("/api/runs/{run}/views/"+v.Name+"/data", body)
				seen++
			}
		}
		if seen == 0 {
			t.Logf("view %s has nothing to say about these runs", v.Name)
		}
	}
}
