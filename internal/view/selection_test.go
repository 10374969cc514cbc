package view

import (
	"reflect"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestTimesAreReadWithUnitsAndShares(t *testing.T) {
	for s, want := range map[string]trace.Time{
		"1.5s": 1_500_000_000, "200ms": 200_000_000, "7us": 7000, "7µs": 7000, "30%": 300, "9007199254740993": 9007199254740993, "12ns": 12, "2min": 120e9,
	} {
		if got, err := ParseTime(s, 1000); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "s", "1.5x", "--3s", "nan s", "1e300s"} {
		if got, err := ParseTime(s, 1000); err == nil {
			t.Errorf("%q is read as %d, want an error", s, got)
		}
	}
}

// tree is site/host{0,1}/rank{0..3}, two ranks a host, a thread each.
func tree() *store.Tree {
	t := &store.Tree{}
	add := func(name string, kind trace.Kind, parent, last trace.LocationID, level uint16, rank int32) {
		t.Name, t.Kind, t.Parent = append(t.Name, name), append(t.Kind, kind), append(t.Parent, parent)
		t.Last, t.Level, t.Rank = append(t.Last, last), append(t.Level, level), append(t.Rank, rank)
	}
	add("site", trace.KindSite, trace.NoLocation, 6, 0, -1)
	add("host0", trace.KindMachine, 0, 4, 1, -1)
	add("rank 0", trace.KindProcess, 1, 3, 2, 0)
	add("main", trace.KindThread, 2, 3, 3, 0)
	add("rank 1", trace.KindProcess, 1, 4, 2, 1)
	add("host1", trace.KindMachine, 0, 6, 1, -1)
	add("rank 2", trace.KindProcess, 5, 6, 2, 2)
	return t
}

func TestLocationPatternsSelectTopmostMatches(t *testing.T) {
	for _, c := range []struct {
		patterns []string
		want     []trace.LocationID
	}{
		{nil, nil},
		{[]string{"host1"}, []trace.LocationID{5}},
		{[]string{"site/host0/*"}, []trace.LocationID{2, 4}},
		{[]string{"rank:1-2"}, []trace.LocationID{4, 6}},
		{[]string{"rank:0", "host1"}, []trace.LocationID{2, 5}},
		{[]string{"re:^rank [12]$"}, []trace.LocationID{4, 6}},
		{[]string{"#3"}, []trace.LocationID{3}},
		{[]string{"#2,4,6"}, []trace.LocationID{2, 4, 6}},
		{[]string{"#2-4,#6"}, []trace.LocationID{2, 4, 6}},
		{[]string{"#5-4294967295"}, []trace.LocationID{5}},
		{[]string{"#6,1-2", "rank:1"}, []trace.LocationID{1, 6}},
		{[]string{"*"}, []trace.LocationID{0}},
		{[]string{"kind:process"}, []trace.LocationID{2, 4, 6}},
		{[]string{"kind:machine", "kind:thread"}, []trace.LocationID{1, 5}},
		{[]string{"rank [02]"}, []trace.LocationID{2, 6}},
	} {
		got, err := MatchLocations(tree(), c.patterns)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %v, %v; want %v", c.patterns, got, err, c.want)
		}
	}
	for _, p := range []string{"nobody", "kind:processor", "re:(", "rank:x", "[a", "#7", "#2,7", "#7-9", "#4-2", "#", "#2,", "#2,x", "#99999999999"} {
		if got, err := MatchLocations(tree(), []string{p}); err == nil {
			t.Errorf("%q gives %v, want an error", p, got)
		}
	}
}

// A list of patterns holds lists of ids.
func TestPatternsAreSplitAtCommasButNotWithinIDs(t *testing.T) {
	for text, want := range map[string][]string{
		"a,b": {"a", "b"}, "#1,#2,5-9,rank:3": {"#1,#2,5-9", "rank:3"}, "rank:0-3,#4,7": {"rank:0-3", "#4,7"}, "3,#x,4": {"3", "#x", "4"},
	} {
		if got := SplitPatterns(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Ten thousand ids of a million locations cost about as much as one of them: a list
// of overlapping ranges is walked once.
func TestManyIDsAreMatchedInOneWalk(t *testing.T) {
	hit := make([]bool, 1_000_000)
	ids := make([]idRange, 200_000)
	for i := range ids {
		ids[i] = idRange{uint64(i % 7), 999_000 + uint64(i%900)}
	}
	if n := markIDs(hit, ids); n != len(ids) {
		t.Errorf("%d ranges are marked, want %d", n, len(ids))
	}
	for id, h := range hit {
		if want := id <= 999_899; h != want {
			t.Fatalf("location %d is marked: %v, want %v", id, h, want)
		}
	}
}

func TestRegionPatternsKnowRolesAndCategories(t *testing.T) {
	regions := []trace.Region{{Name: "MPI_Send", Category: "mpi", Role: trace.RoleCommunication}, {Name: "solve", Role: trace.RoleCompute}, {Name: "a.b(c)", Category: "kernel", Role: trace.RoleCompute}}
	for _, c := range []struct {
		pattern string
		want    []trace.RegionID
	}{
		{"MPI_*", []trace.RegionID{0}}, {"role:compute", []trace.RegionID{1, 2}}, {"category:kernel", []trace.RegionID{2}},
		{"mpi/MPI_*", []trace.RegionID{0}}, {"a.b(c)", []trace.RegionID{2}}, {"a?b(*", []trace.RegionID{2}},
	} {
		if got, err := MatchRegions(regions, []string{c.pattern}); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %v, %v; want %v", c.pattern, got, err, c.want)
		}
	}
}

func TestNumbersForPeopleHaveThreeDigitsAndAUnit(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{FormatTime(0), "0 s"}, {FormatTime(1), "1.00 ns"}, {FormatTime(999), "999 ns"}, {FormatTime(1240000), "1.24 ms"}, {FormatTime(999_999_999), "1.00 s"}, {FormatTime(61_500_000_000), "61.5 s"},
		{FormatCount(3100000), "3.10 M"}, {FormatCount(9999), "9,999"}, {FormatBytes(1536), "1.50 KiB"}, {FormatShare(0.1234), "12.3 %"}, {FormatShare(5e-7), "< 0.1 %"}, {FormatShare(-5e-7), "> -0.1 %"}, {FormatShare(0.0005), "0.1 %"}, {FormatShare(0), "0.0 %"},
		{FormatChange(0.02), "+2.0 %"}, {FormatChange(-0.02), "−2.0 %"}, {FormatChange(-5e-7), "< 0.1 %"}, {FormatChange(0), "0.0 %"}, {Thousands(-1234567), "-1,234,567"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// A few records far from all others do not rule the first view, and one can ask for all.
func TestFirstViewIsOfTheCore(t *testing.T) {
	m := storetest.NewMemory()
	at := m.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "p", Rank: trace.NoRank})
	region := m.Region(trace.Region{Name: "work"})
	s := m.Stream(at, trace.StreamOptions{})
	s.Interval(0, 10, region)
	const late = trace.Time(13 * 24 * 3600 * 1e9)
	for i := range trace.Time(2000) {
		s.Interval(late+i*1e6, late+(i+1)*1e6, region)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r := m.Reader()
	for _, c := range []struct {
		spec       Spec
		begin, end trace.Time
		noted      bool
	}{
		{Spec{}, late, late + 2000e6, true},
		{Spec{Locations: []string{"p"}}, late, late + 2000e6, true},
		{Spec{From: "0", To: "100%"}, 0, late + 2000e6, false},
		{Spec{From: "0"}, 0, late + 2000e6, false},
	} {
		spec, note, err := c.spec.First(t.Context(), &View{}, []Run{{Store: r}})
		if err != nil {
			t.Fatal(err)
		}
		sel, err := spec.Resolve(r)
		if err != nil || sel.Begin != c.begin || sel.End != c.end || (note != "") != c.noted {
			t.Errorf("%+v: [%d, %d) %q %v, want [%d, %d)", c.spec, sel.Begin, sel.End, note, err, c.begin, c.end)
		}
	}
	if n := len(r.Info().Report); n != 1 || r.Info().Report[0].Count != 1 {
		t.Errorf("report %+v", r.Info().Report)
	}
}

// A run that was recorded in two windows far apart: pictures of time begin with the first, sums are of both.
func TestFirstViewOfABlankRunIsItsFirstWindow(t *testing.T) {
	recorded := func(windows ...trace.Time) store.Reader {
		t.Helper()
		m := storetest.NewMemory()
		at := m.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "p", Rank: trace.NoRank})
		region := m.Region(trace.Region{Name: "work"})
		s := m.Stream(at, trace.StreamOptions{})
		for _, w := range windows {
			for i := range trace.Time(100) {
				s.Interval(w+i*1e6, w+(i+1)*1e6, region)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return m.Reader()
	}
	two, other, one := recorded(0, 60e9), recorded(0, 30e9, 50e9), recorded(0)
	many := recorded(0, 10e9, 20e9, 30e9, 40e9, 50e9, 60e9, 70e9, 80e9, 90e9)
	for _, c := range []struct {
		name string
		view View
		runs []Run
		spec Spec
		end  trace.Time
	}{
		{"a timeline", View{OfTime: true}, []Run{{Store: two}}, Spec{}, 100e6},
		{"a timeline of two runs", View{OfTime: true}, []Run{{Store: two}, {Store: other}}, Spec{}, 100e6},
		{"a timeline with a run that is not blank", View{OfTime: true}, []Run{{Store: two}, {Store: one}}, Spec{}, two.Info().End},
		{"a run that is not blank", View{OfTime: true}, []Run{{Store: one}}, Spec{}, 100e6},
		{"one that did something now and then", View{OfTime: true}, []Run{{Store: many}}, Spec{}, many.Info().End},
		{"all of it", View{OfTime: true}, []Run{{Store: two}}, Spec{From: "0", To: "100%"}, two.Info().End},
		{"sums", View{}, []Run{{Store: two}}, Spec{}, two.Info().End},
	} {
		spec, note, err := c.spec.First(t.Context(), &c.view, c.runs)
		if err != nil {
			t.Fatal(err)
		}
		sel, err := spec.Resolve(c.runs[0].Store)
		if err != nil || sel.Begin != 0 || sel.End < c.end || sel.End > c.end+c.end/50 {
			t.Errorf("%s: [%d, %d) %v, want an end of %d", c.name, sel.Begin, sel.End, err, c.end)
		}
		if (note != "") != (sel.End < c.runs[0].Store.Info().End) {
			t.Errorf("%s: %q", c.name, note)
		}
	}
}
