package findings_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
)

// forkJoin is a process with eight threads: the first prepares alone, then all compute in a
// parallel region and meet at its barrier.
func forkJoin(serial, slow int) string {
	const n, rounds, work = 8, 30, 1000
	var b strings.Builder
	b.WriteString("region prepare role=compute\nregion loop role=compute\nregion \"omp implicit barrier\" role=synchronization category=openmp\nlocation process p\n")
	for t := range n {
		fmt.Fprintf(&b, "  location thread \"thread %d\"\n", t)
		at := 0
		for range rounds {
			if t == 0 && serial > 0 {
				fmt.Fprintf(&b, "    %d..%d prepare\n", at, at+serial)
			}
			from, mine := at+serial, work+t
			if t == 5 {
				mine += slow
			}
			end := from + work + max(slow, 0) + 20
			fmt.Fprintf(&b, "    %d..%d loop\n    %d..%d \"omp implicit barrier\"\n", from, from+mine, from+mine, end)
			at = end
		}
	}
	return b.String()
}

// Threads that fork and join wait for what the first does alone, and for the last of them.
func TestForkAndJoinAreExplained(t *testing.T) {
	d := read(t, parsed(t, forkJoin(400, 0)))
	sums(t, "serial", &d)
	holds(t, &d, want{finding.Serial, []string{"at p/thread 0", "prepare = "}})
	if lost, want := float64(d.Findings[0].Lost), 30.0*400*7; lost < 0.9*want || lost > 1.1*want {
		t.Errorf("lost %v, want about %v", lost, want)
	}
	d = read(t, parsed(t, forkJoin(0, 300)))
	sums(t, "slow", &d)
	holds(t, &d, want{finding.Straggler, []string{"at p/thread 5"}})
	d = read(t, parsed(t, forkJoin(0, 0)))
	for _, f := range d.Findings {
		if f.Severity != finding.Low {
			t.Errorf("healthy: %s", f.Text)
		}
	}
}
