package findings_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
)

// asking are three ranks: rank 0 asks again and again for a message that rank 1 sends at 60 ms, with a pause between
// two calls, in which it works, and receives it then. Rank 2 works all the time.
func asking(t *testing.T, pause int) answers {
	t.Helper()
	var b strings.Builder
	b.WriteString(`region "solve" category=user role=compute
region "MPI_Iprobe" category=mpi role=communication
region "MPI_Recv" category=mpi role=communication
region "MPI_Send" category=mpi role=communication
location process "rank 0" rank=0
  0us..20000us "solve"
`)
	at := 20_000
	for at+20+pause <= 60_010 {
		fmt.Fprintf(&b, "  %dus..%dus \"MPI_Iprobe\"\n", at, at+20)
		if at += 20; pause > 0 {
			fmt.Fprintf(&b, "  %dus..%dus \"solve\"\n", at, at+pause)
		}
		at += pause
	}
	fmt.Fprintf(&b, `  %dus..60020us "MPI_Recv"
  60020us..100000us "solve"
location process "rank 1" rank=1
  0us..60000us "solve"
  60000us..60005us "MPI_Send"
  60005us..100000us "solve"
location process "rank 2" rank=2
  0us..100000us "solve"
link message 60000us "rank 1" -> 60015us "rank 0" from=MPI_Send to=MPI_Recv size=8
`, at)
	return read(t, storetest.Text(t, b.String()))
}

// A rank that asks for a message again and again waits for its sender from the first call on. One that works between
// its calls does not.
func TestPollingIsWaitingForTheSender(t *testing.T) {
	d := asking(t, 0)
	if d.Accounts.Waiting != 40e6 {
		t.Errorf("%v are waited, want 40 ms", d.Accounts.Waiting)
	}
	if len(d.Findings) == 0 || d.Findings[0].Lost != 40e6 || !slices.Contains(d.Findings[0].Selection.Locations, 1) {
		t.Errorf("%q", texts(&d))
	}
	if d := asking(t, 500); d.Accounts.Waiting > 1e6 {
		t.Errorf("%v are waited by a rank that works meanwhile", d.Accounts.Waiting)
	}
}

// HPL asks with MPI_Iprobe for a third of its time and more: the messages tell who sent late.
func TestPollingOfARealRunIsChargedToSenders(t *testing.T) {
	d := read(t, viewtest.Import(t, "data", "otf2-hpl16-deep-a"))
	sums(t, "hpl16", &d)
	for _, f := range d.Findings {
		for _, e := range f.Evidence {
			if e.Name == "MPI_Iprobe, share of the time" && e.Value > 0.05 {
				t.Errorf("%.3f of the time is polling for nobody known: %s", e.Value, f.Text)
			}
		}
	}
	if d.Accounts.Waiting < 2.5e9 || d.Unexplained > d.Accounts.Waiting/10 {
		t.Errorf("%v of %v are unexplained", d.Unexplained, d.Accounts.Waiting)
	}
}

// Of 16 ranks that have 0 to 431 atoms each, uneven work costs 3 % of the time. The same run with even work spends
// 65 % in communication: that is no symptom, and comes first in both.
func TestCommunicationComesBeforeACauseThatIsLessGrave(t *testing.T) {
	d := read(t, viewtest.Import(t, "data", "otf2-lammps-imbalanced16"))
	var got []finding.Kind
	for _, f := range d.Findings[:min(4, len(d.Findings))] {
		got = append(got, f.Kind)
	}
	if fmt.Sprint(got) != "[communication start-up imbalance data]" {
		t.Errorf("%v", got)
	}
}
