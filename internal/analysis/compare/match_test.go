package compare

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

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
