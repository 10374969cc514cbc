package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/server"
	"github.com/parallax-hpc/parallax/internal/view"
	views "github.com/parallax-hpc/parallax/internal/view/all"
	"github.com/spf13/pflag"
)

// TestMemoryStaysWithinTheBudgetWhateverIsAsked: random requests of all views of three
// runs. SOAK=10m takes that long and measures what the system gives us; without it some
// requests are enough to see that each is answered and what is kept is bounded.
func TestMemoryStaysWithinTheBudgetWhateverIsAsked(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("SOAK"))
	long := err == nil && length > 0
	if testing.Short() && !long {
		t.Skip("some seconds of random requests")
	}
	most, requests := int64(256<<20), 160
	sources := []string{"demo:stencil", "demo:quicksort", "demo:training-loader"}
	if long {
		most, requests = 1<<30, 1<<40
		sources = []string{"demo:uniform?locations=64&intervals=1000000", "demo:stencil?locations=64", "demo:training-loader"}
	}
	if text := os.Getenv("SOAK_MEMORY"); text != "" {
		if most, err = parseSize(text); err != nil {
			t.Fatal(err)
		}
	}
	if text := os.Getenv("SOAK_SOURCES"); text != "" {
		sources = strings.Split(text, ",")
	}
	s := newSoak(t, most, sources)
	before := debug.SetMemoryLimit(-1)
	s.budget.Limit()
	defer debug.SetMemoryLimit(before)

	var all sync.WaitGroup
	end := time.Now().Add(length)
	for client := range 4 {
		all.Add(1)
		go func() {
			defer all.Done()
			r := rand.New(rand.NewPCG(31, uint64(client)))
			for i := 0; i < requests/4 && (!long || time.Now().Before(end)); i++ {
				s.ask(r)
			}
		}()
	}
	var resident, kept []int64
	last := time.Now()
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for watch := long; watch; {
		select {
		case <-done:
			watch = false
		case <-time.After(20 * time.Millisecond):
			now := anonymous()
			s.highest = max(s.highest, now)
			s.atPeak(now)
			if time.Since(last) > max(length/200, time.Second) {
				last = time.Now()
				held, _ := s.budget.Kept()
				resident, kept = append(resident, now), append(kept, held)
			}
		}
	}
	<-done
	s.judge(most)
	if long {
		s.judgeResident(resident, kept, most)
	}
}

type soak struct {
	t      *testing.T
	server *server.Server
	token  string
	budget *memory.Budget
	runs   []string

	mu       sync.Mutex
	statuses map[int]int
	perView  map[string]int // good answers
	refused  map[string]int // for memory
	peakKept int64
	asked    int
	flying   map[string]time.Time // what is asked now, since when
	peak     int64                // resident, when it was written down last
	highest  int64                // of all looks, fifty a second
}

func newSoak(t *testing.T, most int64, sources []string) *soak {
	fs := pflag.NewFlagSet("open", pflag.ContinueOnError)
	openFlags(fs)
	if err := fs.Parse([]string{"--cache", filepath.Join(t.TempDir(), "cache")}); err != nil {
		t.Fatal(err)
	}
	e := &env{stdout: io.Discard, stderr: os.Stderr, flags: fs, budget: memory.New(most)}
	l, err := e.loader()
	if err != nil {
		t.Fatal(err)
	}
	runs, err := l.All(context.Background(), sources)
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) < 3 {
		t.Fatalf("%d runs, want three", len(runs))
	}
	config := e.serverConfig(l, runs)
	config.Token = "soak"
	out := &soak{t: t, token: config.Token, budget: e.budget, statuses: map[int]int{}, perView: map[string]int{}, flying: map[string]time.Time{}, refused: map[string]int{}}
	if out.server, err = server.New(config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.server.Close() })
	_, body := out.get("/api/runs")
	for part := range strings.SplitSeq(body, `"id":"`) {
		if id, _, ok := strings.Cut(part, `"`); ok && !strings.HasPrefix(part, "[") {
			out.runs = append(out.runs, id)
		}
	}
	return out
}

func (s *soak) get(path string) (int, string) {
	r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
	r.Header.Set("Authorization", "Bearer "+s.token)
	w := httptest.NewRecorder()
	s.server.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// ask asks something at random.
func (s *soak) ask(r *rand.Rand) {
	v := views.Views[r.IntN(len(views.Views))]
	what := []string{"scene", "scene", "data", "table", "export"}[r.IntN(5)]
	q := url.Values{"width": {strconv.Itoa(300 + r.IntN(1600))}, "height": {strconv.Itoa(200 + r.IntN(900))}}
	if what == "export" {
		q.Set("format", []string{"svg", "png", "csv", "json"}[r.IntN(4)])
	}
	if r.IntN(2) == 0 {
		from := r.Float64() * 90
		q.Set("from", fmt.Sprintf("%.2f%%", from))
		q.Set("to", fmt.Sprintf("%.2f%%", from+r.Float64()*(100-from)))
	}
	if r.IntN(3) == 0 {
		q.Set("locations", fmt.Sprintf("rank:%d-%d", r.IntN(4), 4+r.IntN(8)))
	}
	for _, o := range v.Options {
		if r.IntN(4) > 0 {
			continue
		}
		switch {
		case len(o.Choices) > 0:
			q.Set(o.Name, o.Choices[r.IntN(len(o.Choices))])
		case o.Kind == "switch":
			q.Set(o.Name, "true")
		case o.Max > o.Min && o.Kind == "integer":
			q.Set(o.Name, strconv.Itoa(int(o.Min)+r.IntN(int(o.Max-o.Min)+1)))
		case o.Max > o.Min:
			q.Set(o.Name, fmt.Sprintf("%.3f", o.Min+r.Float64()*(o.Max-o.Min)))
		case o.Kind == "integer":
			q.Set(o.Name, strconv.Itoa(r.IntN(20)))
		}
	}
	path := "/api/runs/" + s.runs[r.IntN(len(s.runs))] + "/views/" + v.Name + "/" + what + "?" + q.Encode()
	s.mu.Lock()
	s.flying[path] = time.Now()
	s.mu.Unlock()
	status, body := s.get(path)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.flying, path)
	s.asked++
	s.statuses[status]++
	kept, _ := s.budget.Kept()
	s.peakKept = max(s.peakKept, kept)
	switch {
	case status == http.StatusOK:
		s.perView[v.Name]++
	case status == http.StatusInsufficientStorage:
		s.refused[v.Name]++
	case status >= 500 && status != http.StatusServiceUnavailable:
		s.t.Errorf("%s answers %d: %.300s", path, status, body)
	}
}

func (s *soak) judge(most int64) {
	s.t.Logf("%d requests, answers %v, good ones by view %v, refused for memory %v; kept at most %s", s.asked, s.statuses, s.perView, s.refused, view.FormatBytes(float64(s.peakKept)))
	if s.statuses[http.StatusOK] < s.asked/4 {
		s.t.Errorf("%d of %d requests had a good answer: nothing is tried", s.statuses[http.StatusOK], s.asked)
	}
	if s.peakKept > most { // half of it, but for one that is larger by itself
		s.t.Errorf("%s were kept, the budget is %s", view.FormatBytes(float64(s.peakKept)), view.FormatBytes(float64(most)))
	}
	s.budget.DropAll()
	runtime.GC()
	var m runtime.MemStats
	if runtime.ReadMemStats(&m); int64(m.HeapAlloc) > most {
		s.t.Errorf("%s are in use after all that is kept was dropped", view.FormatBytes(float64(m.HeapAlloc)))
	}
}

// judgeResident: after the first fifth memory does not grow beyond what is kept, which fills its half, and all of it is below
// the budget.
func (s *soak) judgeResident(all, kept []int64, most int64) {
	if len(all) < 10 || all[0] == 0 {
		s.t.Logf("%d measurements of resident memory: not judged", len(all))
		return
	}
	mean := func(x []int64) (m float64) {
		for _, v := range x {
			m += float64(v) / float64(len(x))
		}
		return m
	}
	thirds := func(x []int64) (early, late float64) {
		x = x[len(x)/5:]
		return mean(x[:len(x)/3]), mean(x[len(x)*2/3:])
	}
	early, late := thirds(all)
	keptEarly, keptLate := thirds(kept)
	s.t.Logf("resident: %s after the first fifth, %s in the last third, of these kept %s and %s; at most %s of %s", view.FormatBytes(early), view.FormatBytes(late),
		view.FormatBytes(keptEarly), view.FormatBytes(keptLate), view.FormatBytes(float64(s.highest)), view.FormatBytes(float64(most)))
	if grown := (late - keptLate) - (early - keptEarly); grown > 0.15*early && late > float64(most)/2 {
		s.t.Errorf("resident memory grows from %s to %s, and what is kept from %s to %s", view.FormatBytes(early), view.FormatBytes(late), view.FormatBytes(keptEarly), view.FormatBytes(keptLate))
	}
	if s.highest > most {
		s.t.Errorf("%s were resident, the budget is %s", view.FormatBytes(float64(s.highest)), view.FormatBytes(float64(most)))
	}
}

// anonymous is the resident memory of this process without pages of mapped files, which
// the system takes back as it needs them; 0 where it is not told.
func anonymous() int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return n << 10
		}
	}
	return 0
}

// atPeak says what was asked when memory was highest, with a profile of the heap and all
// stacks where SOAK_PROFILES names a directory.
func (s *soak) atPeak(now int64) {
	if now < s.peak+s.peak/16 || now < s.budget.Most()*3/4 {
		return
	}
	s.peak = now
	s.mu.Lock()
	defer s.mu.Unlock()
	s.t.Logf("%s resident, %d requests so far, at work:", view.FormatBytes(float64(now)), s.asked)
	for path, since := range s.flying {
		s.t.Logf("    %.1f s %s", time.Since(since).Seconds(), path)
	}
	dir := os.Getenv("SOAK_PROFILES")
	if dir == "" {
		return
	}
	for _, kind := range []string{"heap", "goroutine"} {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%04d.%s", now>>20, kind)))
		if err != nil {
			s.t.Error(err)
			continue
		}
		pprof.Lookup(kind).WriteTo(f, map[string]int{"heap": 0, "goroutine": 1}[kind])
		f.Close()
	}
}
