package moments_test

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/moments"
)

// manyRanks writes ranks on nodes of four: rank i is busy from i to i + 50.
func manyRanks(n int) func(trace.Writer) {
	return func(w trace.Writer) {
		busy := w.Region(trace.Region{Name: "busy", Role: trace.RoleCompute})
		for i := range n {
			node := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindMachine, Name: fmt.Sprint("node", i/4), Rank: trace.NoRank, Order: int64(i / 4)})
			s := w.Stream(w.Location(trace.Location{Parent: node, Kind: trace.KindProcess, Name: fmt.Sprint("p", i), Rank: i}), trace.StreamOptions{})
			s.Interval(trace.Time(i), trace.Time(i+50), busy)
			s.Close()
		}
	}
}

func TestRowsThatDoNotFitBecomeGroupsOfNeighbours(t *testing.T) {
	r := viewtest.Local(t, manyRanks(1000))
	d := twinOf(t, r, viewtest.Case{Size: scene.Size{Width: 400, Height: 160}})
	if len(d.Rows) != 1000 {
		t.Fatalf("%d rows in the data, want all", len(d.Rows))
	}
	members := 0
	for _, g := range d.Groups {
		members += g.Locations
		if g.M0 != 50 { // the mean utilization, not the sum
			t.Fatalf("a group of %d has m0 = %v", g.Locations, g.M0)
		}
		if g.M1 == nil || *g.M1 < *g.Spread.Min-1e-9 || *g.M1 > *g.Spread.Max+1e-9 {
			t.Fatalf("m1 %v outside the spread of its members", g.M1)
		}
	}
	if n := len(d.Groups); n > 160 || n < 40 || members != 1000 {
		t.Errorf("%d groups of %d locations", n, members)
	}
}

func TestGroupsOfAKind(t *testing.T) {
	r := viewtest.Local(t, manyRanks(40))
	c := viewtest.Case{Options: map[string][]string{"group": {"machine"}}}
	d := twinOf(t, r, c)
	if len(d.Groups) != 10 || d.Groups[3].Locations != 4 || d.Groups[3].Location == nil {
		t.Fatalf("%d groups, %+v", len(d.Groups), d.Groups[0])
	}
	// Ranks 12 to 15 are busy 50 each, about 37 to 40 on average.
	if g := d.Groups[3]; *g.M1 != 38.5 || *g.Spread.Min != 37 || *g.Spread.Max != 40 {
		t.Errorf("m1 %v, spread %v to %v", *g.M1, *g.Spread.Min, *g.Spread.Max)
	}
	d = twinOf(t, r, viewtest.Case{Options: map[string][]string{"group": {"galaxy"}}})
	if len(d.Groups) != 0 || len(d.Rows) != 40 {
		t.Errorf("an unknown kind makes %d groups", len(d.Groups))
	}
}

func TestOrderByAMoment(t *testing.T) {
	r := storetest.Text(t, fiveRanks, all.Summaries...)
	for order, want := range map[string]string{
		"m0": "rank 4, rank 2, rank 0, rank 1, rank 3", "-m0": "rank 3, rank 1, rank 0, rank 2, rank 4",
		"m1": "rank 2, rank 0, rank 4, rank 1, rank 3", "location": "rank 0, rank 1, rank 2, rank 3, rank 4",
	} {
		c := viewtest.Case{Options: map[string][]string{"order": {order}}}
		var got []string
		for _, row := range c.Compute(t, moments.View, r).Scene(scene.Size{Width: 600, Height: 400}).Frames[0].YScale.Rows {
			got = append(got, row.Label)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("--order %s: %v, want %s", order, got, want)
		}
	}
}

func TestNumbersByHand(t *testing.T) {
	r := storetest.Text(t, fiveRanks, all.Summaries...)
	want := map[string][3]float64{"rank 0": {40, 40, 20}, "rank 1": {30, 27.5, 0}, "rank 2": {44, 0, 0}, "rank 3": {0, 0, 0}, "rank 4": {60, 40, 30}}
	for _, row := range twinOf(t, r, viewtest.Case{}).Rows {
		w := want[row.Path]
		if row.M0 != w[0] || w[1] > 0 && math.Abs(*row.M1-w[1]) > 1e-12 || w[2] > 0 && math.Abs(*row.M2-w[2]) > 1e-12 {
			t.Errorf("%s: %+v, want %v", row.Path, row, w)
		}
		if row.M0 == 0 && row.M1 != nil {
			t.Errorf("%s: m1 without busy time", row.Path)
		}
	}
	d := twinOf(t, r, viewtest.Case{Options: map[string][]string{"layers": {"communication", "busy"}}})
	if len(d.Layers) != 2 || d.Layers[0].Name != "communication" || len(d.Layers[0].Rows) != 5 {
		t.Fatalf("layers %+v", d.Layers)
	}
	for i, row := range d.Rows {
		if d.Layers[1].Rows[i].M0 != row.M0 {
			t.Errorf("%s: busy as a layer has %v, as a row %v", row.Path, d.Layers[1].Rows[i].M0, row.M0)
		}
	}
}

func TestPickReturnsTheValuesOfARow(t *testing.T) {
	c := viewtest.Case{Size: scene.Size{Width: 600, Height: 300}}
	result := c.Compute(t, moments.View, storetest.Text(t, fiveRanks, all.Summaries...))
	s := result.Scene(c.Size)
	rows := s.Frames[0].YScale.Rows
	for i, want := range []string{"unbroken", "later", "earlier", "Never busy", "unbroken"} {
		f, ok, _ := view.PickAt(result, s, 300, float64(rows[i].From+rows[i].To)/2)
		if !ok || f.Title != fmt.Sprint("rank ", i) || !strings.Contains(f.Text, want) || len(f.Locations) != 1 {
			t.Errorf("row %d: %q, %q, want %q", i, f.Title, f.Text, want)
		}
	}
	f, _, _ := view.PickAt(result, s, 300, float64(rows[1].From)+2)
	lines := map[string]string{}
	for _, l := range f.Lines {
		lines[l.Label] = l.Value
	}
	if got := lines["true busy time"]; got != "██████░░████░░░░░░░░░░░░░░░░░░░░░░░░██░░" {
		t.Errorf("true busy time %q", got)
	}
	if !strings.Contains(lines["as two bars"], "█") {
		t.Errorf("no two bars: %v", lines)
	}
}

const recordedRun = `
location process p rank=0
  location thread a
  location thread b
moments p/a compute 0..100 weight=100 mean=50 m2=83333.33333333333
moments p/a compute 100..200 weight=50 mean=25 m2=10416.666666666666
moments p/b compute 100..200 weight=10 mean=95 m2=83.33333333333333
moments p/b communication 0..100 weight=20 mean=10 m2=666.6666666666666
`

func TestRecordedMomentsNeedNoIntervals(t *testing.T) {
	r := storetest.Text(t, recordedRun, all.Summaries...)
	if why := moments.View.Needs.Missing(r); why != "" {
		t.Fatal(why)
	}
	d := twinOf(t, r, viewtest.Case{})
	if len(d.Rows) != 2 {
		t.Fatalf("rows %+v", d.Rows)
	}
	for _, row := range d.Rows {
		want := map[string][3]float64{"p/a": {150, 75, 75}, "p/b": {10, 195, 5}}[row.Path]
		if row.M0 != want[0] || math.Abs(*row.M1-want[1]) > 1e-9 || math.Abs(*row.M2-want[2]) > 1e-6 {
			t.Errorf("%s: %v %v %v, want %v", row.Path, row.M0, *row.M1, *row.M2, want)
		}
	}
	c := viewtest.Case{Spec: view.Spec{From: "150"}}
	if notes := strings.Join(c.Compute(t, moments.View, r).Notes(), "; "); !strings.Contains(notes, "windows count whole") {
		t.Errorf("notes %q", notes)
	}
}

func TestTheAxisMayBeACounter(t *testing.T) {
	// Twice as many cycles a nanosecond in the second half: the bar from 40 to 60
	// covers 10 and 20 cycles, from 40 to 70.
	r := viewtest.Local(t, func(w trace.Writer) {
		id := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "p", Rank: 0})
		busy := w.Region(trace.Region{Name: "busy", Role: trace.RoleCompute})
		cycles := w.Counter(trace.Counter{Location: id, Name: "cycles", Monotone: true})
		s := w.Stream(id, trace.StreamOptions{})
		s.Sample(cycles, 0, 0)
		s.Interval(40, 60, busy)
		s.Sample(cycles, 50, 50)
		s.Sample(cycles, 100, 150)
		s.Close()
	})
	c := viewtest.Case{Options: map[string][]string{"axis": {"cycles"}}}
	row := twinOf(t, r, c).Rows[0]
	if row.M0 != 30 || *row.M1 != 55 || math.Abs(*row.M2-15) > 1e-9 {
		t.Errorf("%v %v %v", row.M0, *row.M1, *row.M2)
	}
	// A format that does not say that it counts on is believed by its values; a level
	// that falls is no axis, whatever is said of it.
	r = viewtest.Local(t, func(w trace.Writer) {
		id := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "p", Rank: 0})
		busy := w.Region(trace.Region{Name: "busy", Role: trace.RoleCompute})
		bytes, power := w.Counter(trace.Counter{Location: id, Name: "cycles"}), w.Counter(trace.Counter{Location: id, Name: "power", Monotone: true})
		s := w.Stream(id, trace.StreamOptions{})
		s.Interval(40, 60, busy)
		for i, at := range []trace.Time{0, 50, 100} {
			s.Sample(bytes, at, []float64{0, 50, 150}[i])
			s.Sample(power, at, []float64{300, 700, 200}[i])
		}
		s.Close()
	})
	if row := twinOf(t, r, c).Rows[0]; row.M0 != 30 || *row.M1 != 55 || math.Abs(*row.M2-15) > 1e-9 {
		t.Errorf("by a counter that grows: %v %v %v", row.M0, *row.M1, *row.M2)
	}
	for _, counter := range r.Counters() {
		if counter.Monotone || counter.Grows != (counter.Name == "cycles") {
			t.Errorf("%+v", counter)
		}
	}
	c.Options["axis"] = []string{"power"}
	if _, err := moments.View.Compute(t.Context(), c.Request(t, moments.View, r)); err == nil {
		t.Error("a counter that falls is accepted as an axis")
	}
	c.Options["axis"] = []string{"lunches"}
	if _, err := moments.View.Compute(t.Context(), c.Request(t, moments.View, r)); err == nil {
		t.Error("an unknown counter is accepted")
	}
}

// TestTheAxisKeepsFractionsOfACounter: a counter of gigabytes grows by less than one
// while much happens. The numbers are those of exact arithmetic.
func TestTheAxisKeepsFractionsOfACounter(t *testing.T) {
	const length = 24_000
	bars := [][2]trace.Time{{100, 3_333}, {3_333, 3_334}, {7_777, 11_111}, {17_003, 23_456}}
	for _, top := range []float64{1, 24, 1e-6, 3e12} {
		r := viewtest.Local(t, func(w trace.Writer) {
			id := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "p", Rank: 0})
			busy := w.Region(trace.Region{Name: "busy", Role: trace.RoleCompute})
			read := w.Counter(trace.Counter{Location: id, Name: "read", Unit: "GB", Monotone: true})
			s := w.Stream(id, trace.StreamOptions{})
			s.Sample(read, 0, 0)
			for _, b := range bars {
				s.Interval(b[0], b[1], busy)
			}
			s.Sample(read, length, top)
			s.Close()
		})
		c := viewtest.Case{Options: map[string][]string{"axis": {"read"}, "moments": {"4"}}}
		row := twinOf(t, r, c).Rows[0]
		want := exactMoments(bars, top/length)
		for k, got := range orNone(row) {
			if !(math.Abs(got-want[k]) <= 1e-12*want[0]) {
				t.Errorf("counter to %g: m%d %v, want %v", top, k, got, want[k])
			}
		}
		if unit := c.Compute(t, moments.View, r).Table().Columns[2].Unit; unit != "GB" {
			t.Errorf("the table has m0 in %q", unit)
		}
	}
}

// orNone lists m0 … m4 of a row, NaN where there is none.
func orNone(row twinRow) []float64 {
	m := []float64{row.M0}
	for _, x := range []*float64{row.M1, row.M2, row.M3, row.M4} {
		if x == nil {
			m = append(m, math.NaN())
		} else {
			m = append(m, *x)
		}
	}
	return m
}

// exactMoments gives m0 … m4 of bars, in fractions until the last root, times a scale.
func exactMoments(bars [][2]trace.Time, scale float64) [5]float64 {
	power := func(x *big.Rat, k int) *big.Rat {
		p := big.NewRat(1, 1)
		for range k {
			p.Mul(p, x)
		}
		return p
	}
	// about is Σ ∫ (t - centre)^k dt.
	about := func(centre *big.Rat, k int) *big.Rat {
		sum := new(big.Rat)
		for _, b := range bars {
			from, to := new(big.Rat).SetInt64(int64(b[0])), new(big.Rat).SetInt64(int64(b[1]))
			sum.Add(sum, power(to.Sub(to, centre), k+1))
			sum.Sub(sum, power(from.Sub(from, centre), k+1))
		}
		return sum.Quo(sum, new(big.Rat).SetInt64(int64(k+1)))
	}
	zero := new(big.Rat)
	norm := about(zero, 0)
	mean := new(big.Rat).Quo(about(zero, 1), norm)
	mu := func(k int) float64 { x, _ := new(big.Rat).Quo(about(mean, k), norm).Float64(); return x }
	m0, _ := norm.Float64()
	m1, _ := mean.Float64()
	m := [5]float64{m0, m1, math.Sqrt(3 * mu(2)), 3 * math.Cbrt(mu(3)), math.Pow(5*mu(4), 0.25)}
	for k := range m {
		m[k] *= scale
	}
	return m
}

func TestWrongOptionsSayWhatIsWanted(t *testing.T) {
	r := storetest.Text(t, fiveRanks, all.Summaries...)
	for _, o := range []map[string][]string{{"order": {"m9"}}, {"moments": {"9"}}, {"busy": {"role:lunch"}}, {"busy": {"nobody"}}, {"top": {"-1"}}, {"layers": {"nobody"}}} {
		c := viewtest.Case{Options: o}
		if _, err := moments.View.Compute(t.Context(), c.Request(t, moments.View, r)); err == nil {
			t.Errorf("%v is accepted", o)
		}
	}
}

// A JVM records what its threads wait for, and not their work: the picture without bars says so, and what to ask for.
func TestARunOfWaitsAloneSaysHowToSeeThem(t *testing.T) {
	const waits = `
region ThreadPark role=synchronization
region ThreadSleep role=idle
location thread a
  0..50 ThreadPark
location thread b
  20..90 ThreadSleep
`
	for busy, want := range map[string]bool{"": true, "synchronization": false} {
		c := viewtest.Case{Trace: waits, Options: map[string][]string{"rows": {"all"}}}
		if busy != "" {
			c.Options["busy"] = []string{busy}
		}
		notes := strings.Join(c.Compute(t, moments.View, c.Open(t)).Notes(), "; ")
		if strings.Contains(notes, "--busy synchronization,idle") != want {
			t.Errorf("--busy %q: %s", busy, notes)
		}
	}
}
