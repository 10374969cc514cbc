package activity_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/activity"
)

// Two ranks of 100 ns. Rank 0 computes, sends and computes; rank 1 starts late,
// receives, and has an overlapping copy on a second lane.
const twoRanks = `
region solve role=compute
region MPI_Send role=communication
region MPI_Recv role=communication
region copy role=copy
region step role=annotation
location process "rank 0" rank=0
  0..100 solve
    40..60 MPI_Send
location process "rank 1" rank=1
  10..90 step
    20..50 solve
    50..80 MPI_Recv
  70..100 copy
location process empty
`

func TestView(t *testing.T) {
	viewtest.Run(t, activity.View,
		viewtest.Case{Name: "roles", Trace: twoRanks, Options: map[string][]string{"bins": {"10"}}},
		viewtest.Case{Name: "regions", Trace: twoRanks, Options: map[string][]string{"by": {"regions"}, "bins": {"20"}, "top": {"2"}}},
		viewtest.Case{Name: "busy", Trace: twoRanks, Options: map[string][]string{"by": {"busy"}, "bins": {"20"}}},
		viewtest.Case{Name: "minimap", Trace: twoRanks, Size: scene.Size{Width: 640, Height: 48}},
		viewtest.Case{Name: "window", Trace: twoRanks, Spec: view.Spec{From: "33", To: "77", Regions: []string{"MPI_*"}}},
	)
}

// bins computes a case and decodes its twin.
func bins(t *testing.T, r store.Reader, c viewtest.Case) []bin {
	t.Helper()
	b, err := json.Marshal(c.Compute(t, activity.View, r).Data())
	if err != nil {
		t.Fatal(err)
	}
	var d struct{ Bins []bin }
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	return d.Bins
}

type bin struct {
	Begin, End trace.Time
	Shares     map[string]float64
}

func TestSharesByHand(t *testing.T) {
	for _, c := range []struct {
		name    string
		options map[string][]string
		spec    view.Spec
		want    []bin
	}{
		{
			// Rank 1: nothing 0–10, annotation 10–20, compute 20–50, then
			// communication 50–70, copy 70–100 (it beats communication and annotation).
			"roles in four bins", map[string][]string{"bins": {"4"}}, view.Spec{},
			[]bin{
				{0, 25, map[string]float64{"compute": 30. / 50, "communication": 0, "copy": 0, "annotation": 10. / 50, "none": 10. / 50}},
				{25, 50, map[string]float64{"compute": 40. / 50, "communication": 10. / 50, "copy": 0, "annotation": 0, "none": 0}},
				{50, 75, map[string]float64{"compute": 15. / 50, "communication": 30. / 50, "copy": 5. / 50, "annotation": 0, "none": 0}},
				{75, 100, map[string]float64{"compute": 25. / 50, "communication": 0, "copy": 25. / 50, "annotation": 0, "none": 0}},
			},
		},
		{
			"regions, the top two by name", map[string][]string{"by": {"regions"}, "bins": {"1"}, "top": {"2"}}, view.Spec{},
			// Time in lanes: solve 80+30, copy 30, MPI_Recv 30, MPI_Send 20, step 20; copy and MPI_Recv tie.
			[]bin{{0, 100, map[string]float64{"solve": 110. / 200, "MPI_Recv": 20. / 200, "other": 60. / 200, "none": 10. / 200}}},
		},
		{
			"busy against idle", map[string][]string{"by": {"busy"}, "bins": {"1"}}, view.Spec{},
			[]bin{{0, 100, map[string]float64{"busy": 140. / 200, "idle": 50. / 200, "none": 10. / 200}}},
		},
		{
			"what counts as busy is given", map[string][]string{"busy": {"communication"}, "bins": {"1"}}, view.Spec{},
			// MPI_Send 20, MPI_Recv 30 beside the copy.
			[]bin{{0, 100, map[string]float64{"busy": 50. / 200, "idle": 140. / 200, "none": 10. / 200}}},
		},
		{
			"a window of one rank, selected regions", map[string][]string{"bins": {"2"}}, view.Spec{From: "30", To: "70", Locations: []string{"rank:0"}, Regions: []string{"MPI_*"}},
			[]bin{{30, 50, map[string]float64{"communication": 0.5, "rest": 0.5}}, {50, 70, map[string]float64{"communication": 0.5, "rest": 0.5}}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := bins(t, storetest.Text(t, twoRanks, all.Summaries...), viewtest.Case{Options: c.options, Spec: c.spec})
			if len(got) != len(c.want) {
				t.Fatalf("%d bins, want %d", len(got), len(c.want))
			}
			for i := range got {
				if d := differ(c.want[i], got[i], 1e-12); d != "" {
					t.Errorf("bin %d: %s", i, d)
				}
			}
		})
	}
}

// Two processors at work all the time, and the goroutines that they ran, which
// live for a part of it.
const twoSides = `
region main role=compute
region running role=compute
region scheduling role=overhead
region waiting role=synchronization
location process app
  location group processors
    location processor "P 0"
      0..100 main
    location processor "P 1"
      0..100 scheduling
        0..80 main
  location group goroutines
    location goroutine "goroutine 1"
      0..100 running
    location goroutine "goroutine 2"
      0..80 running
    location goroutine "goroutine 3"
      90..100 waiting
`

func TestProcessorsCountForTheGoroutinesThatTheyRan(t *testing.T) {
	r := storetest.Text(t, twoSides, all.Summaries...)
	for _, c := range []struct {
		name      string
		locations []string
		rows      string
		want      map[string]float64
		noted     int
	}{
		{"nothing chosen", nil, "processors", map[string]float64{"compute": 180. / 200, "overhead": 20. / 200, "none": 0}, 1},
		{"goroutines chosen", []string{"goroutine *"}, "processors", map[string]float64{"compute": 180. / 300, "synchronization": 10. / 300, "none": 110. / 300}, 0},
		{"the program chosen", []string{"app"}, "processors", map[string]float64{"compute": 180. / 200, "overhead": 20. / 200, "none": 0}, 1},
		{"both chosen", []string{"app"}, "all", map[string]float64{"compute": 360. / 500, "overhead": 20. / 500, "synchronization": 10. / 500, "none": 110. / 500}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := viewtest.Case{Spec: view.Spec{Locations: c.locations}, Options: map[string][]string{"bins": {"1"}, "rows": {c.rows}}}
			if d := differ(bin{0, 100, c.want}, bins(t, r, q)[0], 1e-12); d != "" {
				t.Error(d)
			}
			if notes := q.Compute(t, activity.View, r).Notes(); len(notes) != c.noted {
				t.Errorf("notes are %q, want %d", notes, c.noted)
			}
		})
	}
}

func differ(want, got bin, tolerance float64) string {
	if want.Begin != got.Begin || want.End != got.End {
		return fmt.Sprintf("[%d, %d), want [%d, %d)", got.Begin, got.End, want.Begin, want.End)
	}
	for name, x := range want.Shares {
		if y, ok := got.Shares[name]; !ok || math.Abs(x-y) > tolerance {
			return fmt.Sprintf("%s is %v, want %v; all: %v", name, y, x, got.Shares)
		}
	}
	if len(want.Shares) != len(got.Shares) {
		return fmt.Sprintf("names %v, want %v", got.Shares, want.Shares)
	}
	return ""
}

// The numbers of a two-rank ping-pong in 62 equal bins, at edges that are no
// round times: shares hold to a millionth and better.
func TestSixtyTwoBinsAtOddEdges(t *testing.T) {
	const end = 199_600_017
	r := storetest.Text(t, fmt.Sprintf(`
region main role=compute
region MPI_Init role=communication
location process "rank 0" rank=0
  95000..%d main
    100000..193000123 MPI_Init
location process "rank 1" rank=1
  1..%d main
    200001..193000456 MPI_Init
  0 ! begin
`, end, end), all.Summaries...)
	got := bins(t, r, viewtest.Case{Options: map[string][]string{"by": {"regions"}, "bins": {"62"}}})
	if len(got) != 62 {
		t.Fatalf("%d bins", len(got))
	}
	width := float64(end) / 62
	overlap := func(a, b float64, i int) float64 {
		return max(0, min(b, float64(i+1)*width)-max(a, float64(i)*width))
	}
	for i, b := range got {
		initial := overlap(100000, 193000123, i) + overlap(200001, 193000456, i)
		open := overlap(95000, end, i) + overlap(1, end, i)
		want := bin{b.Begin, b.End, map[string]float64{
			"MPI_Init": initial / width / 2, "main": (open - initial) / width / 2, "none": 1 - open/width/2,
		}}
		if d := differ(want, b, 1e-6); d != "" {
			t.Errorf("bin %d: %s", i, d)
		}
	}
}

// randomTrace has locations with crossing intervals, so with several lanes.
func randomTrace(seed uint64) store.Reader {
	rng := rand.New(rand.NewPCG(seed, 7))
	m := storetest.NewMemory(all.Summaries...)
	var regions []trace.RegionID
	for i := range 12 {
		regions = append(regions, m.Region(trace.Region{Name: fmt.Sprint("r", i), Role: trace.Role(1 + i%(trace.RoleCount-1))}))
	}
	for p := range 4 {
		process := m.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: fmt.Sprint("p", p), Rank: p})
		for th := range 3 {
			id := m.Location(trace.Location{Parent: process, Kind: trace.KindThread, Name: fmt.Sprint("t", th), Rank: trace.NoRank})
			s := m.Stream(id, trace.StreamOptions{Unordered: true})
			for range 60 {
				b := trace.Time(rng.IntN(5000))
				s.Interval(b, b+trace.Time(rng.IntN(400)), regions[rng.IntN(len(regions))])
			}
			s.Close()
		}
	}
	return m.Reader()
}

// Aligned bins come from the store's own; equal ones from the rows. Both must
// say what Groups says nanosecond by nanosecond.
func TestBinsAgreeWithTheStoreAtEveryEdge(t *testing.T) {
	for seed := range uint64(8) {
		r := randomTrace(seed)
		rng := rand.New(rand.NewPCG(seed, 8))
		begin := trace.Time(rng.IntN(2000))
		spec := view.Spec{From: fmt.Sprint(begin), To: fmt.Sprint(begin + 600 + trace.Time(rng.IntN(2500)))}
		sel, _ := spec.Resolve(r)
		exact, err := r.Groups(t.Context(), tops(r), 0, r.Info().End, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []string{"0", "1", "7", "100"} {
			got := bins(t, r, viewtest.Case{Spec: spec, Options: map[string][]string{"bins": {n}}})
			if got[0].Begin != sel.Begin || got[len(got)-1].End != sel.End {
				t.Fatalf("bins from %d to %d, want %d to %d", got[0].Begin, got[len(got)-1].End, sel.Begin, sel.End)
			}
			for i, b := range got {
				if d := differ(groupsBin(exact, b), b, 1e-12); d != "" {
					t.Fatalf("seed %d, %s bins, bin %d: %s", seed, n, i, d)
				}
			}
		}
	}
}

func tops(r store.Reader) (out []trace.LocationID) {
	r.Locations().Children(trace.NoLocation, func(id trace.LocationID) { out = append(out, id) })
	return out
}

// groupsBin adds up nanoseconds, under the names that the bin has.
func groupsBin(g *store.GroupBins, b bin) bin {
	out := bin{b.Begin, b.End, map[string]float64{}}
	rows := 0
	for k := range g.Rows {
		rows += g.Rows[k]
	}
	whole := float64(b.End-b.Begin) * float64(rows)
	out.Shares["none"] = whole
	for k := range g.Rows {
		for t := b.Begin; t < b.End && int(t) < g.Bins; t++ {
			for role, d := range g.Time[(k*g.Bins+int(t))*trace.RoleCount:][:trace.RoleCount] {
				if d > 0 {
					out.Shares[trace.Role(role).String()] += float64(d)
					out.Shares["none"] -= float64(d)
				}
			}
		}
	}
	for name := range b.Shares {
		out.Shares[name] /= whole
	}
	return out
}

// Every instant counts once, so the shares of a bin add up to one.
func TestSharesAddUpToOne(t *testing.T) {
	r := randomTrace(3)
	for _, by := range []string{"roles", "regions", "busy"} {
		for _, b := range bins(t, r, viewtest.Case{Options: map[string][]string{"by": {by}}}) {
			sum := 0.0
			for _, x := range b.Shares {
				sum += x
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Fatalf("by %s: bin [%d, %d) adds up to %v", by, b.Begin, b.End, sum)
			}
		}
	}
}

func TestWrongOptionsSayWhatIsWanted(t *testing.T) {
	r := storetest.Text(t, twoRanks, all.Summaries...)
	for _, o := range []map[string][]string{{"bins": {"-1"}}, {"busy": {"role:lunch"}}, {"idle": {"nobody"}}, {"busy": {"compute"}, "by": {"regions"}}} {
		c := viewtest.Case{Options: o}
		if _, err := activity.View.Compute(t.Context(), c.Request(t, activity.View, r)); err == nil {
			t.Errorf("%v is accepted", o)
		}
	}
}

func TestPickNamesTheSeriesUnderTheCursor(t *testing.T) {
	c := viewtest.Case{Options: map[string][]string{"bins": {"4"}}, Size: scene.Size{Width: 400, Height: 60}}
	result := c.Compute(t, activity.View, storetest.Text(t, twoRanks, all.Summaries...))
	s := result.Scene(c.Size)
	for _, p := range []struct {
		x, y float64
		want string
	}{{10, 59, "compute"}, {10, 18, "annotation"}, {10, 3, "none"}, {250, 30, "communication"}, {399, 5, "copy"}} {
		if f, ok, _ := view.PickAt(result, s, p.x, p.y); !ok || f.Title != p.want {
			t.Errorf("at %g, %g is %q, want %q", p.x, p.y, f.Title, p.want)
		}
	}
}
