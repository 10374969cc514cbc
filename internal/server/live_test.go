package server

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/view"
)

// grown is a later state of small: ids of all but the first node have moved.
const grown = `
region MPI_Init role=communication category=MPI
region solve role=compute
region MPI_Send role=communication category=MPI
location machine login
  location process "rank 9" rank=9
    0..300 MPI_Init
location machine node0
  location process "rank 0" rank=0
    0..300 solve
      10..20 MPI_Send
`

// A closing store tells when it is closed.
type closing struct {
	store.Reader
	closed     *atomic.Bool
	generation uint64
}

func (c closing) Generation() uint64 { return c.generation }

func (c closing) Close() error { c.closed.Store(true); return c.Reader.Close() }

func TestALiveRunKeepsItsNameAndChangesItsContent(t *testing.T) {
	p := &probe{}
	h := start(t, func(c *Config) { c.Runs, c.Views = nil, []*view.View{p.view()} })
	live := h.s.Live("spans", "somewhere")
	if s := h.state("spans", "importing"); !s.Live {
		t.Errorf("%+v", s)
	}
	h.get("/api/runs/spans/info", http.StatusConflict, nil)

	var closed, gone atomic.Bool
	live.Set(view.Run{Name: "spans", Store: closing{storetest.Text(t, small), &closed, 7}}, func() { gone.Store(true) })
	first := h.state("spans", "ready")
	h.get("/api/runs/spans/views/probe/data", 200, nil)

	live.Set(view.Run{Name: "spans", Store: closing{storetest.Text(t, grown), new(atomic.Bool), 8}}, func() {})
	second := h.state("spans", "ready")
	if first.Generation == second.Generation || first.ID != second.ID || !second.Live {
		t.Errorf("%+v, then %+v", first, second)
	}
	if !closed.Load() || !gone.Load() {
		t.Errorf("the state before is closed: %v, and what it lay in is gone: %v", closed.Load(), gone.Load())
	}
	var twin struct{ Data struct{ End int } }
	h.get("/api/runs/spans/views/probe/data", 200, &twin)
	if twin.Data.End != 300 {
		t.Errorf("the view shows a run that ends at %d", twin.Data.End)
	}
	if n := p.computed.Load(); n != 2 {
		t.Errorf("computed %d times", n)
	}

	// What was chosen is found again by its path and name.
	var now movedAnswer
	h.get("/api/runs/spans/moved?from="+first.Generation+"&locations=0,1,3&regions=0,1", 200, &now)
	tree := storetest.Text(t, grown)
	if len(now.Locations) != 3 || len(now.Regions) != 2 || now.Locations[2] != -1 {
		t.Fatalf("%+v", now)
	}
	if got := tree.Locations().Name[now.Locations[1]]; got != "rank 0" {
		t.Errorf("rank 0 is now %q", got)
	}
	if got := tree.Regions()[now.Regions[0]].Name; got != "solve" {
		t.Errorf("solve is now %q", got)
	}
	h.get("/api/runs/spans/moved?from=12345&locations=0", http.StatusNotFound, nil)

	h.ask("DELETE", "/api/runs/spans", "", nil)
	if !live.Ended() || live.Set(view.Run{Name: "spans", Store: storetest.Text(t, small)}, func() {}) {
		t.Error("a run that the user closed came back")
	}
}

// Who computes from a state that is replaced meanwhile gets the answer, and the store stays
// open for as long.
func TestReplacedStoresStayOpenWhileAnAnswerIsComputed(t *testing.T) {
	inside, goOn := make(chan struct{}), make(chan struct{})
	var closed atomic.Bool
	p := &probe{compute: func(ctx context.Context, q *view.Request) error {
		if q.Runs[0].Store.Info().End == 100 {
			close(inside)
			<-goOn
			if closed.Load() {
				t.Error("the store was closed under a kernel")
			}
		}
		return nil
	}}
	h := start(t, func(c *Config) { c.Runs, c.Views = nil, []*view.View{p.view()} })
	live := h.s.Live("spans", "somewhere")
	live.Set(view.Run{Name: "spans", Store: closing{storetest.Text(t, small), &closed, 7}}, func() {})
	answered := make(chan string)
	go func() {
		a, body := h.ask("GET", "/api/runs/spans/views/probe/data", "", nil)
		answered <- a.Status + body
	}()
	<-inside
	live.Set(view.Run{Name: "spans", Store: closing{storetest.Text(t, grown), new(atomic.Bool), 8}}, func() {})
	close(goOn)
	if text := <-answered; !strings.HasPrefix(text, "200") {
		t.Error(text)
	}
	h.get("/api/runs/spans/views/probe/data", 200, nil)
	if !closed.Load() {
		t.Error("the state before was never closed")
	}
}
