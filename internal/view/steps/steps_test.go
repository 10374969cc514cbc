package steps_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/steps"
)

// job is two steps: data is loaded, two kernels are launched, one of the second step by nobody in the file.
const job = `
region ProfilerStep#1 category=user_annotation role=annotation
region ProfilerStep#2 category=user_annotation role=annotation
region DataLoader.__next__ category=cpu_op role=compute
region aten::mm category=cpu_op role=compute
region cudaLaunchKernel category=cuda_runtime role=overhead
region gemm category=kernel role=compute
region ncclAllReduce category=kernel role=communication
region "Memcpy HtoD" category=gpu_memcpy role=copy
location process "rank 0" rank=0
  location thread main
    0us..100us ProfilerStep#1
      0us..30us DataLoader.__next__
      40us..60us aten::mm
        50us..54us cudaLaunchKernel
      60us..80us aten::mm
        70us..74us cudaLaunchKernel
    100us..200us ProfilerStep#2
      150us..160us cudaLaunchKernel
  location device "GPU 0"
    location stream "stream 7"
      56us..76us gemm
      76us..110us ncclAllReduce
      165us..185us gemm "blocks per SM"=0.5 "est. achieved occupancy %"=40
    location stream "stream 8"
      100us..120us "Memcpy HtoD"
link spawn 50us "rank 0/main" -> 56us "rank 0/GPU 0/stream 7" from=cudaLaunchKernel to=gemm
link spawn 70us "rank 0/main" -> 76us "rank 0/GPU 0/stream 7" from=cudaLaunchKernel to=ncclAllReduce
link spawn 150us "rank 0/main" -> 165us "rank 0/GPU 0/stream 7" from=cudaLaunchKernel to=gemm
`

func TestView(t *testing.T) {
	viewtest.Run(t, steps.View,
		viewtest.Case{Name: "two steps", Trace: job},
		viewtest.Case{Name: "idle", Trace: job, Options: map[string][]string{"picture": {"idle"}}},
		viewtest.Case{Name: "ranks", Trace: ranks(3, 2), Options: map[string][]string{"by": {"ranks"}}},
	)
}

// ranks writes a job of many ranks.
func ranks(n, count int) string {
	var b strings.Builder
	b.WriteString("region gemm category=kernel role=compute\n")
	for k := range count {
		fmt.Fprintf(&b, "region \"iteration %d\" category=nvtx role=annotation\n", k+1)
	}
	for r := range n {
		fmt.Fprintf(&b, "location process \"rank %d\" rank=%d\n  location thread main\n", r, r)
		for k := range count {
			fmt.Fprintf(&b, "    %dus..%dus \"iteration %d\"\n", k*100, k*100+100, k+1)
		}
		fmt.Fprintf(&b, "  location device \"GPU %d\"\n    location stream \"stream 7\"\n", r)
		for k := range count {
			fmt.Fprintf(&b, "      %dus..%dus gemm\n", k*100+10, k*100+30+10*r)
		}
	}
	return b.String()
}

func data(t *testing.T, c viewtest.Case, r store.Reader) steps.Data {
	t.Helper()
	return viewtest.Decoded[steps.Data](t, c.Compute(t, steps.View, r))
}

func TestAStepWaitsForTheWorkItLaunched(t *testing.T) {
	c := viewtest.Case{Trace: job}
	d := data(t, c, c.Open(t))
	if len(d.Rows) != 2 {
		t.Fatal(d.Rows)
	}
	a, b := d.Rows[0], d.Rows[1]
	if a.Begin != 0 || a.End != 110_000 || b.Begin != 110_000 || b.End != 200_000 {
		t.Errorf("the all-reduce ends 10 µs after the first step on the host: %d..%d, %d..%d", a.Begin, a.End, b.Begin, b.End)
	}
	// 56–76 kernel, 100–110 copy, 76–100 communication, 50–54 the first call, loader 0–30, operator 40–50 and 54–56
	if a.Kernel != 20_000 || a.Memcpy != 10_000 || a.Communication != 24_000 || a.Runtime != 4_000 || a.Loader != 30_000 || a.CPU != 12_000 || a.Other != 10_000 {
		t.Errorf("%+v", a)
	}
	if b.Kernel != 20_000 || b.Memcpy != 10_000 || b.Runtime != 10_000 || b.Other != 50_000 {
		t.Errorf("%+v", b)
	}
	if d.By != "ProfilerStep#n" || d.Mean["kernel"] != 20_000 || d.Mean["total"] != 100_000 {
		t.Error(d.By, d.Mean)
	}
}

func TestTheTimeOfAGPUIsAnIdentity(t *testing.T) {
	c := viewtest.Case{Trace: job}
	g := data(t, c, c.Open(t)).GPUs[0]
	if g.Span != 129_000 || g.Computation != 40_000 || g.ExposedCommunication != 34_000 || g.ExposedCopy != 10_000 || g.Idle != 45_000 {
		t.Errorf("%+v", g.GPUTime)
	}
	if g.Unlinked.Count != 1 || g.Unlinked.Time != 20_000 {
		t.Error("the copy was launched by nobody:", g.Unlinked)
	}
	// 120–150 nothing was recorded, 150–160 the call, 160–165 not yet started
	if fmt.Sprint(g.Causes) != "map[call:10000 nothing_recorded:30000 queue:5000]" {
		t.Error(g.Causes)
	}
	if g.SMEfficiency == nil || *g.SMEfficiency != 0.05 || *g.Occupancy != 0.4 {
		t.Error("half a block for 20 of 200 µs, occupancy only where it is said")
	}
	if g.Launches.Count != 3 || g.Launches.QueueMost != 1 || g.Launches.Short != 0 {
		t.Errorf("%+v", g.Launches)
	}
}

func TestASelectionOfOneRankKeepsItsHost(t *testing.T) {
	c := viewtest.Case{Trace: ranks(3, 2), Spec: view.Spec{Locations: []string{"*/GPU 1"}}}
	d := data(t, c, c.Open(t))
	if len(d.Rows) != 2 || d.Rows[0].Path != "rank 1" || d.Rows[0].Kernel != 30_000 || len(d.GPUs) != 1 {
		t.Errorf("%+v", d.Rows)
	}
}

func TestStepsAreFoundByWhateverMarksThem(t *testing.T) {
	for _, c := range []struct{ what, regions, rows, by string }{
		{"numbers", "region \"train 3\" role=annotation\nregion \"train 4\" role=annotation", "0..100 \"train 3\"\n    100..200 \"train 4\"", "train n"},
		{"names", "region Trainer.train_step role=annotation", "0..100 Trainer.train_step\n    100..200 Trainer.train_step", "Trainer.train_step"},
		{"StepTraceAnnotation", "region train role=compute", "0..100 train step_num=7\n    100..200 train step_num=8", "train"},
		{"ranges that repeat", "region fwd_bwd role=annotation", "0..60 fwd_bwd\n    60..120 fwd_bwd\n    120..180 fwd_bwd", "fwd_bwd"},
		{"optimizers", "region Optimizer.step#Adam.step role=annotation", "0..10 aten::mm\n    90..100 Optimizer.step#Adam.step\n    190..200 Optimizer.step#Adam.step", "from the end of one optimizer step to that of the next"},
		{"DeepSpeed", "region DeepSpeedEngine.step role=annotation", "0..10 aten::mm\n    90..100 DeepSpeedEngine.step\n    190..200 DeepSpeedEngine.step", "from the end of one optimizer step to that of the next"},
	} {
		text := c.regions + "\nregion gemm category=kernel role=compute\nlocation process p\n  location thread main\n    " + c.rows + "\n  location device d\n    location stream s\n      10..20 gemm\n"
		k := viewtest.Case{Trace: text}
		d := data(t, k, k.Open(t))
		if d.By != c.by || len(d.Rows) < 2 {
			t.Errorf("%s: %q, %d steps", c.what, d.By, len(d.Rows))
		}
	}
}

func TestWorkWithoutStepsStillHasItsTime(t *testing.T) {
	c := viewtest.Case{Trace: "region gemm category=kernel role=compute\nlocation process p\n  location device d\n    location stream s\n      10..20 gemm\n      50..60 gemm\n"}
	r := c.Compute(t, steps.View, c.Open(t))
	d := r.Data().(steps.Data)
	if len(d.Rows) != 0 || d.GPUs[0].Span != 50 || d.GPUs[0].Idle != 30 || !strings.Contains(strings.Join(r.Notes(), " "), "no steps were found") {
		t.Errorf("%+v %v", d, r.Notes())
	}
	var sum trace.Time
	for _, x := range d.GPUs[0].Causes {
		sum += x
	}
	if sum != 30 {
		t.Error(d.GPUs[0].Causes)
	}
}

func TestIdleTimeOfARunWithoutGPUsIsEmpty(t *testing.T) {
	c := viewtest.Case{Trace: "location process p rank=0\n  0..10 ProfilerStep#1\n  10..20 ProfilerStep#2\n", Options: map[string][]string{"picture": {"idle"}}}
	r := c.Open(t)
	_, err := steps.View.Compute(t.Context(), c.Request(t, steps.View, r))
	var empty *view.EmptyError
	if !errors.As(err, &empty) {
		t.Errorf("the idle time of no GPU: %v", err)
	}
}

// On a telephone a label keeps the number of its step and its rank; the word that all steps have is in a note.
func TestLabelsOfStepsInALittleRoom(t *testing.T) {
	c := viewtest.Case{Trace: ranks(3, 2), Options: map[string][]string{"by": {"all"}}}
	run := c.Open(t)
	for width, want := range map[int]string{320: "#1 · rank 0", 900: "iteration 1 · rank 0"} {
		c.Size = scene.Size{Width: width, Height: 500}
		r := c.Compute(t, steps.View, run)
		s := r.Scene(c.Size)
		if got := s.Frames[0].YScale.Rows[1].Label; got != want {
			t.Errorf("%d pixels: %q, want %q", width, got, want)
		}
		if n := strings.Join(s.Notes, "; "); !strings.Contains(n, "iteration") {
			t.Errorf("no note has the word: %q", n)
		}
	}
}
