package steps_test

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view/steps"
)

// open imports one of the files with published answers; the test is skipped where they are not there.
func open(t *testing.T, elem ...string) store.Reader {
	t.Helper()
	dir := viewtest.Shared(t, append([]string{"data"}, elem[:len(elem)-1]...)...)
	found, err := filepath.Glob(filepath.Join(dir, elem[len(elem)-1]))
	if err != nil || len(found) != 1 {
		t.Skipf("%v: %d files", elem, len(found))
	}
	return viewtest.Import(t, append(append([]string{"data"}, elem[:len(elem)-1]...), filepath.Base(found[0]))...)
}

// answers keeps what was computed: several tests ask about one file.
var answers = map[string]steps.Data{}

func published(t *testing.T, elem ...string) steps.Data {
	t.Helper()
	key := filepath.Join(elem...)
	if _, ok := answers[key]; !ok {
		answers[key] = data(t, viewtest.Case{}, open(t, elem...))
	}
	return answers[key]
}

// The profiler of PyTorch wrote these for its own samples, in microseconds: kernel, memcpy, memset, runtime,
// loader, CPU, other.
func TestStepAnatomyIsThatOfTensorBoard(t *testing.T) {
	for _, c := range []struct {
		folder, file                       string
		rows                               [][7]trace.Time
		utilization, efficiency, occupancy float64
	}{
		{"resnet50-workers0", "*143089861*", [][7]trace.Time{
			{98598, 1941, 90, 2796, 69317, 14091, 1115}, {98570, 1947, 89, 2762, 57669, 12968, 1148}, {98596, 1931, 91, 2877, 61257, 13768, 1213},
			{98623, 1938, 89, 2841, 56453, 13420, 1200}, {98504, 1937, 87, 2788, 62690, 15025, 1141}, {98641, 1798, 88, 3381, 48185, 12773, 1117},
		}, 0.5551, 0.5468, 0.4913},
		{"resnet50-workers4", "*212756351*", [][7]trace.Time{
			{99778, 3606, 98, 41028, 4341, 27460, 5995}, {99208, 2948, 98, 3406, 0, 16404, 4119}, {99114, 2949, 98, 3417, 6, 19521, 2076},
			{99021, 2975, 97, 3544, 0, 15464, 1978}, {98791, 3596, 97, 8275, 1370, 43905, 7427}, {98956, 2885, 98, 3714, 1400, 13235, 3910},
		}, 0.7027, 0.6922, 0.4891},
	} {
		t.Run(c.folder, func(t *testing.T) {
			d := published(t, "ml", c.folder, c.file)
			if len(d.Rows) != len(c.rows) {
				t.Fatalf("%d steps, want %d", len(d.Rows), len(c.rows))
			}
			for i, want := range c.rows {
				r := d.Rows[i]
				total := trace.Time(0)
				for k, got := range []trace.Time{r.Kernel, r.Memcpy, r.Memset, r.Runtime, r.Loader, r.CPU, r.Other} {
					if got != want[k]*1000 {
						t.Errorf("%s: %v is %d ns, want %d µs", r.Step, k, got, want[k])
					}
					total += want[k] * 1000
				}
				if r.Total != total {
					t.Errorf("%s takes %d, want %d", r.Step, r.Total, total)
				}
			}
			g := d.GPUs[0]
			for name, pair := range map[string][2]float64{"utilization": {*g.Utilization, c.utilization}, "SM efficiency": {*g.SMEfficiency, c.efficiency}, "occupancy": {*g.Occupancy, c.occupancy}} {
				if math.Abs(pair[0]-pair[1]) > 0.00006 {
					t.Errorf("%s is %v, want %v", name, pair[0], pair[1])
				}
			}
		})
	}
}

func TestMeansOfTheSecondWindows(t *testing.T) {
	for _, c := range []struct {
		folder, file          string
		total, loader, kernel float64
	}{
		{"resnet50-workers0", "*143566756*", 154911, 35504, 98535},
		{"resnet50-workers4", "*213129365*", 142809, 292, 99044},
	} {
		d := published(t, "ml", c.folder, c.file)
		for name, want := range map[string]float64{"total": c.total, "loader": c.loader, "kernel": c.kernel} {
			if got := d.Mean[name] / 1000; math.Abs(got-want) > 0.51 {
				t.Errorf("%s: %s is %.1f µs, want %v", c.file, name, got, want)
			}
		}
	}
}

func TestStepsOfTheSecondWindowThatStandOut(t *testing.T) {
	for _, r := range published(t, "ml", "resnet50-workers4", "*213129365*").Rows {
		if other := r.Other == 82_749_000; other != (r.Step == "ProfilerStep#21") {
			t.Errorf("%s has %d ns of nothing recorded; of all only step 21 has 82,749 µs", r.Step, r.Other)
		}
	}
}

// Sums of these files in whole nanoseconds; the five of the first row are TraceLens's, too.
func TestTheTimeOfGPUsIsExact(t *testing.T) {
	for _, c := range []struct {
		elem                                           []string
		computation, communication, copies, idle, span trace.Time
		unlinked                                       int
	}{
		{[]string{"ml", "tracelens", "mi300-resnet-act-checkpoint.json.gz"}, 26_174_953, 55_371_257, 2_455_846, 2_565_652, 86_567_708, 968},
		{[]string{"ml", "tracelens", "h100-bert-small.json.gz"}, 307_197, 0, 2_240, 3_598_388, 3_907_825, 0},
		{[]string{"ml", "tracelens", "h100-qwen-unlinked.json.gz"}, 45_644_932, 0, 2_368, 4_005_532, 49_652_832, 509},
		{[]string{"ml", "tracelens", "vllm-decode-graph.json.gz"}, 10_674_517, 0, 43_191, 25_473, 10_743_181, 0},
		{[]string{"public", "kineto", "ddp-rank0-of-2-nccl"}, 116_046_564, 39_529_327, 1_924_123, 503_050_991, 660_551_005, 0},
	} {
		t.Run(c.elem[len(c.elem)-1], func(t *testing.T) {
			g := published(t, c.elem...).GPUs[0]
			got := []trace.Time{g.Computation, g.ExposedCommunication, g.ExposedCopy, g.Idle, g.Span}
			if want := []trace.Time{c.computation, c.communication, c.copies, c.idle, c.span}; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%v, want %v", got, want)
			}
			if g.Unlinked.Count != c.unlinked {
				t.Errorf("%d pieces of work without a launch, want %d", g.Unlinked.Count, c.unlinked)
			}
			sum := trace.Time(0)
			for _, x := range g.Causes {
				sum += x
			}
			if sum != g.Idle {
				t.Errorf("causes add up to %d, idle is %d", sum, g.Idle)
			}
		})
	}
}

func TestOverlapOfCommunication(t *testing.T) {
	g := published(t, "ml", "tracelens", "mi300-resnet-act-checkpoint.json.gz").GPUs[0]
	if g.Communication != 71_516_523 || math.Abs(*g.Overlap*71_516_523-16_145_266) > 1 {
		t.Error(g.Communication, *g.Overlap)
	}
	if g := published(t, "public", "kineto", "ddp-rank0-of-2-nccl").GPUs[0]; g.Communication != 46_876_493 || math.Abs(*g.Overlap-0.15673) > 0.00001 {
		t.Error(g.Communication, *g.Overlap)
	}
}

// HTA rounds times to microseconds, so it differs by as much as 25,814 records allow.
func TestAnMTIAComputes(t *testing.T) {
	g := published(t, "ml", "mtia", "mtia_rank_0.json.gz").GPUs[0]
	for name, pair := range map[string][2]float64{"computation": {float64(g.Computation), 7_305_596e3}, "idle": {float64(g.Idle), 5_648_827e3}, "span": {float64(g.Span), 13_328_347e3}} {
		if math.Abs(pair[0]/pair[1]-1) > 0.003 {
			t.Errorf("%s is %v, HTA says %v", name, pair[0], pair[1])
		}
	}
	if g.Computation != 7_309_063_136 || g.ExposedCopy != 392_764_176 || g.Idle != 5_634_009_128 {
		t.Errorf("%+v", g.GPUTime)
	}
}

func TestVerdictsNameTheInjectedFault(t *testing.T) {
	for _, c := range []struct {
		elem  []string
		bound string
	}{
		{[]string{"ml", "resnet50-workers0", "*143089861*"}, "input"},
		{[]string{"ml", "h200", "starved.json.gz"}, "input"},
		{[]string{"faults", "loader-all"}, "input"},
		{[]string{"ml", "h200", "eager-small.json.gz"}, "launch"},
		{[]string{"faults", "launch-bound-1rank"}, "launch"},
		{[]string{"ml", "tracelens", "mi300-resnet-act-checkpoint.json.gz"}, "communication"},
		{[]string{"ml", "tracelens", "vllm-decode-graph.json.gz"}, "compute"},
	} {
		if v := published(t, c.elem...).Verdict; v.Bound != c.bound || v.Text == "" {
			t.Errorf("%v: %s", c.elem, v.Text)
		}
	}
}

func TestTheStarvedGPUWaitsForItsLoader(t *testing.T) {
	d := published(t, "ml", "h200", "starved.json.gz")
	loader := trace.Time(0)
	for _, r := range d.Rows {
		loader += r.Loader
	}
	if math.Abs(float64(loader)/241e6-1) > 0.005 {
		t.Error("five calls of dataloader.next take 241 ms:", loader)
	}
	if g := d.GPUs[0].Gaps[0]; g.Cause != "loader" || g.Host != "dataloader.next" || g.End-g.Begin < 120e6 {
		t.Errorf("the longest gap is the 120 ms sleep of step 3: %+v", g)
	}
	rest := trace.Time(0)
	for i, r := range d.Rows {
		if i != 3 {
			rest += r.Total / 4
		}
	}
	if ratio := float64(d.Rows[3].Total) / float64(rest); math.Abs(ratio-2.3) > 0.2 {
		t.Error("step 3 takes 2.3 times the others:", ratio)
	}
}

// The same run as XPlane, and as the two JSON files that JAX writes: steps, the time of the GPU and why it is idle must agree.
func TestJAXInAllItsFormats(t *testing.T) {
	a := published(t, "ml", "jax", "jax-vm.xplane.pb")
	for _, file := range []string{"jax-vm.trace.json.gz", "jax-perfetto_trace.json.gz"} {
		b := published(t, "ml", "jax", file)
		if len(a.Rows) != 5 || len(b.Rows) != 5 {
			t.Fatal(file, len(a.Rows), len(b.Rows))
		}
		for i := range a.Rows {
			if a.Rows[i].Step != fmt.Sprintf("train %d", i) || a.Rows[i].Step != b.Rows[i].Step || a.Rows[i].Total != b.Rows[i].Total || a.Rows[i].Kernel != b.Rows[i].Kernel {
				t.Errorf("%s: %+v and %+v", file, a.Rows[i], b.Rows[i])
			}
		}
		x, y := a.GPUs[0], b.GPUs[0]
		if x.Computation != y.Computation || x.Span != y.Span || x.Idle != y.Idle || !maps.Equal(x.Causes, y.Causes) || y.Unlinked.Count != 0 {
			t.Errorf("%s: %+v %v and %+v %v", file, x.GPUTime, x.Causes, y.GPUTime, y.Causes)
		}
	}
	if g := a.GPUs[0].Gaps[0]; g.Cause != "sleep" || g.Host != "$time sleep" {
		t.Errorf("step 3 ends with 20 ms of sleep: %+v", g)
	}
}

func TestThePeakOfMemoryIsThatOfTheAllocator(t *testing.T) {
	d := published(t, "ml", "h200", "eager-small.json.gz")
	if len(d.Memory) != 1 {
		t.Fatal(d.Memory)
	}
	m := d.Memory[0]
	if m.Reserved == nil || *m.Reserved != 587_202_560 || m.Limit == nil || *m.Limit != 150_109_880_320 || m.Allocated < 406_163_456 || m.Allocated > *m.Reserved {
		t.Errorf("%+v", m)
	}
}
