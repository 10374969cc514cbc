package compare

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestNamesLoseWhatChangesFromRunToRun(t *testing.T) {
	for name, want := range map[string]string{
		"ProfilerStep#12":      "ProfilerStep#…",
		"iteration 7":          "iteration …",
		"train_step_41":        "train_step_…",
		"lambda at 0x7ffd1234": "lambda at …",
		"fetch 3fa85f64-5717-4562-b3fc-2c963f66afa6": "fetch …",
		"worker pid=4711":             "worker pid=…",
		"GET localhost:8080/items":    "GET localhost:…/items",
		"object a1b2c3d4e5f6 loaded":  "object … loaded",
		"MPI_Send":                    "MPI_Send",
		"conv2d":                      "conv2d",
		"gemm_128x64_tn":              "gemm_128x64_tn",
		"sm80_xmma_gemm_f16f16_f16":   "sm80_xmma_gemm_f16f16_f16",
		"aten::cudnn_convolution":     "aten::cudnn_convolution",
		"pthread_create":              "pthread_create",
		"HPL_pdgesv0":                 "HPL_pdgesv0",
		"step: data loading":          "step: data loading",
		"feedback":                    "feedback",
		"dgemm_kernel_4x8_haswell":    "dgemm_kernel_4x8_haswell",
		"volta_sgemm_128x128_nt":      "volta_sgemm_128x128_nt",
		"Optimizer.step#SGD.step":     "Optimizer.step#SGD.step",
		"std::vector<int>::push_back": "std::vector<int>::push_back",
	} {
		if got := Canonical(name, trace.RoleCompute); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	if got := Canonical("phase 3", trace.RoleAnnotation); got != "phase …" {
		t.Errorf("an annotation with a number is %q", got)
	}
}

func TestPlainNamesHaveNoArguments(t *testing.T) {
	for name, want := range map[string]string{
		"void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int, float)": "at::native::vectorized_elementwise_kernel",
		"(anonymous namespace)::f(int)": "(anonymous namespace)::f",
		"std::map<a, b<c>>::find":       "std::map::find",
		"operator<(int)":                "operator<",
		"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__": "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
		"f(int (*)(int)) const": "f",
		"plain":                 "plain",
	} {
		if got := Plain(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func TestCallPathsAreMatchedInTiers(t *testing.T) {
	a := []Path{
		{-1, "main", trace.RoleCompute, 1},
		{0, "next#_SingleProcessDataLoaderIter.__next__", trace.RoleIO, 50},
		{0, "kernel<float, 4>(int)", trace.RoleCompute, 10},
		{0, "work", trace.RoleCompute, 30},
		{3, "MPI_Wait", trace.RoleCommunication, 5},
		{0, "gone", trace.RoleCompute, 2},
		{0, "old_name", trace.RoleCompute, 2},
	}
	b := []Path{
		{-1, "main", trace.RoleCompute, 1},
		{0, "work", trace.RoleCompute, 30},
		{1, "MPI_Wait", trace.RoleCommunication, 7},
		{0, "next#_MultiProcessingDataLoaderIter.__next__", trace.RoleIO, 1},
		{0, "kernel<float, 8>(int)", trace.RoleCompute, 10},
		{0, "brand", trace.RoleCompute, 2},
		{0, "renamed", trace.RoleCompute, 2},
	}
	tree := Match([][]Path{a, b}, []int{0, 1}, map[string]string{"old_name": "renamed"})
	for _, c := range []struct {
		a, b int
		tier Tier
	}{{0, 0, ByName}, {1, 3, ByLike}, {2, 4, ByPlain}, {3, 1, ByName}, {4, 2, ByName}, {6, 6, ByPin}} {
		if tree.Place[0][c.a] != tree.Place[1][c.b] {
			t.Errorf("%q of A is not %q of B", a[c.a].Name, b[c.b].Name)
			continue
		}
		if got := tree.Nodes[tree.Place[0][c.a]].Tier; got != c.tier {
			t.Errorf("%q is matched by %s, want by %s", a[c.a].Name, got, c.tier)
		}
	}
	for side, i := range []int{5, 5} {
		if got := tree.Nodes[tree.Place[side][i]].Tier; got != OneSided {
			t.Errorf("%q is matched by %s, want on one side alone", [][]Path{a, b}[side][i].Name, got)
		}
	}
	if got := tree.CallPath(tree.Place[1][2]); got != "main → work → MPI_Wait" {
		t.Errorf("the path is %q", got)
	}
	for i, n := range tree.Nodes {
		if n.Parent >= int32(i) {
			t.Errorf("node %d comes before its parent %d", i, n.Parent)
		}
	}
}
