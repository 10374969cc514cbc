package server

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

func TestLocationsComeAPageAtATime(t *testing.T) {
	h := start(t, nil)
	var page locationPage
	h.get("/api/runs/small.trace/locations", 200, &page)
	if page.Total != 2 || len(page.Locations) != 2 || page.Parent != nil {
		t.Fatalf("top: %+v", page)
	}
	node := page.Locations[1]
	if node.Name != "node1" || node.ID != 3 || node.Last != 5 || node.Children != 2 || node.Rows != 1 || node.Rank != nil || node.Holds {
		t.Errorf("got %+v", node)
	}
	h.get("/api/runs/small.trace/locations?parent=0&offset=1&limit=1", 200, &page)
	if page.Total != 2 || len(page.Locations) != 1 || *page.Parent != 0 || page.Offset != 1 {
		t.Fatalf("children: %+v", page)
	}
	if one := page.Locations[0]; one.Name != "rank 1" || *one.Rank != 1 || *one.Parent != 0 || one.Level != 1 || !one.Holds || one.Rows != 1 {
		t.Errorf("got %+v", one)
	}
	h.get("/api/runs/small.trace/locations?parent=5", 200, &page)
	if page.Total != 0 || page.Locations == nil {
		t.Errorf("a leaf has %+v", page)
	}
	h.failure("/api/runs/small.trace/locations?parent=77", 404, "not-found", "77")
	h.failure("/api/runs/small.trace/locations?parent=-1", 404, "not-found", "-1")
	h.failure("/api/runs/small.trace/locations?offset=x", 400, "usage", "offset")
}

func TestRegionsHaveTheirColour(t *testing.T) {
	h := start(t, nil)
	var got []regionRow
	h.get("/api/runs/small.trace/regions", 200, &got)
	if len(got) != 2 || got[0].Name != "solve" || got[1].Role != "communication" || got[0].Colour == got[1].Colour {
		t.Errorf("got %+v", got)
	}
}

func TestSearchFindsExactNamesFirst(t *testing.T) {
	h := start(t, nil)
	for q, want := range map[string]string{
		"rank":         "node0/rank 0, node0/rank 1, node1/rank 2 | ",
		"RANK 2":       "node1/rank 2 | ",
		"3":            "node1/<script> | ",
		"rank3":        "node1/<script> | ",
		"node1/rank":   "node1/rank 2 | ",
		"mpi":          " | MPI_Send",
		"<script>":     "node1/<script> | ",
		"":             " | ",
		"nothing":      " | ",
		"node":         "node0, node1 | ",
		"e":            "node0, node1 | solve, MPI_Send",
		"rank&limit=1": "node0/rank 0 | ",
	} {
		var got searchJSON
		h.get("/api/runs/small.trace/search?q="+strings.NewReplacer(" ", "+", "<", "%3C", ">", "%3E").Replace(q), 200, &got)
		var locations, regions []string
		for _, l := range got.Locations {
			locations = append(locations, l.Path)
		}
		for _, g := range got.Regions {
			regions = append(regions, g.Name)
		}
		if s := strings.Join(locations, ", ") + " | " + strings.Join(regions, ", "); s != want {
			t.Errorf("%q finds %q, want %q", q, s, want)
		}
	}
	h.failure("/api/runs/small.trace/search?q="+strings.Repeat("a", 500), 400, "usage", "letters")
}

func TestSummaryCountsCallsAndClipsTimes(t *testing.T) {
	h := start(t, nil)
	var got summaryJSON
	h.get("/api/runs/small.trace/summary", 200, &got)
	if !got.Exact || len(got.Regions) != 2 || got.Selection.End != 100 || got.Selection.Locations != 6 {
		t.Fatalf("got %+v", got)
	}
	send := got.Regions[slices.IndexFunc(got.Regions, func(r regionSummary) bool { return r.Name == "MPI_Send" })]
	// Three calls of 10, 30 and 80 ns.
	if send.Count != 3 || send.Exclusive != 120 || *send.Mean != 40 || *send.P50 != 30 || *send.P90 != 70 || *send.P98 != 78 {
		t.Errorf("MPI_Send: %+v, mean %g, p50 %g, p90 %g, p98 %g", send, *send.Mean, *send.P50, *send.P90, *send.P98)
	}
	for _, role := range got.Roles { // of 3 locations × 100 ns
		if role.Role == "communication" && (role.Time != 120 || role.Share != 0.4) {
			t.Errorf("communication: %+v", role)
		}
	}
	h.get("/api/runs/small.trace/summary?from=5&to=40&locations=%231&regions=MPI_*", 200, &got)
	if len(got.Regions) != 1 || got.Selection.Regions != 1 {
		t.Fatalf("got %+v", got)
	}
	if r := got.Regions[0]; r.Count != 2 || r.Exclusive != 20 || *r.P50 != 20 {
		t.Errorf("clipped: %+v; want times within the window, calls at full length", r)
	}
	h.failure("/api/runs/small.trace/summary?regions=none", 400, "usage", "none")
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
	if len(got.Regions) != 2 || got.Regions[0].Exclusive != 40 || got.Regions[0].P50 != nil || got.Note == "" {
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
	windows := sampleWindows(whole, 50_000_000, 100)
	taken := trace.Time(0)
	for i, w := range windows {
		if w.Begin < whole.Begin || w.End > whole.End || w.Begin >= w.End || i > 0 && w.Begin < windows[i-1].End {
			t.Fatalf("slice %d is [%d, %d)", i, w.Begin, w.End)
		}
		taken += w.End - w.Begin
	}
	if share := float64(taken) / 1e6; share < 0.035 || share > 0.045 {
		t.Errorf("took %g of the time, want 2 of 50 million calls", share)
	}
	if few := sampleWindows(whole, 50_000_000, 1_000_000); len(few) != 4 {
		t.Errorf("with a million lanes there are %d slices, want 4", len(few))
	}
}

// wide is a tree of many locations, for growth.
func wide(n int) *store.Tree {
	t := &store.Tree{}
	for i := range n {
		t.Name = append(t.Name, fmt.Sprintf("rank %d", i))
		t.Kind = append(t.Kind, trace.KindProcess)
		t.Parent = append(t.Parent, trace.NoLocation)
		t.Last = append(t.Last, trace.LocationID(i))
		t.Level = append(t.Level, 0)
		t.Rank = append(t.Rank, int32(i))
		t.Holds = append(t.Holds, true)
	}
	return t
}

type wideReader struct {
	store.Reader
	tree *store.Tree
}

func (r wideReader) Locations() *store.Tree { return r.tree }
func (wideReader) Regions() []trace.Region  { return nil }

func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		r := wideReader{tree: wide(n)}
		b.Run(fmt.Sprint("locations=", n), func(b *testing.B) {
			for b.Loop() {
				var out searchJSON
				if err := find(context.Background(), r, "k 99", 20, &out); err != nil || out.LocationTotal == 0 {
					b.Fatal(err, out)
				}
			}
		})
	}
}
