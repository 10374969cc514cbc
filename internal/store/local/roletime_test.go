package local

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// The bins that are kept must give what the rows do, whatever the edges.
func TestRoleTimeFromKeptBinsEqualsThatFromRows(t *testing.T) {
	path := build(t, Options{Summaries: []trace.Summary{benchSummary{}}}, func(w trace.Writer) {
		writeBench(w, 12, 5000)
		alone := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "alone", Rank: 99})
		benchStream(w.Stream(alone, trace.StreamOptions{}), []trace.RegionID{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, 99, 5000)
	})
	r, err := Open(path, nil)
	if err != nil {
		t.Fatalf("%s: %v", filepath.Base(path), err)
	}
	defer r.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	at := func(beyond trace.Time) trace.Time { return trace.Time(rng.Int64N(int64(r.Info().End + beyond))) }
	kept := 0
	for range 60 {
		edges := []trace.Time{at(0)}
		for range 1 + rng.IntN(4) {
			edges = append(edges, at(100))
		}
		slices.Sort(edges)
		for _, ids := range [][]trace.LocationID{nil, {0}, {trace.LocationID(r.Locations().Len() - 1)}, {1, 2, trace.LocationID(r.Locations().Len() - 1)}} {
			got, err := r.RoleTime(context.Background(), ids, edges)
			if err != nil {
				t.Fatal(err)
			}
			want := slowRoleTime(r, ids, edges)
			for _, id := range ids {
				if r.C.GroupRoles[id] != 0 {
					kept++
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("edges %d of %d: %s, want %s", edges, ids, got, want)
			}
		}
	}
	if kept < 150 {
		t.Errorf("there were kept bins to use %d times: the test says little", kept)
	}
}

// slowRoleTime adds up the time of each role between edges from the rows alone.
func slowRoleTime(r *Reader, ids []trace.LocationID, edges []trace.Time) []trace.Sum {
	to := slowEdges{edges, make([]trace.Sum, (len(edges)-1)*trace.RoleCount)}
	var merge rows.Merge
	for _, x := range r.Ranges(ids) {
		for id := x[0]; id < x[1]; id++ {
			merge.Location(r.Table, id, max(edges[0], 0), min(edges[len(edges)-1], r.Info().End), to)
		}
	}
	return to.time
}

// slowEdges takes the time of roles, bin by bin.
type slowEdges struct {
	edges []trace.Time
	time  []trace.Sum
}

func (s slowEdges) Add(from, to trace.Time, role trace.Role) {
	for b := range len(s.edges) - 1 {
		s.time[b*trace.RoleCount+int(role)].Add(max(0, min(to, s.edges[b+1])-max(from, s.edges[b])))
	}
}

// Locations one by one add up to what RoleTime says of each: those with others below
// them are asked for without these.
func TestRoleTimesAreThoseOfEachLocationAlone(t *testing.T) {
	path := build(t, Options{Summaries: []trace.Summary{benchSummary{}}}, func(w trace.Writer) {
		writeBench(w, 12, 5000)
		top := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "top", Rank: 99})
		below := w.Location(trace.Location{Parent: top, Kind: trace.KindThread, Name: "below", Rank: 99})
		regions := []trace.RegionID{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}
		benchStream(w.Stream(top, trace.StreamOptions{}), regions, 99, 700)
		benchStream(w.Stream(below, trace.StreamOptions{}), regions, 98, 300)
	})
	r, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var ids []trace.LocationID
	for id := range r.Locations().Len() {
		ids = append(ids, trace.LocationID(id))
	}
	plain := struct{ store.Reader }{r} // without the method
	rng := rand.New(rand.NewPCG(3, 4))
	for range 40 {
		edges := []trace.Time{}
		for range 2 + rng.IntN(20) {
			edges = append(edges, trace.Time(rng.Int64N(int64(r.Info().End+100))))
		}
		slices.Sort(edges)
		got, err := store.RoleTimes(context.Background(), r, ids, edges)
		if err != nil {
			t.Fatal(err)
		}
		want, err := store.RoleTimes(context.Background(), plain, ids, edges)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("edges %d: %d, want %d", edges, got, want)
		}
		size := (len(edges) - 1) * trace.RoleCount
		for k := range ids {
			for b := range len(edges) - 1 {
				sum := trace.Time(0)
				for _, x := range got[k*size+b*trace.RoleCount : k*size+(b+1)*trace.RoleCount] {
					sum += x
				}
				if sum > edges[b+1]-edges[b] {
					t.Fatalf("location %d has %d ns in a bin of %d", k, sum, edges[b+1]-edges[b])
				}
			}
		}
	}
}
