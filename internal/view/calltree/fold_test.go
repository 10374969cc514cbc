package calltree_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/calltree"
)

// Steps 3 and 4 of one run are those 7, 8 and 9 of the other: their numbers tell nothing.
func TestStepNumbersAreFoldedBetweenRuns(t *testing.T) {
	here := viewtest.Case{Trace: "region Step#3 role=annotation\nregion Step#4 role=annotation\nlocation process a rank=0\n  0..10 Step#3\n    1..6 load\n  10..20 Step#4\n    10..14 load\n    14..15 only\n"}
	there := viewtest.Case{Trace: "region Step#7 role=annotation\nregion Step#8 role=annotation\nregion Step#9 role=annotation\nlocation process a rank=0\n  0..10 Step#7\n    1..3 load\n  10..20 Step#8\n    10..12 load\n  20..30 Step#9\n"}
	q := here.Request(t, calltree.View, here.Open(t))
	q.Runs = append(q.Runs, view.Run{Name: "there", Store: there.Open(t)})
	r, err := calltree.View.Compute(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(r.Data())
	got := nodes(t, string(b))
	for path, want := range map[string][2]float64{"Step#…": {20, 30}, "Step#…>load": {9, 4}, "Step#…>only": {1, 0}} {
		if n := got[path]; n.Inclusive != want[0] || n.Other == nil || *n.Other != want[1] {
			t.Errorf("%s is %+v, want %v", path, n, want)
		}
	}
	if len(got) != 3 {
		t.Errorf("%d nodes, want 3: %v", len(got), got)
	}
}

// Two regions have one name. Their paths are collected in another order each time, and the difference does not change.
func TestTheDifferenceOfRunsDoesNotDependOnTheOrderOfLanes(t *testing.T) {
	var b strings.Builder
	b.WriteString("region f category=one role=compute\nregion f category=two role=compute as=g\n")
	for i := range 64 {
		fmt.Fprintf(&b, "location process p%d rank=%d\n  0..10 %s\n  10..30 %s\n", i, i, "fg"[i%2:i%2+1], "gf"[i%2:i%2+1])
	}
	c := viewtest.Case{Trace: b.String()}
	first := ""
	for range 20 {
		q := c.Request(t, calltree.View, c.Open(t))
		q.Runs = append(q.Runs, view.Run{Name: "there", Store: c.Open(t)})
		r, err := calltree.View.Compute(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := json.Marshal(r.Data())
		if first == "" {
			first = string(data)
		} else if first != string(data) {
			t.Fatalf("once %s, once %s", first, data)
		}
	}
}
