package grouping

import (
	"context"
	"math"
	"slices"
	"sort"

	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
	"github.com/parallax-hpc/parallax/internal/parallel"
)

// A join is one step of the linkage: clusters are numbered 0 … m-1 for the items
// and m, m+1 … for the joins in order of height.
type join struct {
	a, b   int
	height float64
}

// link cuts a sample into groups, and unless these are all that is wanted shows by a dendrogram how alike its locations
// are.
func (t *Table) link(ids []int32, o Options) *Groups {
	m := len(ids)
	g := &Groups{Of: make([]int32, t.Len), Sampled: ids, kinds: o.Kinds}
	signed := t.signed(o)
	g.signed = signed
	if o.Partition && signed != nil { // how far apart signatures are does not matter
		t.divide(g, ids, signed, o, func(_ []int, part []int32) []float32 { return t.distances(part, o.By) })
		return g
	}
	d := t.distances(ids, o.By)
	var joins []join
	if signed != nil {
		t.divide(g, ids, signed, o, func(in []int, _ []int32) []float32 { return among(d, m, in) })
	} else {
		joins = averageLinkage(d, m)
		of := cut(d, joins, m, o)
		t.setApart(of, ids, o)
		g.add(ids, d, of)
	}
	if o.Partition {
		return g
	}
	if signed != nil {
		joins = averageLinkage(apartBy(d, ids, signed), m)
		lower(joins)
	}
	of := make([]int, m)
	for i, id := range ids {
		of[i] = int(g.Of[id])
	}
	order, tree := leaves(joins, m)
	g.Silhouette, g.Tree = silhouette(d, of, m), tree
	g.Sampled, g.Similarity = make([]int32, m), make([]float32, m*m)
	parallel.For(context.Background(), m, func(i int) {
		a := order[i]
		g.Sampled[i] = ids[a]
		for j, b := range order {
			g.Similarity[i*m+j] = 1 - d[a*m+b]
		}
	})
	return g
}

// divide gives each signature a group, or several where its items are clearly so. distances gives those among some
// items, by their places in the sample and by their locations.
func (t *Table) divide(g *Groups, ids, signed []int32, o Options, distances func(in []int, part []int32) []float32) {
	in := make([][]int, slices.Max(signed)+1)
	for i, id := range ids {
		in[signed[id]] = append(in[signed[id]], i)
	}
	for _, in := range in {
		n := len(in)
		if n == 0 {
			continue
		}
		part := make([]int32, n)
		for i, a := range in {
			part[i] = ids[a]
		}
		d, of := distances(in, part), make([]int, n)
		if n >= leastSplit {
			of = cut(d, averageLinkage(d, n), n, o)
			t.setApart(of, part, o)
		}
		g.add(part, d, of)
	}
}

// add takes items as further groups: of numbers these, and d is how far apart the items are.
func (g *Groups) add(ids []int32, d []float32, of []int) {
	first, k := len(g.Medoid), 0
	for i, id := range ids {
		g.Of[id] = int32(first + of[i])
		k = max(k, of[i]+1)
	}
	for _, i := range medoids(d, of, len(ids), k) {
		g.Medoid = append(g.Medoid, ids[i])
	}
}

// among returns the distances among some of m items.
func among(d []float32, m int, in []int) []float32 {
	n := len(in)
	part := make([]float32, n*n)
	for i, a := range in {
		for j, b := range in {
			part[i*n+j] = d[a*m+b]
		}
	}
	return part
}

// averageLinkage joins the clusters that are nearest on average, by chains of
// nearest neighbours: O(m²) after the distances. Joins come in order of height.
func averageLinkage(distance []float32, m int) []join {
	never := float32(math.Inf(1)) // as far as each is from itself
	d := slices.Clone(distance)
	size := make([]float64, m)
	left := make([]int, m) // not joined into another yet, ascending
	for i := range size {
		size[i], left[i] = 1, i
		d[i*m+i] = never
	}
	type pair struct {
		a, b   int // any item of each
		height float64
	}
	var pairs []pair
	var chain []int
	for len(pairs) < m-1 {
		if len(chain) == 0 {
			chain = append(chain, left[0])
		}
		at := chain[len(chain)-1]
		best, near := -1, never
		if len(chain) > 1 { // of equal ones the one before wins, so chains end
			best = chain[len(chain)-2]
			near = d[at*m+best]
		}
		row := d[at*m : (at+1)*m]
		for _, j := range left {
			if x := row[j]; x < near {
				best, near = j, x
			}
		}
		if len(chain) < 2 || best != chain[len(chain)-2] {
			chain = append(chain, best)
			continue
		}
		chain = chain[:len(chain)-2]
		a, b := min(at, best), max(at, best)
		pairs = append(pairs, pair{a, b, float64(near)})
		i, _ := slices.BinarySearch(left, b)
		left = slices.Delete(left, i, i+1)
		da, db, both := d[a*m:(a+1)*m], d[b*m:(b+1)*m], size[a]+size[b]
		for _, j := range left {
			x := float32((float64(da[j])*size[a] + float64(db[j])*size[b]) / both)
			da[j], d[j*m+a] = x, x
		}
		da[a] = never
		size[a] = both
	}
	sort.SliceStable(pairs, func(i, j int) bool { return pairs[i].height < pairs[j].height })
	top := make([]int, m) // the newest cluster of each item's set, by its root
	parent := make([]int, m)
	for i := range m {
		top[i], parent[i] = i, i
	}
	var find func(int) int
	find = func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	joins := make([]join, len(pairs))
	for k, p := range pairs {
		a, b := find(p.a), find(p.b)
		joins[k] = join{top[a], top[b], p.height}
		parent[b] = a
		top[a] = m + k
	}
	return joins
}

// leaves returns the items in the order of the dendrogram, of two subtrees the one
// with the lower item first, and the joins as runs of that order.
func leaves(joins []join, m int) (order []int, tree []Merge) {
	lowest := make([]int, m+len(joins))
	for i := range m {
		lowest[i] = i
	}
	for k, j := range joins {
		lowest[m+k] = min(lowest[j.a], lowest[j.b])
	}
	var walk func(c int)
	walk = func(c int) {
		if c < m {
			order = append(order, c)
			return
		}
		j := joins[c-m]
		a, b := j.a, j.b
		if lowest[b] < lowest[a] {
			a, b = b, a
		}
		from := len(order)
		walk(a)
		middle := len(order)
		walk(b)
		tree = append(tree, Merge{from, middle, len(order), j.height})
	}
	if m > 0 {
		walk(m + len(joins) - 1)
	}
	return order, tree
}

// cutInto gives each item its cluster after all but k-1 joins.
func cutInto(joins []join, m, k int) []int {
	parent := make([]int, m+len(joins))
	for i := range parent {
		parent[i] = i
	}
	for n := range max(len(joins)-(k-1), 0) {
		parent[joins[n].a], parent[joins[n].b] = m+n, m+n
	}
	number := map[int]int{}
	of := make([]int, m)
	for i := range of {
		c := i
		for parent[c] != c {
			c = parent[c]
		}
		n, ok := number[c]
		if !ok {
			n = len(number)
			number[c] = n
		}
		of[i] = n
	}
	return of
}

// signed returns the signature of each location: its set of callees, or its kind where sets do not distinguish few
// groups. It is nil if there are no kinds either, or if the options ask for other groups.
func (t *Table) signed(o Options) []int32 {
	switch {
	case o.K > 0 || o.Threshold > 0:
		return nil
	case o.By != Time && t.Signatures > 1 && t.Signatures <= mostAuto && 2*t.Signatures <= t.Len:
		return t.signature
	case len(o.Kinds) > 0 && slices.Min(o.Kinds) != slices.Max(o.Kinds):
		return o.Kinds
	}
	return nil
}

// apartBy puts items of different signatures farther apart than any others, so that
// linkage joins those of one first.
func apartBy(d []float32, ids, signed []int32) []float32 {
	out, m := slices.Clone(d), len(ids)
	for i, a := range ids {
		for j, b := range ids {
			if signed[a] != signed[b] {
				out[i*m+j]++
			}
		}
	}
	return out
}

// lower subtracts the heights that apartBy added, so that they still grow.
func lower(joins []join) {
	highest := 0.0
	for i := range joins {
		if joins[i].height > 1 {
			joins[i].height--
		}
		highest = max(highest, joins[i].height)
		joins[i].height = highest
	}
}

// cut decides how many groups there are.
func cut(d []float32, joins []join, m int, o Options) []int {
	switch {
	case o.K > 0:
		return cutInto(joins, m, min(o.K, m))
	case o.Threshold > 0:
		k := 1
		for _, j := range joins {
			if j.height > 1-o.Threshold {
				k++
			}
		}
		return cutInto(joins, m, k)
	}
	one := make([]int, m)
	if m < 3 || mean(d, m) < 1-alike && joins[len(joins)-1].height < 4*(1-alike) {
		return one
	}
	cuts := newCuts(d, joins, m, min(mostKinds, m-1))
	values := cuts.silhouettes(min(mostAuto, m-1))
	best, groups := clear, 0
	for k := 2; k < len(values); k++ {
		if values[k] > best+1e-9 {
			best, groups = values[k], k
		}
	}
	if groups > 0 {
		return cutInto(joins, m, groups)
	}
	values = cuts.silhouettes(min(mostKinds, m-1))
	if clearest := slices.Max(values); clearest > clearKinds {
		// Among cuts that are about as clear, take the one between the joins farthest apart.
		widest := -1.0
		for k := mostAuto + 1; k < len(values); k++ {
			apart := joins[m-k].height - joins[max(m-k-1, 0)].height
			if values[k] >= clearest-nearly && apart > widest {
				widest, groups = apart, k
			}
		}
		return cutInto(joins, m, groups)
	}
	// Some that stand apart from others which are no groups themselves: a jump
	// in the heights of the last joins.
	widest, of := jump, one
	for k := 2; k <= min(mostAuto, m-1); k++ {
		if r := joins[m-k].height / joins[m-k-1].height; r > widest {
			widest, of = r, cutInto(joins, m, k)
		}
	}
	return of
}

const (
	// outlying is how many robust standard deviations from the median stand out, as for moments, and far how many times
	// as much or as little.
	outlying, far = 3.5, 2
	// mostOutlying is the part of all that may stand out; more are another kind.
	mostOutlying = 0.2
)

// setApart makes groups of the few locations that have far more or far less time than the others, if all were one
// group: if each differs from each, as GPUs with other kernels do, no distance tells that one has several times as
// much.
func (t *Table) setApart(of []int, ids []int32, o Options) {
	n := len(ids)
	if o.By == Structure || o.K > 0 || o.Threshold > 0 || n < leastSplit || t.Len > o.Sample || slices.Max(of) > 0 {
		return
	}
	totals := make([]float64, n)
	for i, id := range ids {
		totals[i] = t.total[id]
	}
	middle, unit := orderstat.Deviation(totals)
	var less, more []int
	for i, id := range ids {
		switch x := t.total[id]; {
		case x < middle/far && x < middle-outlying*unit:
			less = append(less, i)
		case x > middle*far && x > middle+outlying*unit:
			more = append(more, i)
		}
	}
	if float64(len(less)+len(more)) > mostOutlying*float64(n) {
		return
	}
	k := 0
	for _, list := range [][]int{less, more} {
		if len(list) > 0 {
			k++
		}
		for _, i := range list {
			of[i] = k
		}
	}
}

func mean(d []float32, m int) float64 {
	sum := 0.0
	for _, x := range d {
		sum += float64(x)
	}
	return sum / float64(m*(m-1))
}

// medoids returns the item of each cluster with the least distance to its others.
func medoids(d []float32, of []int, m, k int) []int {
	best := make([]int, k)
	least := make([]float64, k)
	for c := range best {
		best[c], least[c] = -1, math.Inf(1)
	}
	sums := make([]float64, m)
	parallel.For(context.Background(), m, func(i int) {
		for j, x := range d[i*m : (i+1)*m] {
			if of[j] == of[i] {
				sums[i] += float64(x)
			}
		}
	})
	for i, sum := range sums {
		if sum < least[of[i]] {
			best[of[i]], least[of[i]] = i, sum
		}
	}
	return best
}
