package findings_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
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

// Work that grows from step to step, or differs by rank, is told of main threads, not of threads that help.
func TestWorkOfHelpersIsNotThatOfTheirRanks(t *testing.T) {
	run := func(busy string, length func(rank, step int) trace.Time) map[finding.Kind]bool {
		d := read(t, viewtest.Local(t, func(w trace.Writer) {
			solve, poll := w.Region(trace.Region{Name: "solve", Role: trace.RoleCompute}), w.Region(trace.Region{Name: "poll", Role: trace.RoleCompute})
			step, barrier := w.Region(trace.Region{Name: "step", Role: trace.RoleAnnotation}), w.Region(trace.Region{Name: "MPI_Barrier"})
			for rank := range 4 {
				p := w.Location(trace.Location{Name: fmt.Sprint("rank ", rank), Kind: trace.KindProcess, Rank: rank, Parent: trace.NoLocation})
				for _, name := range []string{"main", "async_progress"} {
					s := w.Stream(w.Location(trace.Location{Name: name, Kind: trace.KindThread, Rank: trace.NoRank, Parent: p}), trace.StreamOptions{})
					at := trace.Time(0)
					for k := range 20 {
						work := trace.Time(40_000)
						if name == busy {
							work = length(rank, k)
						}
						if name == "main" {
							s.Enter(at, step)
							s.Enter(at, solve)
							s.Leave(at+work, solve)
							s.Enter(at+work, barrier)
							s.Leave(at+100_000, barrier)
							s.Leave(at+100_000, step)
						} else {
							s.Enter(at, poll)
							s.Leave(at+work, poll)
						}
						at += 100_000
					}
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
				}
			}
		}))
		kinds := map[finding.Kind]bool{}
		for _, f := range d.Findings {
			kinds[f.Kind] = true
		}
		return kinds
	}
	grows := func(_, step int) trace.Time { return trace.Time(20_000 + 4_000*step) }
	differs := func(rank, _ int) trace.Time { return trace.Time(20_000 + 20_000*rank) }
	if k := run("main", grows); !k[finding.Growth] {
		t.Errorf("work of main threads grows: %v", k)
	}
	if k := run("async_progress", grows); k[finding.Growth] {
		t.Errorf("work of helpers grows: %v", k)
	}
	even := run("", nil)
	if k := run("main", differs); len(k) <= len(even) {
		t.Errorf("work of main threads differs by rank: %v", k)
	}
	if k := run("async_progress", differs); k[finding.Imbalance] || k[finding.Straggler] {
		t.Errorf("work of helpers differs by rank: %v", k)
	}
}
