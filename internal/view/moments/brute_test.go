package moments_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"sync"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/chrometrace"
	"github.com/parallax-hpc/parallax/internal/importer/otf2"
	"github.com/parallax-hpc/parallax/internal/importer/paje"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/moments"
)

// A twin is the part of the JSON output that the tests look at.
type twin struct {
	Rows   []twinRow
	Groups []struct {
		Locations int
		M0        float64
		M1        *float64
		Spread    struct{ Min, Max *float64 } `json:"m1_spread"`
		Location  *trace.LocationID
	}
	Alignment []struct{ Score, M0, M1 float64 }
	Layers    []struct {
		Name string
		Rows []twinRow
	}
	Outliers int
}

type twinRow struct {
	Location           trace.LocationID
	Path               string
	M0                 float64
	M1, M2, M3, M4, M5 *float64
	Outlier            bool
}

func twinOf(t testing.TB, r store.Reader, c viewtest.Case) (out twin) {
	t.Helper()
	b, err := json.Marshal(c.Compute(t, moments.View, r).Data())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// brute computes the busy bars of a location from its intervals alone: each
// interval without its children, where its own region counts, or under an
// annotation the nearest one around that is none; then the union over lanes.
func brute(t testing.TB, r store.Reader, id trace.LocationID, begin, end trace.Time, counts func(*trace.Region) bool) (bars [][2]trace.Time) {
	t.Helper()
	regions := r.Regions()
	var mu sync.Mutex
	lanes := map[int]*trace.Columns{}
	err := r.Intervals(context.Background(), store.Window{End: r.Info().End, Locations: []trace.LocationID{id}}, func(c *trace.Columns) error {
		mu.Lock()
		defer mu.Unlock()
		if c.Location != id {
			return nil
		}
		l := lanes[c.Lane]
		if l == nil {
			l = &trace.Columns{}
			lanes[c.Lane] = l
		}
		l.Begin, l.Duration = append(l.Begin, c.Begin...), append(l.Duration, c.Duration...)
		l.Region, l.Parent = append(l.Region, c.Region...), append(l.Parent, c.Parent...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lanes {
		children := make([][]int, l.Len())
		busy := make([]bool, l.Len())
		for i := range l.Begin {
			g := &regions[l.Region[i]]
			busy[i] = counts(g)
			if p := l.Parent[i]; p >= 0 {
				children[p] = append(children[p], i)
				if g.Role == trace.RoleAnnotation && !busy[i] {
					busy[i] = busy[p]
				}
			}
		}
		for i := range l.Begin {
			if !busy[i] {
				continue
			}
			at := l.Begin[i]
			for _, k := range children[i] {
				bars = append(bars, [2]trace.Time{at, l.Begin[k]})
				at = l.End(k)
			}
			bars = append(bars, [2]trace.Time{at, l.End(i)})
		}
	}
	sort.Slice(bars, func(i, j int) bool { return bars[i][0] < bars[j][0] })
	var union [][2]trace.Time
	for _, b := range bars {
		b[0], b[1] = max(b[0], begin), min(b[1], end)
		switch n := len(union); {
		case b[0] >= b[1]:
		case n > 0 && b[0] <= union[n-1][1]:
			union[n-1][1] = max(union[n-1][1], b[1])
		default:
			union = append(union, b)
		}
	}
	return union
}

// check holds a row against the formulas of the paper over the bars, to 1e-9: times
// are centred first, so that plain sums keep their digits.
func check(t testing.TB, what string, row twinRow, bars [][2]trace.Time, begin trace.Time) {
	t.Helper()
	m0, m1 := 0.0, 0.0
	for _, b := range bars {
		m0 += float64(b[1] - b[0])
	}
	if math.Abs(m0-row.M0) > 1e-9*m0 {
		t.Fatalf("%s: m0 %v, want %v", what, row.M0, m0)
	}
	if m0 == 0 {
		if row.M1 != nil || row.M2 != nil || row.M3 != nil {
			t.Fatalf("%s: moments without busy time", what)
		}
		return
	}
	for _, b := range bars {
		m1 += float64(b[1]-b[0]) / m0 * (float64(b[0]-begin) + float64(b[1]-begin)) / 2
	}
	mu := func(k float64) (sum float64) {
		for _, b := range bars {
			x, y := float64(b[0]-begin)-m1, float64(b[1]-begin)-m1
			sum += (math.Pow(y, k+1) - math.Pow(x, k+1)) / (k + 1) / m0
		}
		return sum
	}
	m2 := math.Sqrt(3 * mu(2))
	near := func(name string, got *float64, want, tolerance float64) {
		t.Helper()
		if got == nil || !(math.Abs(*got-want) <= tolerance) {
			t.Fatalf("%s: %s is %v, want %v", what, name, got, want)
		}
	}
	near("m1", row.M1, m1, 1e-9*m2+1e-12*math.Abs(m1))
	near("m2", row.M2, m2, 1e-7*m2)
	mu3 := *row.M3 * *row.M3 * *row.M3 / 27
	if math.Abs(mu3-mu(3)) > 1e-7*m2*m2*m2 {
		t.Fatalf("%s: mu3 %v, want %v", what, mu3, mu(3))
	}
	if row.M5 != nil {
		want := mu(5)
		got := math.Copysign(math.Pow(math.Abs(*row.M5)/3, 5), *row.M5)
		if math.Abs(got-want) > 1e-6*math.Pow(m2, 5) {
			t.Fatalf("%s: mu5 %v, want %v", what, got, want)
		}
	}
	if 2*m2 < m0*(1-1e-9) {
		t.Fatalf("%s: 2 m2 = %v < m0 = %v", what, 2*m2, m0)
	}
}

// randomRun has locations of one lane with many rows and of several lanes.
func randomRun(seed uint64) func(trace.Writer) {
	return func(w trace.Writer) {
		rng := rand.New(rand.NewPCG(seed, 9))
		var regions []trace.RegionID
		for i := range 16 {
			regions = append(regions, w.Region(trace.Region{Name: fmt.Sprint("r", i), Role: trace.Role(1 + i%(trace.RoleCount-1))}))
		}
		for p := range 5 {
			process := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: fmt.Sprint("p", p), Rank: p})
			for th := range 3 {
				id := w.Location(trace.Location{Parent: process, Kind: trace.KindThread, Name: fmt.Sprint("t", th), Rank: trace.NoRank})
				if th == 2 {
					s := w.Stream(id, trace.StreamOptions{Unordered: true})
					for range 80 {
						b := trace.Time(rng.Int64N(1e9))
						s.Interval(b, b+trace.Time(rng.Int64N(1e8)), regions[rng.IntN(len(regions))])
					}
					s.Close()
					continue
				}
				s := w.Stream(id, trace.StreamOptions{})
				now, depth := trace.Time(rng.Int64N(1000)), 0
				for range 1500 {
					now += trace.Time(rng.Int64N(1e6))
					if depth > 0 && (depth > 5 || rng.IntN(2) == 0) {
						s.Leave(now, trace.NoRegion)
						depth--
						continue
					}
					s.Enter(now, regions[rng.IntN(len(regions))])
					depth++
				}
				for ; depth > 0; depth-- {
					now += trace.Time(rng.Int64N(1e6))
					s.Leave(now, trace.NoRegion)
				}
				s.Close()
			}
		}
	}
}

func TestEveryWindowAgreesWithBruteForce(t *testing.T) {
	for seed := range uint64(3) {
		r := viewtest.Local(t, randomRun(seed))
		rng := rand.New(rand.NewPCG(seed, 10))
		isRole := func(roles ...trace.Role) func(*trace.Region) bool {
			return func(g *trace.Region) bool {
				for _, x := range roles {
					if g.Role == x {
						return true
					}
				}
				return false
			}
		}
		for k := range 12 {
			begin := trace.Time(rng.Int64N(int64(r.Info().End) - 10))
			end := begin + 1 + trace.Time(rng.Int64N(int64(r.Info().End-begin)))
			c := viewtest.Case{Spec: view.Spec{From: fmt.Sprint(int64(begin)), To: fmt.Sprint(int64(end))}, Options: map[string][]string{}}
			counts := func(g *trace.Region) bool { return g.Role.Busy() }
			switch k % 4 {
			case 1: // whole roles
				c.Options["busy"] = []string{"communication", "idle"}
				counts = isRole(trace.RoleCommunication, trace.RoleIdle)
			case 2: // one region of a role: not what the store has sketches of
				c.Options["busy"] = []string{"r3"}
				c.Options["moments"] = []string{"5"}
				counts = func(g *trace.Region) bool { return g.Name == "r3" }
			case 3: // all but one
				c.Options["idle"] = []string{"r0"}
				counts = func(g *trace.Region) bool { return g.Role.Busy() && g.Name != "r0" }
			}
			for _, row := range twinOf(t, r, c).Rows {
				what := fmt.Sprintf("seed %d, window [%d, %d), %v, %s", seed, begin, end, c.Options, row.Path)
				check(t, what, row, brute(t, r, row.Location, begin, end, counts), begin)
			}
		}
	}
}

// Three rows of each real run against the same plain computation.
func TestRealRunsAgreeWithBruteForce(t *testing.T) {
	for _, c := range []struct {
		path   string
		format *importer.Format
	}{
		{"otf2-hpl32", otf2.Format}, {"otf2-lammps-imbalanced16", otf2.Format}, {"otf2-lammps-balanced16", otf2.Format},
		{"paje-hpl128-g5k", paje.Format}, {"kineto-ddp-8rank", chrometrace.Format},
	} {
		t.Run(c.path, func(t *testing.T) {
			path := viewtest.Shared(t, "data", c.path)
			r := viewtest.Local(t, func(w trace.Writer) { importRun(t, c.format, path, w) })
			for _, spec := range []view.Spec{{}, {From: "21%", To: "64%"}} {
				sel, err := spec.Resolve(r)
				if err != nil {
					t.Fatal(err)
				}
				rows := twinOf(t, r, viewtest.Case{Spec: spec, Options: map[string][]string{"rows": {"all"}}}).Rows
				for _, k := range []int{0, len(rows) / 2, len(rows) - 1} {
					bars := brute(t, r, rows[k].Location, sel.Begin, sel.End, func(g *trace.Region) bool { return g.Role.Busy() })
					check(t, rows[k].Path, rows[k], bars, sel.Begin)
				}
			}
		})
	}
}

func importRun(t *testing.T, f *importer.Format, path string, w trace.Writer) {
	t.Helper()
	s, err := importer.NewSource(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	runs, err := importer.Detect([]*importer.Format{f}, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Import(context.Background(), runs[0], w); err != nil {
		t.Fatal(err)
	}
}

func TestTheStragglerOfTheTrainingJobComesFirst(t *testing.T) {
	path := viewtest.Shared(t, "data", "kineto-ddp-8rank")
	r := viewtest.Local(t, func(w trace.Writer) { importRun(t, chrometrace.Format, path, w) })
	row := twinOf(t, r, viewtest.Case{Options: map[string][]string{"order": {"outliers"}}}).Rows[0]
	// Its kernels, and the copies on other streams.
	if row.Path != "rank 5/GPU 0" || !row.Outlier || row.M0 < 102.342e6 || row.M0 > 104e6 {
		t.Errorf("%+v comes first", row)
	}
}

func TestAlignmentIsHigherForTheBalancedRun(t *testing.T) {
	score := func(name string) float64 {
		path := viewtest.Shared(t, "data", name)
		r := viewtest.Local(t, func(w trace.Writer) { importRun(t, otf2.Format, path, w) })
		return twinOf(t, r, viewtest.Case{}).Alignment[0].Score
	}
	if a, b := score("otf2-lammps-balanced16"), score("otf2-lammps-imbalanced16"); a < 0.8 || b > 0.7 {
		t.Errorf("balanced %v, imbalanced %v", a, b)
	}
}
