package server

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

func TestSummaryCountsCallsAndClipsTimes(t *testing.T) {
	h := start(t, nil)
	var got summaryJSON
	h.get("/api/runs/small.trace/summary", 200, &got)
	if !got.Exact || len(got.Regions) != 2 || got.Selection.End != 100 || got.Selection.Locations != 3 { // of six, three hold intervals
		t.Fatalf("got %+v", got)
	}
	send := got.Regions[slices.IndexFunc(got.Regions, func(r regionSummary) bool { return r.Name == "MPI_Send" })]
	// Three calls of 10, 30 and 80 ns.
	if *send.Count != 3 || send.Exclusive.Time() != 120 || *send.Mean != 40 || *send.P50 != 30 || *send.P90 != 70 || *send.P98 != 78 {
		t.Errorf("MPI_Send: %+v, mean %g, p50 %g, p90 %g, p98 %g", send, *send.Mean, *send.P50, *send.P90, *send.P98)
	}
	if got.Whole != 300 || got.ShareOf != "all time" || send.Share != 0.4 { // 3 locations × 100 ns, recorded or not
		t.Errorf("MPI_Send has %v of %v, %s", send.Share, got.Whole, got.ShareOf)
	}
	for _, role := range got.Roles { // of 3 locations × 100 ns
		if role.Role == "communication" && (role.Time.Time() != 120 || role.Share != 0.4) {
			t.Errorf("communication: %+v", role)
		}
	}
	h.get("/api/runs/small.trace/summary?from=5&to=40&locations=%231&regions=MPI_*", 200, &got)
	if len(got.Regions) != 1 || got.Selection.Regions != 1 {
		t.Fatalf("got %+v", got)
	}
	if r := got.Regions[0]; *r.Count != 2 || r.Exclusive.Time() != 20 || *r.P50 != 20 {
		t.Errorf("clipped: %+v; want times within the window, calls at full length", r)
	}
	h.failure("/api/runs/small.trace/summary?regions=none", 400, "usage", "none")
}

// One definition: what is called by a region is in none of its figures but inclusive.
func TestSummaryIsOfExclusiveTime(t *testing.T) {
	h := start(t, func(c *Config) {
		c.Runs = []view.Run{{Name: "nested", Store: storetest.Text(t, `
region step role=annotation
region solve role=compute
location process "rank 0" rank=0
  0..100 solve
    0..60 solve
      10..30 step
  100..100 solve
location process "rank 1" rank=1
  0..100 solve
  50..70 solve
  60..90 step
`)}}
	})
	var got summaryJSON
	h.get("/api/runs/nested/summary", 200, &got)
	solve := got.Regions[slices.IndexFunc(got.Regions, func(r regionSummary) bool { return r.Name == "solve" })]
	if mean := solve.Exclusive.Float64() / float64(*solve.Count); *solve.Mean != mean {
		t.Errorf("%d calls with %s exclusive have the mean %g, want %g", *solve.Count, solve.Exclusive, *solve.Mean, mean)
	}
	if *solve.P50 != 40 { // 40, 40, 0; 80, 20 beside a lane with 30 of step
		t.Errorf("the median is %g", *solve.P50)
	}
	for _, role := range got.Roles {
		if role.Share > 1 || role.Role == "annotation" {
			t.Errorf("%+v: an annotation is transparent, and an instant counts once", role)
		}
	}
	if got.Unit != "ns" {
		t.Errorf("the unit is %q", got.Unit)
	}
}

func TestSummaryOfAProfileHasTotalsOnly(t *testing.T) {
	h := start(t, func(c *Config) {
		c.Runs = []view.Run{{Name: "p", Store: storetest.Text(t, `
location process "rank 0" rank=0
metric time unit=ns default
profile "rank 0" "main => MPI_Send" time calls=3 subcalls=0 incl=10 excl=10
profile "rank 0" main time calls=1 subcalls=3 incl=50 excl=40
`)}}
	})
	var got summaryJSON
	h.get("/api/runs/p/summary", 200, &got)
	if len(got.Regions) != 2 || got.Regions[0].Exclusive.Time() != 40 || got.Regions[0].P50 != nil || *got.Regions[0].Mean != 40 || got.Note == "" {
		t.Errorf("got %+v", got)
	}
}

func TestQuantilesAreTypeSeven(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		d := make([]int64, 1+random.IntN(50))
		for i := range d {
			d[i] = int64(random.IntN(20))
		}
		sorted := slices.Clone(d)
		slices.Sort(sorted)
		for _, p := range []float64{0, 0.25, 0.5, 0.9, 0.98, 1} {
			h := float64(len(d)-1) * p
			k := int(h)
			want := float64(sorted[k])
			if k+1 < len(sorted) {
				want += (h - float64(k)) * float64(sorted[k+1]-sorted[k])
			}
			if got := quantile(d, p); got != want {
				t.Fatalf("quantile %g of %v is %g, want %g", p, sorted, got, want)
			}
		}
	}
}

func TestSampleIsSpreadOverTheWindow(t *testing.T) {
	whole := store.Window{Begin: 1000, End: 1_001_000}
	tree := func(lanes int) *store.Tree {
		m := storetest.NewMemory()
		f := m.Region(trace.Region{Name: "f"})
		for k := range lanes {
			s := m.Stream(m.Location(trace.Location{Parent: trace.NoLocation, Name: fmt.Sprint(k), Kind: trace.KindThread, Rank: trace.NoRank}), trace.StreamOptions{})
			s.Interval(0, 1, f)
			s.Close()
		}
		return m.Reader().Locations()
	}
	for _, lanes := range []int{100, 1024} {
		windows := sampleWindows(tree(lanes), whole, 50_000_000, lanes)
		taken, searches := 0.0, 0
		times := map[trace.LocationID]int{}
		for i, w := range windows {
			if w.Begin < whole.Begin || w.End > whole.End || w.Begin >= w.End || i > 0 && w.Begin < windows[i-1].End {
				t.Fatalf("slice %d is [%d, %d)", i, w.Begin, w.End)
			}
			of := lanes
			if w.Locations != nil {
				of = len(w.Locations)
			}
			for _, id := range w.Locations {
				times[id]++
			}
			searches += of
			taken += float64(w.End-w.Begin) * float64(of) / float64(lanes)
		}
		if share := taken / 1e6; share < 0.035 || share > 0.045 {
			t.Errorf("%d lanes: took %g of the time, want 2 of 50 million calls", lanes, share)
		}
		if searches > mostSearches {
			t.Errorf("%d lanes: looks into %d", lanes, searches)
		}
		for id, n := range times {
			if n != times[0] {
				t.Errorf("location %d is in %d slices, the first in %d", id, n, times[0])
			}
		}
	}
	if few := sampleWindows(tree(2), whole, 50_000_000, 1_000_000); len(few) != 4 {
		t.Errorf("with a million lanes there are %d slices, want 4", len(few))
	}
}

// manyCalls says that there are more calls than are taken one by one.
type manyCalls struct{ store.Reader }

func (manyCalls) Count(store.Window) (int64, error) { return 12_000_000, nil }

func TestSummaryOfTooManyCallsSaysThatItIsASample(t *testing.T) {
	h := start(t, func(c *Config) { c.Runs[0].Store = manyCalls{c.Runs[0].Store} })
	var got summaryJSON
	h.get("/api/runs/small.trace/summary", 200, &got)
	if got.Exact || !strings.Contains(got.Note, "sample of") || !strings.Contains(got.Note, "12.0 M calls") {
		t.Errorf("exact %v, note %q", got.Exact, got.Note)
	}
	if i := slices.IndexFunc(got.Regions, func(r regionSummary) bool { return r.Name == "MPI_Send" }); i < 0 || *got.Regions[i].Count != 3 || got.Regions[i].Exclusive.Time() != 120 {
		t.Errorf("counts and times are not exact: %+v", got.Regions)
	}
}

// TestCallsOfSamplesAreUnknown: samples count no calls, so that the count is null and not 0.
func TestCallsOfSamplesAreUnknown(t *testing.T) {
	m := storetest.NewMemory()
	at := m.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "p", Rank: 0})
	path := m.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: m.Region(trace.Region{Name: "solve"})})
	m.Profile(trace.ProfileRow{Location: at, Path: path, Metric: m.Metric(trace.Metric{Name: "cpu", Unit: "ns"}),
		Inclusive: 5, Exclusive: 5})
	r := m.Reader()
	got, err := summarise(t.Context(), &view.Run{Store: r}, trace.Selection{}, new(treeIndex).of(r.Locations()))
	if err != nil || len(got.Regions) != 1 || got.Regions[0].Count != nil {
		t.Errorf("%+v, %v; want one region without a count", got, err)
	}
}
