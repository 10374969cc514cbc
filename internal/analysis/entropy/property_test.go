package entropy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMeasuresHaveThePropertiesOfThePaper on random trees: an aggregate gains and loses at least
// what its parts do together (E10), gain by entropy and loss add up to V log2 n (E14), a
// node's measures do not hang on what is beside it (E8, E9), and larger p only merge (E6).
func TestMeasuresHaveThePropertiesOfThePaper(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for range 200 {
		tree, _, values := leafValues(randomNode(r, 4))
		for _, g := range []Gain{GainValues, GainEntropy} {
			l := Label(tree, values, g)
			for i := range tree.Len() {
				if tree.Leaf(i) {
					continue
				}
				gain, loss := 0.0, 0.0
				for c := i + 1; c <= int(tree.Last[i]); c = int(tree.Last[c]) + 1 {
					gain, loss = gain+l.Gain[c], loss+l.Loss[c]
				}
				if l.Gain[i] < gain-1e-9 || l.Loss[i] < loss-1e-9 {
					t.Fatalf("node %d gains %v and loses %v, its parts %v and %v", i, l.Gain[i], l.Loss[i], gain, loss)
				}
				if g == GainEntropy {
					want := 0.0
					for x := range values {
						want += l.Sum[x][i] * math.Log2(float64(l.Leaves[i]))
					}
					if math.Abs(l.Gain[i]+l.Loss[i]-want) > 1e-9*(1+want) {
						t.Fatalf("gain %v and loss %v are not %v together", l.Gain[i], l.Loss[i], want)
					}
				}
				alone, own := below(tree, values, i)
				if x := Label(alone, own, g); !near(x.Gain[0], l.Gain[i]) || !near(x.Loss[0], l.Loss[i]) {
					t.Fatalf("node %d alone gains %v and loses %v, in the tree %v and %v", i, x.Gain[0], x.Loss[0], l.Gain[i], l.Loss[i])
				}
			}
			thresholds, significant := l.Thresholds()
			fine := l.Best(thresholds, 0).Parts
			for _, odds := range append(significant, math.Inf(1)) {
				coarse := l.Best(thresholds, odds*(1+1e-9)).Parts
				for k, i := 0, 0; i < len(fine); i++ {
					for tree.Last[coarse[k]] < fine[i] {
						k++
					}
					if fine[i] < coarse[k] || tree.Last[fine[i]] > tree.Last[coarse[k]] {
						t.Fatalf("part %d of a smaller p is cut by %d", fine[i], coarse[k])
					}
				}
				fine = coarse
			}
		}
	}
}

// below is the subtree of a node by itself.
func below(tree *Tree, values [][]float64, i int) (*Tree, [][]float64) {
	out := &Tree{}
	for k := i; k <= int(tree.Last[i]); k++ {
		out.Parent, out.Last = append(out.Parent, tree.Parent[k]-int32(i)), append(out.Last, tree.Last[k]-int32(i))
	}
	out.Parent[0] = -1
	var own [][]float64
	for _, v := range values {
		own = append(own, v[i:tree.Last[i]+1])
	}
	return out, own
}

// TestCountEqualsAllCutsListed on random trees (E17), and a further leaf beside others
// changes nothing (E18).
func TestCountEqualsAllCutsListed(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	// cuts lists them all, as sets of paths; nil where they are too many to list.
	var cuts func(n *node, path string) []string
	cuts = func(n *node, path string) []string {
		if len(n.Children) == 0 {
			return []string{path}
		}
		list := []string{""}
		for i := range n.Children {
			below := cuts(&n.Children[i], path+"/"+n.Children[i].Name)
			if below == nil || len(list)*len(below) > 5000 {
				return nil
			}
			var next []string
			for _, a := range list {
				for _, b := range below {
					next = append(next, a+" "+b)
				}
			}
			list = next
		}
		return append(list, path)
	}
	listed := 0
	for range 300 {
		root := randomNode(r, 3)
		tree, _, _ := leafValues(root)
		if all := cuts(&root, "root"); all != nil {
			slices.Sort(all)
			want := float64(len(slices.Compact(all)))
			if got := math.Pow(10, tree.Count()); math.Abs(got-want) > 1e-6*want {
				t.Fatalf("%v cuts, want %v", got, want)
			}
			listed++
		}
		at := &root
		for len(at.Children) > 0 && len(at.Children[0].Children) > 0 {
			at = &at.Children[0]
		}
		if len(at.Children) == 0 {
			continue
		}
		at.Children = append(at.Children, node{Name: "more", V: []float64{1, 1}})
		if more, _, _ := leafValues(root); math.Abs(more.Count()-tree.Count()) > 1e-9 {
			t.Fatalf("a further leaf changes 10^%v cuts to 10^%v", tree.Count(), more.Count())
		}
	}
	if listed < 100 {
		t.Errorf("%d trees were small enough to list: the test says little", listed)
	}
}

// TestTheFinestCutThatFits is found among all best cuts, also where some groups lose
// nothing and are one at any p.
func TestTheFinestCutThatFits(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		tree, _, values := leafValues(randomNode(r, 4))
		for x := range values {
			for i := range values[x] {
				values[x][i] = math.Trunc(values[x][i]*2) / 2 // many are alike
			}
		}
		l := Label(tree, values, GainValues)
		thresholds, significant := l.Thresholds()
		if len(significant) == 0 {
			continue
		}
		most := 1 + r.IntN(tree.Len())
		want := 0
		for _, odds := range append([]float64{significant[0] / 2}, significant...) {
			if n := len(l.Best(thresholds, odds).Parts); n <= most {
				want = max(want, n)
			}
		}
		cut, odds, ok := l.Finest(thresholds, significant, func(c Cut) bool { return len(c.Parts) <= most })
		if len(cut.Parts) != want || ok != (want > 0) || ok && len(l.Best(thresholds, odds).Parts) != want {
			t.Errorf("at most %d: %d parts at odds %g, the finest has %d", most, len(cut.Parts), odds, want)
		}
	}
}
