package entropy

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

type node struct {
	Name     string
	Children []node
	V        []float64
	Slices   [][]float64
}

type best struct {
	P   string
	PIC float64 `json:"pIC"`
	Cut []string
}

type treeCase struct {
	Name  string
	Tree  node
	Gains map[string]struct {
		Nodes map[string]struct {
			Gain, Loss float64
			Size       int32
			Threshold  *float64
		}
		Best        []best
		Normalised  []best `json:"best_normalised"`
		Significant []struct {
			From float64 `json:"p_from"`
			To   float64 `json:"p_to"`
			Cut  []string
		}
	}
}

type vectors struct {
	Trees       []treeCase
	RandomTrees []treeCase `json:"random_trees"`
	Time        []struct {
		Name   string
		Slices [][]float64
		Gain   string
		Best   []struct {
			P   string
			PIC float64 `json:"pIC"`
		}
	}
	SpaceTime []struct {
		Name string
		Tree node
		Gain string
		Best []struct {
			P   string
			PIC float64 `json:"pIC"`
		}
	} `json:"space_time"`
	Million struct {
		Variants []struct {
			Seed     *uint64
			RootLoss float64 `json:"root_loss"`
			Cuts     []struct {
				Normalised bool
				P          float64
				Parts      int
				Expected   bool `json:"is_expected_cut"`
			}
		}
		ExpectedCut []string `json:"expected_cut"`
	}
}

func load(t testing.TB) (v vectors) {
	b, err := os.ReadFile("testdata/aggregation.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func ratio(t testing.TB, s string) float64 {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("not a ratio: %q", s)
	}
	f, _ := r.Float64()
	return f
}

// flatten gives the tree in preorder with the path of each node; put is called with each leaf.
func flatten(root node, put func(i int, leaf node)) (*Tree, []string) {
	t, paths := &Tree{}, []string{}
	var walk func(n node, parent int32, path string)
	walk = func(n node, parent int32, path string) {
		i := len(t.Parent)
		t.Parent, t.Last, paths = append(t.Parent, parent), append(t.Last, 0), append(paths, path)
		for _, c := range n.Children {
			p := c.Name
			if path != "" {
				p = path + "/" + c.Name
			}
			walk(c, int32(i), p)
		}
		if len(n.Children) == 0 {
			put(i, n)
		}
		t.Last[i] = int32(len(t.Parent) - 1)
	}
	walk(root, -1, "")
	return t, paths
}

func leafValues(root node) (*Tree, []string, [][]float64) {
	type leaf struct {
		i int
		v []float64
	}
	var leaves []leaf
	t, paths := flatten(root, func(i int, n node) { leaves = append(leaves, leaf{i, n.V}) })
	values := make([][]float64, len(leaves[0].v))
	for x := range values {
		values[x] = make([]float64, t.Len())
		for _, l := range leaves {
			values[x][l.i] = l.v[x]
		}
	}
	return t, paths, values
}

var gains = map[string]Gain{"values": GainValues, "entropy": GainEntropy}

func near(got, want float64) bool {
	return math.Abs(got-want) <= 1e-9*math.Max(1, math.Abs(want))
}

func names(paths []string, parts []int32) []string {
	out := []string{}
	for _, i := range parts {
		out = append(out, paths[i])
	}
	return out
}

func TestTreesEqualTheOracle(t *testing.T) {
	v := load(t)
	for _, c := range append(v.Trees, v.RandomTrees...) {
		for name, want := range c.Gains {
			t.Run(c.Name+"/"+name, func(t *testing.T) {
				tree, paths, values := leafValues(c.Tree)
				l := Label(tree, values, gains[name])
				pstar, significant := l.Thresholds()
				for i, p := range paths {
					w := want.Nodes[p]
					if !near(l.Gain[i], w.Gain) || !near(l.Loss[i], w.Loss) || l.Leaves[i] != w.Size {
						t.Errorf("%q: gain %v loss %v size %d, want %+v", p, l.Gain[i], l.Loss[i], l.Leaves[i], w)
					}
					if at := l.P(pstar[i], Plain); w.Threshold == nil && at < 1 || w.Threshold != nil && !near(at, *w.Threshold) {
						t.Errorf("%q: threshold %v, want %v", p, at, w.Threshold)
					}
				}
				for _, b := range want.Best {
					p := ratio(t, b.P)
					cut := l.Best(pstar, l.Odds(p, Plain))
					if got := names(paths, cut.Parts); !slices.Equal(got, b.Cut) {
						t.Errorf("p = %s: cut %v, want %v", b.P, got, b.Cut)
					}
					if pic := p*cut.Gain - (1-p)*cut.Loss; !near(pic, b.PIC) {
						t.Errorf("p = %s: pIC %v, want %v", b.P, pic, b.PIC)
					}
				}
				for _, b := range want.Normalised {
					if got := names(paths, l.Best(pstar, l.Odds(ratio(t, b.P), Normalised)).Parts); !slices.Equal(got, b.Cut) {
						t.Errorf("p = %s normalised: cut %v, want %v", b.P, got, b.Cut)
					}
				}
				edges := []float64{}
				for _, s := range want.Significant[1:] {
					edges = append(edges, s.From)
				}
				for i := range significant {
					significant[i] = l.P(significant[i], Plain)
				}
				if !slices.EqualFunc(significant, edges, near) {
					t.Errorf("significant p %v, want %v", significant, edges)
				}
			})
		}
	}
}

// TestThresholdsEqualAlgorithm1 holds the cut read off the thresholds against
// the paper's own recursion, run anew for each p.
func TestThresholdsEqualAlgorithm1(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		root := randomNode(r, 4)
		tree, _, values := leafValues(root)
		for _, g := range []Gain{GainValues, GainEntropy} {
			l := Label(tree, values, g)
			pstar, _ := l.Thresholds()
			for range 20 {
				p := r.Float64()
				want := algorithm1(l, 0, p)
				cut := l.Best(pstar, l.Odds(p, Plain))
				if got := p*cut.Gain - (1-p)*cut.Loss; math.Abs(got-want) > 1e-9*math.Max(1, math.Abs(want)) {
					t.Fatalf("p = %v: pIC %v, Algorithm 1 gives %v", p, got, want)
				}
			}
		}
	}
}

func randomNode(r *rand.Rand, depth int) node {
	if depth == 0 || r.IntN(4) == 0 {
		return node{V: []float64{float64(r.IntN(20)), float64(r.IntN(3))}}
	}
	n := node{}
	for k := range 1 + r.IntN(4) {
		c := randomNode(r, depth-1)
		c.Name = fmt.Sprint(k)
		n.Children = append(n.Children, c)
	}
	return n
}

func algorithm1(l *Labels, i int, p float64) float64 {
	own := l.PIC(i, p)
	if l.Tree.Leaf(i) {
		return own
	}
	var parts float64
	for k := i + 1; k <= int(l.Tree.Last[i]); k = int(l.Tree.Last[k]) + 1 {
		parts += algorithm1(l, k, p)
	}
	return math.Max(own, parts)
}

func TestTimeEqualsTheOracle(t *testing.T) {
	for _, c := range load(t).Time {
		vars := len(c.Slices[0])
		values := make([][][]float64, vars)
		for x := range values {
			values[x] = [][]float64{make([]float64, len(c.Slices))}
			for s := range c.Slices {
				values[x][0][s] = c.Slices[s][x]
			}
		}
		st, err := newSpaceTime(context.Background(), &Tree{Parent: []int32{-1}, Last: []int32{0}}, len(c.Slices), values, gains[c.Gain])
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range c.Best {
			if _, pic, err := st.Best(context.Background(), st.Weights(ratio(t, b.P), Plain)); err != nil || !near(pic, b.PIC) {
				t.Errorf("%s %s p = %s: pIC %v, want %v", c.Name, c.Gain, b.P, pic, b.PIC)
			}
		}
	}
}

// newSpaceTime prepares gain and loss. values[x][i][s] is variable x of leaf i in
// slice s; entries of inner nodes are not read.
func newSpaceTime(ctx context.Context, t *Tree, slices int, values [][][]float64, gain Gain) (*SpaceTime, error) {
	var c Cells
	for _, v := range values {
		sum, info := make([]float64, t.Len()*slices), make([]float64, t.Len()*slices)
		for i := range t.Len() {
			if !t.Leaf(i) {
				continue
			}
			for s, x := range v[i] {
				sum[i*slices+s], info[i*slices+s] = x, xlog2(x)
			}
		}
		c.Sum, c.Info = append(c.Sum, sum), append(c.Info, info)
	}
	return NewCells(ctx, t, slices, &c, gain)
}

func TestSpaceTimeEqualsTheOracle(t *testing.T) {
	for _, c := range load(t).SpaceTime {
		type leaf struct {
			i int
			s [][]float64
		}
		var leaves []leaf
		tree, _ := flatten(c.Tree, func(i int, n node) { leaves = append(leaves, leaf{i, n.Slices}) })
		slices, vars := len(leaves[0].s), len(leaves[0].s[0])
		values := make([][][]float64, vars)
		for x := range values {
			values[x] = make([][]float64, tree.Len())
			for _, l := range leaves {
				for _, v := range l.s {
					values[x][l.i] = append(values[x][l.i], v[x])
				}
			}
		}
		st, err := newSpaceTime(context.Background(), tree, slices, values, gains[c.Gain])
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range c.Best {
			p := ratio(t, b.P)
			parts, pic, err := st.Best(context.Background(), st.Weights(p, Plain))
			if err != nil || !near(pic, b.PIC) {
				t.Errorf("%s %s p = %s: pIC %v, want %v", c.Name, c.Gain, b.P, pic, b.PIC)
			}
			var sum float64
			cells := 0
			for _, q := range parts {
				sum += p*q.Gain - (1-p)*q.Loss
				for i := q.Node; i <= tree.Last[q.Node]; i++ {
					if tree.Leaf(int(i)) {
						cells += int(q.Last - q.First + 1)
					}
				}
			}
			if !near(sum, pic) || cells != len(leaves)*slices {
				t.Errorf("%s p = %s: the parts add up to %v over %d cells, want %v over %d", c.Name, b.P, sum, cells, pic, len(leaves)*slices)
			}
		}
	}
}
