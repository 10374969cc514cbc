package findings_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Worked out by hand, in µs, with two processors: main.main makes two goroutines and waits for them. The first of them holds a lock
// from 12 to 50, waits for the network then and ends at 80; the second waits for the lock from 20 on and is done at 100.
//
//	P 0 idles 50-70   until the network answers
//	          80-102  for the second, which main.main waits for; then 2 until main.main runs
//	P 1 idles 0-12    for main.main to make somebody; then 2 until it runs
//	          20-52   for the lock; then 2 until it runs
//	          100-110 2 until main.main runs, and for main.main, the last
func TestCausesOfIdleProcessorsEqualTheHandComputation(t *testing.T) {
	g := (&goText{}).processor("main.main 0 10", "main.work 10 50", "idle 50 70", "main.work 70 80", "idle 80 102", "main.main 102 110").
		processor("idle 0 12", "main.work 12 20", "idle 20 52", "main.work 52 100", "idle 100 110")
	g.goroutine("main.main", 0, 110, "running 0 10", "waiting: sync 10 100", `runnable 100 102|"woken at"="sync.(*WaitGroup).Done sync/waitgroup.go:9\nmain.work app/main.go:20"`, "running 102 110")
	g.goroutine("main.work", 5, 80, "runnable 5 10", "running 10 50", "waiting: network 50 70", "running 70 80")
	g.goroutine("main.work", 10, 100, "runnable 10 12", "running 12 20", "waiting: sync 20 50", `runnable 50 52|"woken at"="sync.(*Mutex).Unlock sync/mutex.go:9\nmain.update app/main.go:12\nmain.work app/main.go:5"`, "running 52 100")
	const first, second, third = `"run/goroutines/main.main/goroutine 1"`, `"run/goroutines/main.work/goroutine 2"`, `"run/goroutines/main.work/goroutine 3"`
	text := g.String()
	for _, l := range []struct {
		kind     string
		at       int
		from, to string
		ends     string
	}{{"spawn", 5, first, second, "from=main.main to=main.work"}, {"spawn", 10, first, third, "from=main.main to=main.work"}, {"wake", 50, second, third, "from=running to=runnable"}, {"wake", 100, third, first, "from=running to=runnable"}} {
		text += fmt.Sprintf("link %s %d000 %s -> %d000 %s %s\n", l.kind, l.at, l.from, l.at, l.to, l.ends)
	}
	d := read(t, parsed(t, text))
	sums(t, "idle processors", &d)
	want := []string{"lock main.work main.update 30000", "wait at join main.work main.work 20000", "network main.work waiting: network 20000", "serial main.main main.main 18000", "processor-wait main.main runnable 4000", "processor-wait main.work runnable 4000"}
	var got []string
	for _, c := range d.Budget {
		got = append(got, fmt.Sprintf("%s %s %s %d", c.Cause, c.Path[strings.LastIndex(c.Path, "/")+1:], c.Region, c.Time))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || d.Unexplained != 0 || d.Accounts.Waiting != 96_000 {
		t.Errorf("%d of %d unexplained, and\n%s\nwant\n%s", d.Unexplained, d.Accounts.Waiting, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// recorded reads a trace of testdata/go, which says what the program did.
func recorded(t *testing.T, name string) answers {
	t.Helper()
	data, err := os.ReadFile("testdata/go/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, viewtest.ImportBytes(t, name, data))
}

// Of programs that wait for a known reason the budget of what processors idle is explained by that reason, and told.
func TestFindingsOfRecordedGoProgramsNameTheirWaiting(t *testing.T) {
	for _, c := range []struct {
		name         string
		kind, region string // of the first cause
		least        float64
		finding      finding.Kind
		about        string
	}{
		{"lock.trace", "lock", "main.(*table).rebuild", 0.7, finding.Lock, "main.lock.func1 in main.(*table).rebuild = "},
		{"condition.trace", "serial", "main.main", 0.7, finding.Serial, "main.main alone = "},
		{"channel.trace", "serial", "main.main", 0.9, finding.Serial, "main.main alone = "},
		{"crowd.trace", "serial", "sync.(*WaitGroup).Go.func1", 0.9, finding.ProcessorWait, "sync.(*WaitGroup).Go.func1"},
	} {
		d := recorded(t, c.name)
		sums(t, c.name, &d)
		first := &d.Budget[0]
		if d.Unexplained*100 > d.Accounts.Waiting || first.Cause != c.kind || first.Region != c.region || first.Share < c.least {
			t.Errorf("%s: %d of %d unexplained, most by %+v", c.name, d.Unexplained, d.Accounts.Waiting, first)
		}
		found := false
		for _, f := range d.Findings {
			found = found || f.Kind == c.finding && strings.Contains(d.about(&f), c.about)
		}
		if !found {
			t.Errorf("%s: no %s with %q: %q", c.name, c.finding, c.about, texts(&d))
		}
	}
}

// What 16 goroutines that could run waited for 2 processors, by the program's own clock: each is done after at most the whole time, and 16 × 20 ms are
// to be run on 2. So they waited between what is left of 16 times the mean and the whole time.
func TestRecordedGoroutinesWaitForProcessorsAsMeasured(t *testing.T) {
	d := recorded(t, "crowd.trace")
	var f *finding.Finding
	for i := range d.Findings {
		if d.Findings[i].Kind == finding.ProcessorWait {
			f = &d.Findings[i]
		}
	}
	if f == nil {
		t.Fatalf("%q", texts(&d))
	}
	waited, ran := f.Evidence[0].Value, f.Evidence[2].Value
	const took = 219.467622e6
	if ran > 2*took || ran < 16*20e6 || waited > 16*took-ran || waited < 0.5*(16*took-ran) {
		t.Errorf("16 goroutines ran %v and waited %v ns in %v", ran, waited, took)
	}
}

// What goroutines waited for the lock by their own clock is what the trace says they waited and could not run.
func TestARecordedLockIsWaitedForAsLongAsTheProgramSays(t *testing.T) {
	data, err := os.ReadFile("testdata/go/lock.trace")
	if err != nil {
		t.Fatal(err)
	}
	r := viewtest.ImportBytes(t, "lock.trace", data)
	var mu sync.Mutex
	times := map[string]trace.Time{}
	err = r.Intervals(t.Context(), store.Window{End: r.Info().End + 1}, func(c *trace.Columns) error {
		mu.Lock()
		defer mu.Unlock()
		for i, id := range c.Region {
			if up := r.Locations().Parent[c.Location]; up != trace.NoLocation && r.Locations().Name[up] == "main.lock.func2" {
				times[r.Regions()[id].Name] += c.Duration[i]
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sum := times["waiting: sync"]
	const said = 557.123462e6 // with being able to run afterwards
	if float64(sum) > said || float64(sum) < said-float64(times["runnable"]) {
		t.Errorf("waited %v, and %v for a processor; the program says %v", sum, times["runnable"], said)
	}
}
