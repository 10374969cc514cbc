package rankgrid

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

type answer struct {
	Dims      []int
	Periodic  []bool
	Structure float64 `json:"structure_bits"`
	Explained float64
	First     int
	Ranks     int
}

func (a *answer) check(t *testing.T, name string, g *Grid) {
	t.Helper()
	switch {
	case a == nil || g == nil:
		if (a == nil) != (g == nil) {
			t.Errorf("%s: found %+v, want %+v", name, g, a)
		}
	case !slices.Equal(g.Dims, a.Dims) || !slices.Equal(g.Periodic, a.Periodic) || g.First != a.First || g.Ranks != a.Ranks ||
		math.Abs(g.Structure-a.Structure) > 1e-9 || math.Abs(g.Explained-a.Explained) > 1e-9:
		t.Errorf("%s: found %+v, want %+v", name, g, a)
	}
}

// halo is the traffic of a halo exchange: 1000 bytes over sides, 10 over corners.
func halo(dims []int, periodic []bool, corners bool) (n int, out []trace.RankTraffic) {
	n = 1
	moves := 1
	for _, d := range dims {
		n, moves = n*d, moves*3
	}
	for r := range n {
		p := Place(r, dims)
		for m := range moves {
			to, stride, axes, inside := 0, 1, 0, true
			for k, d := range dims {
				by := m%3 - 1
				m /= 3
				x := p[k] + by
				if by != 0 {
					axes++
				}
				inside = inside && (x >= 0 && x < d || periodic[k])
				to, stride = to+(x+d)%d*stride, stride*d
			}
			if axes == 0 || axes > 1 && !corners || !inside || to == r {
				continue
			}
			w := 1000.0
			if axes > 1 {
				w = 10
			}
			out = append(out, trace.RankTraffic{From: r, To: to, Weight: w})
		}
	}
	return n, out
}

// TestGridsEqualTheOracle: halo exchanges of known grids, a master, traffic to all alike, and
// traffic of real runs, against an independent program.
func TestGridsEqualTheOracle(t *testing.T) {
	b, err := os.ReadFile("testdata/grids.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Known []struct {
			Dims     []int
			Periodic []bool
			Corners  bool
			Found    *answer
		}
		Master   *answer
		AllToAll *answer `json:"all_to_all"`
		Sets     []struct {
			Name    string
			Ranks   int
			Traffic [][3]float64
			Found   *answer
		}
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	for _, c := range v.Known {
		n, cells := halo(c.Dims, c.Periodic, c.Corners)
		g := Find(n, cells)
		c.Found.check(t, "known grid", g)
		if !slices.Equal(g.Dims, c.Dims) {
			t.Errorf("found %v, planted %v", g.Dims, c.Dims)
		}
	}
	n, cells := halo([]int{5, 4}, []bool{false, false}, false)
	master := []trace.RankTraffic{}
	for r := 1; r <= n; r++ {
		master = append(master, trace.RankTraffic{From: 0, To: r, Weight: 50})
	}
	for _, c := range cells {
		master = append(master, trace.RankTraffic{From: c.From + 1, To: c.To + 1, Weight: c.Weight})
	}
	v.Master.check(t, "master", Find(n+1, master))
	alike := []trace.RankTraffic{}
	for a := range 12 {
		for b := range 12 {
			alike = append(alike, trace.RankTraffic{From: a, To: b, Weight: 5})
		}
	}
	v.AllToAll.check(t, "all to all", Find(12, alike))
	for _, c := range v.Sets {
		var cells []trace.RankTraffic
		for _, x := range c.Traffic {
			cells = append(cells, trace.RankTraffic{From: int(x[0]), To: int(x[1]), Weight: x[2]})
		}
		c.Found.check(t, c.Name, Find(c.Ranks, cells))
	}
}
