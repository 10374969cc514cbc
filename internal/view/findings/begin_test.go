package findings_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
)

// Six ranks meet in a barrier ten times; the first record of rank 0 comes at 300, when all others wait for it. From then on
// all have as much to do.
func lateBegin() string {
	var b strings.Builder
	b.WriteString("region solve role=compute\nregion MPI_Barrier role=communication\n")
	for rank := range 6 {
		fmt.Fprintf(&b, "location process \"rank %d\" rank=%d\n", rank, rank)
		if rank > 0 {
			fmt.Fprintf(&b, "  %d..100 solve\n  100..402 MPI_Barrier\n", rank)
		} else {
			b.WriteString("  300..400 solve\n  400..402 MPI_Barrier\n")
		}
		for i := range 9 {
			at := 402 + 100*i
			fmt.Fprintf(&b, "  %d..%d solve\n  %d..%d MPI_Barrier\n", at, at+98, at+98, at+100)
		}
	}
	return b.String()
}

func TestARankThatBeginsLateIsAStartUpFinding(t *testing.T) {
	d := read(t, (&viewtest.Case{Trace: lateBegin()}).Open(t))
	holds(t, &d, want{finding.StartUp, []string{"at rank 0", "first record after that of the others, median = 288 ns"}})
	for _, f := range d.Findings {
		if f.Kind == finding.Jitter || f.Kind == finding.Straggler {
			t.Errorf("the same waiting is told as %s: %s", f.Kind, f.Text)
		}
	}
}
