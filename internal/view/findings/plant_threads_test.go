package findings_test

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A bed grows runs of threads of one process. Like a field it adds up itself what a fault costs.
type bed struct {
	threads int
	kind    trace.Kind // of its locations; a thread unless said
	events  [][]event
	cost    trace.Time
}

func (b *bed) do(thread int, region string, begin, end trace.Time) {
	if end > begin {
		b.events[thread] = append(b.events[thread], event{region, begin, end})
	}
}

// A request is a thread that asks for a lock.
type request struct {
	at     trace.Time
	thread int
}

type requests []request

func (r requests) Len() int { return len(r) }
func (r requests) Less(i, k int) bool {
	return r[i].at < r[k].at || r[i].at == r[k].at && r[i].thread < r[k].thread
}
func (r requests) Swap(i, k int) { r[i], r[k] = r[k], r[i] }
func (r *requests) Push(x any)   { *r = append(*r, x.(request)) }
func (r *requests) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}

// locking lets eight threads compute for 4 ms and then update something under one lock, 40
// times, each for as long as hold says. The lock goes to who asked first. Critical writes it
// as sections of OpenMP, else it is a mutex.
func locking(critical bool, hold func(thread int) trace.Time) *bed {
	const threads, rounds = 8, 40
	rnd := rand.New(rand.NewPCG(5, 7))
	b := &bed{threads: threads, events: make([][]event, threads)}
	list, left := &requests{}, make([]int, threads)
	at := make([]trace.Time, threads)
	work := func(t int) {
		end := at[t] + trace.Time(float64(4*ms)*(1+0.1*rnd.NormFloat64()))
		b.do(t, "compute", at[t], end)
		heap.Push(list, request{end, t})
	}
	for t := range threads {
		left[t] = rounds
		work(t)
	}
	free := trace.Time(0)
	for list.Len() > 0 {
		q := heap.Pop(list).(request)
		begin := max(q.at, free)
		b.cost += begin - q.at
		free = begin + hold(q.thread)
		if critical {
			b.do(q.thread, "!$omp critical @sum.c:9", q.at, free)
			b.do(q.thread, "!$omp critical sblock @sum.c:9", begin, free)
		} else {
			b.do(q.thread, "pthread_mutex_lock", q.at, begin)
			b.do(q.thread, "update", begin, free)
			b.do(q.thread, "pthread_mutex_unlock", free, free+200)
		}
		at[q.thread] = free + 200
		if left[q.thread]--; left[q.thread] > 0 {
			work(q.thread)
		}
	}
	return b
}

// asGo writes threads that take a lock as goroutines, each with a processor to itself, which idles while the goroutine waits.
func (b *bed) asGo() string {
	return b.asGoWaiting("waiting: sync", `sync.(*Mutex).Unlock sync/mutex.go:9\nmain.update main.go:7`, func(int) string { return "main.work" })
}

// asGoWaiting is asGo with another state of those who wait, the top of the stack that lets them go on, and the start
// function of each.
func (b *bed) asGoWaiting(waits, woken string, start func(thread int) string) string {
	g := &goText{}
	gave := map[trace.Time]int{} // who gives the lock back when
	for k, list := range b.events {
		for _, e := range list {
			if e.region == "update" {
				gave[e.end] = k
			}
		}
	}
	end := trace.Time(0)
	for _, list := range b.events {
		end = max(end, list[len(list)-1].end)
	}
	var links strings.Builder
	for k, list := range b.events {
		var spans, states []string
		at, idle := trace.Time(0), trace.Time(0)
		state := func(name string, begin, end trace.Time, more string) {
			if end > begin {
				states = append(states, fmt.Sprintf("%d..%d %q %s", begin, end, name, more))
			}
		}
		for i, e := range list {
			if e.region != "pthread_mutex_lock" && i+1 < len(list) {
				continue
			}
			busy := e.begin
			if i+1 == len(list) {
				busy = e.end
			}
			more := ""
			if at > 0 {
				more = `"woken at"="` + woken + `\nmain.run main.go:3"`
				state("runnable", at, at+1, more)
				at++
			}
			state("running", at, busy, "")
			spans = append(spans, fmt.Sprintf("%d..%d idle", idle, at), fmt.Sprintf("%d..%d main.work", at, busy))
			if i+1 == len(list) {
				spans = append(spans, fmt.Sprintf("%d..%d idle", busy, end))
				continue
			}
			state(waits, e.begin, e.end, "")
			fmt.Fprintf(&links, "link wake %d \"run/goroutines/%s/goroutine %d\" -> %d \"run/goroutines/%s/goroutine %d\" from=running to=runnable\n", e.end, start(gave[e.end]), gave[e.end]+1, e.end, start(k), k+1)
			at, idle = e.end, e.begin
		}
		g.raw(spans, start(k), list[len(list)-1].end, states)
	}
	return g.String() + links.String()
}

// pooling lets eight threads take tasks from a pool. One of them makes the tasks of each
// round alone, for as long as said, and takes part then.
func pooling(serial trace.Time, idle bool) *bed {
	const threads, rounds, tasks = 8, 20, 64
	rnd := rand.New(rand.NewPCG(9, 7))
	b := &bed{threads: threads, events: make([][]event, threads), kind: "worker"}
	at := trace.Time(0)
	wait := func(t int, begin, end trace.Time) {
		if idle {
			b.do(t, "idle", begin, end)
		}
	}
	for range rounds {
		ready := at + serial
		b.do(0, "split_work", at, ready)
		free := slices.Repeat([]trace.Time{ready}, threads)
		for range tasks {
			t := 0
			for k := range free {
				if free[k] < free[t] {
					t = k
				}
			}
			end := free[t] + trace.Time(float64(ms)*(1+0.05*rnd.NormFloat64()))
			b.do(t, "task", free[t], end)
			free[t] = end
		}
		next := slices.Max(free)
		for t := range threads {
			if t > 0 && serial > 0 {
				wait(t, at, ready)
				b.cost += serial
			}
			wait(t, free[t], next)
		}
		at = next
	}
	return b
}

// signalling lets eight threads compute in rounds. One of them prepares each round alone, for as long as
// said, and signals a condition then for which the others wait; they signal another when they are done.
func signalling(serial trace.Time) *bed {
	const threads, rounds, call = 8, 20, 200
	rnd := rand.New(rand.NewPCG(9, 7))
	b := &bed{threads: threads, events: make([][]event, threads)}
	at := trace.Time(0)
	free := make([]trace.Time, threads)
	for range rounds {
		b.do(0, "prepare_round", at, at+serial)
		b.do(0, "pthread_cond_broadcast", at+serial, at+serial+call)
		done := trace.Time(0)
		for t := range threads {
			begin := at + serial + call
			if t > 0 {
				b.do(t, "pthread_cond_wait", free[t], begin)
				b.cost += serial
			}
			free[t] = begin + trace.Time(float64(4*ms)*(1+0.002*rnd.NormFloat64()))
			b.do(t, "compute", begin, free[t])
			if t > 0 {
				b.do(t, "pthread_cond_signal", free[t], free[t]+call)
				free[t] += call
			}
			done = max(done, free[t])
		}
		b.do(0, "pthread_cond_wait", free[0], done)
		at = done
	}
	return b
}

func (b *bed) store(t *testing.T) store.Reader {
	t.Helper()
	return viewtest.Local(t, func(w trace.Writer) {
		p := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "program", Rank: trace.NoRank})
		for k, list := range b.events {
			kind := b.kind
			if kind == "" {
				kind = trace.KindThread
			}
			s := w.Stream(w.Location(trace.Location{Parent: p, Kind: kind, Name: fmt.Sprintf("%s %d", kind, k), Rank: trace.NoRank}), trace.StreamOptions{Unordered: true})
			for _, e := range list {
				role := trace.RoleByName
				switch {
				case e.region == "idle":
					role = trace.RoleIdle
				case !strings.ContainsAny(e.region, "!_") || e.region == "split_work" || e.region == "prepare_round":
					role = trace.RoleCompute
				}
				s.Interval(e.begin, e.end, w.Region(trace.Region{Name: e.region, Role: role}))
			}
			_ = s.Close()
		}
	})
}

// Who signals a condition is known from the calls alone, and so is what it did before: that the others wait for.
func TestWaitingForAConditionIsExplained(t *testing.T) {
	b := signalling(2 * ms)
	d := read(t, b.store(t))
	sums(t, "condition", &d)
	if c := &d.Budget[0]; d.Unexplained*100 > d.Accounts.Waiting || c.Region != "prepare_round" || max(c.Time-b.cost, b.cost-c.Time)*1000 > b.cost { // the rounds themselves are not quite even
		t.Errorf("%d of %d unexplained, first cause %+v, planted %d", d.Unexplained, d.Accounts.Waiting, c, b.cost)
	}
}

// A lock is a cause of waiting: all of it is explained, by who held the lock.
func TestWaitingForALockIsExplained(t *testing.T) {
	for _, critical := range []bool{true, false} {
		b := locking(critical, func(int) trace.Time { return 2 * ms })
		d := read(t, b.store(t))
		sums(t, "lock", &d)
		if d.Unexplained*100 > d.Accounts.Waiting || d.Budget[0].Cause != "lock" {
			t.Errorf("critical %v: %d of %d unexplained, first cause %+v", critical, d.Unexplained, d.Accounts.Waiting, d.Budget[0])
		}
	}
}
