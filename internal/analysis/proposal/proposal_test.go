package proposal

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

type vectors struct {
	Widths    [][2]int
	Hilbert16 [][]int
	Sets      []struct {
		Name        string
		Ranks       int
		Traffic     [][3]float64
		Hosts       []string
		Coordinates [][]int
		Values      []float64
		Proposals   []struct {
			Kind      string
			Dims      []int
			Periodic  []bool
			Explained float64
			Traffic   float64
		}
		Groupings [][]any
	}
}

func read(t *testing.T) (v vectors) {
	t.Helper()
	b, err := os.ReadFile("testdata/layouts.json")
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestLayoutsEqualTheOracle: layouts of real runs, their order and what neighbours tell in
// each, against an independent program.
func TestLayoutsEqualTheOracle(t *testing.T) {
	kinds := map[string]Kind{"coordinates": Coordinates, "rank grid": Grid, "nodes x cores": Nodes, "hosts": Hosts,
		"chain": Chain, "rows": Rows, "Hilbert": Hilbert}
	for _, c := range read(t).Sets {
		r := &trace.Ranks{Count: c.Ranks, Hosts: c.Hosts, Coordinates: c.Coordinates}
		for _, x := range c.Traffic {
			r.Traffic = append(r.Traffic, trace.RankTraffic{From: int(x[0]), To: int(x[1]), Weight: x[2]})
		}
		got := Layouts(r, c.Values)
		if len(got) != len(c.Proposals) {
			t.Errorf("%s: %d layouts, want %d", c.Name, len(got), len(c.Proposals))
			continue
		}
		for k, want := range c.Proposals {
			g := got[k]
			if g.Kind != kinds[want.Kind] || !slices.Equal(g.Dims, want.Dims) || !slices.Equal(g.Periodic, want.Periodic) ||
				math.Abs(g.Neighbours-want.Explained) > 1e-9 || math.Abs(g.Traffic-want.Traffic) > 1e-9 {
				t.Errorf("%s: layout %d is %+v, want %+v", c.Name, k, g, want)
			}
			if g.Kind != Coordinates {
				distinct(t, c.Name+" "+want.Kind, g.Places, c.Ranks)
			}
		}
		groups := Groupings(r, nil, [][]float64{c.Values})[1:]
		if n := len(groups); n > 0 && strings.HasPrefix(groups[n-1].Name, "blocks of") {
			groups = groups[:n-1] // not of the oracle, see TestBlocksOfRanksAreProposed
		}
		if len(groups) != len(c.Groupings) {
			t.Errorf("%s: %d groupings, want %d", c.Name, len(groups), len(c.Groupings))
			continue
		}
		for k, want := range c.Groupings {
			_, n := number(groups[k].Groups)
			// Sums of v log2 v in the oracle leave an error of 2e-9.
			if float64(n) != want[1] || math.Abs(groups[k].Score-want[3].(float64)) > 5e-9 {
				t.Errorf("%s: %s has %d groups and score %v, want %v", c.Name, groups[k].Name, n, groups[k].Score, want)
			}
		}
	}
}

// TestBlocksOfRanksAreProposed where neither hosts nor traffic tell how ranks differ: four ranks share something, and
// two nodes of 32 do not differ.
func TestBlocksOfRanksAreProposed(t *testing.T) {
	r := &trace.Ranks{Count: 64}
	value := make([]float64, r.Count)
	for rank := range value {
		r.Hosts = append(r.Hosts, fmt.Sprintf("n%d", rank/32))
		value[rank] = 100 + 10*float64([]int{0, 3, 1, 2}[rank/4%4]) + float64(rank*37%5)/10
	}
	last := func(value []float64) trace.RankGrouping {
		all := Groupings(r, nil, [][]float64{value})
		return all[len(all)-1]
	}
	got := last(value)
	if got.Name != "blocks of 4 ranks" || got.Score < 0.99 || fmt.Sprint(got.Groups[0], got.Groups[63]) != "[ranks 0-3] [ranks 60-63]" {
		t.Errorf("%s with a score of %g: %v", got.Name, got.Score, got.Groups)
	}
	for rank := range value { // the nodes differ: they are enough
		value[rank] = float64(100 + rank/32*50 + rank*37%5)
	}
	if got := last(value); got.Name != "hosts, 1 level" {
		t.Errorf("two nodes that differ are grouped by %s", got.Name)
	}
	for rank := range value { // nothing follows the order of ranks
		value[rank] = float64(100 + rank*rank*7919%61)
	}
	if got := last(value); strings.HasPrefix(got.Name, "blocks") {
		t.Errorf("random values are grouped by %s, with a score of %g", got.Name, got.Score)
	}
}

func distinct(t *testing.T, name string, places [][]int, n int) {
	t.Helper()
	seen := map[string]bool{}
	for _, p := range places {
		seen[fmt.Sprint(p)] = true
	}
	if len(seen) != n {
		t.Errorf("%s: %d places for %d ranks", name, len(seen), n)
	}
}

func TestPlacesInOrderOfRank(t *testing.T) {
	v := read(t)
	for _, w := range v.Widths {
		if got := RowWidth(w[0]); got != w[1] {
			t.Errorf("a row of %d is %d wide, want %d", w[0], got, w[1])
		}
	}
	for i, p := range hilbertPlaces(16) {
		if !slices.Equal(p, v.Hilbert16[i]) {
			t.Errorf("place %d of the curve is %v, want %v", i, p, v.Hilbert16[i])
		}
	}
}

// TestGroupsOfHostsHaveNames: a number is named by what its hosts begin with.
func TestGroupsOfHostsHaveNames(t *testing.T) {
	r := &trace.Ranks{}
	for rack := range 2 {
		for slot := range 3 {
			r.Hosts = append(r.Hosts, fmt.Sprintf("r%02dn%d", rack+1, slot), fmt.Sprintf("r%02dn%d", rack+1, slot))
		}
	}
	r.Count = len(r.Hosts)
	value := make([]float64, r.Count)
	for i := range value {
		value[i] = float64(1 + i)
	}
	got := Groupings(r, nil, [][]float64{value})
	if len(got) != 3 || fmt.Sprint(got[1].Groups[0], got[2].Groups[7]) != "[r01n*] [r02n* r02n0]" {
		t.Errorf("%+v", got)
	}
}

// TestAMasterLiesBesideTheGrid: rank 0 sends to all, and the others exchange on a grid.
func TestAMasterLiesBesideTheGrid(t *testing.T) {
	r := &trace.Ranks{Count: 21}
	send := func(a, b int, w float64) {
		r.Traffic = append(r.Traffic, trace.RankTraffic{From: a, To: b, Weight: w})
	}
	for i := range 20 {
		send(0, i+1, 50)
		if i%5 < 4 {
			send(i+1, i+2, 1000)
		}
		if i+5 < 20 {
			send(i+1, i+6, 1000)
		}
	}
	l := Layouts(r, nil)[0]
	if l.Kind != Grid || !slices.Equal(l.Dims, []int{5, 4}) || !slices.Equal(l.Places[0], []int{-2, 0}) ||
		!slices.Equal(l.Places[1], []int{0, 0}) || !slices.Equal(l.Places[20], []int{4, 3}) {
		t.Errorf("%+v", l)
	}
}
