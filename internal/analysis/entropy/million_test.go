package entropy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// million is the paper's third scenario as the oracle defines it: 10 sites × 10
// super-clusters × 10 clusters × 10 machines × 100 processes, VS0 of 1000 ms.
func million(seed *uint64) (*Tree, func(i int32) string, [][]float64) {
	t := &Tree{}
	values := [][]float64{nil, nil}
	name := []int16{}
	var state uint64
	if seed != nil {
		state = *seed
	}
	next := func() uint64 {
		state += 0x9E3779B97F4A7C15
		z := state
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		return z ^ z>>31
	}
	add := func(parent, number int) int {
		i := len(t.Parent)
		t.Parent, t.Last, name = append(t.Parent, int32(parent)), append(t.Last, 0), append(name, int16(number))
		values[0], values[1] = append(values[0], 0), append(values[1], 0)
		return i
	}
	width := []int{10, 10, 10, 10, 100}
	at := make([]int, 5)
	var fill func(parent, level int)
	fill = func(parent, level int) {
		if level == 5 {
			s, c, k, m, x := at[0], at[1], at[2], at[3], at[4]
			v := 300
			switch {
			case s == 2:
				v = 50 + 100*c
			case s == 4 && c == 5:
				v = 50 + 100*k
			case s == 6 && c == 3 && k == 7:
				v = 50 + 100*m
			case s == 8 && c == 1 && k == 2 && m == 9:
				v = 5 + 10*(37*x%100)
			}
			if seed != nil {
				v = min(max(v+int(next()%7)-3, 0), 1000)
			}
			values[0][parent], values[1][parent] = float64(v), float64(1000-v)
			t.Last[parent] = int32(parent)
			return
		}
		for n := range width[level] {
			at[level] = n
			fill(add(parent, n), level+1)
		}
		t.Last[parent] = int32(len(t.Parent) - 1)
	}
	add(-1, 0)
	fill(0, 0)
	path := func(i int32) string {
		var parts []string
		for ; i > 0; i = t.Parent[i] {
			parts = append(parts, fmt.Sprint(name[i]))
		}
		slices.Reverse(parts)
		for k := range parts {
			parts[k] = "sckmp"[k:k+1] + parts[k]
		}
		return strings.Join(parts, "/")
	}
	return t, path, values
}

func TestTheMillionIsCutAsTheOracleSays(t *testing.T) {
	v := load(t)
	for _, variant := range v.Million.Variants {
		tree, path, values := million(variant.Seed)
		l := Label(tree, values, GainValues)
		if d := l.Loss[0]/variant.RootLoss - 1; d > 1e-8 || d < -1e-8 {
			t.Errorf("root loss %v, want %v", l.Loss[0], variant.RootLoss)
		}
		pstar, _ := l.Thresholds()
		for _, c := range variant.Cuts {
			scale := Plain
			if c.Normalised {
				scale = Normalised
			}
			cut := l.Best(pstar, l.Odds(c.P, scale))
			if len(cut.Parts) != c.Parts {
				t.Errorf("p = %v (normalised %v): %d parts, want %d", c.P, c.Normalised, len(cut.Parts), c.Parts)
				continue
			}
			if !c.Expected {
				continue
			}
			for i, part := range cut.Parts {
				if got := path(part); got != v.Million.ExpectedCut[i] {
					t.Fatalf("part %d is %s, want %s", i, got, v.Million.ExpectedCut[i])
				}
			}
		}
	}
}

func TestTheNumberOfCuts(t *testing.T) {
	tree, _, _ := million(nil)
	if n := tree.Count(); n < 3010.7 || n > 3010.75 {
		t.Errorf("10^%v cuts, want 10^3010.72", n)
	}
}

// BenchmarkMillion prints what a new window, all thresholds and a new p cost, and
// how much dearer Algorithm 1 is when it runs anew at each p.
func BenchmarkMillion(b *testing.B) {
	tree, _, values := million(nil)
	l := Label(tree, values, GainValues)
	pstar, _ := l.Thresholds()
	b.Run("labels", func(b *testing.B) {
		for b.Loop() {
			Label(tree, values, GainValues)
		}
	})
	b.Run("thresholds", func(b *testing.B) {
		for b.Loop() {
			l.Thresholds()
		}
	})
	b.Run("cut", func(b *testing.B) {
		for b.Loop() {
			l.Best(pstar, l.Odds(0.1, Plain))
		}
	})
	b.Run("algorithm1", func(b *testing.B) {
		for b.Loop() {
			algorithm1(l, 0, 0.1)
		}
	})
}

// A cut looks at its parts and the nodes above them alone: it is linear in the aggregates, of which inner nodes have ten
// each (E19). Labels take as many allocations for a million nodes as for ten thousand: each node is met once (E20).
func TestCuttingIsLinearInTheParts(t *testing.T) {
	tree, _, values := million(nil)
	l := Label(tree, values, GainValues)
	thresholds, _ := l.Thresholds()
	for _, p := range []float64{0, 0.1, 0.5, 0.9} {
		odds, looks := l.Odds(p, Normalised), 0
		var cut Cut
		l.cut(0, func(i int) bool {
			looks++
			return Past(thresholds[i], odds)
		}, &cut)
		if best := l.Best(thresholds, odds); !slices.Equal(best.Parts, cut.Parts) {
			t.Fatalf("p = %v: %d parts, Best has %d", p, len(cut.Parts), len(best.Parts))
		}
		if most := len(cut.Parts)*10/9 + 1; looks > most {
			t.Errorf("p = %v: %d looks for %d parts, want at most %d", p, looks, len(cut.Parts), most)
		}
	}
	small := &Tree{Parent: tree.Parent[:10001], Last: make([]int32, 10001)}
	few := [][]float64{values[0][:10001], values[1][:10001]}
	for i := range small.Last {
		small.Last[i] = min(tree.Last[i], 10000)
	}
	allocations := func(t *Tree, v [][]float64) float64 {
		return testing.AllocsPerRun(1, func() { Label(t, v, GainValues) })
	}
	// A few are of goroutines that start.
	if a, b := allocations(small, few), allocations(tree, values); b > a+16 {
		t.Errorf("labels of 10,001 nodes take %v allocations, of %d nodes %v", a, tree.Len(), b)
	}
}
