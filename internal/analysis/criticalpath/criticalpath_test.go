package criticalpath

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A call is one of a case: its name is its letter, its parent the letter of another.
type call struct {
	name, parent string
	begin, end   trace.Time
	apart        bool
}

func treeOf(calls []call) (Tree, []string) {
	at := map[string]int32{}
	var names []string
	var t Tree
	for i, c := range calls {
		at[c.name] = int32(i)
		names = append(names, c.name)
		t.Begin, t.End = append(t.Begin, c.begin), append(t.End, c.end)
	}
	kids := make([][]int32, len(calls))
	for i, c := range calls {
		if c.parent != "" {
			kids[at[c.parent]] = append(kids[at[c.parent]], int32(i))
		}
	}
	t.First = []int32{0}
	for _, list := range kids {
		slices.SortStableFunc(list, func(a, b int32) int { return cmp.Compare(t.Begin[a], t.Begin[b]) })
		t.Children = append(t.Children, list...)
		t.First = append(t.First, int32(len(t.Children)))
	}
	t.Apart = func(n int32) bool { return calls[n].apart }
	return t, names
}

func path(t *Tree, names []string) string {
	w := Walker{Tree: *t}
	var out []string
	w.Walk(0, func(s Section) { out = append(out, fmt.Sprintf("%s %d-%d", names[s.Node], s.Begin, s.End)) })
	return strings.Join(out, ", ")
}

// The first nine are the cases of jaeger-ui's tests (Apache-2.0) with their answers.
func TestPathsOfKnownCases(t *testing.T) {
	for _, c := range []struct {
		name  string
		calls []call
		want  string
	}{
		{"two calls one after the other", []call{{"C", "", 1, 101, false}, {"D", "C", 20, 40, false}, {"E", "C", 50, 60, false}},
			"C 60-101, E 50-60, C 40-50, D 20-40, C 1-20"},
		{"of two calls beside each other the one that ends last", []call{{"X", "", 1, 101, false}, {"A", "X", 10, 50, false}, {"C", "X", 20, 60, false}},
			"X 60-101, C 20-60, X 1-20"},
		{"a call after its parent's end is left out", []call{{"A", "", 100, 140, false}, {"B", "A", 150, 210, false}}, "A 100-140"},
		{"and so is what it calls", []call{{"A", "", 1, 31, false}, {"B", "A", 40, 80, false}, {"C", "B", 50, 60, false}}, "A 1-31"},
		{"a call that nobody waits for is left out with what it calls", []call{{"A", "", 1, 31, false}, {"B", "A", 10, 20, true}, {"C", "B", 12, 14, false}}, "A 1-31"},
		{"calls that begin before or end after their parent are clipped", []call{{"A", "", 1, 30, false}, {"B", "A", 15, 35, false}, {"C", "B", 10, 25, false}},
			"B 25-30, C 15-25, A 1-15"},
		{"ends past the parent's parent", []call{{"A", "", 1, 30, false}, {"B", "A", 15, 35, false}, {"C", "B", 20, 40, false}}, "C 20-30, B 15-20, A 1-15"},
		{"longer than its parent on both sides", []call{{"A", "", 10, 30, false}, {"B", "A", 5, 35, false}}, "B 10-30"},
		{"before its parent", []call{{"A", "", 10, 30, false}, {"B", "A", 1, 5, false}}, "A 10-30"},

		{"a call that ends just when the next begins is before it", []call{{"A", "", 0, 100, false}, {"B", "A", 10, 50, false}, {"C", "A", 50, 90, false}},
			"A 90-100, C 50-90, B 10-50, A 0-10"},
		{"siblings that overlap by a hundredth are moved apart", []call{{"A", "", 0, 1000, false}, {"B", "A", 10, 210, false}, {"C", "A", 209, 309, false}, {"D", "A", 308, 608, false}},
			"A 608-1000, D 308-608, C 208-308, B 8-208, A 0-8"},
		{"what is moved takes its calls along", []call{{"A", "", 0, 1000, false}, {"B", "A", 100, 505, false}, {"C", "A", 500, 1000, false}, {"D", "B", 200, 300, false}},
			"C 500-1000, B 295-500, D 195-295, B 95-195, A 0-95"},
		{"by more they are beside each other", []call{{"A", "", 0, 1000, false}, {"B", "A", 10, 220, false}, {"C", "A", 209, 309, false}}, "A 309-1000, C 209-309, A 0-209"},
		{"nothing is moved before the root", []call{{"A", "", 0, 1000, false}, {"B", "A", 2, 505, false}, {"C", "A", 500, 1000, false}}, "C 500-1000, B 0-500"},
		{"not where a third begins in the overlap", []call{{"A", "", 0, 1000, false}, {"B", "A", 10, 209, false}, {"C", "A", 205, 900, false}, {"D", "A", 207, 300, false}},
			"A 900-1000, C 205-900, A 0-205"},
		{"empty calls take nothing", []call{{"A", "", 0, 100, false}, {"B", "A", 50, 50, false}, {"C", "A", 100, 100, false}}, "A 0-100"},
		{"an empty root has no path", []call{{"A", "", 5, 5, false}}, ""},
	} {
		tree, names := treeOf(c.calls)
		if got := path(&tree, names); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// Whatever the tree, the sections of a path lie end to end from the root's end to its begin.
func TestSectionsTileTheRoot(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		calls := []call{{name: "0", begin: 0, end: trace.Time(rng.IntN(2000))}}
		for i := 1; i < 40; i++ {
			b := trace.Time(rng.IntN(2200) - 100)
			calls = append(calls, call{fmt.Sprint(i), fmt.Sprint(rng.IntN(i)), b, b + trace.Time(rng.IntN(900)), rng.IntN(9) == 0})
		}
		tree, _ := treeOf(calls)
		w := Walker{Tree: tree}
		at := tree.End[0]
		w.Walk(0, func(s Section) {
			if s.End != at || s.Begin >= s.End {
				t.Fatalf("seed %d: a section [%d, %d) where the path is at %d", seed, s.Begin, s.End, at)
			}
			if b, e := s.Begin+s.Moved, s.End+s.Moved; e > tree.End[s.Node] || b < tree.Begin[s.Node] && s.Begin != tree.Begin[0] {
				t.Fatalf("seed %d: a section of call %d outside of it: [%d, %d) of [%d, %d)", seed, s.Node, b, e, tree.Begin[s.Node], tree.End[s.Node])
			}
			at = s.Begin
		})
		if at != tree.Begin[0] {
			t.Fatalf("seed %d: the path begins at %d, not at %d", seed, at, tree.Begin[0])
		}
	}
}

// A chain of a million calls needs no stack of a million functions.
func TestDeepChains(t *testing.T) {
	const n = 1_000_000
	tree := Tree{Begin: make([]trace.Time, n), End: make([]trace.Time, n), First: make([]int32, n+1), Children: make([]int32, n-1)}
	for i := range n {
		tree.Begin[i], tree.End[i] = trace.Time(i), trace.Time(3*n-i)
		tree.First[i+1] = int32(min(i+1, n-1))
		if i > 0 {
			tree.Children[i-1] = int32(i)
		}
	}
	w := Walker{Tree: tree}
	sum := trace.Time(0)
	w.Walk(0, func(s Section) { sum += s.End - s.Begin })
	if sum != 3*n {
		t.Errorf("the path adds up to %d, want %d", sum, 3*n)
	}
}
