package server

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/view"
)

// patience is how long a test waits for what must happen; nothing is timed.
const patience = 3 * time.Minute

func within(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("waited in vain: " + what)
	}
}

// background sends a request that can be given up.
func (h *harness) background(path string) (cancel func(), status <-chan int) {
	ctx, stop := context.WithCancel(context.Background())
	out := make(chan int, 1)
	r, _ := http.NewRequestWithContext(ctx, "GET", h.http.URL+path, nil)
	r.Header.Set("Authorization", "Bearer secret")
	go func() {
		answer, err := h.http.Client().Do(r)
		if err != nil {
			out <- 0
			return
		}
		answer.Body.Close()
		out <- answer.StatusCode
	}()
	return stop, out
}

// blocking is a probe whose computation runs until it is cancelled or let go.
func blocking() (p *probe, started, cancelled chan struct{}, release func()) {
	started, cancelled = make(chan struct{}, 100), make(chan struct{}, 100)
	open := make(chan struct{})
	p = &probe{compute: func(ctx context.Context, _ *view.Request) error {
		started <- struct{}{}
		select {
		case <-ctx.Done():
			cancelled <- struct{}{}
			return ctx.Err()
		case <-open:
			return nil
		}
	}}
	return p, started, cancelled, sync.OnceFunc(func() { close(open) })
}

func TestRequestThatIsGivenUpStopsInsideTheKernel(t *testing.T) {
	p, started, cancelled, release := blocking()
	defer release()
	h := withProbe(t, p)
	giveUp, _ := h.background(probeURL + "scene")
	within(t, "the computation starts", started)
	giveUp()
	within(t, "the computation is cancelled", cancelled)
}

func TestEqualRequestsInFlightAreJoined(t *testing.T) {
	p, started, cancelled, release := blocking()
	defer release()
	h := withProbe(t, p)
	giveUp, _ := h.background(probeURL + "scene")
	within(t, "the computation starts", started)
	_, second := h.background(probeURL + "table")
	for h.waiters() < 2 {
		runtime.Gosched()
	}
	giveUp() // one of two leaves: the other still waits
	for h.waiters() > 1 {
		runtime.Gosched()
	}
	select {
	case <-cancelled:
		t.Fatal("a computation that somebody waits for was cancelled")
	default:
	}
	release()
	if status := <-second; status != 200 {
		t.Errorf("the second request answers %d", status)
	}
	if n := p.computed.Load(); n != 1 {
		t.Errorf("computed %d times, want once", n)
	}
}

func (h *harness) waiters() (n int) {
	h.s.cache.mu.Lock()
	defer h.s.cache.mu.Unlock()
	for _, e := range h.s.cache.entries {
		n += e.waiters
	}
	return n
}

func TestNewerRequestOfAPanelCancelsTheOlder(t *testing.T) {
	p, started, cancelled, release := blocking()
	defer release()
	h := withProbe(t, p)
	_, first := h.background(probeURL + "scene?panel=a&seq=1&top=1")
	within(t, "the first starts", started)
	_, other := h.background(probeURL + "scene?panel=b&seq=1&top=9")
	within(t, "another panel's starts", started)
	_, second := h.background(probeURL + "scene?panel=a&seq=2&top=2")
	within(t, "the first is cancelled", cancelled)
	if status := <-first; status != 409 {
		t.Errorf("the older request answers %d, want 409", status)
	}
	release()
	if status := <-second; status != 200 {
		t.Errorf("the newer request answers %d", status)
	}
	if status := <-other; status != 200 {
		t.Errorf("another panel's request answers %d", status)
	}
	h.failure(probeURL+"scene?panel=a&seq=1&top=3", 409, "superseded", "newer")
	h.get(probeURL+"pick?panel=a&seq=1&x=1&y=1", 200, nil) // kinds count on their own
}

func TestPanelsAreForgottenOldestFirst(t *testing.T) {
	p := newPanels()
	for i := range 5000 {
		_, leave, err := p.take(context.Background(), fmt.Sprint("panel ", i), 1)
		if err != nil {
			t.Fatal(err)
		}
		leave()
	}
	if len(p.last) > maxPanels {
		t.Errorf("%d panels are remembered, want at most %d", len(p.last), maxPanels)
	}
	if p.last["panel 4999"] == nil || p.last["panel 0"] != nil {
		t.Error("the newest was forgotten, or the oldest was not")
	}
}

func TestTooManyComputationsAreRefusedAtOnce(t *testing.T) {
	p, started, _, release := blocking()
	defer release()
	h := start(t, func(c *Config) {
		c.Views = []*view.View{p.view()}
		c.Workers, c.Queue = 1, 2
	})
	var statuses []<-chan int
	for i := range 3 { // one runs, two wait
		_, status := h.background(fmt.Sprintf("%sscene?top=%d", probeURL, i))
		statuses = append(statuses, status)
	}
	within(t, "the first starts", started)
	for waiting(h.s.limiter) < 2 {
		runtime.Gosched()
	}
	answer, body := h.ask("GET", probeURL+"scene?top=99", "", nil)
	if answer.StatusCode != 503 || answer.Header.Get("Retry-After") == "" || !strings.Contains(body, `"busy"`) {
		t.Errorf("answers %d %s, want a polite 503", answer.StatusCode, body)
	}
	h.get("/api/runs", 200, nil) // what needs no computation still answers
	release()
	for _, s := range statuses {
		if status := <-s; status != 200 {
			t.Errorf("a request that waited answers %d", status)
		}
	}
}

func TestResultsAreForgottenOldestFirst(t *testing.T) {
	p := &probe{}
	h := start(t, func(c *Config) {
		c.Views = []*view.View{p.view()}
		c.CacheResults = 3
	})
	for i := range 5 {
		h.get(fmt.Sprintf("%sscene?top=%d", probeURL, i), 200, nil)
	}
	h.get(probeURL+"scene?top=4", 200, nil)
	if n := p.computed.Load(); n != 5 {
		t.Fatalf("computed %d times, want 5", n)
	}
	h.get(probeURL+"scene?top=0", 200, nil)
	if n := p.computed.Load(); n != 6 {
		t.Errorf("the oldest result was kept beyond the limit")
	}
	if n := len(h.s.cache.entries); n != 3 {
		t.Errorf("%d results are kept, want 3", n)
	}
}

func TestLargeScenesCountTowardsTheCachesBytes(t *testing.T) {
	p := &probe{rects: 50_000} // a scene of about 1 MB
	h := start(t, func(c *Config) {
		c.Views = []*view.View{p.view()}
		c.Memory = memory.NewUnwatched(16 << 20)
	})
	for i := range 20 {
		h.get(fmt.Sprintf("%sscene?top=%d", probeURL, i), 200, nil)
	}
	if used, most := h.s.config.Memory.Kept(); used > most || used < most/4 || len(h.s.cache.entries) > 8 {
		t.Errorf("%d results of %d bytes are kept", len(h.s.cache.entries), used)
	}
}

func TestClosingARunWaitsForItsUsers(t *testing.T) {
	p, started, cancelled, release := blocking()
	defer release()
	reader := &closeCounter{Reader: storetest.Text(t, small)}
	var early atomic.Bool
	inner := p.compute
	p.compute = func(ctx context.Context, q *view.Request) error {
		err := inner(ctx, q)
		if reader.count.Load() > 0 {
			early.Store(true)
		}
		return err
	}
	h := start(t, func(c *Config) {
		c.Views = []*view.View{p.view()}
		c.Runs[0].Store = reader
	})
	_, status := h.background(probeURL + "scene")
	within(t, "the computation starts", started)
	answer, _ := h.ask("DELETE", "/api/runs/small.trace", "", nil)
	if answer.StatusCode != 204 {
		t.Fatalf("DELETE answers %d", answer.StatusCode)
	}
	within(t, "the computation is cancelled", cancelled)
	<-status
	for deadline := time.Now().Add(patience); reader.count.Load() == 0 && time.Now().Before(deadline); {
		runtime.Gosched()
	}
	if early.Load() || reader.count.Load() != 1 {
		t.Errorf("the store was closed %d times, under a computation: %v", reader.count.Load(), early.Load())
	}
	h.failure("/api/runs/small.trace/info", 404, "not-found", "small.trace")
	answer, _ = h.ask("DELETE", "/api/runs/small.trace", "", nil)
	if answer.StatusCode != 404 {
		t.Errorf("a second DELETE answers %d", answer.StatusCode)
	}
}

// A thousand requests at once: each is answered or refused, memory stays bounded,
// and TestMain sees that no goroutine is left.
func TestAThousandRequestsAtOnce(t *testing.T) {
	p := &probe{rects: 5_000, compute: func(ctx context.Context, _ *view.Request) error {
		select { // long enough for requests to pile up
		case <-time.After(2 * time.Millisecond):
		case <-ctx.Done():
		}
		return ctx.Err()
	}}
	h := start(t, func(c *Config) { c.Views, c.PerClient = []*view.View{p.view()}, 1000 })
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000}}
	defer client.CloseIdleConnections()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var answered, refused, wrong atomic.Int64
	var all sync.WaitGroup
	for i := range 1000 {
		all.Go(func() {
			path := []string{"scene?width=%d", "table?width=%d", "pick?x=1&y=1&width=%d", "data?width=%d"}[i%4]
			r, _ := http.NewRequest("GET", h.http.URL+probeURL+fmt.Sprintf(path, 100+i/2), nil)
			r.Header.Set("Authorization", "Bearer secret")
			answer, err := client.Do(r)
			switch {
			case err != nil:
				wrong.Add(1)
				return
			case answer.StatusCode == 200:
				answered.Add(1)
			case answer.StatusCode == 503 && answer.Header.Get("Retry-After") != "":
				refused.Add(1)
			default:
				wrong.Add(1)
			}
			answer.Body.Close()
		})
	}
	all.Wait()
	runtime.GC()
	runtime.ReadMemStats(&after)
	t.Logf("%d answered, %d refused, heap %d KiB more", answered.Load(), refused.Load(), (int64(after.HeapAlloc)-int64(before.HeapAlloc))/1024)
	if wrong.Load() > 0 || answered.Load() == 0 || answered.Load()+refused.Load() != 1000 {
		t.Errorf("%d answered, %d refused, %d went wrong", answered.Load(), refused.Load(), wrong.Load())
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 256<<20 {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
}
