// Package replay compares the replays of CUDA and HIP graphs: one call starts many pieces of work, the nodes of a
// graph, and the same graph is started again and again.
//
// Some sources record the graph and node of a piece (Nsight). In others (PyTorch's profiler), launches whose pieces
// have the same names belong to one graph, and the n-th piece of a name, in order of time, is one node.
//
// O(n log n) in the pieces that graphs started.
package replay

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// IsLaunch reports whether a region is a call that starts a graph.
func IsLaunch(g *trace.Region) bool {
	return strings.Contains(strings.ToLower(g.Name), "graphlaunch")
}

// A Piece is work that a graph started.
type Piece struct {
	Launch     int // which call
	GPU        int32
	Begin, End trace.Time
	Region     trace.RegionID
	Graph      int64 // as the source numbers it; negative: unknown
	Node       int64
}

// A Node is one node of a graph over all replays.
type Node struct {
	Region                 trace.RegionID
	ID                     int64 // as the source numbers it; negative: unknown
	Nth                    int   // of its name in the graph, from 1
	Count                  int
	Time, Least, Most      trace.Time
	Mean, Deviation, Start float64 // Start: from the begin of the replay, on average
	slowest                int
	squares                float64
}

// A Replay is one start of a graph.
type Replay struct {
	Launch     int
	Begin, End trace.Time
	Busy       trace.Time // of all pieces, added up
}

// Span is from its first piece to the end of the last.
func (r *Replay) Span() trace.Time { return r.End - r.Begin }

// A Graph is a graph with its replays and nodes, these in the order of a replay.
type Graph struct {
	GPU     int32
	ID      int64 // as the source numbers it; negative: unknown
	Nodes   []Node
	Replays []Replay
	// Statistics of the spans of replays.
	Mean, Deviation float64
	Least, Most     trace.Time
	Median          trace.Time
	Slowest         int // of Replays
	Heaviest        int // of Nodes: the one with the longest mean
}

// Time of all replays.
func (g *Graph) Time() (sum trace.Time) {
	for i := range g.Replays {
		sum += g.Replays[i].Span()
	}
	return sum
}

type key struct {
	gpu   int32
	graph int64
	sign  uint64
	n     int
}

// Compare groups pieces by launch and launches by graph, most time first. Graphs of a single piece are left out:
// nothing is to be distinguished.
func Compare(pieces []Piece) []Graph {
	slices.SortFunc(pieces, func(a, b Piece) int {
		return cmp.Or(cmp.Compare(a.GPU, b.GPU), cmp.Compare(a.Launch, b.Launch), cmp.Compare(a.Begin, b.Begin),
			cmp.Compare(a.End, b.End), cmp.Compare(a.Region, b.Region))
	})
	at := map[key]int{}
	var out []Graph
	index := []map[nodeKey]int{}
	for i := 0; i < len(pieces); {
		k := i + 1
		for k < len(pieces) && pieces[k].Launch == pieces[i].Launch && pieces[k].GPU == pieces[i].GPU {
			k++
		}
		some := pieces[i:k]
		i = k
		if len(some) < 2 {
			continue
		}
		id := keyOf(some)
		n, ok := at[id]
		if !ok {
			n = len(out)
			at[id] = n
			out = append(out, Graph{GPU: id.gpu, ID: some[0].Graph})
			index = append(index, map[nodeKey]int{})
		}
		out[n].add(some, index[n])
	}
	for i := range out {
		out[i].finish()
	}
	slices.SortStableFunc(out, func(a, b Graph) int { return cmp.Compare(b.Time(), a.Time()) })
	return out
}

// keyOf returns the graph that a launch started.
func keyOf(some []Piece) key {
	if some[0].Graph >= 0 {
		return key{gpu: some[0].GPU, graph: some[0].Graph}
	}
	names := make([]trace.RegionID, len(some))
	for i := range some {
		names[i] = some[i].Region
	}
	slices.Sort(names)
	h := fnv.New64a()
	for _, r := range names {
		_, _ = h.Write([]byte{byte(r), byte(r >> 8), byte(r >> 16), byte(r >> 24)})
	}
	return key{some[0].GPU, -1, h.Sum64(), len(some)}
}

type nodeKey struct {
	id     int64
	region trace.RegionID
	nth    int
}

func (g *Graph) add(some []Piece, nodes map[nodeKey]int) {
	r := Replay{Launch: some[0].Launch, Begin: some[0].Begin, End: some[0].End}
	nth := map[trace.RegionID]int{}
	for i := range some {
		p := &some[i]
		r.End = max(r.End, p.End)
		r.Busy += p.End - p.Begin
		nth[p.Region]++
		k := nodeKey{p.Node, p.Region, 0}
		if p.Node < 0 {
			k.nth = nth[p.Region]
		}
		n, ok := nodes[k]
		if !ok {
			n = len(g.Nodes)
			nodes[k] = n
			g.Nodes = append(g.Nodes, Node{Region: p.Region, ID: p.Node, Nth: nth[p.Region], Least: math.MaxInt64})
		}
		x := &g.Nodes[n]
		d := p.End - p.Begin
		x.Count++
		x.Time += d
		x.squares += float64(d) * float64(d)
		x.Least = min(x.Least, d)
		if d > x.Most {
			x.Most, x.slowest = d, len(g.Replays)
		}
		x.Start += float64(p.Begin - r.Begin)
	}
	g.Replays = append(g.Replays, r)
}

// Slow is the replay in which the node took longest.
func (n *Node) Slow() int { return n.slowest }

func (g *Graph) finish() {
	for i := range g.Nodes {
		x := &g.Nodes[i]
		x.Mean = float64(x.Time) / float64(x.Count)
		x.Deviation = math.Sqrt(max(x.squares/float64(x.Count)-x.Mean*x.Mean, 0))
		x.Start /= float64(x.Count)
	}
	slices.SortStableFunc(g.Nodes, func(a, b Node) int { return cmp.Compare(a.Start, b.Start) })
	for i := range g.Nodes {
		if g.Nodes[i].Mean > g.Nodes[g.Heaviest].Mean {
			g.Heaviest = i
		}
	}
	spans := make([]trace.Time, len(g.Replays))
	squares := 0.0
	for i := range g.Replays {
		spans[i] = g.Replays[i].Span()
		g.Mean += float64(spans[i])
		squares += float64(spans[i]) * float64(spans[i])
		if spans[i] > spans[g.Slowest] {
			g.Slowest = i
		}
	}
	n := float64(len(spans))
	g.Mean /= n
	g.Deviation = math.Sqrt(max(squares/n-g.Mean*g.Mean, 0))
	slices.Sort(spans)
	g.Least, g.Most, g.Median = spans[0], spans[len(spans)-1], spans[(len(spans)-1)/2]
}
