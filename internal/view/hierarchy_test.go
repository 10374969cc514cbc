package view

import (
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// shape writes a hierarchy as nested names.
func shape(h *runfacts.Hierarchy) string {
	var b strings.Builder
	var walk func(i int32)
	walk = func(i int32) {
		b.WriteString(h.Name(i))
		if h.Last[i] == i {
			return
		}
		b.WriteString("(")
		for c := i + 1; c <= h.Last[i]; c = h.Last[c] + 1 {
			if c > i+1 {
				b.WriteString(" ")
			}
			walk(c)
		}
		b.WriteString(")")
	}
	walk(0)
	return b.String()
}

func TestHierarchiesByRule(t *testing.T) {
	tr := tree()
	tr.Holds = []bool{false, false, false, true, true, false, true} // main, rank 1, rank 2
	tr.Attributes = make([][]trace.Attribute, tr.Len())
	tr.Attributes[1] = []trace.Attribute{{Key: "rack", Value: trace.Text("r1")}}
	for _, c := range []struct{ rule, want string }{
		{"", "site(host0(rank 0(main) rank 1) host1(rank 2))"},
		{"tree", "site(host0(rank 0(main) rank 1) host1(rank 2))"},
		{"split: ", "all(rank(rank 1 rank 2) main)"},
		{"attribute:rack", "all(r1(main rank 1) no rack(rank 2))"},
		{"ranks:2", "all(ranks 0-1(main rank 1) ranks 2-3(rank 2))"},
		{"ranks:1,2", "all(ranks 0-1(ranks 0-0(main) ranks 1-1(rank 1)) ranks 2-3(ranks 2-2(rank 2)))"},
	} {
		h, err := HierarchyBy(c.rule, tr, nil, tr.Holds)
		if err != nil || shape(h) != c.want || h.Leaves != 3 {
			t.Errorf("%q: %s, %v; want %s", c.rule, shape(h), err, c.want)
		}
	}
	for _, rule := range []string{"attribute:", "ranks:0", "ranks:x", "colour"} {
		if _, err := HierarchyBy(rule, tr, nil, tr.Holds); err == nil {
			t.Errorf("%q is accepted", rule)
		}
	}
	h := runfacts.NewHierarchy(tr, []trace.LocationID{1}, tr.Holds)
	if got := shape(h); got != "site(host0(rank 0(main) rank 1))" {
		t.Errorf("of a selection: %s", got)
	}
}

func TestALocationThatHoldsValuesAboveOthersIsALeafToo(t *testing.T) {
	tr := &store.Tree{Name: []string{"p", "t"}, Kind: []trace.Kind{"process", "thread"}, Parent: []trace.LocationID{trace.NoLocation, 0}, Last: []trace.LocationID{1, 1}, Level: []uint16{0, 1}, Rank: []int32{0, 0}, Holds: []bool{true, true}}
	if got := shape(runfacts.NewHierarchy(tr, nil, tr.Holds)); got != "p(p (itself) t)" {
		t.Error(got)
	}
}

func TestTheOnlyThreadOfAProcessIsCalledAsTheProcess(t *testing.T) {
	tr := tree()
	tr.Holds = []bool{false, false, false, true, true, false, true} // main, rank 1, rank 2
	h, err := HierarchyBy("", tr, nil, tr.Holds)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range h.Len() {
		if h.Last[i] == int32(i) {
			got = append(got, h.Label(int32(i)))
		}
	}
	if s := strings.Join(got, ", "); s != "rank 0, rank 1, rank 2" {
		t.Errorf("leaves %s", s)
	}
}
