package grouping

import (
	"context"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/parallax-hpc/parallax/internal/parallel"
)

// Options of Group.
type Options struct {
	By Likeness
	// K groups; 0: by Threshold, or as many as are clearest.
	K int
	// Threshold: groups merge while their members are at least this alike, on average.
	Threshold float64
	// Sample bounds how many locations are compared each with each.
	Sample int
	Seed   uint64
	// Kinds numbers the kind of each location, such as GPU or thread: no group has two kinds, unless K or Threshold ask
	// for that. nil: all are of one.
	Kinds []int32
	// Partition: groups and their medoids are all that is wanted.
	Partition bool
}

const (
	// MostSample is the largest sample, and the default.
	MostSample = 1000
	// mostAuto is the number of groups that are looked for where no number is given, and
	// mostKinds how many where so few are not clear and more are: locations of many
	// kinds, such as goroutines.
	mostAuto, mostKinds = 8, 64
	// clearKinds is the least silhouette of so many, and nearly how much less than
	// the clearest is about as good.
	clearKinds, nearly = 0.5, 0.02
	// clear is the least silhouette of groups worth telling apart, and alike
	// the mean similarity above which all are one group whatever it is.
	clear, alike = 0.4, 0.985
	// leastSplit is how many locations of one signature may be several groups.
	leastSplit = 6
	// jump is how much farther apart than all others a group must be to be one
	// where silhouettes are not clear.
	jump = 1.4
)

// Groups is a partition of locations into groups, the largest first. If only the partition was asked for, the order of
// the sampled locations and the fields after it are empty.
type Groups struct {
	// Of holds the group of each location.
	Of []int32
	// Members of each group, ascending, and the one most like the others.
	Members [][]int32
	Medoid  []int32
	// Order has the locations so that neighbours are alike: leaves of the dendrogram,
	// and after each group's sampled locations the others of it.
	Order []int32
	// Sampled are the locations compared each with each, in the order of the
	// dendrogram; Similarity[i*len(Sampled)+j] of two of them.
	Sampled    []int32
	Similarity []float32
	// Tree is the dendrogram over places in Sampled.
	Tree []Merge
	// Silhouette of the partition over the sample, from -1 to 1; 0 for one group.
	Silhouette float64
	// Cost is the mean distance of all locations from the medoid of their group.
	Cost float64

	signed []int32 // by location: groups are within those of one number; nil: of all
	kinds  []int32 // as in Options
}

// A Merge joins two subtrees, runs of places in the order of the dendrogram.
type Merge struct {
	From, Middle, To int // [From, Middle) and [Middle, To)
	Height           float64
}

// Group partitions locations. With n ≤ Sample all are compared: O(n² × columns).
// Otherwise a seeded sample with each class of structure in it is, and the others go
// to the nearest medoid. A sample of a quarter of that comes before it: those far from
// all its medoids are taken into the other, so that a single odd location is not
// lost: O((Sample² + n × groups) × columns).
func Group(t *Table, o Options) *Groups {
	if o.Sample <= 0 || o.Sample > MostSample {
		o.Sample = MostSample
	}
	var far []int32
	if t.Len > o.Sample {
		first := o
		first.Sample, first.Partition = max(o.Sample/4, 1), true
		coarse := t.link(t.sample(first, nil), first)
		far = coarse.farthest(t.assign(coarse, o), o.Sample/8)
	}
	g := t.link(t.sample(o, far), o)
	if len(g.Sampled) < t.Len {
		t.assign(g, o)
	}
	g.finish(t, o)
	return g
}

// sample chooses locations, ascending: those in far, one of each class of
// structure while there is room, then any.
func (t *Table) sample(o Options, far []int32) []int32 {
	if t.Len <= o.Sample {
		all := make([]int32, t.Len)
		for i := range all {
			all[i] = int32(i)
		}
		return all
	}
	r := rand.New(rand.NewPCG(o.Seed, 0x67726f7570))
	taken := make(map[int32]bool, o.Sample)
	for _, i := range far {
		taken[i] = true
	}
	shuffled := r.Perm(t.Len)
	met := map[int32]bool{}
	for _, i := range shuffled {
		if len(taken) < o.Sample*3/4 && !met[t.class[i]] {
			met[t.class[i]] = true
			taken[int32(i)] = true
		}
	}
	for _, i := range shuffled {
		if len(taken) == o.Sample {
			break
		}
		taken[int32(i)] = true
	}
	out := make([]int32, 0, len(taken))
	for i := range taken {
		out = append(out, i)
	}
	slices.Sort(out)
	return out
}

// distances of all pairs of a sample, on all cores.
func (t *Table) distances(ids []int32, by Likeness) []float32 {
	m := len(ids)
	d := make([]float32, m*m)
	// Some rows at a time: writes across them are adjacent in memory.
	parallel.Ranges(context.Background(), m, 16, func(from, to int) {
		for j := from + 1; j < m; j++ {
			for i := from; i < min(j, to); i++ {
				x := float32(1 - t.Similarity(int(ids[i]), int(ids[j]), by))
				d[i*m+j], d[j*m+i] = x, x
			}
		}
	})
	return d
}

// assign gives every location outside the sample the group of the nearest medoid; it returns how far off each is.
func (t *Table) assign(g *Groups, o Options) (off []float32) {
	off = make([]float32, t.Len)
	in := make([]bool, t.Len)
	for _, i := range g.Sampled {
		in[i] = true
	}
	parallel.Ranges(context.Background(), t.Len, 256, func(from, to int) {
		for i := from; i < to; i++ {
			if in[i] {
				continue
			}
			best := -1.0
			for _, own := range []bool{true, false} { // of its own signature, where there is one
				for k, m := range g.Medoid {
					if g.signed != nil && own && g.signed[i] != g.signed[m] {
						continue
					}
					if s := t.Similarity(i, int(m), o.By); s > best {
						best = s
						g.Of[i] = int32(k)
					}
				}
				if best >= 0 {
					break
				}
			}
			off[i] = float32(1 - best)
		}
	})
	return off
}

// farthest returns locations outside the sample that are among the n farthest off, the first of those equally far.
func (g *Groups) farthest(off []float32, n int) (far []int32) {
	most := make([]int32, 0, n+1) // farthest first
	for i, x := range off {
		if len(most) < n || n > 0 && x > off[most[n-1]] {
			at := sort.Search(len(most), func(k int) bool { return off[most[k]] < x })
			most = slices.Insert(most, at, int32(i))
			most = most[:min(len(most), n)]
		}
	}
	return slices.DeleteFunc(most, func(i int32) bool { return slices.Contains(g.Sampled, i) })
}

// finish numbers groups by size and lists members and order.
func (g *Groups) finish(t *Table, o Options) {
	k := len(g.Medoid)
	size := make([]int, k)
	first := make([]int, k)
	for i := t.Len - 1; i >= 0; i-- {
		size[g.Of[i]]++
		first[g.Of[i]] = i
	}
	rank := make([]int, k)
	for i := range rank {
		rank[i] = i
	}
	sort.SliceStable(rank, func(a, b int) bool {
		if x, y := size[rank[a]], size[rank[b]]; x != y {
			return x > y
		}
		return first[rank[a]] < first[rank[b]]
	})
	number, medoid := make([]int32, k), make([]int32, k)
	for n, old := range rank {
		number[old], medoid[n] = int32(n), g.Medoid[old]
	}
	g.Medoid = medoid
	g.Members = make([][]int32, k)
	for i, old := range g.Of {
		g.Of[i] = number[old]
		g.Members[g.Of[i]] = append(g.Members[g.Of[i]], int32(i))
	}
	if o.Partition {
		return
	}
	g.order(t.Len)
	for i, c := range g.Of {
		g.Cost += 1 - t.Similarity(i, int(g.Medoid[c]), o.By)
	}
	g.Cost /= float64(max(t.Len, 1))
}

// order lists the sampled leaves, and after the last of each group the others of it.
func (g *Groups) order(n int) {
	left := make([]int, len(g.Members)) // sampled members still to come
	in := make([]bool, n)
	for _, i := range g.Sampled {
		left[g.Of[i]]++
		in[i] = true
	}
	g.Order = make([]int32, 0, n)
	for _, i := range g.Sampled {
		g.Order = append(g.Order, i)
		if left[g.Of[i]]--; left[g.Of[i]] == 0 {
			for _, m := range g.Members[g.Of[i]] {
				if !in[m] {
					g.Order = append(g.Order, m)
				}
			}
		}
	}
}

// Renumber makes location order[i] number i.
func (g *Groups) Renumber(order []int32) {
	number := make([]int32, len(order))
	of := make([]int32, len(order))
	for i, old := range order {
		number[old], of[i] = int32(i), g.Of[old]
	}
	g.Of = of
	for _, list := range append([][]int32{g.Medoid, g.Order, g.Sampled}, g.Members...) {
		for i, old := range list {
			list[i] = number[old]
		}
	}
	for _, members := range g.Members {
		slices.Sort(members)
	}
}
