package storetest

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/tracetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// runWriting checks the promises of trace.Writer beyond records.
func runWriting(t *testing.T, open Open) {
	thread := trace.Location{Parent: trace.NoLocation, Kind: trace.KindThread, Name: "t", Rank: trace.NoRank}
	t.Run("the same definition gives the same id", func(t *testing.T) {
		open(t, func(w trace.Writer) {
			a := w.Location(thread)
			if w.Location(thread) != a {
				t.Error("two ids for one location")
			}
			other := thread
			other.Key = "another"
			if w.Location(other) == a {
				t.Error("one id for two keys")
			}
			r := trace.Region{Name: "f", Category: "c", File: "a.c", Line: 3}
			if w.Region(r) != w.Region(r) {
				t.Error("two ids for one region")
			}
			for _, differs := range []trace.Region{{Name: "g", Category: "c", File: "a.c", Line: 3},
				{Name: "f", File: "a.c", Line: 3}, {Name: "f", Category: "c", Line: 3},
				{Name: "f", Category: "c", File: "a.c"}} {
				if w.Region(differs) == w.Region(r) {
					t.Errorf("one id for %v and %v", differs, r)
				}
			}
			if w.Counter(trace.Counter{Location: a, Name: "x"}) != w.Counter(trace.Counter{Location: a, Name: "x",
				Unit: "ns"}) {
				t.Error("two ids for one counter")
			}
			if w.Attribute("x") != w.Attribute("x") || w.Attribute("x") == w.Attribute("y") {
				t.Error("attributes are not found by name")
			}
			m := trace.Metric{Name: "time"}
			if w.Metric(m) != w.Metric(m) {
				t.Error("two ids for one metric")
			}
			p := trace.CallPath{Parent: trace.NoCallPath, Region: w.Region(r)}
			if w.CallPath(p) != w.CallPath(p) ||
				w.CallPath(trace.CallPath{Parent: w.CallPath(p), Region: p.Region}) == w.CallPath(p) {
				t.Error("call paths are not found by parent and region")
			}
			if c := (trace.Communicator{Name: "c",
				Parent: trace.NoCommunicator}); w.Communicator(c) == w.Communicator(c) {
				t.Error("one id for two communicators")
			}
		}, nil)
	})
	t.Run("a role that is not given is decided by the name", func(t *testing.T) {
		r := open(t, func(w trace.Writer) { w.Region(trace.Region{Name: "MPI_Send"}) }, nil)
		if got := r.Regions()[0].Role; got != trace.RoleCommunication {
			t.Errorf("got %v", got)
		}
	})
	t.Run("a late description fills in what it says", func(t *testing.T) {
		compareAll(t, open, func(w trace.Writer) {
			a := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Key: "1", Name: "pid 1",
				Rank: trace.NoRank, Attributes: []trace.Attribute{{Key: "a", Value: trace.Integer(1)}}})
			b := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Key: "2", Name: "pid 2",
				Rank: 4})
			w.Describe(a,
				trace.Location{Name: "worker", Rank: 7, Order: 5,
					Attributes: []trace.Attribute{{Key: "b", Value: trace.Text("x")}}})
			w.Describe(b, trace.Location{Rank: trace.NoRank})
		}, 1)
	})
	t.Run("a stream asked for while it is open fails at Close", func(t *testing.T) {
		open(t, func(w trace.Writer) {
			id := w.Location(thread)
			first := w.Stream(id, trace.StreamOptions{})
			second := w.Stream(id, trace.StreamOptions{})
			if err := second.Close(); err == nil {
				t.Error("no error")
			}
			if err := first.Close(); err != nil {
				t.Errorf("the first stream: %v", err)
			}
		}, nil)
	})
	t.Run("a stream asked for after Close appends", func(t *testing.T) {
		compareAll(t, open, func(w trace.Writer) {
			id, f := w.Location(thread), w.Region(trace.Region{Name: "f"})
			for i := range trace.Time(3) {
				s := w.Stream(id, trace.StreamOptions{})
				s.Enter(i*10, f)
				s.Leave(i*10+5, f)
				if err := s.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			}
		}, 1)
	})
	t.Run("reports of one kind add up and keep the first example", func(t *testing.T) {
		r := open(t, func(w trace.Writer) {
			w.Report(trace.Guessed, "rank", 2, "a:1")
			w.Report(trace.Guessed, "rank", 3, "b:2")
			w.Report(trace.MissingEvents, "rank", 1, "")
		}, nil)
		want := []trace.ReportEntry{{Kind: trace.Guessed, What: "rank", Count: 5, Example: "a:1"},
			{Kind: trace.MissingEvents, What: "rank", Count: 1}}
		if d := diffOf(want, r.Info().Report); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
	t.Run("nothing given to a writer is kept", func(t *testing.T) {
		r := open(t, func(w trace.Writer) {
			attributes := []trace.Attribute{{Key: "k", Value: trace.Integer(1)}}
			l := thread
			l.Attributes = attributes
			id := w.Location(l)
			w.Region(trace.Region{Name: "f", Attributes: attributes})
			members := []trace.LocationID{id}
			w.Communicator(trace.Communicator{Name: "c", Parent: trace.NoCommunicator, Members: members})
			at := []int{1}
			coordinates := []trace.Coordinate{{Location: id, At: at}}
			w.Topology(trace.Topology{Name: "t", Dims: at, Coordinates: coordinates})
			attributes[0].Key, members[0], at[0], coordinates[0].Location = "changed", 99, 99, 99
		}, nil)
		want := `location thread t k=1
communicator c t
topology t 1
  at t 1
`
		if d := tracetest.Diff(want, fromLocations(tracetest.Dump(r))); d != "" {
			t.Error(d)
		}
	})
}
