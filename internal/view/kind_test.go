package view_test

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

func TestARunIsIdentifiedByItsContent(t *testing.T) {
	rows := func(kind trace.Kind, n int, ranked bool) func(trace.Writer) {
		return func(w trace.Writer) {
			work := w.Region(trace.Region{Name: "work", Role: trace.RoleCompute})
			for i := range n {
				rank := trace.NoRank
				if ranked {
					rank = i
				}
				id := w.Location(trace.Location{Parent: trace.NoLocation, Kind: kind, Name: string(rune('a' + i)), Rank: rank})
				s := w.Stream(id, trace.StreamOptions{})
				s.Interval(0, 10, work)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	profile := func(w trace.Writer) {
		id := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "a", Rank: trace.NoRank})
		path := w.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: w.Region(trace.Region{Name: "main"})})
		w.Profile(trace.ProfileRow{Location: id, Path: path, Metric: w.Metric(trace.Metric{Name: "time", Unit: "ns", Default: true}), Calls: 1, Inclusive: 5, Exclusive: 5})
	}
	sampled := func(w trace.Writer) { // as HPCToolkit writes: sums, and samples that count nowhere
		profile(w)
		id := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindSamples, Name: "samples", Rank: trace.NoRank})
		s := w.Stream(id, trace.StreamOptions{})
		s.Interval(0, 10, w.Region(trace.Region{Name: "main"}))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	counter := func(w trace.Writer) {
		id := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "a", Rank: trace.NoRank})
		c := w.Counter(trace.Counter{Location: id, Name: "power"})
		s := w.Stream(id, trace.StreamOptions{})
		s.Sample(c, 1, 2)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name  string
		write func(trace.Writer)
		want  view.RunKind
	}{
		{"two ranks", rows(trace.KindProcess, 2, true), view.KindRanks},
		{"many rows without ranks", rows(trace.KindThread, 16, false), view.KindRanks},
		{"a few threads", rows(trace.KindThread, 3, false), view.KindThreads},
		{"a stream of a GPU", rows(trace.KindStream, 1, false), view.KindGPU},
		{"goroutines", rows(trace.KindGoroutine, 20, false), view.KindGo},
		{"a profile", profile, view.KindProfile},
		{"a profile with samples", sampled, view.KindProfile},
		{"a counter alone", counter, view.KindOther},
	} {
		if got := view.KindOf(viewtest.Local(t, c.write)); got != c.want {
			t.Errorf("%s: a run of kind %q, want %q", c.name, got, c.want)
		}
	}
}
