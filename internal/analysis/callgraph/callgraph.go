// Package callgraph puts calls into buckets: per region (profile), per caller and
// callee (call matrix), per call path (call tree), each with counts, totals and
// the distribution over calls.
//
// After Brendel, "Evaluating Visualisation Methods to Scalably Display Structural
// and Runtime Differences in Parallel Programs". A call is an interval; its caller
// is the interval around it on the same lane, one in another lane that the format tells
// (trace.Columns.Callers), or the virtual root. Every call is
// one point of its bucket, nested calls of one region too, so inclusive times of
// recursive calls overlap; Outermost counts each time range once.
//
//	Collector   rows of many locations → buckets of each
//	Graph       the buckets of one location, or of several merged
//	Digest      the calls of a lane by call path, prepared at import
//	Gather      a whole selection → rows, in bounded memory, from digests or rows
//	Reachable   transitive closure of the pairs alone (static)
//	Locate …    the square of a matrix cell: rings, slices, hit test
//	Jaccard …   how alike two locations are
//
// Regions are seen through nodes: a node is all regions of one name, or of one
// category. Calls belong to the window in which they begin, at full duration.
package callgraph

import (
	"unsafe"

	"github.com/parallax-hpc/parallax/internal/analysis/quantile"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Root is the node of the virtual caller of calls without a caller.
const Root = int32(-1)

// A Pair names a bucket: nodes of who called and of who was called.
type Pair struct{ Caller, Callee int32 }

func (p Pair) key() uint64 { return uint64(uint32(p.Caller))<<32 | uint64(uint32(p.Callee)) }

// Before orders pairs by caller, the root first, then by callee.
func (p Pair) Before(o Pair) bool {
	return p.Caller < o.Caller || p.Caller == o.Caller && p.Callee < o.Callee
}

// A Bucket holds the calls of one pair.
type Bucket struct {
	Pair
	Count     int64
	Inclusive trace.Sum // over calls, ns
	Exclusive trace.Sum
	// Outermost is the inclusive time of the calls with no call of the same callee around them. A region's
	// share of the run is computed from it.
	Outermost trace.Sum
	// Calls is the distribution of the measure that was asked for.
	Calls quantile.Sketch
}

func (b *Bucket) merge(o *Bucket) {
	b.Count += o.Count
	b.Inclusive.AddSum(o.Inclusive)
	b.Exclusive.AddSum(o.Exclusive)
	b.Outermost.AddSum(o.Outermost)
	b.Calls.Merge(&o.Calls)
}

// A Graph holds buckets by pair. The zero Graph is empty.
type Graph struct {
	buckets []Bucket
	slots   []int32 // open addressing: index + 1 into buckets
	// condensed: some distributions are box plots alone, which do not merge.
	condensed bool
	also      *Graph // the buckets by Collector.Also; nil: none yet
}

// Len is the number of pairs.
func (g *Graph) Len() int { return len(g.buckets) }

// Buckets in order of their first call. They may be changed in place.
func (g *Graph) Buckets() []Bucket { return g.buckets }

// At returns the bucket of a pair, made if there is none. It is valid until the
// next new pair.
func (g *Graph) At(p Pair) *Bucket {
	if len(g.slots) == 0 {
		g.slots = make([]int32, 16)
	}
	mask := uint64(len(g.slots) - 1)
	for h := hash(p.key()); ; h++ {
		switch k := g.slots[h&mask]; {
		case k == 0:
			return g.insert(p)
		case g.buckets[k-1].Pair == p:
			return &g.buckets[k-1]
		}
	}
}

// find returns the place of a bucket that there is.
func (g *Graph) find(p Pair) int32 {
	mask := uint64(len(g.slots) - 1)
	for h := hash(p.key()); ; h++ {
		if k := g.slots[h&mask]; g.buckets[k-1].Pair == p {
			return k - 1
		}
	}
}

func (g *Graph) insert(p Pair) *Bucket {
	if n := len(g.buckets); n < cap(g.buckets) { // the room of a graph before this one
		g.buckets = g.buckets[:n+1]
		calls := g.buckets[n].Calls
		calls.Reset()
		g.buckets[n] = Bucket{Pair: p, Calls: calls}
	} else {
		g.buckets = append(g.buckets, Bucket{Pair: p})
	}
	if 2*len(g.buckets) > len(g.slots) {
		g.slots = make([]int32, 2*len(g.slots))
		for i := range g.buckets {
			g.put(i)
		}
	} else {
		g.put(len(g.buckets) - 1)
	}
	return &g.buckets[len(g.buckets)-1]
}

// room makes some for n pairs, if there are none yet.
func (g *Graph) room(n int) {
	if cap(g.buckets) == 0 {
		g.buckets = make([]Bucket, 0, min(n, mostRoom))
		slots := 16
		for slots < 2*cap(g.buckets) {
			slots *= 2
		}
		g.slots = make([]int32, slots)
	}
}

// mostRoom is for how many pairs room is made ahead: paths may be many more than pairs.
const mostRoom = 64

func (g *Graph) put(i int) {
	mask := uint64(len(g.slots) - 1)
	h := hash(g.buckets[i].key())
	for g.slots[h&mask] != 0 {
		h++
	}
	g.slots[h&mask] = int32(i + 1)
}

func hash(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	return x ^ x>>29
}

// sizeBytes returns the memory of the graph.
func (g *Graph) sizeBytes() int64 {
	n := int64(cap(g.buckets))*int64(unsafe.Sizeof(Bucket{})) + int64(len(g.slots))*4
	for i := range g.buckets {
		n += g.buckets[i].Calls.SizeBytes()
	}
	if g.also != nil {
		n += g.also.sizeBytes()
	}
	return n
}

// reset empties the graph and keeps its room.
func (g *Graph) reset() {
	g.buckets = g.buckets[:0]
	g.condensed = false
	clear(g.slots)
	if g.also != nil {
		g.also.reset()
	}
}

// further returns the graph by Collector.Also.
func (g *Graph) further() *Graph {
	if g.also == nil {
		g.also = &Graph{}
	}
	return g.also
}

// Merge adds the calls of another graph.
func (g *Graph) Merge(o *Graph) {
	for i := range o.buckets {
		g.At(o.buckets[i].Pair).merge(&o.buckets[i])
	}
	if o.also != nil {
		g.further().Merge(o.also)
	}
}
