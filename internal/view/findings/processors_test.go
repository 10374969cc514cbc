package findings_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Ranks are compared by their main threads: a thread of the MPI library that polls all the time is no processor.
func TestThreadsThatHelpAreNotCompared(t *testing.T) {
	d := read(t, viewtest.Local(t, func(w trace.Writer) {
		work, poll := w.Region(trace.Region{Name: "solve", Role: trace.RoleCompute}), w.Region(trace.Region{Name: "poll", Role: trace.RoleCompute})
		barrier := w.Region(trace.Region{Name: "MPI_Barrier"})
		for rank := range 4 {
			p := w.Location(trace.Location{Name: fmt.Sprint("rank ", rank), Kind: trace.KindProcess, Rank: rank, Parent: trace.NoLocation})
			for _, name := range []string{"main", "async_progress"} {
				s := w.Stream(w.Location(trace.Location{Name: name, Kind: trace.KindThread, Rank: trace.NoRank, Parent: p}), trace.StreamOptions{})
				if name == "main" {
					end := trace.Time(600_000 + 100_000*rank)
					s.Enter(0, work)
					s.Leave(end, work)
					s.Enter(end, barrier)
					s.Leave(1_000_000, barrier)
				} else {
					s.Enter(0, poll)
					s.Leave(1_000_000, poll)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}))
	if b := d.POP.LoadBalance; b == nil || math.Abs(*b-750.0/900) > 1e-9 {
		t.Errorf("load balance %v, want %v", b, 750.0/900)
	}
}
