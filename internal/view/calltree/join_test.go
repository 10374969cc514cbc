package calltree_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view/calltree"
)

// Four ranks: main, and solve below it. Of a maximum the greatest counts, of a minimum
// the least, of a rate the mean; nothing is added up but amounts.
func TestMaximaAndMinimaAreNotAddedUp(t *testing.T) {
	values := [4][2]float64{{0.853, 0.5}, {0.84, 0.6}, {0.846, 0.2}, {0.845, 0.1}} // of main and of solve
	for _, c := range []struct {
		how         trace.Join
		main, solve float64
		bottom      float64 // exclusive of both, turned round
	}{
		{trace.JoinSum, 3.384, 1.4, 1.4}, {trace.JoinMax, 0.853, 0.6, 0.6}, {trace.JoinMin, 0.84, 0.1, 0.1}, {trace.JoinMean, 3.384 / 4, 1.4 / 4, 1.4 / 4},
	} {
		r := viewtest.Local(t, func(w trace.Writer) {
			metric := w.Metric(trace.Metric{Name: "m", Unit: "s", Default: true, Join: c.how})
			main := w.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: w.Region(trace.Region{Name: "main"})})
			solve := w.CallPath(trace.CallPath{Parent: main, Region: w.Region(trace.Region{Name: "solve"})})
			for rank, v := range values {
				at := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: fmt.Sprint("rank ", rank), Rank: rank})
				w.Profile(trace.ProfileRow{Location: at, Path: main, Metric: metric, Calls: 1, Inclusive: v[0], Exclusive: v[0]})
				w.Profile(trace.ProfileRow{Location: at, Path: solve, Metric: metric, Calls: 1, Inclusive: v[1], Exclusive: v[1]})
			}
		})
		near := func(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 }
		down := viewtest.Case{Options: map[string][]string{"metric": {"m"}}}
		result := down.Compute(t, calltree.View, r)
		d := result.Data().(calltree.Data)
		if !near(d.Total, c.main) || !near(d.Nodes[0].Inclusive, c.main) || !near(d.Nodes[1].Inclusive, c.solve) {
			t.Errorf("%q: total %v, main %v, solve %v; want %v, %v", c.how, d.Total, d.Nodes[0].Inclusive, d.Nodes[1].Inclusive, c.main, c.solve)
		}
		if said := strings.Contains(strings.Join(result.Notes(), "; "), "do not add up"); said != (c.how != trace.JoinSum) {
			t.Errorf("%q: notes are %q", c.how, result.Notes())
		}
		up := viewtest.Case{Options: map[string][]string{"metric": {"m"}, "direction": {"bottom-up"}}}
		for _, n := range up.Compute(t, calltree.View, r).Data().(calltree.Data).Nodes {
			if n.Region == "solve" && n.Parent == nil && !near(n.Inclusive, c.bottom) {
				t.Errorf("%q: solve bottom-up is %v, want %v", c.how, n.Inclusive, c.bottom)
			}
		}
	}
}
