package local

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Sums over locations are of 128 bits: 3,000 locations that work for 90 years are as much as a million for a hundred days, and
// far beyond a time. A location's own times are as they were.
func TestSumsOverManyLongLocationsAreExact(t *testing.T) {
	const locations, span = 3000, trace.Time(90 * 365 * 24 * 3600 * 1e9)
	path := build(t, Options{}, func(w trace.Writer) {
		work := w.Region(trace.Region{Name: "work", Role: trace.RoleCompute})
		inner := w.Region(trace.Region{Name: "inner", Role: trace.RoleCompute})
		top := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindMachine, Name: "machine", Rank: trace.NoRank})
		for i := range locations {
			id := w.Location(trace.Location{Parent: top, Kind: trace.KindProcess, Name: strconv.Itoa(i), Rank: i})
			s := w.Stream(id, trace.StreamOptions{})
			s.Interval(0, span, work)
			s.Interval(span/4, span/2, inner)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	r, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx := context.Background()
	whole, quarter := trace.SumProduct(locations, span), trace.SumProduct(locations, span/4)
	total, err := store.TotalTime(ctx, r, store.Window{End: span + 1})
	if err != nil || len(total.Region) != 2 {
		t.Fatal(total, err)
	}
	for i, id := range total.Region {
		inclusive, exclusive := whole, whole.Minus(quarter)
		if r.Regions()[id].Name == "inner" {
			inclusive, exclusive = quarter, quarter
		}
		if total.Inclusive[i] != inclusive || total.Exclusive[i] != exclusive || total.Calls[i] != locations {
			t.Errorf("%s: inclusive %s, want %s; exclusive %s, want %s", r.Regions()[id].Name, total.Inclusive[i], inclusive, total.Exclusive[i], exclusive)
		}
	}
	roles, err := r.RoleTime(ctx, nil, []trace.Time{0, span / 3, span})
	if err != nil {
		t.Fatal(err)
	}
	compute := roles[trace.RoleCompute]
	if compute != trace.SumProduct(locations, span/3) {
		t.Errorf("until a third: %s, want %s", compute, trace.SumProduct(locations, span/3))
	}
	compute.AddSum(roles[trace.RoleCount+int(trace.RoleCompute)])
	if compute != whole {
		t.Errorf("role time: %s, want %s", compute, whole)
	}
	// Bins of groups are told where they fit, and refused where they do not: never a number that ran over.
	if _, err := r.Groups(ctx, []trace.LocationID{0}, 0, span, 61); err == nil {
		t.Error("one bin of all locations is given, though no time holds it")
	}
	g, err := r.Groups(ctx, []trace.LocationID{0}, 0, span, 45)
	if err != nil {
		t.Fatal(err)
	}
	var sum trace.Sum
	for i, x := range g.Time {
		if x < 0 {
			t.Fatalf("bin %d is %d", i, x)
		}
		sum.Add(x)
	}
	if sum != whole {
		t.Errorf("bins of a group add up to %s, want %s", sum, whole)
	}
}

// Goroutines, tasks and short threads come by the hundred thousand, with a handful of rows each: what a location takes beside its
// rows and its name is what it is by itself.
func TestLocationsWithFewRowsTakeLittleRoom(t *testing.T) {
	const locations, rows = 20000, 4
	path := build(t, Options{}, func(w trace.Writer) {
		work := w.Region(trace.Region{Name: "work", Role: trace.RoleCompute})
		top := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "process", Rank: trace.NoRank})
		for i := range locations {
			id := w.Location(trace.Location{Parent: top, Kind: trace.KindGoroutine, Name: strconv.Itoa(i), Rank: trace.NoRank})
			s := w.Stream(id, trace.StreamOptions{})
			for k := range rows {
				s.Interval(trace.Time(100*i+10*k), trace.Time(100*i+10*k+9), work)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	m, err := disk.ReadManifest(path)
	if err != nil {
		t.Fatal(err)
	}
	bytes := int64(0)
	for _, e := range m.Files {
		if strings.HasPrefix(e.Name, "location.") || strings.HasPrefix(e.Name, "lane.") {
			bytes += e.Size
		}
	}
	if each := bytes / locations; each > 40 {
		t.Errorf("a location takes %d bytes", each)
	}
	r, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	tree := r.Locations()
	if n := tree.Len(); n != locations+1 || tree.Level[0] != 0 || tree.Level[n-1] != 1 || tree.Rank[n-1] != trace.NoRank {
		t.Errorf("%d locations, of levels %d and %d, rank %d", n, tree.Level[0], tree.Level[n-1], tree.Rank[n-1])
	}
}

// Intervals of many lanes are counted on all cores.
func TestIntervalsOfManyLanesAreCounted(t *testing.T) {
	const locations = 5000
	path := build(t, Options{}, func(w trace.Writer) {
		work := w.Region(trace.Region{Name: "work", Role: trace.RoleCompute})
		for i := range locations {
			id := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: strconv.Itoa(i), Rank: i})
			s := w.Stream(id, trace.StreamOptions{})
			s.Interval(0, 10, work)
			s.Interval(trace.Time(20+i%2), 30, work)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	r, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for end, want := range map[trace.Time]int64{10: locations, 21: locations * 3 / 2, 40: 2 * locations} {
		if n, err := r.Count(store.Window{End: end}); err != nil || n != want {
			t.Errorf("%d intervals begin before %d (%v), want %d", n, end, err, want)
		}
	}
}
