package invocation

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"
)

type row struct {
	Node   json.RawMessage
	Parent json.RawMessage
	Level  int32
	Height int
	Weight float64
	Start  string
	Alloc  string
	X, Y   float64
}

type record [6]int32

type vectors struct {
	Condensing []struct {
		W, D, H, HMax int
		C0, T         *int
		Kept          int `json:"levels_kept"`
		Last          int `json:"last_kept"`
	}
	Quicksort struct {
		Records []record
		Letters string `json:"letters_in_record_order"`
		Height  int
		// ChildCount is the number of body goals by clause.
		ChildCount map[string]int32 `json:"child_count"`
		Whole      []row
		Condensed  struct {
			Height int
			Rows   []row
		} `json:"condensed_2_to_1"`
		SubtreeE []row `json:"subtree_E"`
	}
	Random []struct {
		Seed            uint64
		N, Pes, W, D    int
		Height          int
		CondensedHeight int `json:"condensed_height"`
		Nodes           int
		RootWeight      float64 `json:"root_weight"`
		SumOfWeights    float64 `json:"sum_of_weights"`
		Rows            []row
		Family          []row `json:"family_order_first_20"`
		Drawn           int   `json:"drawn_descendants_rule"`
	}
}

func load(t testing.TB) (v vectors) {
	b, err := os.ReadFile("testdata/vista.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func ratio(t testing.TB, s string) float64 {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("not a ratio: %q", s)
	}
	f, _ := r.Float64()
	return f
}

// fromRecords makes the tree of VISTA records, in record order, and a name for each node.
func fromRecords(records []record) (*Tree, []string) {
	t, names, at := &Tree{}, []string{}, map[[2]int32]int32{}
	for i, r := range records {
		parent := int32(-1)
		if i > 0 {
			parent = at[[2]int32{r[4], r[5]}]
		}
		at[[2]int32{r[2], r[3]}] = int32(i)
		t.Parent = append(t.Parent, parent)
		names = append(names, fmt.Sprintf("[%d, %d]", r[2], r[3]))
	}
	return t, names
}

// compare holds every row of the oracle against the layout, by name.
func compare(t *testing.T, what string, l *Layout, names []string, rows []row, d float64) {
	t.Helper()
	for _, w := range rows {
		i := slices.Index(names, unquote(string(w.Node)))
		if i < 0 {
			t.Errorf("%s: no node %s", what, w.Node)
			continue
		}
		x, y := l.At(i, d)
		parent := "null"
		if p := l.Tree.Parent[i]; p >= 0 {
			parent = names[p]
		}
		if l.Level[i] != w.Level || l.Weight[i] != w.Weight || parent != unquote(string(w.Parent)) ||
			math.Abs(l.Start[i]-ratio(t, w.Start)) > 1e-9 || math.Abs(l.Alloc[i]-ratio(t, w.Alloc)) > 1e-9 || math.Abs(x-w.X) > 1e-9 || math.Abs(y-w.Y) > 1e-9 {
			t.Errorf("%s %s: parent %s level %d weight %v sector (%v, %v) at (%v, %v); want %+v", what, w.Node, parent, l.Level[i], l.Weight[i], l.Start[i], l.Alloc[i], x, y, w)
		}
	}
}

// unquote gives a node's name: a letter, or "[pe, index]" however it was wrapped.
func unquote(s string) string {
	var key [2]int32
	if json.Unmarshal([]byte(s), &key) == nil && s != "null" {
		return fmt.Sprintf("[%d, %d]", key[0], key[1])
	}
	return strings.Trim(s, `"`)
}

func pick(names []string, origin []int32) (out []string) {
	for _, i := range origin {
		out = append(out, names[i])
	}
	return out
}

func TestLevelsAreCondensedAsInThePaper(t *testing.T) {
	for _, c := range load(t).Condensing {
		if got := HMax(c.W, c.D); got != c.HMax {
			t.Errorf("hmax(%d, %d) = %d, want %d", c.W, c.D, got, c.HMax)
		}
		k := Condense(c.H, c.HMax)
		if c.C0 == nil && k.C0 != 0 || c.C0 != nil && (k.C0 != *c.C0 || k.T != *c.T) {
			t.Errorf("h = %d: %+v, want c0 %v t %v", c.H, k, c.C0, c.T)
		}
		kept, last := 0, 0
		for level := range c.H {
			if k.Keeps(level) {
				kept, last = kept+1, level
			}
		}
		if kept != c.Kept || last != c.Last {
			t.Errorf("h = %d: %d levels kept, the last %d; want %d, %d", c.H, kept, last, c.Kept, c.Last)
		}
	}
}

func TestQuickSortIsLaidOutToTheDigit(t *testing.T) {
	q := load(t).Quicksort
	tree, names := fromRecords(q.Records)
	for i := range names {
		names[i] = q.Letters[i : i+1]
	}
	l := NewLayout(tree)
	if l.Height != q.Height {
		t.Errorf("height %d, want %d", l.Height, q.Height)
	}
	compare(t, "whole", l, names, q.Whole, 10)
	level, _ := tree.Levels()
	condensed, origin := Condensing{C0: 2, T: 100}.Apply(tree, level)
	if c := NewLayout(condensed); c.Height != q.Condensed.Height || condensed.Len() != len(q.Condensed.Rows) {
		t.Errorf("condensed to %d nodes on %d levels", condensed.Len(), c.Height)
	} else {
		compare(t, "condensed", c, pick(names, origin), q.Condensed.Rows, 10)
	}
	sub, origin := tree.Subtree(int32(slices.Index(names, "E")))
	if sub.Len() != len(q.SubtreeE) {
		t.Errorf("subtree of E has %d nodes, want %d", sub.Len(), len(q.SubtreeE))
	}
	compare(t, "subtree of E", NewLayout(sub), pick(names, origin), q.SubtreeE, 10)
}

func randomRecords(seed uint64, n, pes int) (records []record) {
	state := seed
	next := func() uint64 {
		state += 0x9E3779B97F4A7C15
		z := state
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		return z ^ z>>31
	}
	index := make([]int32, pes)
	for i := range n {
		parent := 0
		if r, r2 := next(), next(); i > 0 && r%3 == 0 {
			parent = int(r2 % uint64(i))
		} else {
			parent = max(0, i-1-int(r2%8))
		}
		pe := int32(next() % uint64(pes))
		index[pe]++
		r := record{int32(i), 1, pe, index[pe], 0, 0}
		if i > 0 {
			r[4], r[5] = records[parent][2], records[parent][3]
		}
		records = append(records, r)
	}
	return records
}

func TestRandomTracesAreLaidOutAsTheOracleSays(t *testing.T) {
	for _, c := range load(t).Random {
		tree, names := fromRecords(randomRecords(c.Seed, c.N, c.Pes))
		level, height := tree.Levels()
		if height != c.Height {
			t.Errorf("height %d, want %d", height, c.Height)
		}
		condensed, origin := Condense(height, HMax(c.W, c.D)).Apply(tree, level)
		l := NewLayout(condensed)
		var sum float64
		for _, w := range l.Weight {
			sum += w
		}
		if l.Height != c.CondensedHeight || condensed.Len() != c.Nodes || l.Weight[0] != c.RootWeight || sum != c.SumOfWeights {
			t.Errorf("seed %d: height %d, %d nodes, root %v, sum %v; want %d, %d, %v, %v", c.Seed, l.Height, condensed.Len(), l.Weight[0], sum, c.CondensedHeight, c.Nodes, c.RootWeight, c.SumOfWeights)
		}
		compare(t, "trace order", l, pick(names, origin), c.Rows, float64(c.D))
		if n := onOwnCircle(l, float64(c.D)); n != c.Drawn {
			t.Errorf("seed %d: %d nodes drawn, want %d", c.Seed, n, c.Drawn)
		}
		ordered, order := tree.Preorder(nil)
		level, _ = ordered.Levels()
		condensed, origin = Condense(height, HMax(c.W, c.D)).Apply(ordered, level)
		compare(t, "family order", NewLayout(condensed), pick(pick(names, order), origin), c.Family, float64(c.D))
	}
}

func BenchmarkLayout(b *testing.B) {
	tree, _ := fromRecords(randomRecords(1, 1_000_000, 8))
	b.ResetTimer()
	for b.Loop() {
		NewLayout(tree)
	}
	b.ReportMetric(float64(tree.Len())*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mnodes/s")
}

// onOwnCircle counts the nodes that are drawn where a sector is measured on its
// node's own circle, as the oracle does.
func onOwnCircle(l *Layout, d float64) (count int) {
	drawn := make([]bool, l.Tree.Len())
	for i, p := range l.Tree.Parent {
		if p < 0 || drawn[p] && (l.Level[p] == 0 || l.Arc(int(p), d) >= 1) {
			drawn[i] = true
			count++
		}
	}
	return count
}

func TestNodesWideOnTheirOwnCircleAreDrawn(t *testing.T) {
	tree, _ := fromRecords(randomRecords(3, 2000, 8))
	l := NewLayout(tree)
	drawn, n := l.Drawn(4)
	for i, p := range tree.Parent {
		if p > 0 && drawn[p] && l.Arc(int(p), 4) >= 1 && !drawn[i] {
			t.Fatalf("node %d on level %d is not drawn below a sector of a pixel", i, l.Level[i])
		}
	}
	if least := onOwnCircle(l, 4); n < least || n == tree.Len() {
		t.Errorf("%d of %d nodes are drawn, want at least %d and not all", n, tree.Len(), least)
	}
}

// TestSpokesAreDrawnToTheirEnds: 170 chains of 100 calls from one root, as in the
// paper's Semigroup. On their own circles the first rings are under a pixel each.
func TestSpokesAreDrawnToTheirEnds(t *testing.T) {
	tree := &Tree{Parent: []int32{-1}}
	for range 170 {
		at := int32(0)
		for range 100 {
			tree.Parent = append(tree.Parent, at)
			at = int32(tree.Len() - 1)
		}
	}
	if _, n := NewLayout(tree).Drawn(4); n != tree.Len() {
		t.Errorf("%d of %d nodes are drawn", n, tree.Len())
	}
}

func TestChildrenAreCounted(t *testing.T) {
	q := load(t).Quicksort
	tree, _ := fromRecords(q.Records)
	for i, n := range tree.Children() {
		if want := q.ChildCount[fmt.Sprint(q.Records[i][1])]; n != want {
			t.Errorf("record %d of clause %d has %d children, want %d", i+1, q.Records[i][1], n, want)
		}
	}
}
