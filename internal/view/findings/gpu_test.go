package findings_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view/findings"
)

// gpuFindings are the findings of a GPU job kept beside the repository.
func gpuFindings(t *testing.T, elem ...string) []finding.Finding {
	t.Helper()
	dir := viewtest.Shared(t, append([]string{"data"}, elem[:len(elem)-1]...)...)
	found, err := filepath.Glob(filepath.Join(dir, elem[len(elem)-1]))
	if err != nil || len(found) != 1 {
		t.Skipf("%v: %d files", elem, len(found))
	}
	r := viewtest.Import(t, append(append([]string{"data"}, elem[:len(elem)-1]...), filepath.Base(found[0]))...)
	c := viewtest.Case{}
	return c.Compute(t, findings.View, r).Data().(findings.Data).Findings
}

func TestTheBoundOfAGPUJobIsItsFirstFinding(t *testing.T) {
	for _, c := range []struct {
		elem     []string
		kind     finding.Kind
		share    float64
		evidence map[string]float64
	}{
		{[]string{"ml", "h200", "starved.json.gz"}, finding.InputBound, 0.5904, map[string]float64{
			"longest wait": 121486927, "data loading per step": 48264197, "GPUs compute": 0.146}},
		{[]string{"ml", "h200", "eager-small.json.gz"}, finding.LaunchBound, 0.9538, map[string]float64{
			"work shorter than its launch": 0.963, "GPUs compute": 0.036}},
		{[]string{"faults", "launch-bound-1rank"}, finding.LaunchBound, 0.773, map[string]float64{"GPUs compute": 0.166}},
		{[]string{"faults", "loader-all"}, finding.InputBound, 0.4368, map[string]float64{
			"data loading per step": 2500000, "step": 5722840, "GPUs compute": 0.524}},
		{[]string{"ml", "resnet50-workers0", "*143089861*"}, finding.InputBound, 0.334, map[string]float64{
			"data loading per step": 59.3e6, "step": 178e6}},
		{[]string{"ml", "tracelens", "mi300-resnet-act-checkpoint.json.gz"}, finding.ExposedCommunication, 0.6208,
			map[string]float64{"communication under computation": 0.226}},
		{[]string{"kineto-ddp-8rank"}, finding.Straggler, 0.4693, map[string]float64{
			"kernels": 102020732, "waited by others": 605048582, "units that wait": 7}},
	} {
		list := gpuFindings(t, c.elem...)
		if len(list) == 0 || list[0].Kind != c.kind {
			t.Errorf("%v: want %s: %+v", c.elem, c.kind, list)
			continue
		}
		near := func(name string, got, want float64) {
			if math.Abs(got/want-1) > 0.01 {
				t.Errorf("%v: %s is %g, want %g", c.elem, name, got, want)
			}
		}
		near("share", list[0].Share, c.share)
		for _, e := range list[0].Evidence {
			if want, ok := c.evidence[e.Name]; ok {
				near(e.Name, e.Value, want)
				delete(c.evidence, e.Name)
			}
		}
		if len(c.evidence) > 0 {
			t.Errorf("%v: without evidence: %v", c.elem, c.evidence)
		}
		if c.kind != finding.Straggler && list[0].View != "steps" {
			t.Errorf("%v: shown by %s", c.elem, list[0].View)
		}
	}
}

func TestTheSlowStepIsNamedWithItsCause(t *testing.T) {
	for _, f := range gpuFindings(t, "ml", "h200", "starved.json.gz") {
		if f.Kind == finding.SlowStep {
			e := f.Evidence[3]
			if !slices.Equal(f.Phases, []string{"ProfilerStep#3"}) || e.Name != "of it by data loading" || e.Value < 0.99 {
				t.Errorf("phases %v, evidence %+v", f.Phases, f.Evidence)
			}
			return
		}
	}
	t.Error("step 3 takes 2.4 times as long as the others")
}

func TestABusyGPUHasNoFinding(t *testing.T) {
	if list := gpuFindings(t, "ml", "tracelens", "vllm-decode-graph.json.gz"); len(list) > 0 {
		t.Errorf("%+v", list)
	}
}

// ByteDance published these for their sample of 64 GPUs.
func TestASlowWorkerOfAPipelineIsNamedWithItsSlowdown(t *testing.T) {
	list := gpuFindings(t, "ml", "straggler", "timeline-AR.json.gz")
	if len(list) == 0 || list[0].Kind != finding.Straggler || len(list[0].Subjects) != 3 {
		t.Fatalf("%+v", list)
	}
	want := map[string]float64{
		"slowdown": 1.973, "slowdown by DP 0 alone": 1.9730, "slowdown by DP 1 alone": 1.0109, "slowdown by DP 2 alone": 1.0112, "slowdown by DP 3 alone": 1.0111,
		"slowdown by PP 0 alone": 1.9792, "slowdown by PP 1 alone": 0.9971, "slowdown by PP 2 alone": 0.9956, "slowdown by PP 3 alone": 1.0024,
		"slowdown by backward-compute alone": 1.5805, "slowdown by forward-compute alone": 1.3689, "slowdown by grads-reduce-scatter alone": 1.0108,
	}
	for _, e := range list[0].Evidence {
		if w, ok := want[e.Name]; ok {
			delete(want, e.Name)
			if math.Abs(e.Value/w-1) > 0.01 {
				t.Errorf("%s is %v, published %v", e.Name, e.Value, w)
			}
		}
	}
	if len(want) > 0 {
		t.Error("not told:", want)
	}
}

// The median pass of the slow worker, and of its stage in the other replicas, in ms. It is not published which peers the other two
// numbers are of, so they may be 0.2 % off.
func TestPassesOfTheSlowWorkerTakeAsLongAsPublished(t *testing.T) {
	r := viewtest.Import(t, "data", "ml", "straggler", "timeline-AR.json.gz")
	type key struct{ region, who string }
	times := map[key][]float64{}
	var mu sync.Mutex
	err := r.Intervals(t.Context(), store.Window{End: r.Info().End}, func(c *trace.Columns) error {
		mu.Lock()
		defer mu.Unlock()
		path, who := r.Locations().Path(c.Location), "peers"
		if !strings.Contains(path, "PP rank 0,") {
			return nil
		}
		if strings.HasPrefix(path, "DP rank [0]") {
			who = "slow"
		}
		for i, id := range c.Region {
			k := key{r.Regions()[id].Name, who}
			times[k] = append(times[k], float64(c.Duration[i])/1e6)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range map[key]float64{{"forward-compute", "slow"}: 545.7, {"forward-compute", "peers"}: 218.4, {"backward-compute", "slow"}: 869.3, {"backward-compute", "peers"}: 383.2} {
		list, median := times[k], math.NaN()
		if slices.Sort(list); len(list) > 0 {
			median = list[len(list)/2]
		}
		if off := map[string]float64{"slow": 0.0001, "peers": 0.002}[k.who]; !(math.Abs(median/want-1) <= off) {
			t.Errorf("%v: %v, want %v", k, median, want)
		}
	}
}

func TestNearlyFullDeviceMemoryIsFound(t *testing.T) {
	const job = `
region ProfilerStep#1 category=user_annotation role=annotation
region gemm category=kernel role=compute
location process "rank 0" rank=0
  location thread main
    0us..100us ProfilerStep#1
  location device "GPU 0" memory=1000
    counter "memory allocated" unit=bytes
    counter "memory reserved" unit=bytes
    10us "memory allocated"=700
    10us "memory reserved"=%d
    location stream "stream 7"
      0us..100us gemm
`
	for reserved, told := range map[int]bool{950: true, 800: false} {
		c := viewtest.Case{Trace: fmt.Sprintf(job, reserved)}
		found := false
		for _, f := range c.Compute(t, findings.View, c.Open(t)).Data().(findings.Data).Findings {
			found = found || f.Kind == finding.MemoryFull
		}
		if found != told {
			t.Errorf("%d of 1,000 bytes reserved: told %v", reserved, found)
		}
	}
}

// The time of GPUs adds up: work, waiting by cause, communication, and what nobody explains.
func TestTheTimeOfGPUsAddsUp(t *testing.T) {
	for name, want := range map[string]struct {
		cause     finding.Kind
		explained float64
	}{"training": {finding.Straggler, 0.85}, "training-loader": {finding.InputBound, 0.9}, "training-launch": {finding.LaunchBound, 0.9}} {
		d := readDemo(t, name)
		sums(t, name, &d)
		if a := &d.Accounts; a.Time != a.Work+a.Waiting+a.Transfer+a.Rest || len(d.Budget) == 0 || d.Budget[0].Cause != string(want.cause) || float64(d.Unexplained) > (1-want.explained)*float64(a.Waiting) {
			t.Errorf("%s: %+v, unexplained %d, first %+v", name, *a, d.Unexplained, d.Budget[0])
		}
		if d.POP.Over != "GPUs" || d.POP.Locations > 1 && math.Abs(float64(d.Accounts.Time)-d.POP.Runtime*float64(d.POP.Locations)) > 1 {
			t.Errorf("%s: the time of %d %s is %d", name, d.POP.Locations, d.POP.Over, d.Accounts.Time)
		}
	}
}

// Slow loaders on all ranks make one rank or another late by chance: nobody is to blame for it.
func TestRandomlyLateRanksAreNoStragglers(t *testing.T) {
	d := readDemo(t, "training-loader")
	for _, f := range d.Findings {
		if f.Kind == finding.Straggler {
			t.Error(f.Text)
		}
	}
	if len(d.Findings) < 2 || d.Findings[0].Kind != finding.InputBound || d.Findings[1].Kind != finding.Jitter {
		t.Errorf("%q", texts(&d))
	}
}

// One step of six allocates on all of eight ranks, 40 ms each: 320 ms are lost, and the call is named.
func TestASlowStepCountsAllRanksAndNamesTheCall(t *testing.T) {
	text := "region cudaMalloc category=cuda_runtime role=overhead\nregion cudaLaunchKernel category=cuda_runtime role=overhead\nregion gemm category=kernel role=compute\nregion \"aten::empty\" category=cpu_op role=compute\n"
	links := ""
	for k := range 6 {
		text += fmt.Sprintf("region \"ProfilerStep#%d\" category=user_annotation role=annotation\n", k)
	}
	for rank := range 8 {
		host, work, at := "", "", 0
		for k := range 6 {
			length := 20
			if k == 3 {
				length = 60
			}
			host += fmt.Sprintf("    %dms..%dms \"ProfilerStep#%d\"\n", at, at+length, k)
			if k == 3 {
				host += fmt.Sprintf("      %dms..%dms \"aten::empty\"\n        %dms..%dms cudaMalloc\n", at+1, at+41, at+1, at+41)
				at += 40
			}
			host += fmt.Sprintf("      %dms..%dms cudaLaunchKernel\n", at+1, at+2)
			work += fmt.Sprintf("      %dms..%dms gemm\n", at+3, at+19)
			links += fmt.Sprintf("link spawn %dms \"rank %d/main\" -> %dms \"rank %d/GPU/stream\" from=cudaLaunchKernel to=gemm\n", at+1, rank, at+3, rank)
			at += 20
		}
		text += fmt.Sprintf("location process \"rank %d\" rank=%d\n  location thread \"main\"\n%s  location device \"GPU\"\n    location stream \"stream\"\n%s", rank, rank, host, work)
	}
	d := dataOf(t, viewtest.Case{Trace: text + links})
	numbersAreEvidence(t, "slow step", &d)
	for _, f := range d.Findings {
		if f.Kind != finding.SlowStep {
			continue
		}
		about := d.about(&f)
		if f.Lost < 319e6 || f.Lost > 321e6 || !strings.Contains(about, "more than the median step = 40.0 ms\nranks = 8\nmore, on all ranks = 320 ms\n") || !strings.Contains(about, "cudaMalloc, more than in the other steps = 320 ms\n") {
			t.Errorf("%v lost:\n%s", f.Lost, about)
		}
		return
	}
	t.Errorf("no slow step: %+v", d.Findings)
}
