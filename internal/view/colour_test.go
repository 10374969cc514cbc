package view

import (
	"context"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// By itself the region with the most time has the first colour. Beside another run each region has the colour that it
// has there, whatever it takes here.
func TestRegionsHaveTheColoursThatTheyHaveInTheOtherRun(t *testing.T) {
	run := func(name string, times map[string]trace.Time, order ...string) Run {
		m := storetest.NewMemory()
		row := m.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "rank 0", Rank: 0})
		s := m.Stream(row, trace.StreamOptions{})
		at := trace.Time(0)
		for _, g := range order {
			s.Interval(at, at+times[g], m.Region(trace.Region{Name: g, Role: trace.RoleCommunication}))
			at += times[g]
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return Run{Name: name, Store: m.Reader()}
	}
	a := run("a", map[string]trace.Time{"MPI_Send": 100, "MPI_Bcast": 10}, "MPI_Send", "MPI_Bcast")
	b := run("b", map[string]trace.Time{"MPI_Send": 10, "MPI_Bcast": 100, "MPI_Wait": 50}, "MPI_Send", "MPI_Bcast", "MPI_Wait")
	colours := func(q *Request) *Colours {
		c, err := q.Colours(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first, alone := colours(&Request{Runs: []Run{a}}), colours(&Request{Runs: []Run{b}})
	beside := &Request{Runs: []Run{b}}
	beside.ColourAs(a)
	same := colours(beside)
	for _, g := range []string{"MPI_Send", "MPI_Bcast"} {
		if same.Named(g, trace.RoleCommunication) != first.Named(g, trace.RoleCommunication) {
			t.Errorf("%s has another colour beside the other run", g)
		}
		if alone.Named(g, trace.RoleCommunication) == first.Named(g, trace.RoleCommunication) {
			t.Errorf("%s: the runs alone give it the same colour, so this test shows nothing", g)
		}
	}
	if wait := same.Named("MPI_Wait", trace.RoleCommunication); wait == same.Named("MPI_Send", trace.RoleCommunication) ||
		wait == same.Named("MPI_Bcast", trace.RoleCommunication) {
		t.Error("a region that only this run has takes the colour of another")
	}
}
