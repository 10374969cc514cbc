package findings_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
)

// lengthsJob is a job of ranks that compute for some ms in each step, and then reduce until the last is there.
func lengthsJob(ranks, steps int, compute func(rank, step int) int) (text string, beyond int) {
	var b strings.Builder
	b.WriteString("region gemm category=kernel role=compute\nregion ncclDevKernel_AllReduce category=kernel role=communication\n")
	for s := range steps {
		fmt.Fprintf(&b, "region \"ProfilerStep#%d\" category=user_annotation role=annotation\n", s)
	}
	for r := range ranks {
		fmt.Fprintf(&b, "location process \"rank %d\" rank=%d\n  location thread main\n", r, r)
		gpu, at := "  location device GPU\n    location stream stream\n", 0
		for s := range steps {
			most := 0
			for o := range ranks {
				most = max(most, compute(o, s))
			}
			own, end := compute(r, s), at+most+1
			beyond += most - own
			fmt.Fprintf(&b, "    %dms..%dms \"ProfilerStep#%d\"\n", at, end, s)
			gpu += fmt.Sprintf("      %dms..%dms gemm\n      %dms..%dms ncclDevKernel_AllReduce\n", at, at+own, at+own, end)
			at = end
		}
		b.WriteString(gpu)
	}
	return b.String(), beyond
}

// Inputs of different length make another rank the last in each step. What all would need less with even steps is the
// cost, and no rank is blamed; with inputs of one length nothing is found.
func TestInputsOfDifferentLengthHaveTheirCostAndNoStraggler(t *testing.T) {
	text, beyond := lengthsJob(6, 12, func(rank, step int) int { return 10 + (rank+5*step)%6 })
	d := dataOf(t, viewtest.Case{Trace: text})
	f := &d.Findings[0]
	if f.Kind != finding.Imbalance || f.Severity == finding.Low || len(f.Selection.Locations) > 0 {
		t.Fatalf("%+v", f)
	}
	if want := float64(beyond) * 1e6; math.Abs(float64(f.Lost)-want) > 1e-3*want {
		t.Errorf("lost %d ns, each step has %v ns beyond its mean", f.Lost, want)
	}
	numbersAreEvidence(t, "lengths", &d)
	even, _ := lengthsJob(6, 10, func(_, step int) int { return 10 + step%3 })
	for _, f := range dataOf(t, viewtest.Case{Trace: even}).Findings {
		if f.Severity != finding.Low && f.Kind != finding.GPUIdle {
			t.Errorf("of one length: %s: %s", f.Kind, f.Text)
		}
	}
}
