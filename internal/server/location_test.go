package server

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
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

func TestPlacesOfManyLocationsComeAtOnce(t *testing.T) {
	h := start(t, nil)
	var got placesAnswer
	h.get("/api/runs/small.trace/places?locations=%231-2,5", 200, &got)
	if fmt.Sprint(got.ID, got.Last, got.Above, got.AboveLast, got.Rows) != "[1 2 5] [1 2 5] [0 3] [2 5] 2" {
		t.Errorf("got %+v", got)
	}
	if len(got.Path) != 2 || got.Path[0].ID != 0 || got.Path[1].Name != "rank 0" {
		t.Errorf("the way to the first is %+v", got.Path)
	}
	h.get("/api/runs/small.trace/places?locations=node1&locations=%234", 200, &got)
	if fmt.Sprint(got.ID, got.Last, got.Above, got.Rows) != "[3] [5] [] 1" {
		t.Errorf("a subtree and what is in it: %+v", got)
	}
	h.get("/api/runs/small.trace/places", 200, &got)
	if len(got.ID) != 0 || got.ID == nil || got.Path == nil {
		t.Errorf("nothing chosen: %+v", got)
	}
	h.failure("/api/runs/small.trace/places?locations=%23177", 400, "usage", "#177")
}

// Ten thousand scattered locations of a million fit into one request.
func TestManyLocationsFitIntoARequest(t *testing.T) {
	var ids strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&ids, ",%d", 100*i)
	}
	if n := len("locations=%23") + ids.Len(); n > maxQuery*3/4 {
		t.Errorf("%d bytes leave no room for options in %d", n, maxQuery)
	}
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

func TestIntervalsAreFoundByWords(t *testing.T) {
	h := start(t, nil)
	for q, want := range map[string]int64{"mpi": 3, "solve": 3, "solve+%3E1h": 0, "%3E0": 6, "%3E70": 3} {
		var got intervalsJSON
		h.get("/api/runs/small.trace/intervals?q="+q, 200, &got)
		if got.Count != want || len(got.Hits) != int(want) || len(got.Bins) != searchBins {
			t.Errorf("%s finds %d, want %d: %+v", q, got.Count, want, got.Hits)
		}
	}
	h.failure("/api/runs/small.trace/intervals?q=%3E5parsecs", 400, "usage", "duration")
	h.failure("/api/runs/small.trace/intervals?q=", 400, "usage", "nothing to search for")
	h.failure("/api/runs/small.trace/intervals?q=mpi&at=now", 400, "usage", "time")
}

func TestTheAPIReturnsTheCausesOfAnInterval(t *testing.T) {
	h := start(t, nil)
	var found intervalsJSON
	h.get("/api/runs/small.trace/intervals?q=mpi", 200, &found)
	at := found.Hits[0]
	var got causesJSON
	h.get(fmt.Sprintf("/api/runs/small.trace/causes?location=%d&lane=%d&row=%d", at.Location, at.Lane, at.Row), 200, &got)
	if got.Of != at || got.Causes == nil || got.Effects == nil || got.Chain == nil {
		t.Errorf("%+v", got)
	}
	h.failure("/api/runs/small.trace/causes?location=0&lane=0&row=9999", 404, "not-found", "no such interval")
	h.failure("/api/runs/small.trace/causes?location=0&lane=0", 400, "usage", "row")
	h.failure("/api/runs/small.trace/causes?location=0&lane=0&row=-1", 400, "usage", "row")
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
func (wideReader) Attributes() []string     { return nil }
func (wideReader) Info() *store.Info        { return &store.Info{} }

func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		r := wideReader{tree: wide(n)}
		b.Run(fmt.Sprint("locations=", n), func(b *testing.B) {
			for b.Loop() {
				var out searchJSON
				if err := find(context.Background(), &view.Run{Store: r}, "k 99", 20, &out); err != nil || out.LocationTotal == 0 {
					b.Fatal(err, out)
				}
			}
		})
	}
}
