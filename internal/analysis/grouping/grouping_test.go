package grouping

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// kinds makes n locations of a few kinds: each kind has its own times, and calls
// that only it has; noise is the relative spread. It gives the kind of each.
func kinds(n, columns, kinds int, noise float64, seed uint64) (*Table, []int) {
	r := rand.New(rand.NewPCG(seed, 2))
	scale := make([][]float64, kinds)
	for k := range scale {
		scale[k] = make([]float64, columns)
		for c := range scale[k] {
			scale[k][c] = math.Exp(r.NormFloat64()*0.5) * 1e6
		}
	}
	var rows []callgraph.Row
	of := make([]int, n)
	for i := range n {
		of[i] = r.IntN(kinds)
		for c := range columns {
			if c%16 == 15 && c/16%kinds != of[i] {
				continue
			}
			v := scale[of[i]][c] * (1 + noise*r.NormFloat64())
			rows = append(rows, callgraph.Row{Owner: int32(i), Pair: callgraph.Pair{Caller: int32(c % 7), Callee: int32(c)}, Count: 1, Exclusive: max(v, 0)})
		}
	}
	return NewTable(n, rows, Exclusive), of
}

// agreement is the share of pairs of locations on which two partitions agree (Rand).
func agreement(a, b []int32) float64 {
	same, all := 0, 0
	for i := range a {
		for j := range i {
			if (a[i] == a[j]) == (b[i] == b[j]) {
				same++
			}
			all++
		}
	}
	return float64(same) / float64(all)
}

func asGroups(kinds []int) []int32 {
	out := make([]int32, len(kinds))
	for i, k := range kinds {
		out[i] = int32(k)
	}
	return out
}

func TestGroupsEqualTheGeneratedKinds(t *testing.T) {
	for _, c := range []struct{ n, kinds int }{{12, 2}, {60, 3}, {200, 5}, {1500, 4}} {
		for _, by := range []Likeness{Both, Time, Structure} {
			table, of := kinds(c.n, 64, c.kinds, 0.05, uint64(c.n))
			g := Group(table, Options{By: by})
			if a := agreement(g.Of, asGroups(of)); a < 1 || len(g.Members) != c.kinds {
				t.Errorf("%d locations of %d kinds by %d: %d groups, agreement %v, silhouette %v", c.n, c.kinds, by, len(g.Members), a, g.Silhouette)
			}
		}
	}
}

func TestAlikeLocationsAreOneGroup(t *testing.T) {
	table, _ := kinds(64, 32, 1, 0.02, 9)
	if g := Group(table, Options{}); len(g.Members) != 1 || len(g.Order) != 64 {
		t.Errorf("%d groups, want 1", len(g.Members))
	}
	for n := range 3 {
		table, _ := kinds(n, 8, 1, 0.5, 9)
		if g := Group(table, Options{}); len(g.Order) != n {
			t.Errorf("%d locations: order %v", n, g.Order)
		}
	}
}

func TestASingleOddLocationIsFoundAmongMany(t *testing.T) {
	const odd = 7777
	var rows []callgraph.Row
	r := rand.New(rand.NewPCG(4, 4))
	for i := range 9000 {
		for c := range 20 {
			v := 1e6 * (1 + 0.01*r.NormFloat64())
			if i == odd && c == 3 {
				v *= 20
			}
			rows = append(rows, callgraph.Row{Owner: int32(i), Pair: callgraph.Pair{Caller: -1, Callee: int32(c)}, Exclusive: v})
		}
	}
	g := Group(NewTable(9000, rows, Exclusive), Options{K: 2})
	if len(g.Members) != 2 || !slices.Equal(g.Members[1], []int32{odd}) {
		t.Fatalf("groups of %d and %v", len(g.Members[0]), g.Members[1])
	}
}

func TestPartitionsAreWhole(t *testing.T) {
	table, _ := kinds(1300, 40, 3, 0.3, 5)
	for _, o := range []Options{{}, {K: 1}, {K: 7}, {Threshold: 0.9}, {Threshold: 0.5, By: Structure}, {K: 3, Sample: 100, Seed: 4}} {
		g, again := Group(table, o), Group(table, o)
		if o.K > 0 && len(g.Members) != o.K {
			t.Errorf("%+v: %d groups", o, len(g.Members))
		}
		if fmt.Sprint(g.Of, g.Order) != fmt.Sprint(again.Of, again.Order) {
			t.Errorf("%+v: not the same twice", o)
		}
		seen := make([]bool, table.Len)
		for k, members := range g.Members {
			if k > 0 && len(members) > len(g.Members[k-1]) || !slices.Contains(members, g.Medoid[k]) {
				t.Errorf("%+v: group %d is out of order, or its medoid is not in it", o, k)
			}
			for _, i := range members {
				seen[i] = true
			}
		}
		sorted := slices.Clone(g.Order)
		slices.Sort(sorted)
		for i := range seen {
			if !seen[i] || int(sorted[i]) != i {
				t.Fatalf("%+v: location %d is lost", o, i)
			}
		}
		for k, m := range g.Tree {
			if m.From >= m.Middle || m.Middle >= m.To || k == len(g.Tree)-1 && m.To-m.From != len(g.Sampled) {
				t.Fatalf("%+v: merge %+v", o, m)
			}
		}
	}
}

// TestAPartitionAloneIsThatOfTheWhole: groups and medoids do not depend on whether a dendrogram is made of them too.
func TestAPartitionAloneIsThatOfTheWhole(t *testing.T) {
	for _, n := range []int{1, 2, 40, 300, 1300} {
		for k, noise := range []float64{0.02, 0.3} {
			table, _ := kinds(n, 40, 4, noise, uint64(n+k))
			for _, o := range []Options{{}, {By: Structure}, {By: Time}, {K: 3}, {Threshold: 0.9}, {Sample: 100, Seed: 4}} {
				whole := Group(table, o)
				o.Partition = true
				alone := Group(table, o)
				if !slices.Equal(alone.Of, whole.Of) || !slices.Equal(alone.Medoid, whole.Medoid) || len(alone.Sampled) != len(whole.Sampled) {
					t.Errorf("%d locations, %+v: groups %v of medoids %v, want %v of %v", n, o, alone.Of, alone.Medoid, whole.Of, whole.Medoid)
				}
				if alone.Tree != nil || alone.Similarity != nil || alone.Order != nil {
					t.Errorf("%d locations, %+v: more was made than groups", n, o)
				}
			}
		}
	}
}

// ratio reads a whole number or a fraction.
func ratio(t *testing.T, s string) float64 {
	t.Helper()
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("%q is no number", s)
	}
	f, _ := r.Float64()
	return f
}

func TestSimilarityOfTheOracle(t *testing.T) {
	b, err := os.ReadFile("../callgraph/testdata/callmatrix.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Traces []struct {
			Name      string
			Processes map[string]struct {
				Matrix []struct {
					Caller, Callee string
					Count          float64
					Exclusive      float64 `json:"exclusive_total"`
				}
			}
		}
		Similarity struct {
			Trace     string
			Structure [][]string `json:"jaccard_support"`
			Time      [][]string `json:"l1_exclusive"`
			Counts    [][]string `json:"l1_count"`
		}
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	for _, c := range v.Traces {
		if c.Name != v.Similarity.Trace {
			continue
		}
		var rows []callgraph.Row
		number := map[string]int32{"": callgraph.Root}
		node := func(name string) int32 {
			if _, ok := number[name]; !ok {
				number[name] = int32(len(number) - 1)
			}
			return number[name]
		}
		names := slices.Sorted(maps.Keys(c.Processes))
		for i, p := range names {
			for _, x := range c.Processes[p].Matrix {
				rows = append(rows, callgraph.Row{Owner: int32(i), Pair: callgraph.Pair{Caller: node(x.Caller), Callee: node(x.Callee)}, Count: x.Count, Exclusive: x.Exclusive})
			}
		}
		times, counts := NewTable(len(names), rows, Exclusive), NewTable(len(names), rows, func(r *callgraph.Row) float64 { return r.Count })
		for a := range names {
			for b := range names {
				for _, x := range []struct {
					what  string
					got   float64
					want  string
					exact float64
				}{
					{"structure", times.Similarity(a, b, Structure), v.Similarity.Structure[a][b], 1e-12},
					{"time", times.Similarity(a, b, Time), v.Similarity.Time[a][b], 1e-6},
					{"counts", counts.Similarity(a, b, Time), v.Similarity.Counts[a][b], 1e-6},
				} {
					if want := ratio(t, x.want); math.Abs(x.got-want) > x.exact {
						t.Errorf("%s %d %d: %v, want %v", x.what, a, b, x.got, want)
					}
				}
			}
		}
		return
	}
	t.Fatal("the vectors hold no trace for similarity")
}

func TestEmptyLocationsAreAlikeAndUnlikeAllOthers(t *testing.T) {
	rows := []callgraph.Row{{Owner: 2, Pair: callgraph.Pair{Callee: 1}, Count: 1, Exclusive: 5}, {Owner: 3, Pair: callgraph.Pair{Callee: 1}, Count: 1, Exclusive: 5}}
	table := NewTable(4, rows, Exclusive)
	for _, by := range []Likeness{Structure, Time} {
		if a, b, c := table.Similarity(0, 1, by), table.Similarity(0, 2, by), table.Similarity(2, 3, by); a != 1 || b != 0 || c != 1 {
			t.Errorf("%v: %v, %v, %v", by, a, b, c)
		}
	}
}

// TestDistancesAreThoseOfTheirDefinition holds the fast ones against sums over columns, of which there are more than are taken at a time.
func TestDistancesAreThoseOfTheirDefinition(t *testing.T) {
	table, _ := kinds(10, 70, 3, 0.2, 8)
	for a := range 10 {
		for b := range 10 {
			var both, either, apart, all float64
			for c := range table.Columns {
				if table.Has(a, c) && table.Has(b, c) {
					both++
				}
				if table.Has(a, c) || table.Has(b, c) {
					either++
				}
				apart += math.Abs(table.Value(a, c) - table.Value(b, c))
				all += table.Value(a, c) + table.Value(b, c)
			}
			if got, want := table.Similarity(a, b, Structure), both/either; math.Abs(got-want) > 1e-12 {
				t.Errorf("structure %d %d: %v, want %v", a, b, got, want)
			}
			if got, want := table.Similarity(a, b, Time), 1-apart/all; math.Abs(got-want) > 1e-6 {
				t.Errorf("time %d %d: %v, want %v", a, b, got, want)
			}
		}
	}
}

// TestASampleIsNearlyAsGoodAsAll: at 2,000 locations of blurred kinds the sampled
// partition is held against the exact one, and at 4,096 the one that a million locations have.
func TestASampleIsNearlyAsGoodAsAll(t *testing.T) {
	for _, c := range []struct {
		n       int
		samples []int
	}{{2000, []int{100, 300, 1000}}, {4096, []int{256, MostSample}}} {
		table, _ := kinds(c.n, 100, 6, 0.4, 11)
		all := make([]int32, table.Len)
		for i := range all {
			all[i] = int32(i)
		}
		exact := table.link(all, Options{K: 6})
		exact.finish(table, Options{})
		for _, sample := range c.samples {
			g := Group(table, Options{K: 6, Sample: sample})
			ratio, a := g.Cost/exact.Cost, agreement(g.Of, exact.Of)
			t.Logf("sample %d of %d: cost %.4f of the exact one, agreement %.4f", sample, c.n, ratio, a)
			if ratio > 1.05 || a < 0.95 {
				t.Errorf("sample %d of %d: cost ratio %v, agreement %v", sample, c.n, ratio, a)
			}
		}
	}
}

func TestGroupsNameTheirDistinguishingCalls(t *testing.T) {
	row := func(i, c int32, v float64) callgraph.Row {
		return callgraph.Row{Owner: i, Pair: callgraph.Pair{Caller: -1, Callee: c}, Exclusive: v}
	}
	var rows []callgraph.Row
	for i := range int32(8) {
		wait := 100.0
		if i >= 6 {
			wait = 400
		}
		rows = append(rows, row(i, 0, 1000), row(i, 1, wait))
		if i >= 6 {
			rows = append(rows, row(i, 2, 5))
		}
	}
	table := NewTable(8, rows, Exclusive)
	g := Group(table, Options{K: 2})
	d := Differ(table, g, 1, 10)
	if len(d) != 2 || !d[0].Calls || d[0].Column != 2 || d[0].CalledInside != 2 || d[0].CalledOutside != 0 || d[0].Effect != 1 {
		t.Fatalf("differences %+v", d)
	}
	if mean := (6*1100 + 2*1405) / 8.0; d[1].Column != 1 || d[1].Inside != 400 || d[1].Outside != 100 || math.Abs(d[1].Effect-300/mean) > 1e-12 {
		t.Errorf("difference %+v", d[1])
	}
	if p := Partials(table); len(p) != 1 || p[0].Column != 2 || !slices.Equal(p[0].Members, []int32{6, 7}) {
		t.Errorf("partials %+v", p)
	}
	if table.Classes != 2 || table.Class(0) == table.Class(7) {
		t.Errorf("%d classes", table.Classes)
	}
}

// BenchmarkGroup65536 groups 65,536 locations with 500 pairs each, beside a bare pass
// over the table: what reading it once costs.
func BenchmarkGroup65536(b *testing.B) {
	const n, columns, kinds = 65536, 500, 5
	r := rand.New(rand.NewPCG(1, 2))
	t := &Table{Len: n, Columns: make([]callgraph.Pair, columns), class: make([]int32, n), Classes: kinds}
	t.allocate()
	for i := range n {
		k := r.IntN(kinds)
		t.class[i] = int32(k)
		for c := range columns {
			if c%100 != k {
				t.set(i, c, 1000*float64(1+(c*7+k*c*3)%23)*(0.9+0.2*r.Float64()))
			}
		}
	}
	var grouped, passed time.Duration
	for b.Loop() {
		began := time.Now()
		g := Group(t, Options{})
		grouped += time.Since(began)
		b.ReportMetric(float64(len(g.Members)), "groups")
		began = time.Now()
		sum := float32(0)
		for _, v := range t.value {
			sum += v
		}
		passed += time.Since(began)
		if sum < 0 {
			b.Error("negative time")
		}
	}
	b.ReportMetric(float64(grouped)/float64(passed), "group/pass")
}

// TestOutliersComeFirst: one writer of twelve, and four of another kind.
func TestOutliersComeFirst(t *testing.T) {
	b := &trace.Behaviour{Regions: make([]trace.Region, 3), Locations: make([]trace.LocationID, 12), Owner: make([]int32, 12), Owners: 12, Paths: []trace.CallPath{}}
	for i := range b.Regions {
		b.Regions[i].Name = string(rune('a' + i))
		b.Paths = append(b.Paths, trace.CallPath{Parent: trace.NoCallPath, Region: trace.RegionID(i)})
	}
	for i := range b.Locations {
		b.Locations[i], b.Owner[i] = trace.LocationID(i), int32(i)
	}
	b.Profile = func(f func([]trace.ProfileRow) error) error {
		for i := range b.Locations {
			path := trace.CallPathID(0)
			switch {
			case i == 7:
				path = 2
			case i%3 == 0:
				path = 1
			}
			if err := f([]trace.ProfileRow{{Location: trace.LocationID(i), Path: path, Calls: 1, Inclusive: 100, Exclusive: 100}}); err != nil {
				return err
			}
		}
		return nil
	}
	order, of, err := Order(b, trace.Likeness{By: "both", Seed: 1})
	if want := []int32{7, 0, 3, 6, 9, 1, 2, 4, 5, 8, 10, 11}; err != nil || !slices.Equal(order, want) || of[7] != 2 || of[0] != 1 || of[1] != 0 {
		t.Errorf("order %v, groups %v, %v; want %v", order, of, err, want)
	}
}

// TestManyKindsAreFound: more than are looked for at first, each with calls of its own.
func TestManyKindsAreFound(t *testing.T) {
	var rows []callgraph.Row
	want := make([]int, 300)
	for i := range want {
		want[i] = i * 7 % 20
		for k := range 3 {
			rows = append(rows, callgraph.Row{Owner: int32(i), Pair: callgraph.Pair{Caller: callgraph.Root, Callee: int32(3*want[i] + k)}, Exclusive: float64(100 + i%9*k)})
		}
	}
	g := Group(NewTable(300, rows, Exclusive), Options{Seed: 1})
	if a := agreement(g.Of, asGroups(want)); a < 1 || len(g.Members) != 20 {
		t.Errorf("%d groups, agreement %.4f, want 20 groups", len(g.Members), a)
	}
}
