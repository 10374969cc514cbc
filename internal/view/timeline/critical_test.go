package timeline

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A step of one GPU: the host computes, launches two kernels and waits for the second.
const gpuStep = `
region "ProfilerStep#1" category=user_annotation role=annotation
region "aten::mm" category=cpu_op role=compute
region cudaLaunchKernel category=cuda_runtime role=overhead
region cudaDeviceSynchronize category=cuda_runtime role=synchronization
region gemm category=kernel role=compute
region add category=kernel role=compute
location process "rank 0" rank=0
  location thread main
    0..1000 "ProfilerStep#1"
      0..100 aten::mm
        50..100 cudaLaunchKernel
      100..200 aten::mm
        150..200 cudaLaunchKernel
      200..1000 cudaDeviceSynchronize
  location device "GPU 0"
    location stream "stream 7"
      120..500 gemm
      510..950 add
link spawn 50 "rank 0/main" -> 120 "rank 0/GPU 0/stream 7"
link spawn 150 "rank 0/main" -> 510 "rank 0/GPU 0/stream 7"
`

// The line runs where the path is, for as long as it is there, and has its entry in the legend.
func TestTheCriticalPathOfAStepIsDrawnOnItsRows(t *testing.T) {
	c := viewtest.Case{Trace: gpuStep, Options: map[string][]string{"critical": {"true"}}}
	r := c.Compute(t, View, c.Open(t)).(*result)
	list := r.Data().(*data).Critical
	at, sum := trace.Time(0), trace.Time(0)
	var places []string
	for _, s := range list {
		if s.Begin != at {
			t.Errorf("the path is cut at %d: %+v", at, s)
		}
		at, sum = s.End, sum+s.End-s.Begin
		if n := len(places); n == 0 || places[n-1] != s.Path {
			places = append(places, s.Path)
		}
	}
	if sum != 1000 || strings.Join(places, ",") != "rank 0/main,rank 0/GPU 0/stream 7,rank 0/main" {
		t.Errorf("%d ns on %v: %+v", sum, places, list)
	}
	s := r.Scene(scene.Size{Width: 1000, Height: 300})
	if s.Legend[0].Label != "critical path" || s.Legend[0].Colour != criticalColour {
		t.Errorf("%+v", s.Legend)
	}
	// What is drawn is as long as the path, but for the pixels of its ends.
	drawn, turns := 0.0, 0
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			if l.Name != "critical path" {
				continue
			}
			switch m := m.(type) {
			case *scene.Rect:
				for i := range m.X {
					if m.Fill[i] == criticalColour {
						drawn += float64(m.W[i])
					}
				}
			case *scene.Line:
				turns += m.Len()
			}
		}
	}
	if want := float64(s.Frames[0].W); math.Abs(drawn-want) > 4 || turns != 2 {
		t.Errorf("%v of %v pixels, %d turns", drawn, want, turns)
	}
	band, _ := placed(r).criticalBand(1)
	if f, ok := pick(r, float64(placed(r).x(300)), float64(band+1)); !ok || f.Title != "critical path" || !strings.Contains(f.Text, "ProfilerStep#1") || *f.Begin != 120 {
		t.Errorf("%+v %v", f, ok)
	}
	c.Options = nil
	if list := c.Compute(t, View, c.Open(t)).Data().(*data).Critical; list != nil {
		t.Errorf("drawn unasked: %+v", list)
	}
}

func TestARunWithoutPathsSaysSo(t *testing.T) {
	c := viewtest.Case{Trace: "region a role=compute\nlocation process p rank=0\n  0..10 a\n", Options: map[string][]string{"critical": {"true"}}}
	r := c.Compute(t, View, c.Open(t))
	if n := strings.Join(r.Notes(), "; "); !strings.Contains(n, "no critical path is drawn") {
		t.Error(n)
	}
}

// The path of the job of eight ranks leads to rank 5, and its stretches in a window are those of the whole.
func TestTheCriticalPathOfAJobLeadsToItsSlowRank(t *testing.T) {
	viewtest.Shared(t, "data", "kineto-ddp-8rank")
	run := viewtest.Import(t, "data", "kineto-ddp-8rank")
	c := viewtest.Case{Options: map[string][]string{"critical": {"true"}}}
	whole := c.Compute(t, View, run).Data().(*data).Critical
	on, all := trace.Time(0), trace.Time(0)
	seen := map[dataStretch]bool{}
	for _, s := range whole {
		s.Location = nil
		seen[s] = true
		all += s.End - s.Begin
		if strings.Contains(s.Path, "rank 5") {
			on += s.End - s.Begin
		}
	}
	if len(whole) == 0 || 2*on < all {
		t.Errorf("%d of %d ns on rank 5", on, all)
	}
	end := run.Info().End
	c.Spec = view.Spec{From: fmt.Sprint(end / 3), To: fmt.Sprint(end / 2)}
	part := c.Compute(t, View, run).Data().(*data).Critical
	for _, s := range part {
		s.Location = nil
		if !seen[s] {
			t.Errorf("in the window alone: %+v", s)
		}
	}
	if len(part) == 0 || len(part) >= len(whole) {
		t.Errorf("%d of %d stretches", len(part), len(whole))
	}
}

// The queue is +1 from a launch to the begin of its work, counted here link by link at every edge.
func TestTheQueueIsWhatIsLaunchedAndHasNotBegun(t *testing.T) {
	viewtest.Shared(t, "data", "ml", "h200", "eager-small.json.gz")
	run := viewtest.Import(t, "data", "ml", "h200", "eager-small.json.gz")
	c := viewtest.Case{Options: map[string][]string{"counters": {runfacts.QueueCounter.Name}}}
	r := c.Compute(t, View, run).(*result)
	if len(r.counters.list) != 1 {
		t.Fatalf("%d series: %v", len(r.counters.list), r.notes)
	}
	s := r.counters.list[0]
	type pair struct{ from, to trace.Time }
	var list []pair
	err := run.Links(t.Context(), store.Window{End: run.Info().End}, func(l *store.LinkColumns) error {
		for i, k := range l.Kind {
			if k == trace.LinkSpawn && run.Locations().Kind[l.ToLocation[i]] == trace.KindStream {
				list = append(list, pair{l.FromTime[i], l.ToTime[i]})
			}
		}
		return nil
	})
	if err != nil || len(list) < 1000 {
		t.Fatal(len(list), err)
	}
	most := 0
	for _, edge := range list[:min(len(list), 3000)] {
		n := 0
		for _, x := range list {
			if x.from <= edge.from && edge.from < x.to {
				n++
			}
		}
		most = max(most, n)
		b := s.grid.bin(edge.from) - s.grid.bin(s.grid.begin)
		if float64(n) > s.high[b] || float64(n) < s.low[b] {
			t.Fatalf("%d at %d, drawn %v to %v", n, edge.from, s.low[b], s.high[b])
		}
	}
	if s.min != 0 || s.max < float64(most) || len(list) <= 3000 && s.max != float64(most) {
		t.Errorf("from %v to %v, counted %d at most", s.min, s.max, most)
	}
}
