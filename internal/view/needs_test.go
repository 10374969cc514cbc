package view

import (
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// What a view says of a run that it cannot show is what the run lacks: one of counters
// alone is no profile.
func TestMissingSaysWhatTheSourceHolds(t *testing.T) {
	counters := storetest.NewMemory()
	at := counters.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "p", Rank: trace.NoRank})
	s := counters.Stream(at, trace.StreamOptions{})
	s.Sample(counters.Counter(trace.Counter{Location: at, Name: "power"}), 5, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	profile := storetest.NewMemory()
	at = profile.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "p", Rank: trace.NoRank})
	path := profile.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: profile.Region(trace.Region{Name: "main"})})
	profile.Profile(trace.ProfileRow{Location: at, Path: path, Metric: profile.Metric(trace.Metric{Name: "time"}), Inclusive: 1})
	for _, c := range []struct {
		reader store.Reader
		want   string
	}{
		{counters.Reader(), "the source has none: it holds 1 samples of counters"},
		{profile.Reader(), "the source is a profile without it"},
	} {
		if got := (Needs{Intervals: true}).Missing(c.reader); !strings.HasSuffix(got, c.want) {
			t.Errorf("%q, want it to end with %q", got, c.want)
		}
	}
}

// Samples alone tell no time at which a row is busy.
func TestViewsOfBusyRowsNeedMoreThanSamples(t *testing.T) {
	for _, aside := range []bool{true, false} {
		m := storetest.NewMemory()
		row := m.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindThread, Name: "main", Rank: trace.NoRank})
		if aside {
			row = m.Location(trace.Location{Parent: row, Kind: trace.KindSamples, Name: "main samples", Rank: trace.NoRank})
		}
		s := m.Stream(row, trace.StreamOptions{})
		s.Interval(0, 10, m.Region(trace.Region{Name: "work"}))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got := (Needs{Intervals: true, Rows: true}).Missing(m.Reader()); (got != "") != aside {
			t.Errorf("samples alone: %v: %q", aside, got)
		}
		if got := (Needs{Intervals: true}).Missing(m.Reader()); got != "" {
			t.Error(got)
		}
	}
}

// Rows aside are chosen by their own name only, whatever lies above them.
func TestOverlayRowsAreSelectedOnlyByTheirOwnName(t *testing.T) {
	m := storetest.NewMemory()
	region := m.Region(trace.Region{Name: "work"})
	add := func(l trace.Location) trace.LocationID {
		l.Rank = trace.NoRank
		id := m.Location(l)
		s := m.Stream(id, trace.StreamOptions{})
		s.Interval(0, 10, region)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return id
	}
	top := add(trace.Location{Parent: trace.NoLocation, Kind: trace.KindThread, Name: "thread"})
	aside := add(trace.Location{Parent: top, Kind: trace.KindSamples, Name: "samples"})
	tree := m.Reader().Locations()
	for _, c := range []struct {
		selected []trace.LocationID
		want     int
		leaves   int
	}{{nil, 1, 1}, {[]trace.LocationID{top}, 1, 1}, {[]trace.LocationID{aside}, 1, 1}, {[]trace.LocationID{top, aside}, 2, 2}} {
		if got := runfacts.Chosen(tree, c.selected, tree.Holds); len(got) != c.want {
			t.Errorf("selected %v: %v", c.selected, got)
		}
		if h := runfacts.NewHierarchy(tree, c.selected, tree.Holds); h.Leaves != c.leaves {
			t.Errorf("selected %v: %d leaves", c.selected, h.Leaves)
		}
	}
	if got := runfacts.Chosen(tree, []trace.LocationID{aside}, tree.Holds); got[0] != aside {
		t.Errorf("named %d, chosen %v", aside, got)
	}
}

// A run of samples alone has no other selection that a view of time could draw.
func TestRunsOfSamplesSayThatTheyHaveNoTime(t *testing.T) {
	for kind, want := range map[trace.Kind]string{trace.KindSamples: "samples alone", trace.KindThread: "nothing here"} {
		m := storetest.NewMemory()
		region := m.Region(trace.Region{Name: "work"})
		s := m.Stream(m.Location(trace.Location{Name: "pool-1", Kind: kind, Parent: trace.NoLocation, Rank: trace.NoRank}),
			trace.StreamOptions{})
		s.Interval(0, 10, region)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := NoIntervals(m.Reader(), "choose other locations", "nothing here"); !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
