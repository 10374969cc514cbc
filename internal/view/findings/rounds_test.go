package findings_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/tracetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// calls writes ranks that record a collective alone, some µs of work before each call.
func calls(ranks int, work func(rank, round int) int) string {
	b := &strings.Builder{}
	fmt.Fprintln(b, `region "MPI_Allreduce" category=mpi role=communication`)
	const rounds = 20
	at := make([]int, ranks)
	lines := make([][]string, ranks)
	for k := range rounds {
		last := 0
		for r := range ranks {
			at[r] += work(r, k)
			last = max(last, at[r])
		}
		for r := range ranks {
			lines[r] = append(lines[r], fmt.Sprintf("  %dus..%dus \"MPI_Allreduce\"", at[r], last+5))
			at[r] = last + 5
		}
	}
	for r := range ranks {
		fmt.Fprintf(b, "location process \"rank %d\" rank=%d\n%s\n", r, r, strings.Join(lines[r], "\n"))
	}
	return b.String()
}

// Ranks that record nothing but a collective get slower in the middle of the run: its calls mark the rounds.
func TestRoundsBetweenCollectivesTellThatAllGetSlower(t *testing.T) {
	text := calls(4, func(rank, round int) int {
		if round >= 12 {
			return 2000 + rank
		}
		return 1000 + rank
	})
	d := read(t, viewtest.Local(t, func(w trace.Writer) { tracetest.Write(t, w, text) }))
	if len(d.Findings) == 0 || d.Findings[0].Kind != finding.SlowPhase || d.Findings[0].Severity == finding.Low {
		t.Fatalf("%+v", d.Findings)
	}
	// seven rounds of 1 ms more on four ranks: what lies before the first call is no round
	if lost := float64(d.Findings[0].Lost); lost < 0.9*28e6 || lost > 1.15*32e6 {
		t.Errorf("lost %v: %s", lost, d.Findings[0].Text)
	}
}

// Messages of one pair take longer than those of all others: both ends are named.
func TestTheSlowPairIsNamed(t *testing.T) {
	b := &strings.Builder{}
	fmt.Fprintln(b, `region "MPI_Recv" category=mpi role=communication`)
	fmt.Fprintln(b, `region "work" category=user role=compute`)
	const ranks, rounds = 6, 20
	links := &strings.Builder{}
	for r := range ranks {
		fmt.Fprintf(b, "location process \"rank %d\" rank=%d\n", r, r)
		from := (r + ranks - 1) % ranks
		for k := range rounds {
			at, takes := 10_000*k, 100
			if r == 4 {
				takes = 5000
			}
			fmt.Fprintf(b, "  %dus..%dus \"work\"\n  %dus..%dus \"MPI_Recv\"\n", at, at+1000, at+1000, at+1000+takes)
			fmt.Fprintf(links, "link message %dus \"rank %d\" -> %dus \"rank %d\" size=4096\n", at+1000, from, at+1000+takes, r)
		}
	}
	d := read(t, storetest.Text(t, b.String()+links.String()))
	i := slices.IndexFunc(d.Findings, func(f finding.Finding) bool { return f.Kind == finding.Communication })
	if i < 0 || !strings.Contains(d.about(&d.Findings[i]), "message from rank 3 to rank 4, lower quartile = ") {
		t.Fatalf("%+v", d.Findings)
	}
}

// Waiting of more than 5 % of the time is never passed over in silence.
func TestUnexplainedWaitingIsAFinding(t *testing.T) {
	d := read(t, storetest.Text(t, `
region "work" category=user role=compute
region "waiting" category=user role=synchronization
location thread a
  0ms..80ms "work"
  80ms..100ms "waiting"
`))
	if len(d.Findings) != 1 || d.Findings[0].Kind != finding.Unexplained || d.Findings[0].Lost != 20e6 {
		t.Errorf("%+v", d.Findings)
	}
}
