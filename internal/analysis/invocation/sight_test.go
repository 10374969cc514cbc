package invocation

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"strings"
	"testing"
)

// A splitMix is the generator of the oracle.
type splitMix uint64

func (s *splitMix) below(n int) int {
	*s += 0x9E3779B97F4A7C15
	z := uint64(*s)
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
	return int((z ^ (z >> 31)) % uint64(n))
}

// grown makes a tree of the oracle's: its levels in preorder.
func grown(kind string, n int, seed uint64) []int32 {
	r := splitMix(seed)
	parent := make([]int32, n)
	parent[0] = -1
	for i := 1; i < n; i++ {
		p := 0
		switch kind {
		case "random":
			p = r.below(i)
		case "recent":
			p = max(0, i-1-r.below(4))
		case "flat":
			if r.below(10) == 0 {
				p = i - 1
			}
		case "spokes":
			p = max(0, i-16)
		case "binary":
			p = (i - 1) / 2
		}
		parent[i] = int32(p)
	}
	ordered, _ := (&Tree{Parent: parent}).Preorder(nil)
	level, _ := ordered.Levels()
	return level
}

type sightVector struct {
	Width, Height, Zoom  float64
	Root                 [2]float64
	Ring                 float64
	Band                 int32
	Near, Far, Mid, Half float64
	Drawn, Runs          int
	Digest               string `json:"fnv1a64"`
	Items                [][]json.RawMessage
}

func (v *sightVector) sight(o *Outline) Sight {
	return NewSight(v.Width, v.Height, min(v.Width, v.Height)/2/float64(o.Height)*v.Zoom, v.Root[0], v.Root[1])
}

func readSights(t *testing.T) (trees []struct {
	Kind   string
	Nodes  int
	Seed   uint64
	Height int
	Sights []sightVector
}) {
	b, err := os.ReadFile("testdata/lod.json")
	if err != nil {
		t.Fatal(err)
	}
	v := struct{ Trees any }{&trees}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return trees
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }

// TestDrawnNodesEqualTheOracle: of eight trees and 160 sights, from the whole picture to single nodes.
func TestDrawnNodesEqualTheOracle(t *testing.T) {
	sights := 0
	for _, tree := range readSights(t) {
		o := NewOutline(grown(tree.Kind, tree.Nodes, tree.Seed))
		if o.Height != tree.Height {
			t.Fatalf("%s: height %d, want %d", tree.Kind, o.Height, tree.Height)
		}
		for k, v := range tree.Sights {
			s := v.sight(o)
			if !near(s.Ring, v.Ring) || s.Band != v.Band || !near(s.Near, v.Near) || !near(s.Far, v.Far) || !near(s.Mid, v.Mid) || !near(s.Half, v.Half) {
				t.Errorf("%s %d: sight %+v, want %+v", tree.Kind, k, s, v)
			}
			items, _, _ := o.Look(context.Background(), s, 1, math.MaxInt)
			var text []string
			runs := 0
			for _, it := range items {
				if it.Merged {
					runs++
					text = append(text, fmt.Sprintf("run %d %d", it.First, it.End))
				} else {
					text = append(text, fmt.Sprintf("node %d %d", it.First, it.First+1))
				}
			}
			h := fnv.New64a()
			h.Write([]byte(strings.Join(text, ";")))
			if got := fmt.Sprintf("%016x", h.Sum64()); got != v.Digest || runs != v.Runs || len(items)-runs != v.Drawn {
				t.Errorf("%s of %d, sight %d: %d nodes and %d runs, want %d and %d", tree.Kind, tree.Nodes, k, len(items)-runs, runs, v.Drawn, v.Runs)
			}
			sights++
			v.compare(t, o, items)
		}
	}
	if sights != 160 {
		t.Errorf("%d sights", sights)
	}
}

// compare holds the listed items against what was found.
func (v *sightVector) compare(t *testing.T, o *Outline, items []Item) {
	t.Helper()
	at := map[int32]Item{}
	for _, it := range items {
		at[it.First] = it
	}
	for _, raw := range v.Items {
		numbers := make([]float64, len(raw))
		for k := 1; k < len(raw) && k < 6; k++ {
			_ = json.Unmarshal(raw[k], &numbers[k])
		}
		it := at[int32(numbers[1])]
		if string(raw[0]) == `"node"` {
			if it.Merged || !near(it.Start, numbers[2]) || !near(it.Alloc, numbers[3]) {
				t.Errorf("node %v is %+v", raw, it)
			}
			continue
		}
		var mix struct {
			Nodes int32
			Solid int32
		}
		if err := json.Unmarshal(raw[6], &mix); err != nil {
			t.Fatal(err)
		}
		if !it.Merged || float64(it.End) != numbers[2] || !near(it.Start, numbers[3]) || !near(it.Alloc, numbers[4]) || float64(it.Deepest) != numbers[5] ||
			it.End-it.First != mix.Nodes || Solid(it.Level, o.levels.(inMemory)[it.First:it.End]) != mix.Solid {
			t.Errorf("run %s is %+v", raw, it)
		}
	}
}

// TestDrawingCostsStepsPerDrawnNode, not for what there is: of 10^6 nodes.
func TestDrawingCostsStepsPerDrawnNode(t *testing.T) {
	o := NewOutline(grown("random", 1_000_000, 9))
	for _, zoom := range []float64{1, 100, 2435, 1e6} {
		ring := 300 / float64(o.Height) * zoom
		s := NewSight(800, 600, ring, 400-200*zoom*math.Cos(1), 300-200*zoom*math.Sin(1))
		w := &walker{ctx: context.Background(), Outline: o, Sight: s, unit: 1, most: math.MaxInt, angles: s.spans()}
		w.walk(0, int32(o.Len()), 0, 360, -1)
		if w.steps > 200+6*len(w.items) {
			t.Errorf("zoom %g: %d steps for %d items", zoom, w.steps, len(w.items))
		}
	}
}

// TestANodeKeepsItsAngle over ten zooms, and each node is reached by zooming to it.
func TestANodeKeepsItsAngle(t *testing.T) {
	o := NewOutline(grown("random", 1_000_000, 3))
	r := splitMix(1)
	for range 60 {
		node := int32(r.below(o.Len()))
		start, alloc := o.Sector(node)
		seen := 0
		for zoom := 1.0; zoom < 1e12; zoom *= 4 {
			ring := 300 / float64(o.Height) * zoom
			sin, cos := math.Sincos((start + alloc/2) * math.Pi / 180)
			radius := ring * (float64(o.Level(node)) + 0.5)
			items, _, _ := o.Look(context.Background(), NewSight(800, 600, ring, 400-radius*cos, 300-radius*sin), 1, math.MaxInt)
			for _, it := range items {
				if !it.Merged && it.First == node {
					seen++
					if !near(it.Start, start) || !near(it.Alloc, alloc) {
						t.Fatalf("zoom %g: node %d has the sector %v, %v; want %v, %v", zoom, node, it.Start, it.Alloc, start, alloc)
					}
				}
			}
			if seen >= 10 {
				break
			}
		}
		if seen == 0 {
			t.Fatalf("node %d on level %d is never drawn", node, o.Level(node))
		}
	}
}

// A leaf that has weight of its own has no children to look at, in whatever part of it the sight begins.
// TestAChainHoldsItsAngle: of each node the chain at an angle in its sector is the node with all that called it, whatever
// weighs the tree.
func TestAChainHoldsItsAngle(t *testing.T) {
	for _, kind := range []string{"random", "recent", "flat", "spokes", "binary"} {
		level := grown(kind, 2000, 7)
		own := make([]int64, len(level))
		for i := range own {
			own[i] = int64(1 + i%5)
		}
		for _, o := range []*Outline{NewOutline(level), NewWeighed(level, own)} {
			for i := int32(0); int(i) < o.Len(); i += 13 {
				start, alloc := o.Sector(i)
				chain := o.Chain(start+alloc/3, o.Level(i))
				if last := chain[len(chain)-1]; last != i {
					t.Fatalf("%s: the chain to node %d ends at %d", kind, i, last)
				}
				for k := len(chain) - 1; k > 0; k-- {
					if o.Parent(chain[k]) != chain[k-1] {
						t.Fatalf("%s: %d is above %d in a chain", kind, chain[k-1], chain[k])
					}
				}
			}
		}
	}
}

func TestLeavesWithWeightOfTheirOwnAreLookedAt(t *testing.T) {
	r := splitMix(5)
	for range 200 {
		level := grown("random", 2+r.below(9), uint64(r.below(1000)))
		own := make([]int64, len(level))
		for i := range own {
			own[i] = int64(1 + r.below(1000))
		}
		o := NewWeighed(level, own)
		zoom, angle := float64(1+r.below(400)), float64(r.below(360))*math.Pi/180
		s := NewSight(800, 600, zoom*300/float64(o.Height), 400-200*zoom*math.Cos(angle), 300-200*zoom*math.Sin(angle))
		items, _, ok := o.Look(context.Background(), s, 1, math.MaxInt)
		for _, it := range items {
			if it.First >= it.End || int(it.End) > o.Len() {
				t.Fatalf("%v of %v: item %+v", s, level, it)
			}
		}
		if !ok {
			t.Fatalf("%v of %v: no items", s, level)
		}
	}
}
