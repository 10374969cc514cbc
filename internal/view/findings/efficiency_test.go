package findings_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
)

// oneGPU is a host that works for half of the run before its one GPU does.
const oneGPU = `
region kernel role=compute
region op role=compute
location process "rank 0" rank=0
  location thread "main"
    0..1000000 op
  location device "GPU 0"
    location stream "stream 7"
      500000..740000 kernel
      760000..1000000 kernel
`

// One GPU is in balance with nobody, and communicates with nobody: it is busy for a share of the time from its first work to its last.
func TestOneGPUHasNoEfficiencyOfSeveral(t *testing.T) {
	p := dataOf(t, viewtest.Case{Trace: oneGPU}).POP
	if p.LoadBalance != nil || p.Communication != nil || p.Parallel != nil {
		t.Errorf("one GPU: %+v", p)
	}
	if p.Locations != 1 || p.Mean != 480000 || p.Runtime != 500000 {
		t.Errorf("busy %v of %v ns on %d, want 480,000 of 500,000 on one", p.Mean, p.Runtime, p.Locations)
	}
}

// Where nobody communicates no time is lost to communication.
func TestARunWithoutCommunicationHasNoEfficiencyOfIt(t *testing.T) {
	text := "region work role=compute\nregion MPI_Recv role=communication\n"
	for i := range 4 {
		text += fmt.Sprintf("location process \"rank %d\" rank=%d\n  0..%d work\n", i, i, 500+100*i)
	}
	p := dataOf(t, viewtest.Case{Trace: text + "  900..1000 work\n"}).POP
	if p.Communication != nil || p.LoadBalance == nil || p.Parallel == nil || math.Abs(*p.Parallel-0.675) > 1e-9 {
		t.Errorf("without communication: %+v", p)
	}
	if p := dataOf(t, viewtest.Case{Trace: text + "  900..1000 MPI_Recv\n"}).POP; p.Communication == nil {
		t.Errorf("with communication: %+v", p)
	}
}

// The recorder was on twice, for a second each and 470 s apart: each rank works for half of the two.
func TestTimeInWhichTheRecorderWasOffIsNoTime(t *testing.T) {
	text := "region work role=compute\nregion MPI_Allreduce role=communication\n"
	for i := range 4 {
		text += fmt.Sprintf("location process \"rank %d\" rank=%d\n", i, i)
		for _, at := range []int{0, 470_000} {
			for k := range 10 {
				text += fmt.Sprintf("  %dms..%dms work\n  %dms..%dms MPI_Allreduce\n", at+100*k, at+100*k+50, at+100*k+50, at+100*k+100)
			}
		}
	}
	d := dataOf(t, viewtest.Case{Trace: text})
	if p := d.POP; p.Parallel == nil || math.Abs(*p.Parallel-0.5) > 0.01 || math.Abs(p.Runtime-2e9) > 2e7 {
		t.Errorf("efficiencies of two seconds: %+v", d.POP)
	}
	for _, f := range d.Findings {
		if strings.Contains(d.about(&f), "in MPI_Allreduce\n") && (f.Share < 0.45 || f.Share > 0.55) {
			t.Errorf("%s: %.3f of all time, want a half", f.Text, f.Share)
		}
	}
	if len(d.Findings) == 0 {
		t.Error("half of the time in communication is not told")
	}
}
