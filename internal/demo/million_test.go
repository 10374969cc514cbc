package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/trace"
)

type millionVectors struct {
	Variants []struct {
		Seed  *uint64 `json:"seed"`
		Sum   int64   `json:"sum_VS0"`
		Hash  string  `json:"fnv1a64_uint16le"`
		First []int   `json:"first_ten"`
	} `json:"variants"`
	Cut []string `json:"expected_cut"`
}

func readMillion(t *testing.T) (v millionVectors) {
	t.Helper()
	data, err := os.ReadFile("testdata/million.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// A millionWriter keeps of each process only how long it was in VS0.
type millionWriter struct {
	discard
	parent  []trace.LocationID
	name    []string
	rank    []int
	vs0     []int64 // by location, in ms
	strange atomic.Int64
}

func (w *millionWriter) Location(l trace.Location) trace.LocationID {
	w.parent, w.name, w.rank = append(w.parent, l.Parent), append(w.name, l.Name), append(w.rank, l.Rank)
	w.vs0 = append(w.vs0, -1)
	return trace.LocationID(len(w.parent) - 1)
}

func (w *millionWriter) Stream(at trace.LocationID, _ trace.StreamOptions) trace.Stream {
	return &millionStream{w: w, at: at}
}

type millionStream struct {
	nothing
	w  *millionWriter
	at trace.LocationID
	n  trace.RegionID
}

func (s *millionStream) Interval(begin, end trace.Time, region trace.RegionID) {
	switch {
	case s.n == 0 && region == 0 && begin == 0:
		s.w.vs0[s.at] = int64(end / millisecond)
	case s.n != 1 || region != 1 || begin/millisecond != trace.Time(s.w.vs0[s.at]) || end != 1000*millisecond:
		s.w.strange.Add(1)
	}
	s.n++
}

func TestMillionHasTheValuesOfTheOracle(t *testing.T) {
	for _, want := range readMillion(t).Variants {
		d, seed := millionDemo, uint64(0)
		if want.Seed != nil {
			seed = *want.Seed
			d, _ = Find(fmt.Sprintf("million?seed=%d", seed))
		}
		w := &millionWriter{}
		if err := d.Write(context.Background(), Options{}, w); err != nil {
			t.Fatal(err)
		}
		h := fnv.New64a()
		sum, rank := int64(0), 0
		for id, v := range w.vs0 {
			if w.rank[id] == trace.NoRank {
				continue
			}
			if w.rank[id] != rank {
				t.Fatalf("rank %d comes after %d", w.rank[id], rank-1)
			}
			if rank < 10 && v != int64(want.First[rank]) {
				t.Errorf("process %d: %d ms, want %d", rank, v, want.First[rank])
			}
			rank++
			sum += v
			h.Write([]byte{byte(v), byte(v >> 8)})
		}
		if got := fmt.Sprintf("%016x", h.Sum64()); got != want.Hash || sum != want.Sum || rank != 1_000_000 || len(w.parent) != 1_011_110 {
			t.Errorf("seed %d: hash %s, sum %d, %d processes, %d locations; want %s, %d", seed, got, sum, rank, len(w.parent), want.Hash, want.Sum)
		}
		if n := w.strange.Load(); n != 0 {
			t.Errorf("seed %d: %d intervals are not as they should be", seed, n)
		}
	}
}

// machineLevel: of the four places whose children all differ, machines drawn as one show three and hide the processes of
// one machine.
func machineLevel(t *testing.T, l *entropy.Labels, paths []string) {
	t.Helper()
	var shown, hidden []string
	for i, path := range paths {
		means, children := map[float64]bool{}, 0
		for k := i + 1; k <= int(l.Tree.Last[i]); k = int(l.Tree.Last[k]) + 1 {
			means[l.Sum[0][k]/float64(l.Leaves[k])] = true
			children++
		}
		switch {
		case children == 0 || len(means) < children:
		case l.Tree.Leaf(i + 1):
			hidden = append(hidden, path)
		default:
			shown = append(shown, path)
		}
	}
	if fmt.Sprint(shown, hidden) != "[s2 s4/c5 s6/c3/k7] [s8/c1/k2/m9]" {
		t.Errorf("the level of machines shows %v and hides %v", shown, hidden)
	}
}

func TestMillionIsCutIn190Parts(t *testing.T) {
	if testing.Short() {
		t.Skip("labels a million leaves")
	}
	w := &millionWriter{}
	if err := millionDemo.Write(context.Background(), Options{}, w); err != nil {
		t.Fatal(err)
	}
	// Locations were defined in preorder; the root of the measure is above the sites.
	n := len(w.parent) + 1
	tree := &entropy.Tree{Parent: make([]int32, n), Last: make([]int32, n)}
	values := [][]float64{make([]float64, n), make([]float64, n)}
	paths := make([]string, n)
	tree.Parent[0] = -1
	for id := range w.parent {
		i := id + 1
		tree.Last[i] = int32(i)
		if p := w.parent[id]; p != trace.NoLocation {
			tree.Parent[i] = int32(p) + 1
			paths[i] = paths[p+1] + "/"
		}
		paths[i] += w.name[id]
		if w.rank[id] != trace.NoRank {
			values[0][i], values[1][i] = float64(w.vs0[id]), float64(1000-w.vs0[id])
		}
	}
	for i := n - 1; i > 0; i-- {
		p := tree.Parent[i]
		tree.Last[p] = max(tree.Last[p], tree.Last[i])
	}
	l := entropy.Label(tree, values, entropy.GainValues)
	machineLevel(t, l, paths)
	star, _ := l.Thresholds()
	var got []string
	for _, i := range l.Best(star, l.Odds(0.1, entropy.Normalised)).Parts {
		got = append(got, paths[i])
	}
	if want := readMillion(t).Cut; strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%d parts, want %d", len(got), len(want))
	}
}
