package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/view"
)

// aSpace is a result whose scene is one space of many things.
type aSpace struct{ mark scene.Space }

func (r *aSpace) Data() any          { return struct{}{} }
func (r *aSpace) Table() *view.Table { return &view.Table{Rows: [][]any{}} }
func (r *aSpace) Notes() []string    { return nil }
func (r *aSpace) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", "A space.")
	s.AddLayer("space", -1, &r.mark)
	return s
}
func (r *aSpace) Fact(it scene.Item) (view.Fact, bool) {
	return view.Fact{Title: fmt.Sprintf("thing %d", it.A)}, int(it.A) < r.mark.Len()
}

// misplaced is an error in a text that the user wrote.
type misplaced struct{ error }

func (misplaced) Place() (line, column int, caret string) { return 3, 7, "y=sin(q)\n      ^" }

func withSpace(t *testing.T, err error) *harness {
	t.Helper()
	v := &view.View{Name: "space", Options: view.Use("layout"), Compute: func(context.Context, *view.Request) (view.Result, error) {
		r := &aSpace{mark: scene.Space{Of: 1}}
		for i := range 5000 {
			r.mark.Add(float32(i), float32(i%7), float32(i%11), float32(i%13))
		}
		return r, err
	}}
	return start(t, func(c *Config) { c.Views = []*view.View{v} })
}

const spaceURL = "/api/runs/small.trace/views/space/"

func TestPlacesThatAPageHasAreNotSentAgain(t *testing.T) {
	h := withSpace(t, nil)
	_, whole := h.ask("GET", spaceURL+"scene?width=300&height=200", "", nil)
	mark := header(t, whole)["layers"].([]any)[0].(map[string]any)["marks"].([]any)[0].(map[string]any)
	have := ""
	for _, name := range []string{"px", "py", "pz"} {
		have += "&have=" + mark[name].(map[string]any)["key"].(string)
	}
	_, rest := h.ask("GET", spaceURL+"scene?width=300&height=200"+have, "", nil)
	if len(whole) < 4*4*5000 || len(rest) > len(whole)-3*4*5000+64 {
		t.Errorf("%d bytes at first, %d with the places known", len(whole), len(rest))
	}
	again := header(t, rest)["layers"].([]any)[0].(map[string]any)["marks"].([]any)[0].(map[string]any)
	if at := again["px"].(map[string]any)["offset"]; at != -1.0 {
		t.Errorf("the places are at %v, want -1: known", at)
	}
	if _, unknown := h.ask("GET", spaceURL+"scene?width=300&height=200&have=nothing", "", nil); len(unknown) != len(whole) {
		t.Errorf("a name that means nothing changes the answer: %d bytes, want %d", len(unknown), len(whole))
	}
	h.failure(spaceURL+"scene?"+strings.Repeat("&have=a", maxPatterns+1), 400, "usage", "have")
}

func TestThingsInSpaceArePickedByTheirIndex(t *testing.T) {
	h := withSpace(t, nil)
	var pick pickJSON
	h.get(spaceURL+"pick?item=4321", 200, &pick)
	if pick.Fact == nil || pick.Fact.Title != "thing 4321" {
		t.Errorf("item 4321 is %+v", pick.Fact)
	}
	h.get(spaceURL+"pick?item=5000", 200, &pick)
	if pick.Fact != nil {
		t.Errorf("there is no item 5000, but it is %+v", pick.Fact)
	}
	h.get(spaceURL+"pick?x=1&y=2", 200, &pick)
	if pick.Fact == nil || !strings.HasPrefix(pick.Fact.Title, "thing ") {
		t.Errorf("at a place is %+v", pick.Fact)
	}
	h.failure(spaceURL+"pick?item=-1", 400, "usage", "item")
	h.failure(spaceURL+"pick?item=x", 400, "usage", "item")
}

func TestFaultsInATextHaveTheirPlace(t *testing.T) {
	h := withSpace(t, fmt.Errorf("--layout: %w", misplaced{errors.New("no name q")}))
	var e apiError
	h.get(spaceURL+"scene?layout=x", 422, &e)
	if e.Kind != "usage" || e.Place == nil || e.Place.Line != 3 || e.Place.Column != 7 || !strings.HasSuffix(e.Place.Caret, "^") {
		t.Errorf("the error is %+v, place %+v", e, e.Place)
	}
}

func TestBindingsListNamesOfTheRun(t *testing.T) {
	const text = `
location process p0 rank=0 slot=3 name2=text
  counter power unit=W
  0..100 solve
  10 power=5
metric size unit=bytes
atomic p0 - size count=2 min=1 max=3 mean=2 sumsq=10
`
	h := start(t, func(c *Config) {
		c.Runs = []view.Run{{Name: "small.trace", Source: "small.trace", Store: storetest.Text(t, text)}}
	})
	var b bindingsJSON
	h.get("/api/runs/small.trace/bindings", 200, &b)
	if got := fmt.Sprint(b.Atomics, b.Counters, b.Metadata); got != "[size] [power] [slot]" {
		t.Errorf("bindings are %s", got)
	}
	h = start(t, nil)
	if body := h.get("/api/runs/small.trace/bindings", 200, &b); strings.Contains(body, "null") {
		t.Errorf("lists are never null: %s", body)
	}
}
