package processor_test

import (
	"context"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/processor"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	gpuJob = `region work
region copy role=copy
location process "rank 0" rank=0
  location thread "profiler overhead"
    0..10 work
  location thread "thread 12 (python3)"
    0..100 work
  location thread "thread 40 (pt_autograd_0)"
    0..100 work
  location device "GPU 0"
    location stream "stream 7"
      0..40 work
      60..80 work
    location stream "stream 9"
      30..70 copy
location process "rank 1" rank=1
  location thread "thread 13 (python3)"
    0..100 work
  location device "GPU 0"
    location stream "stream 7"
      0..50 work
`
	goProgram = `region main.f
location group "processors"
  location processor "P 0"
    0..100 main.f
  location processor "P 1"
    0..50 main.f
location group "goroutines"
  location group "main.f"
    location goroutine "goroutine 1"
      0..60 main.f
    location goroutine "goroutine 2"
      40..100 main.f
  location group "runtime/trace.Start.func1"
    location goroutine "goroutine 3"
      0..10 main.f
location group "runtime"
  0..10 main.f
`
	team = `region work
location process "rank 0" rank=0
  location thread "Master thread"
    0..100 work
  location thread "OMP thread 1"
    0..100 work
  location thread "async_progress"
    0..100 work
`
	java = `region work
location process "java 7"
  location thread "main"
    0..100 work
  location thread "pool-1-thread-1"
    0..100 work
  location thread "GC Thread#0"
    0..100 work
  location thread "C2 CompilerThread0"
    0..100 work
`
	machine = `region work
location group "CPUs"
  location processor "CPU 0"
    0..100 work
location process "a 7"
  location thread "a 7"
    0..100 work
`
)

// rows lists the rows of a run by their paths.
func rows(t *testing.T, text string, rule processor.Rule) (r store.Reader, words, paths string) {
	t.Helper()
	r = storetest.Text(t, text)
	c := processor.Choose(r.Locations(), rule)
	var list []string
	for _, id := range c.Rows {
		list = append(list, r.Locations().Path(id))
	}
	return r, c.Words(), strings.Join(list, " | ")
}

func TestProcessorsAreWhatCanBeCompared(t *testing.T) {
	for _, c := range []struct {
		name, text, words, paths string
		rule                     processor.Rule
	}{
		{"GPU job", gpuJob, "2 GPUs and 2 main threads", "rank 0/GPU 0 | rank 0/thread 12 (python3) | rank 1/GPU 0 | rank 1/thread 13 (python3)", processor.Processors},
		{"threads and streams", gpuJob, "3 streams and 3 threads", "rank 0/GPU 0/stream 7 | rank 0/GPU 0/stream 9 | rank 0/thread 12 (python3) | rank 0/thread 40 (pt_autograd_0) | rank 1/GPU 0/stream 7 | rank 1/thread 13 (python3)", processor.Threads},
		{"Go program", goProgram, "2 processors", "processors/P 0 | processors/P 1", processor.Processors},
		{"goroutines by function", goProgram, "1 function and 1 group", "goroutines/main.f | runtime", processor.Threads},
		{"team", team, "2 threads", "rank 0/Master thread | rank 0/OMP thread 1", processor.Processors},
		{"JVM", java, "2 threads", "java 7/main | java 7/pool-1-thread-1", processor.Processors},
		{"CPUs beside threads", machine, "1 thread", "a 7/a 7", processor.Processors},
	} {
		_, words, paths := rows(t, c.text, c.rule)
		if words != c.words || paths != c.paths {
			t.Errorf("%s: %s: %s\nwant %s: %s", c.name, words, paths, c.words, c.paths)
		}
	}
}

func TestAllRowsAreTheRunItself(t *testing.T) {
	for _, text := range []string{gpuJob, goProgram, team} {
		r := storetest.Text(t, text)
		run := derived.Run{Store: r}
		if processor.See(run, processor.All).Store != r {
			t.Error("all rows of a run are another run")
		}
	}
}

func TestAGPUIsBusyWhereAnyStreamIs(t *testing.T) {
	r := storetest.Text(t, gpuJob)
	x := processor.See(derived.Run{Store: r}, processor.Processors).Store
	tree := x.Locations()
	for id := range tree.Len() {
		if tree.Path(trace.LocationID(id)) != "rank 0/GPU 0" {
			continue
		}
		gpu := []trace.LocationID{trace.LocationID(id)}
		sums, err := x.RoleTime(context.Background(), gpu, []trace.Time{0, 50, 100})
		if err != nil {
			t.Fatal(err)
		}
		at := func(bin int, role trace.Role) trace.Time { return sums[bin*trace.RoleCount+int(role)].Time() }
		if at(0, trace.RoleCompute) != 40 || at(0, trace.RoleCopy) != 10 || at(1, trace.RoleCompute) != 20 ||
			at(1, trace.RoleCopy) != 10 {
			t.Errorf("its role times are %v", sums)
		}
		table, err := x.Time(context.Background(), store.Window{End: 100, Locations: gpu})
		if err != nil || len(table.Locations) != 1 || table.Calls[0]+table.Calls[1] != 3 {
			t.Errorf("its regions are %+v, %v", table, err)
		}
		if n := x.Lanes()[id+1] - x.Lanes()[id]; n != 2 {
			t.Errorf("it has %d lanes, want one a stream", n)
		}
		if n, _ := x.Count(store.Window{End: 100}); n != 6 {
			t.Errorf("rows of the run have %d intervals, want 6", n)
		}
		c, err := x.Interval(store.Row{Location: gpu[0], Lane: 1})
		if err != nil || c == nil || c.Begin[0] != 30 || c.Location != gpu[0] {
			t.Errorf("the first interval of its second lane is %+v", c)
		}
	}
}

func TestASelectionOfAHelperIsNoRow(t *testing.T) {
	r := storetest.Text(t, gpuJob)
	c := processor.Choose(r.Locations(), processor.Processors)
	for id := range r.Locations().Len() {
		path := r.Locations().Path(trace.LocationID(id))
		want := !strings.Contains(path, "stream") && !strings.Contains(path, "autograd") && !strings.Contains(path, "overhead")
		if got := c.Holds([]trace.LocationID{trace.LocationID(id)}); got != want {
			t.Errorf("%s has rows: %v", path, got)
		}
	}
	if !c.Holds(nil) {
		t.Error("all has no rows")
	}
}
