package kaleidoscope_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/kaleidoscope"
)

// A record of VISTA: time, clause, pe, index, ppe, pindex.
type record [6]int

// randomRecords makes a tree of records, many in each millisecond. The clause is the number of the record.
func randomRecords(seed uint64, n, pes, each int) (out []record) {
	rnd, next := rand.New(rand.NewPCG(seed, 4)), make([]int, pes)
	for i := range n {
		pe := rnd.IntN(pes)
		next[pe]++
		r := record{i / each, i + 1, pe, next[pe]}
		if i > 0 {
			up := out[max(0, i-1-rnd.IntN(12))]
			r[4], r[5] = up[2], up[3]
		}
		out = append(out, r)
	}
	return out
}

func importRecords(t *testing.T, pes int, records []record) store.Reader {
	var b strings.Builder
	fmt.Fprintln(&b, pes)
	for _, r := range records {
		fmt.Fprintln(&b, strings.Trim(fmt.Sprint(r), "[]"))
	}
	return viewtest.ImportBytes(t, "x.vista", []byte(b.String()))
}

// TestTheOrderOfRecordsStays: step is the number of the record, index that on its PE, and siblings follow each other as
// their records do, however many share a millisecond.
func TestTheOrderOfRecordsStays(t *testing.T) {
	for seed := range uint64(4) {
		pes := 1 + int(seed)
		records := randomRecords(seed, 600, pes, 25)
		number := map[[2]int]int{}
		for i, r := range records {
			number[[2]int{r[2], r[3]}] = i + 1
		}
		step := map[int32]int{}
		last := map[int]float64{} // where the sector of the last child of each record begins
		for _, n := range treeOf(t, importRecords(t, pes, records)) {
			var clause int
			fmt.Sscanf(n.Region, "clause %d", &clause)
			step[n.ID] = clause
			r := records[clause-1]
			if int(n.Step) != clause || int(n.Index) != r[3] {
				t.Fatalf("seed %d: record %d has step %d and index %d, want index %d", seed, clause, n.Step, n.Index, r[3])
			}
			if n.Parent == nil {
				continue
			}
			up := step[*n.Parent]
			if want := number[[2]int{r[4], r[5]}]; up != want {
				t.Fatalf("seed %d: record %d hangs below %d, want %d", seed, clause, up, want)
			}
			if at, ok := last[up]; ok && n.Start <= at {
				t.Fatalf("seed %d: record %d lies before an older sibling", seed, clause)
			}
			last[up] = n.Start
		}
		if len(step) != len(records) {
			t.Errorf("seed %d: %d of %d calls", seed, len(step), len(records))
		}
	}
}

// TestASubtreeHoldsWhatInheritsItsFlag: as in the paper, records are read from the first one on, the chosen root has a
// flag and each call that of its caller. Levels are not condensed though those of the whole tree are, and the
// picture is by PE.
func TestASubtreeHoldsWhatInheritsItsFlag(t *testing.T) {
	records := randomRecords(7, 900, 4, 9)
	r := importRecords(t, 4, records)
	open := func(testing.TB) store.Reader { return r }
	paper := map[string][]string{"paper": {"true"}, "ring": {"10"}}
	whole := data(t, viewtest.Case{Reader: open, Options: paper})
	if whole.C0 == 0 {
		t.Fatalf("%d levels are not condensed", whole.Height)
	}
	for _, root := range []int{0, 3, 40, 200, 899} {
		flag, height := map[[2]int]int{{records[root][2], records[root][3]}: 1}, 1 // level + 1
		for _, k := range records {
			if up := flag[[2]int{k[4], k[5]}]; k[5] > 0 && up > 0 && flag[[2]int{k[2], k[3]}] == 0 {
				flag[[2]int{k[2], k[3]}] = up + 1
				height = max(height, up+1)
			}
		}
		c := viewtest.Case{Reader: open, Size: square, Options: map[string][]string{"root": {fmt.Sprint(root)}, "all": {"true"}, "ring": {"10"}}}
		d := data(t, c)
		got := map[[2]int]bool{}
		for _, n := range d.Nodes {
			var pe int
			fmt.Sscanf(n.Location, "PE %d", &pe)
			got[[2]int{pe, int(n.Index)}] = true
		}
		for place := range flag {
			if !got[place] {
				t.Errorf("below %d the call %v is missing", root, place)
			}
		}
		if len(got) != len(flag) || d.Height != height || d.C0 != 0 {
			t.Errorf("below %d are %d calls on %d levels, c0 %d; want %d on %d, not condensed", root, len(got), d.Height, d.C0, len(flag), height)
		}
		for _, e := range c.Compute(t, kaleidoscope.View, r).Scene(square).Legend {
			if !strings.HasPrefix(e.Label, "PE ") {
				t.Errorf("the legend has %q", e.Label)
			}
		}
	}
}

// TestAllNodesOfFigure8HaveTheirLabels: the 23 records of qsort([2,1,4,5,3], X) with procedure and step, PE and index.
func TestAllNodesOfFigure8HaveTheirLabels(t *testing.T) {
	want := []string{"(query 1, 0, 1)", "(qsort/3 2, 0, 2)", "(split/4 smaller 3, 0, 3)", "(split/4 larger 4, 0, 4)", "(qsort/3 5, 3, 1)",
		"(qsort/3 6, 2, 1)", "(split/4 empty 7, 3, 2)", "(split/4 larger 8, 2, 2)", "(split/4 larger 9, 0, 5)", "(qsort/3 empty 10, 3, 3)",
		"(qsort/3 11, 1, 1)", "(split/4 larger 12, 0, 6)", "(split/4 smaller 13, 2, 3)", "(qsort/3 empty 14, 3, 4)", "(split/4 empty 15, 0, 7)",
		"(split/4 empty 16, 1, 2)", "(split/4 empty 17, 2, 4)", "(qsort/3 empty 18, 1, 3)", "(qsort/3 19, 2, 5)", "(qsort/3 empty 20, 1, 4)",
		"(split/4 empty 21, 2, 6)", "(qsort/3 empty 22, 2, 7)", "(qsort/3 empty 23, 2, 8)"}
	got := make([]string, len(want))
	for _, n := range data(t, viewtest.Case{Reader: quicksort}).Nodes {
		got[n.Step-1] = n.Label
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestExpectedCallsAreThoseOfTheSource: with the program beside it, a trace that ends early says what is still to come.
func TestExpectedCallsAreThoseOfTheSource(t *testing.T) {
	d := data(t, viewtest.Case{Reader: quicksort})
	for _, c := range d.Children {
		if int64(len(c.Goals)*c.Calls) != c.Total {
			t.Errorf("%s made %d calls, its body has the goals %v", c.Region, c.Total, c.Goals)
		}
	}
	r := viewtest.ImportFiles(t, map[string]string{"q.vista": "2\n0 1 0 1 0 0\n1 2 1 1 0 1\n", "q.fghc": "go :- p(1), p(2), p(3).\np(X) :- X > 1 | q(X).\n"})
	got := map[string]int32{}
	for _, n := range treeOf(t, r) {
		got[n.Region] = n.Expects
	}
	if len(got) != 2 || got["go"] != 2 || got["p(X)"] != 1 {
		t.Errorf("expected are %v, want go 2, p(X) 1", got)
	}
}

const ranks = `
region main role=compute
region f role=compute
location process r2 rank=2
  1..90 main
    10..20 f
location process r0 rank=0
  3..90 main
location process r1 rank=1
  2..90 main
    10..20 f
      11..12 f
`

// TestSectorsGoByRank where each location has one root; by time and by size where that is asked for.
func TestSectorsGoByRank(t *testing.T) {
	for order, want := range map[string]string{"": "r0 r1 r2", "rank": "r0 r1 r2", "time": "r2 r1 r0", "size": "r1 r2 r0"} {
		c := viewtest.Case{Trace: ranks}
		if order != "" {
			c.Options = map[string][]string{"order": {order}}
		}
		nodes := data(t, c).Nodes
		slices.SortFunc(nodes, func(a, b kaleidoscope.Node) int { return int(1000 * (a.Start - b.Start)) })
		var got []string
		for _, n := range nodes {
			if n.Level == 1 {
				got = append(got, n.Location)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("order %q: %v, want %s", order, got, want)
		}
	}
}

// TestTheSubtreeOfALeafIsADisc with its name, and with the way up.
func TestTheSubtreeOfALeafIsADisc(t *testing.T) {
	size := scene.Size{Width: 400, Height: 300}
	c := viewtest.Case{Trace: calls, Size: size, Options: map[string][]string{"root": {"4"}}}
	r := c.Compute(t, kaleidoscope.View, c.Open(t))
	s := r.Scene(size)
	if colour, ok := topmost(s, 200, 150); !ok {
		t.Errorf("nothing is drawn in the middle: %v", colour)
	}
	var names, trail []string
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			if text, ok := m.(*scene.Text); ok {
				names = append(names, text.Text...)
			}
		}
	}
	for _, term := range s.Terms {
		trail = append(trail, term.Name+" "+term.Text+" "+term.Label)
	}
	if fmt.Sprint(names) != "[g]" || fmt.Sprint(trail) != "[root 1 main root 3 f root 4 g]" {
		t.Errorf("names %v, trail %v", names, trail)
	}
	f, ok, _ := view.PickAt(r, s, 230, 170)
	if !ok || f.Title != "g" || f.Open["root"] != "3" {
		t.Errorf("in the disc is %q, which opens %v", f.Title, f.Open)
	}
}

// TestLimitsOfColoursAreNoted: equal colours are not equal times, and more PEs than hues share them.
func TestLimitsOfColoursAreNoted(t *testing.T) {
	for paint, want := range map[string]string{"time": "one colour is 863 µs: equal colours are not equal times", "both": "one colour is", "location": ""} {
		c := viewtest.Case{Reader: quicksort, Size: square, Options: map[string][]string{"paint": {paint}}}
		notes := strings.Join(c.Compute(t, kaleidoscope.View, c.Open(t)).Notes(), "\n")
		if want == "" && notes != "" || !strings.Contains(notes, want) {
			t.Errorf("painted by %s: %q, want %q", paint, notes, want)
		}
	}
}
