package findings_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/tracetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// goRegions are regions as the reader of Go's traces names them.
const goRegions = `
region scheduling category=processor role=overhead
region idle category=processor role=idle
region main.work category=goroutine role=compute
region main.main category=goroutine role=compute
region runtime.gcBgMarkWorker category=goroutine role=overhead
region runtime.bgsweep category=goroutine role=overhead
region "GC mark assist" category=range role=overhead
region "stop-the-world (GC mark termination)" category=range role=overhead
region running category=state role=compute
region runnable category=state role=idle
region "runtime running" category=runtime role=overhead
region "runtime waiting: system goroutine wait" category=runtime role=idle
region "waiting: sync" category=state role=synchronization
region "waiting: select" category=state role=synchronization
region "waiting: chan receive" category=state role=synchronization
region "waiting: chan send" category=state role=synchronization
region "waiting: network" category=state role=communication
region "waiting: sleep" category=state role=idle
region "GC (idle)" category=label role=annotation
region "GC (dedicated)" category=label role=annotation
`

// A goText puts a trace of processors and goroutines together. Times are in µs; states
// are "runnable 0 50", one after the other as they are given.
type goText struct {
	processors, goroutines strings.Builder
	n                      int
	procs                  string // samples of GOMAXPROCS
	start                  string // of the group that is open
}

func (g *goText) processor(spans ...string) *goText {
	fmt.Fprintf(&g.processors, "    location processor \"P %d\"\n", strings.Count(g.processors.String(), "location"))
	for _, s := range spans {
		fmt.Fprintf(&g.processors, "      %s\n", span(s))
	}
	return g
}

// goroutine adds one; labels begin with "!".
func (g *goText) goroutine(start string, begin, end int, states ...string) *goText {
	if g.start != start {
		fmt.Fprintf(&g.goroutines, "    location group %s\n", start)
		g.start = start
	}
	g.n++
	fmt.Fprintf(&g.goroutines, "      location goroutine \"goroutine %d\"\n        %d..%d %s\n", g.n, 1000*begin, 1000*end, start)
	for _, s := range states {
		if label, ok := strings.CutPrefix(s, "!"); ok {
			fmt.Fprintf(&g.goroutines, "        %s\n", label)
			continue
		}
		fmt.Fprintf(&g.goroutines, "          %s\n", span(s))
	}
	return g
}

// raw adds a processor and a goroutine from the beginning to a time, whose lines are written already.
func (g *goText) raw(spans []string, start string, end trace.Time, states []string) {
	fmt.Fprintf(&g.processors, "    location processor \"P %d\"\n", strings.Count(g.processors.String(), "location"))
	for _, s := range spans {
		if from, to, _ := strings.Cut(strings.Fields(s)[0], ".."); from != to {
			fmt.Fprintf(&g.processors, "      %s\n", s)
		}
	}
	if g.start != start {
		fmt.Fprintf(&g.goroutines, "    location group %s\n", start)
		g.start = start
	}
	g.n++
	fmt.Fprintf(&g.goroutines, "      location goroutine \"goroutine %d\"\n        0..%d %s\n", g.n, end, start)
	for _, s := range states {
		fmt.Fprintf(&g.goroutines, "          %s\n", s)
	}
}

// span turns "name 10 20" into "10000..20000 name"; what follows a "|" is attributes.
func span(s string) string {
	s, attributes, _ := strings.Cut(s, "|")
	w := strings.Fields(s)
	n := len(w)
	return fmt.Sprintf("%s000..%s000 %q %s", w[n-2], w[n-1], strings.Join(w[:n-2], " "), attributes)
}

func (g *goText) String() string {
	procs := ""
	if g.procs != "" {
		procs = "  counter sched/gomaxprocs unit=threads\n" + g.procs
	}
	return goRegions + "location process run\n" + procs + "  location group processors\n" + g.processors.String() + "  location group goroutines\n" + g.goroutines.String()
}

func (g *goText) read(t *testing.T) answers {
	t.Helper()
	return read(t, viewtest.Local(t, func(w trace.Writer) {
		if err := tracetest.Parse(w, g.String()); err != nil {
			t.Fatal(err)
		}
	}))
}

// queue is n goroutines that all could run from the beginning and run one after the
// other for 100 ms in all, each processor taking its part.
func queue(n, processors int) *goText {
	g := &goText{}
	for range processors {
		g.processor("main.work 0 100000")
	}
	each := 100_000 * processors / n
	for i := range n {
		begin := i / processors * each
		states := []string{fmt.Sprintf("running %d %d", begin, begin+each)}
		if begin > 0 {
			states = append([]string{fmt.Sprintf("runnable 0 %d", begin)}, states...)
		}
		g.goroutine("main.work", 0, begin+each, states...)
	}
	return g
}

// turns is a goroutine that alternates between two states for 100 ms.
func turns(g *goText, start, a string, first int, b string, second int) *goText {
	var states []string
	for t := 0; t+first+second <= 100_000; t += first + second {
		states = append(states, fmt.Sprintf("%s %d %d", a, t, t+first), fmt.Sprintf("%s %d %d%s", b, t+first, t+first+second, "|stack=\"sync.(*Mutex).Lock sync/mutex.go:46\\nmain.update app/main.go:12\\nmain.work app/main.go:5\""))
	}
	return g.goroutine(start, 0, 100_000, states...)
}

func TestSchedulerFindingsHaveTheirNumbers(t *testing.T) {
	convoy := (&goText{}).processor("main.work 0 50000", "idle 50000 100000").processor("idle 0 50000", "main.work 50000 100000")
	for range 4 {
		turns(convoy, "main.work", "running", 500, "waiting: sync", 1500)
	}
	late := (&goText{procs: "  1000 sched/gomaxprocs=4\n"})
	for i := range 4 { // one of them is busy at any time
		late.processor(fmt.Sprintf("idle 0 %d", 25_000*i+1), fmt.Sprintf("main.work %d %d", 25_000*i+1, 25_000*i+25_000), fmt.Sprintf("idle %d 100000", 25_000*i+25_000))
	}
	for range 8 {
		turns(late, "main.work", "running", 500, "runnable", 1500)
	}
	few := queue(8, 2)
	few.processor("idle 0 100000").processor("idle 0 100000") // are not there: GOMAXPROCS is 2
	few.procs = "  1000 sched/gomaxprocs=2\n"

	for _, c := range []struct {
		name  string
		trace *goText
		level finding.Level
		want  want
		lost  float64 // ms
		view  string
	}{
		// Each pair runs for 25 ms after the others: waits of 2 × (25 + 50 + 75) ms, of
		// which 6 × 100 µs are ordinary.
		{"more goroutines than processors", queue(8, 2), finding.Medium, want{finding.ProcessorWait, []string{"waited for a processor = 300 ms\n", "\nran = 200 ms\nprocessors = 2\nprocessors busy meanwhile = 100.0 %\n", "main.work, goroutines = 8\n"}}, 299.4, "boxprofile"},
		{"processors beyond GOMAXPROCS are not idle", few, finding.Medium, want{finding.ProcessorWait, []string{"processors = 2\nprocessors busy meanwhile = 100.0 %\n"}}, 299.4, "boxprofile"},
		// 8 × 50 waits of 1.5 ms, each 1.4 ms too long.
		{"waits though processors idle", late, finding.Medium, want{finding.ProcessorWait, []string{"waited for a processor = 600 ms\n", "\nran = 200 ms\nprocessors = 4\nprocessors busy meanwhile = 25.0 %\n"}}, 560, "boxprofile"},
		{"a collector that takes a third", (&goText{}).processor("main.work 0 60000", "runtime.gcBgMarkWorker 60000 80000", "runtime.bgsweep 80000 90000", "GC mark assist 90000 94000", "stop-the-world (GC mark termination) 94000 95000").
			goroutine("main.work", 0, 100_000, "running 0 60000", "waiting: network 60000 100000"),
			finding.High, want{finding.GarbageCollection, []string{"garbage collection = 35.0 ms\nprocessors busy = 95.0 ms\nshare of the busy time = 36.8 %\nbackground workers = 20.0 ms\nassists = 4.00 ms\nsweeps = 10.0 ms\nworld stopped = 1.00 ms\n"}}, 35, "timeline"},
		// A half of the worker's time is on a processor with nothing else to do.
		{"workers on idle processors are not counted", (&goText{}).processor("main.work 0 70000", "runtime.gcBgMarkWorker 70000 100000").
			goroutine("main.work", 0, 100_000, "running 0 70000", "waiting: network 70000 100000").
			goroutine("runtime.gcBgMarkWorker", 0, 100_000, "runtime waiting: system goroutine wait 0 70000", "runtime running 70000 85000", "runtime running 85000 100000", "!70000000 ! \"GC (idle)\"", "!85000000 ! \"GC (dedicated)\""),
			finding.Medium, want{finding.GarbageCollection, []string{"share of the busy time = 15.0 %\nbackground workers = 15.0 ms\n"}}, 15, "timeline"},
		// Three of four are blocked at any time, one processor is idle.
		{"a lock that all want", convoy, finding.Medium, want{finding.Blocked, []string{"at run/goroutines/main.work\nin waiting: sync\n", "main.work, waiting: sync = 300 ms\nmain.work, running = 100 ms\nwaited on locks and in sends, all goroutines = 300 ms\n", "share of the processors' time = 50.0 %"}}, 100, "timeline"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := c.trace.read(t)
			holds(t, &d, c.want)
			f := &d.Findings[0]
			if len(d.Findings) > 1 && d.Findings[1].Kind != finding.IdleProcessors {
				t.Errorf("there is more: %s", d.Findings[1].Text)
			}
			if f.Severity != c.level || math.Abs(float64(f.Lost)/1e6-c.lost) > 1e-3 || f.View != c.view || len(f.Selection.Locations) == 0 || len(f.Selection.Regions) == 0 {
				t.Errorf("%s, %.4f ms lost, want %s, %v; shown by %s of %v and %v", f.Severity, float64(f.Lost)/1e6, c.level, c.lost, f.View, f.Selection.Locations, f.Selection.Regions)
			}
			if !(f.Share > 0 && f.Share <= 1 && f.Hit > 0 && f.Hit <= 1) {
				t.Errorf("share %v, hit %v", f.Share, f.Hit)
			}
		})
	}
}

func TestAHealthySchedulerHasNoFindings(t *testing.T) {
	idle := func() *goText {
		return (&goText{}).processor("main.work 0 2000", "idle 2000 100000").processor("idle 0 100000")
	}
	short := (&goText{}).processor("main.work 0 100000")
	for range 20 {
		turns(short, "main.work", "running", 10, "runnable", 90)
	}
	pool := idle()
	for range 20 {
		turns(pool, "main.work", "running", 10, "waiting: chan receive", 990)
	}
	locked := (&goText{}).processor("main.work 0 95000", "idle 95000 100000")
	for range 4 {
		turns(locked, "main.work", "running", 500, "waiting: sync", 1500)
	}
	parked := idle()
	for range 8 {
		parked.goroutine("main.work", 0, 100_000, "running 0 250", "waiting: sync 250 100000")
	}
	for _, c := range []struct {
		name  string
		trace *goText
	}{
		{"a server that waits for requests", idle().goroutine("main.main", 0, 100_000, "waiting: network 0 100000").goroutine("main.work", 0, 100_000, "running 0 2000", "waiting: select 2000 100000")},
		{"short waits of many goroutines", short},
		{"a pool without work", pool},
		{"locks, but processors are busy", locked},
		{"goroutines that wait for the end of others", parked},
		{"as many goroutines as processors", queue(2, 2)},
		{"a little collection", (&goText{}).processor("main.work 0 93000", "runtime.gcBgMarkWorker 93000 100000").goroutine("main.work", 0, 100_000, "running 0 93000", "waiting: network 93000 100000")},
		{"a collection where nothing else is to be done", (&goText{}).processor("main.work 0 500", "runtime.gcBgMarkWorker 500 1500", "idle 1500 100000").goroutine("main.work", 0, 100_000, "running 0 500", "waiting: network 500 100000")},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, f := range c.trace.read(t).Findings {
				if f.Kind != finding.IdleProcessors || f.Severity != finding.Low { // why they idle is worth knowing
					t.Errorf("%s %s: %s", f.Severity, f.Kind, f.Text)
				}
			}
		})
	}
}

// What is said of real traces is added up again, from intervals one by one.
func TestSchedulerFindingsOfRealTracesEqualAScan(t *testing.T) {
	for _, c := range []struct {
		path  []string
		list  []want
		level []finding.Level
	}{
		// The compiler on two processors, told to compile four functions at a time.
		{[]string{"data", "go-compile", "gocompile.trace"}, []want{
			{finding.ProcessorWait, []string{"compileFunctions.func3.1, goroutines = 1,371\n", "processors = 2\nprocessors busy meanwhile = 99.8 %"}}, {finding.GarbageCollection, []string{"share of the busy time = 11.6 %"}}, {finding.Serial, []string{"main.main alone = 1.18 s", "share of the run = 25.0 %"}}}, []finding.Level{finding.Medium, finding.Medium, finding.Medium}},
		// A test that sets GOMAXPROCS to 16 on a machine with two cores.
		{[]string{"data", "go-nethttp", "nethttp.trace"}, []want{
			{finding.ProcessorWait, []string{"net/http.(*conn).serve, goroutines = 263\n", "processors = 16\nprocessors busy meanwhile = 54.9 %"}}, {finding.GarbageCollection, []string{"share of the busy time = 18.5 %"}}, {finding.Serial, []string{"main.main alone = 81.8 ms"}}, {finding.Serial, []string{"net/http.(*conn).serve alone = 14.6 ms"}}, {finding.IdleProcessors, nil}}, []finding.Level{finding.Medium, finding.Medium, finding.Medium, finding.Medium, finding.Low}},
		// 71 of the 73 ms of the collector are on processors that had nothing else to do. One goroutine has a lock
		// and sleeps while another waits for it.
		{[]string{"data", "go-sync", "sync.trace"}, []want{{finding.Lock, []string{"code sync/mutex_test.go:206\n", "TestMutexFairness.func1 in sync_test.TestMutexFairness.func1 = 21.6 ms"}}, {finding.IdleProcessors, []string{"TestMutexFairness.func1 sleeps = "}}, {finding.ProcessorWait, []string{"TestPoolStress.func1, goroutines = 10\n", "processors = 2\n"}}}, []finding.Level{finding.Medium, finding.Low, finding.Low}},
	} {
		t.Run(c.path[1], func(t *testing.T) {
			r := viewtest.Import(t, c.path...)
			d := read(t, r)
			holds(t, &d, c.list...)
			if len(d.Findings) != len(c.list) {
				t.Errorf("%d findings, want %d", len(d.Findings), len(c.list))
			}
			waited, late, ran := scanWaits(t, r)
			collected := scanCollector(t, r)
			for i := range d.Findings {
				f := &d.Findings[i]
				if f.Severity != c.level[i] {
					t.Errorf("%s is %s, want %s", f.Kind, f.Severity, c.level[i])
				}
				if f.Kind == finding.Serial && (f.Gain == nil || f.Gain.Time > f.Lost/2) {
					t.Errorf("%v are lost on all processors, and the run would be %+v shorter", f.Lost, f.Gain)
				}
				if name, ok := strings.CutSuffix(f.Evidence[0].Name, " alone"); ok {
					all := scanAlone(t, r, name) // short pieces too
					if told := f.Evidence[0].Value; told > 1.01*all || told < 0.85*all {
						t.Errorf("%s alone is %v, of %v in all", name, told, all)
					}
				} else if f.Kind == finding.ProcessorWait {
					near(t, "waited", f.Evidence[0].Value, waited)
					near(t, "late", float64(f.Lost), late)
					near(t, "ran", f.Evidence[2].Value, ran)
				} else if f.Kind == finding.GarbageCollection {
					near(t, "garbage collection", float64(f.Lost), collected)
				}
			}
		})
	}
}

// What go tool trace adds up for this start function: 263 goroutines, execution time
// 82.052229 ms, scheduler wait time 664.953153 ms.
func TestWaitsAreThoseOfGoToolTrace(t *testing.T) {
	d := read(t, viewtest.Import(t, "data", "go-nethttp", "nethttp.trace"))
	holds(t, &d, want{finding.ProcessorWait, []string{"net/http.(*conn).serve waited = 665 ms\n", "net/http.(*conn).serve ran = 82.1 ms\nnet/http.(*conn).serve, goroutines = 263\n"}})
	for _, e := range d.Findings[0].Evidence {
		if e.Name == "net/http.(*conn).serve waited" && e.Value == 664_953_153 {
			return
		}
	}
	t.Errorf("%+v", d.Findings[0].Evidence)
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 2 {
		t.Errorf("%s: %v ns, want %v", what, got, want)
	}
}

// scanWaits reads every interval of the program's goroutines: how long they waited for
// a processor, how much of it was longer than 100 µs a wait, and how long they ran.
func scanWaits(t *testing.T, r store.Reader) (waited, late, ran float64) {
	t.Helper()
	type sums struct{ waited, waits float64 }
	by := make([]sums, r.Locations().Len())
	run := make([]float64, len(by))
	err := r.Intervals(t.Context(), store.Window{End: r.Info().End + 1}, func(c *trace.Columns) error {
		group := r.Locations().Parent[c.Location]
		if r.Locations().Kind[c.Location] != trace.KindGoroutine || strings.HasPrefix(r.Locations().Name[group], "runtime.") {
			return nil
		}
		for i, id := range c.Region {
			switch r.Regions()[id].Name {
			case "runnable":
				by[c.Location].waited += float64(c.Duration[i])
				by[c.Location].waits++
			case "running":
				run[c.Location] += float64(c.Duration[i])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range by {
		waited += s.waited
		late += max(s.waited-100e3*s.waits, 0)
		ran += run[i]
	}
	return waited, late, ran
}

// scanCollector reads every interval of the processors for the collector's time, and of
// its workers for that in stays which are labelled idle.
func scanCollector(t *testing.T, r store.Reader) (sum float64) {
	t.Helper()
	whole := store.Window{End: r.Info().End + 1}
	idle := map[trace.LocationID][]trace.Time{}
	var mu sync.Mutex
	err := r.Instants(t.Context(), whole, func(x *store.InstantColumns) error {
		mu.Lock()
		defer mu.Unlock()
		for i, id := range x.Region {
			if r.Regions()[id].Name == "GC (idle)" {
				idle[x.Location] = append(idle[x.Location], x.Time[i])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = r.Intervals(t.Context(), whole, func(c *trace.Columns) error {
		mu.Lock()
		defer mu.Unlock()
		for i, id := range c.Region {
			g := &r.Regions()[id]
			switch {
			case r.Locations().Kind[c.Location] == trace.KindProcessor:
				if g.Name == "runtime.gcBgMarkWorker" || g.Name == "runtime.bgsweep" || strings.HasPrefix(g.Name, "GC ") || strings.HasPrefix(g.Name, "stop-the-world (GC ") {
					sum += float64(c.Exclusive[i])
				}
			case g.Name == "runtime running":
				for _, at := range idle[c.Location] {
					if c.Begin[i] <= at && at < c.End(i) {
						sum -= float64(c.Duration[i])
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// scanAlone adds up the time in which goroutines that start in one function are the only ones of
// the program on a processor: every moment between two ends is looked at.
func scanAlone(t *testing.T, r store.Reader, name string) float64 {
	t.Helper()
	type edge struct {
		at   trace.Time
		open int
		mine bool
	}
	var mu sync.Mutex
	var edges []edge
	regions, tree := r.Regions(), r.Locations()
	err := r.Intervals(t.Context(), store.Window{End: r.Info().End}, func(c *trace.Columns) error {
		mu.Lock()
		defer mu.Unlock()
		until := trace.Time(-1)
		if tree.Kind[c.Location] != trace.KindProcessor {
			return nil
		}
		for i, id := range c.Region {
			if g := &regions[id]; g.Category == "goroutine" && g.Role != trace.RoleOverhead && c.Begin[i] >= until {
				until = c.End(i)
				edges = append(edges, edge{c.Begin[i], 1, g.Name == name}, edge{until, -1, g.Name == name})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	open, mine, sum := 0, 0, trace.Time(0)
	for i, e := range edges {
		if open == 1 && mine == 1 {
			sum += e.at - edges[i-1].at
		}
		open += e.open
		if e.mine {
			mine += e.open
		}
	}
	return float64(sum)
}

// Goroutines that wait in sends are told with the goroutine that receives: the slow consumer of a convoy, or one of
// themselves if the channel is a semaphore of one.
func TestBlockedSendersNameTheReceiver(t *testing.T) {
	const woken = `runtime.chanrecv1 runtime/chan.go:9\nmain.take main.go:7`
	all := func(int) trace.Time { return 2 * ms }
	one := func(thread int) trace.Time {
		if thread == 0 {
			return 12 * ms
		}
		return ms / 10
	}
	for _, c := range []struct {
		trace string
		about []string
	}{
		{locking(false, all).asGoWaiting("waiting: chan send", woken, func(int) string { return "main.work" }),
			[]string{"at run/goroutines/main.work\nin waiting: chan send\n", "of it while main.work runs = "}},
		{locking(false, one).asGoWaiting("waiting: chan send", woken, func(k int) string { return []string{"main.consume", "main.work"}[min(k, 1)] }),
			[]string{"main.work, waiting: chan send = ", "of it while main.consume runs = "}},
	} {
		d := read(t, text(c.trace).store(t))
		f := &d.Findings[0]
		if f.Kind != finding.Blocked {
			t.Errorf("%s: %s", f.Kind, f.Text)
		}
		for _, s := range c.about {
			if !strings.Contains(d.about(f), s) {
				t.Errorf("%q is not in\n%s", s, d.about(f))
			}
		}
	}
}

// A receiver that sleeps between two receives holds the senders up: it is named, with where it receives, and all the
// time of its sleep counts.
func TestBlockedSendersNameTheReceiverThatSleeps(t *testing.T) {
	const senders, rounds, sleep, take = 4, 40, 4000, 10
	g, links, asleep := &goText{}, "", 0
	states, at := make([][]string, senders), make([]int, senders)
	var receiver []string
	for r := range rounds {
		k, begin := r%senders, r*(sleep+take)
		woken := begin + sleep + take
		receiver = append(receiver, fmt.Sprintf("waiting: sleep %d %d", begin, begin+sleep),
			fmt.Sprintf("running %d %d", begin+sleep, woken))
		states[k] = append(states[k], fmt.Sprintf("running %d %d", at[k], at[k]+take),
			fmt.Sprintf("waiting: chan send %d %d", at[k]+take, woken),
			fmt.Sprintf(`runnable %d %d|"woken at"="runtime.chanrecv1 runtime/chan.go:9\nmain.write main.go:7"`,
				woken, woken+1))
		links += fmt.Sprintf("link wake %d \"run/goroutines/main.write/goroutine 1\" -> %d "+
			"\"run/goroutines/main.work/goroutine %d\" from=running to=runnable\n", 1000*woken, 1000*woken, k+2)
		for b := 0; b <= begin; b += sleep + take { // the receiver sleeps from b on
			asleep += max(b+sleep-max(b, at[k]+take), 0)
		}
		at[k] = woken + 1
	}
	end := rounds * (sleep + take)
	g.processor(fmt.Sprintf("idle 0 %d", end))
	g.processor(fmt.Sprintf("idle 0 %d", end))
	g.goroutine("main.write", 0, end, receiver...)
	for k := range senders {
		g.goroutine("main.work", 0, end+1, states[k]...)
	}
	d := read(t, text(g.String()+links).store(t))
	f := &d.Findings[0]
	held := f.Evidence[1]
	if f.Kind != finding.Blocked || !strings.HasPrefix(f.Text, "main.write holds up 4 goroutines of main.work: they waited ") ||
		!strings.Contains(f.Next, "Receive in more goroutines") {
		t.Errorf("%s: %s %s", f.Kind, f.Text, f.Next)
	}
	if !strings.Contains(f.Text, " of it while main.write sleeps until it receives (main.go:7)") {
		t.Error(f.Text)
	}
	if held.Name != "of it while main.write sleeps" || held.Value != float64(1000*asleep) {
		t.Errorf("%s = %v, want %d", held.Name, held.Value, 1000*asleep)
	}
}

// A program whose main goroutine merges results alone after each round of work.
func serialGo(serial, rounds int) (*goText, float64) {
	const processors, work = 4, 10_000
	g := &goText{}
	at := 0
	spans := make([][]string, processors)
	var main []string
	for range rounds {
		for p := range processors {
			spans[p] = append(spans[p], fmt.Sprintf("main.work %d %d", at, at+work))
		}
		main = append(main, fmt.Sprintf("waiting: sync %d %d", at, at+work))
		at += work
		if serial > 0 {
			spans[0] = append(spans[0], fmt.Sprintf("main.main %d %d", at, at+serial))
			for p := 1; p < processors; p++ {
				spans[p] = append(spans[p], fmt.Sprintf("idle %d %d", at, at+serial))
			}
			main = append(main, fmt.Sprintf("running %d %d", at, at+serial))
			at += serial
		}
	}
	for p := range processors {
		g.processor(spans[p]...)
	}
	g.goroutine("main.main", 0, at, main...)
	return g, 1000 * float64(serial*rounds*(processors-1))
}

// crowd is threads on processors, as the system's scheduler tells it: each could run all the time,
// and they take turns of a millisecond. The second value is what they wait.
func crowd(threads, processors, turns int) (string, float64) {
	var b strings.Builder
	b.WriteString("region worker category=scheduler role=compute\nregion running category=state role=compute\nregion runnable category=state role=overhead\nregion sleeping category=state role=idle\nlocation group CPUs\n")
	for p := range processors {
		fmt.Fprintf(&b, "  location processor \"CPU %d\"\n    0ms..%dms worker\n", p, turns)
	}
	b.WriteString("location process program\n")
	waited := 0.0
	for k := range threads {
		fmt.Fprintf(&b, "  location thread \"worker %d\"\n    location repeat states\n", k)
		for x := range turns {
			state := "sleeping"
			if first := x * processors % threads; (k-first+threads)%threads < processors {
				state = "running"
			} else if threads > processors {
				state = "runnable"
				waited += 1e6
			}
			fmt.Fprintf(&b, "      %dms..%dms %s\n", x, x+1, state)
		}
	}
	return b.String(), waited
}

func TestMoreThreadsThanProcessorsAreFound(t *testing.T) {
	text, waited := crowd(12, 4, 60)
	d := read(t, parsed(t, text))
	if len(d.Findings) == 0 || d.Findings[0].Kind != finding.Crowded || float64(d.Findings[0].Lost) != waited || !strings.Contains(d.about(&d.Findings[0]), "processors = 4\ncould run, mean = 12\n") {
		t.Errorf("%q, want %v", texts(&d), waited)
	}
	text, _ = crowd(4, 4, 60)
	if d := read(t, parsed(t, text)); len(d.Findings) > 0 {
		t.Errorf("as many threads as processors: %q", texts(&d))
	}
}
