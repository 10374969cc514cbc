package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// drawRuns draws lengths of runs around a mean, with a relative spread; some machines now and then take a tenth longer.
func drawRuns(r *rand.Rand, n int, mean, spread, outliers float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = mean * math.Exp(spread*r.NormFloat64())
		if r.Float64() < outliers {
			out[i] *= 1.1
		}
	}
	return out
}

// toldChanged is the share of pairs of sides whose length is told as changed.
func toldChanged(seed uint64, pairs, n int, change, spread, outliers float64) float64 {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	count := 0
	for range pairs {
		e := Of(drawRuns(r, n, 1, spread, outliers), drawRuns(r, n, 1+change, spread, outliers))
		if e.Judge(e.Decisive(), LeastWorth) == Changed {
			count++
		}
	}
	return float64(count) / float64(pairs)
}

// powerTables writes how often a change is told, and how often none is told as one, as docs/compare.md has it.
func powerTables() string {
	var b strings.Builder
	b.WriteString("| change, standard deviation of the runs | 2 runs per side | 3 | 5 | 10 | 20 |\n| --- | --: | --: | --: | --: | --: |\n")
	for _, spread := range []float64{0.01, 0.02} {
		for _, change := range []float64{0.02, 0.03, 0.05} {
			fmt.Fprintf(&b, "| +%.0f %%, %.0f %% |", 100*change, 100*spread)
			for _, n := range []int{2, 3, 5, 10, 20} {
				fmt.Fprintf(&b, " %.0f %% |", 100*toldChanged(1, 400, n, change, spread, 0))
			}
			b.WriteByte('\n')
		}
	}
	b.WriteString("\n| no change | 2 runs per side | 3 | 5 | 10 |\n| --- | --: | --: | --: | --: |\n")
	for _, c := range []struct {
		what             string
		spread, outliers float64
	}{{"standard deviation 1 %", 0.01, 0}, {"standard deviation 2 %", 0.02, 0},
		{"standard deviation 1 %, one run in twenty 10 % longer", 0.01, 0.05}} {
		fmt.Fprintf(&b, "| %s |", c.what)
		for _, n := range []int{2, 3, 5, 10} {
			fmt.Fprintf(&b, " %.1f %% |", 100*toldChanged(2, 400, n, 0, c.spread, c.outliers))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// The documents state what these tests can show, and at most one pair in twenty without a change is told as changed.
func TestPowerIsAsDocumented(t *testing.T) {
	for _, n := range []int{2, 3, 5, 10} {
		for _, outliers := range []float64{0, 0.05} {
			if share := toldChanged(2, 400, n, 0, 0.01, outliers); share > Level {
				t.Errorf("%d runs a side: %.1f %% of 400 pairs without a change are told as changed", n, 100*share)
			}
		}
	}
	text := powerTables()
	docs, err := os.ReadFile("../../../docs/compare.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(docs), text) {
		t.Errorf("docs/compare.md has other tables than:\n%s", text)
	}
}
