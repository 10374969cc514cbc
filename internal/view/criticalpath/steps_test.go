package criticalpath_test

import (
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/criticalpath"
)

// twoRanks is a step of two ranks. Rank 1 loads its data for longer, so its kernel and its part of the collective come later; rank 0
// waits in the collective and then for its GPU.
const twoRanks = `
region ProfilerStep#1 category=user_annotation role=annotation
region "enumerate(DataLoader)#X.__next__" category=user_annotation role=annotation
region aten::mm category=cpu_op role=compute
region cudaLaunchKernel category=cuda_runtime role=overhead
region cudaDeviceSynchronize category=cuda_runtime role=synchronization
region gemm category=kernel role=compute
region ncclDevKernel_AllReduce category=kernel role=communication
location process "rank 0" rank=0
  location thread main
    0us..100us ProfilerStep#1
      0us..10us "enumerate(DataLoader)#X.__next__"
      10us..20us aten::mm
        12us..16us cudaLaunchKernel
      22us..26us cudaLaunchKernel
      30us..98us cudaDeviceSynchronize
  location device "GPU 0"
    location stream "stream 7"
      18us..38us gemm
      38us..90us ncclDevKernel_AllReduce
location process "rank 1" rank=1
  location thread main
    0us..95us ProfilerStep#1
      0us..40us "enumerate(DataLoader)#X.__next__"
      40us..50us aten::mm
        42us..46us cudaLaunchKernel
      52us..56us cudaLaunchKernel
      60us..92us cudaDeviceSynchronize
  location device "GPU 1"
    location stream "stream 7"
      49us..70us gemm
      71us..90us ncclDevKernel_AllReduce
link spawn 12us "rank 0/main" -> 18us "rank 0/GPU 0/stream 7" from=cudaLaunchKernel to=gemm
link spawn 22us "rank 0/main" -> 38us "rank 0/GPU 0/stream 7" from=cudaLaunchKernel to=ncclDevKernel_AllReduce
link spawn 42us "rank 1/main" -> 49us "rank 1/GPU 1/stream 7" from=cudaLaunchKernel to=gemm
link spawn 52us "rank 1/main" -> 71us "rank 1/GPU 1/stream 7" from=cudaLaunchKernel to=ncclDevKernel_AllReduce
`

func stepData(t *testing.T, c viewtest.Case, r store.Reader) criticalpath.StepData {
	t.Helper()
	return viewtest.Decoded[criticalpath.StepData](t, c.Compute(t, criticalpath.View, r))
}

func TestStepsOfAGPUJob(t *testing.T) {
	viewtest.Run(t, criticalpath.View,
		viewtest.Case{Name: "steps", Trace: twoRanks},
		viewtest.Case{Name: "kinds of steps", Trace: twoRanks, Options: map[string][]string{"by": {"service"}}},
	)
}

// The step ends on rank 0, which waited for its GPU, which waited in the collective for rank 1, which loaded its data for long.
func TestAPathCrossesFromTheRankThatWaitsToTheOneThatCameLast(t *testing.T) {
	c := viewtest.Case{Trace: twoRanks}
	d := stepData(t, c, c.Open(t))
	type section struct {
		at, kind, region string
		begin, end       trace.Time
	}
	want := []section{
		{"rank 1/main", "on the host", "enumerate(DataLoader)#X.__next__", 0, 40_000},
		{"rank 1/main", "on the host", "aten::mm", 40_000, 42_000},
		{"rank 1/main", "call", "cudaLaunchKernel", 42_000, 46_000},
		{"rank 1/GPU 1/stream 7", "launch", "gemm", 46_000, 49_000},
		{"rank 1/GPU 1/stream 7", "kernel", "gemm", 49_000, 70_000},
		{"rank 1/GPU 1/stream 7", "queue", "ncclDevKernel_AllReduce", 70_000, 71_000},
		{"rank 0/GPU 0/stream 7", "communication", "ncclDevKernel_AllReduce", 71_000, 90_000},
		{"rank 0/main", "return", "cudaDeviceSynchronize", 90_000, 98_000},
		{"rank 0/main", "nothing recorded", "ProfilerStep#1", 98_000, 100_000},
	}
	if len(d.Path) != len(want) {
		t.Fatalf("%d sections: %+v", len(d.Path), d.Path)
	}
	for i, w := range want {
		if x := d.Path[i]; (section{x.Path, x.Kind, x.Region, x.Begin, x.End}) != w {
			t.Errorf("section %d is %+v, want %+v", i, x, w)
		}
	}
	if x := d.By[0]; x.Region != "enumerate(DataLoader)#X.__next__" || x.Time != 40_000 || x.Half != 20_000 || d.Length != 100_000 {
		t.Errorf("%+v", x)
	}
}

// HTA publishes the length of the path and the part of GPUs on it for the second forward pass of two files. It leaves out what nothing
// was recorded in, and the calls before the first operator.
func TestPathsAreAsLongAsHTAs(t *testing.T) {
	for _, c := range []struct {
		file     string
		from, to trace.Time
		length   float64 // µs
		gpu      trace.Time
	}{
		{"alexnet", 43_346_653_000, 43_383_009_000, 35_834, 3_712_000}, // 10.36 %
		{"simple-add", 40_920_869_000, 41_164_220_000, 241_724, 0},     // HTA's goes over the last kernels, which ended before the host waited for them
	} {
		r := viewtest.Import(t, "data", "ml", "critical-path", c.file+".json.gz")
		d := stepData(t, viewtest.Case{Spec: view.Spec{From: strconv.FormatInt(int64(c.from), 10), To: strconv.FormatInt(int64(c.to), 10)}}, r)
		sum, gpu, nothing := trace.Time(0), trace.Time(0), trace.Time(0)
		for _, k := range d.Kinds {
			sum += k.Time
			switch k.Kind {
			case "kernel", "copy", "communication":
				gpu += k.Time
			case "nothing recorded":
				nothing += k.Time
			}
		}
		if sum != d.Length || d.Length != c.to-c.from {
			t.Errorf("%s: kinds add up to %d of %d", c.file, sum, d.Length)
		}
		if got := float64(sum-nothing) / 1000; math.Abs(got-c.length) > 0.001*c.length {
			t.Errorf("%s: %.0f µs, HTA has %.0f", c.file, got, c.length)
		}
		if gpu != c.gpu {
			t.Errorf("%s: %d ns on GPUs, want %d", c.file, gpu, c.gpu)
		}
	}
}

// Eight processes share a GPU: rank 5 never arrives last at a collective, and is what all wait for, since its gradients are ready last.
func TestThePathOfTheJobOfEightLeadsToRankFive(t *testing.T) {
	d := stepData(t, viewtest.Case{}, viewtest.Import(t, "data", "kineto-ddp-8rank"))
	by := map[string]trace.Time{}
	whole := trace.Time(0)
	for _, x := range d.Path {
		rank, _, _ := strings.Cut(x.Path, "/")
		by[rank] += x.End - x.Begin
		whole += x.End - x.Begin
	}
	if 2*by["rank 5"] < whole {
		t.Errorf("of %d ns by rank %v", whole, by)
	}
}

// A kernel without length that ends with the call that launched it was waited for by nobody: the walk would come back to the call.
func TestThePathGoesOnBeforeAKernelWithoutLength(t *testing.T) {
	c := viewtest.Case{Trace: `
region ProfilerStep#1 category=user_annotation role=annotation
region aten::zero_ category=cpu_op role=compute
region cudaLaunchKernel category=cuda_runtime role=overhead
region fill category=kernel role=compute
location process "rank 0" rank=0
  location thread main
    0us..30us ProfilerStep#1
      0us..20us aten::zero_
        10us..14us cudaLaunchKernel
  location device "GPU 0"
    location stream "stream 7"
      14us..14us fill
link spawn 10us "rank 0/main" -> 14us "rank 0/GPU 0/stream 7" from=cudaLaunchKernel to=fill
`}
	d := stepData(t, c, c.Open(t))
	if len(d.Path) == 0 || d.Path[0].Begin != 0 || d.Path[0].Region != "aten::zero_" {
		t.Errorf("the path is %+v", d.Path)
	}
}

// The sections of a path tile its steps, whatever the file holds.
func TestPathsOfRealStepsAreAsLongAsTheSteps(t *testing.T) {
	for _, file := range [][]string{
		{"resnet50-workers0"}, {"resnet50-workers4"}, {"h200", "starved.json.gz"}, {"h200", "eager-small.json.gz"},
	} {
		elem := append([]string{"data", "ml"}, file...)
		for _, path := range samplesIn(t, elem...) {
			r := viewtest.Import(t, path...)
			d := stepData(t, viewtest.Case{}, r)
			sum := trace.Time(0)
			for _, k := range d.Kinds {
				sum += k.Time
			}
			if sum != d.Length || d.Length == 0 {
				t.Errorf("%s: kinds add up to %d of %d ns", path[len(path)-1], sum, d.Length)
			}
		}
	}
}

// samplesIn are the files of a folder, or the one that is named.
func samplesIn(t *testing.T, elem ...string) (out [][]string) {
	t.Helper()
	list, err := os.ReadDir(viewtest.Shared(t, elem...))
	if err != nil {
		return [][]string{elem}
	}
	for _, e := range list {
		out = append(out, append(slices.Clone(elem), e.Name()))
	}
	return out
}
