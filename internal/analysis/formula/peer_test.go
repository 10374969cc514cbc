package formula

import (
	"math"
	"testing"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"
)

// sphere is Listing 1.1, in the words of a general library of expressions.
var sphere = []struct{ name, text string }{
	{"rootRanks", "sqrt(maxRank)"},
	{"theta", "2*pi/rootRanks*mod(rank, rootRanks)"},
	{"phi", "pi/rootRanks*floor(rank/rootRanks)"},
	{"x", "cos(theta)*sin(phi)*100"},
	{"y", "sin(theta)*sin(phi)*100"},
	{"z", "cos(phi)*100"},
}

// perLocation compiles the layout once, and gives what evaluates it for one rank.
func perLocation(tb testing.TB, ranks int) func(rank int) (x, y, z float64) {
	env := map[string]any{
		"pi": math.Pi, "rank": 0.0, "maxRank": float64(ranks), "rootRanks": 0.0, "theta": 0.0, "phi": 0.0,
		"mod": Mod, "sqrt": math.Sqrt, "sin": math.Sin, "cos": math.Cos,
	}
	var programs []*vm.Program
	for _, s := range sphere {
		p, err := expr.Compile(s.text, expr.Env(env), expr.AsFloat64())
		if err != nil {
			tb.Fatal(err)
		}
		programs = append(programs, p)
	}
	var machine vm.VM
	return func(rank int) (x, y, z float64) {
		env["rank"] = float64(rank)
		var at [3]float64
		for i, p := range programs {
			v, err := machine.Run(p, env)
			if err != nil {
				tb.Fatal(err)
			}
			if env[sphere[i].name] = v; i >= 3 {
				at[i-3] = v.(float64)
			}
		}
		return at[0], at[1], at[2]
	}
}

func TestALibraryOfExpressionsPlacesRanksAlike(t *testing.T) {
	layouts, err := Parse(load(t).Listings)
	if err != nil {
		t.Fatal(err)
	}
	got := apply(t, find(t, layouts, "sphere"), &Input{N: 1000})
	at := perLocation(t, 1000)
	for rank := range 1000 {
		x, y, z := at(rank)
		p := &got.Points[0]
		if math.Abs(x-p.X[rank]) > 1e-9 || math.Abs(y-p.Y[rank]) > 1e-9 || math.Abs(z-p.Z[rank]) > 1e-9 {
			t.Fatalf("rank %d is at %v, %v, %v, by the library at %v, %v, %v", rank, p.X[rank], p.Y[rank], p.Z[rank], x, y, z)
		}
	}
}

// BenchmarkAMillionAgainstOneByOne applies a layout to a million locations at once, and
// by a library that compiles expressions and evaluates them for one location after the
// other; the ratio is of the same run.
func BenchmarkAMillionAgainstOneByOne(b *testing.B) {
	layouts, err := Parse(load(b).Listings)
	if err != nil {
		b.Fatal(err)
	}
	const n, sample = 1_000_000, 50_000
	l, in := find(b, layouts, "sphere"), &Input{N: n}
	apply(b, l, in)
	var own time.Duration
	rounds := 0
	for b.Loop() {
		begin := time.Now()
		apply(b, l, in)
		own += time.Since(begin)
		rounds++
	}
	at := perLocation(b, n)
	begin := time.Now()
	for rank := range sample {
		at(rank * (n / sample))
	}
	peer := time.Since(begin) * (n / sample)
	each := own / time.Duration(rounds)
	b.ReportMetric(float64(each.Microseconds())/1000, "ms/million")
	b.ReportMetric(float64(peer.Microseconds())/1000, "peer-ms/million")
	b.ReportMetric(float64(peer)/float64(each), "times-faster")
}
