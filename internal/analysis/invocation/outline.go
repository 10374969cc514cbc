package invocation

import (
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/parallel"
)

// An Outline is a tree as the levels of its nodes in preorder, with sums over blocks of them, from which weights,
// sectors and the nodes of a range are found without a look at every node.
type Outline struct {
	Height int
	n      int32 // nodes
	tall   int   // the height that sums are of: that of the whole tree
	from   int32 // place of the root in the whole tree
	top    int32 // its level there
	start  int64 // sum there before it
	lift   int64 // what the weight of a node is more than there
	size   int32 // of a block
	skip   int32 // how many places of the first block have no node: those before the root
	levels levels
	own    []int64 // weights without those of callees; nil: heights
	sum    []int64 // of own weights before each block, and of all
	blocks extremes
	large  extremes // of as many blocks each as a block has nodes
}

// levels are those of an outline's nodes.
type levels interface {
	// block returns the levels of a block, in the order of nodes.
	block(b int32) []int32
	// bytes returns their memory.
	bytes() int64
}

// blockSize is how many levels in memory are a block.
const blockSize = 64

// inMemory are levels that are all at hand.
type inMemory []int32

func (l inMemory) block(b int32) []int32 { return l[b*blockSize : min(int(b+1)*blockSize, len(l))] }
func (l inMemory) bytes() int64          { return 4 * int64(len(l)) }

// extremes are the least and the greatest level in each block.
type extremes struct{ least, most []int32 }

// NewOutline takes levels in preorder; the first is 0, the root's, and no other is. The weight of a node is its height
// and the weights of its children, which share all of its sector.
func NewOutline(level []int32) *Outline { return NewWeighed(level, nil) }

// NewWeighed takes the weight that each node has without its children. They share its sector but for that part, which
// comes first.
func NewWeighed(level []int32, own []int64) *Outline {
	o := &Outline{n: int32(len(level)), size: blockSize, levels: inMemory(level), own: own}
	o.over(extremesOf(level, level, blockSize))
	inParts(len(o.blocks.least), func(b int) {
		o.sum[b+1] = o.part(int32(b), 0, min(blockSize, o.n-int32(b)*blockSize))
	})
	o.addUp()
	return o
}

// over takes the extremes of the blocks, and finds the height.
func (o *Outline) over(blocks extremes) {
	o.blocks = blocks
	o.large = extremesOf(blocks.least, blocks.most, int(o.size))
	for _, l := range o.large.most {
		o.Height = max(o.Height, int(l)+1)
	}
	o.tall = o.Height
	o.sum = make([]int64, len(blocks.least)+1)
}

// addUp makes sums of blocks the sums before them.
func (o *Outline) addUp() {
	for b := range o.blocks.least {
		o.sum[b+1] += o.sum[b]
	}
}

func extremesOf(least, most []int32, size int) (e extremes) {
	n := (len(least) + size - 1) / size
	e.least, e.most = make([]int32, n), make([]int32, n)
	inParts(n, func(b int) {
		from, to := b*size, min((b+1)*size, len(least))
		low, high := least[from], most[from]
		for i := from + 1; i < to; i++ {
			low, high = min(low, least[i]), max(high, most[i])
		}
		e.least[b], e.most[b] = low, high
	})
	return e
}

// inParts calls f for 0 to n-1 on all cores, a stretch at a time.
func inParts(n int, f func(i int)) {
	const part = 1 << 12
	_ = parallel.For(context.Background(), (n+part-1)/part, func(k int) {
		for i := k * part; i < min((k+1)*part, n); i++ {
			f(i)
		}
	})
}

// Len is the number of nodes.
func (o *Outline) Len() int { return int(o.n) }

// place is the block of a node and its place there.
func (o *Outline) place(i int32) (b, k int32) { return o.at(i) / o.size, o.at(i) % o.size }

// at is the place of a node among those of blocks.
func (o *Outline) at(i int32) int32 { return i + o.from + o.skip }

// Below returns the outline of the subtree of a node, in which it is node 0: nothing is copied. Nodes weigh less there,
// since the subtree is not as high. Not of weighed nodes.
func (o *Outline) Below(root int32) *Outline {
	sub := *o
	end := o.End(root)
	sub.n, sub.from, sub.top = end-root, o.from+root, o.top+o.Level(root)
	sub.Height = int(o.Deepest(root, end)-o.Level(root)) + 1
	sub.lift = int64(sub.Height) + int64(sub.top) - int64(o.tall)
	sub.start = 0
	sub.start = sub.before(0)
	return &sub
}

// Level of the node at a place.
func (o *Outline) Level(i int32) int32 {
	b, k := o.place(i)
	return o.levels.block(b)[k] - o.top
}

// SizeBytes returns the memory of the outline.
func (o *Outline) SizeBytes() int64 {
	return o.levels.bytes() + o.SumsBytes()
}

// SumsBytes is that without its levels.
func (o *Outline) SumsBytes() int64 { return 8*int64(len(o.own)) + 17*int64(len(o.sum)) }

// part is the sum of own weights of the nodes from…to of a block.
func (o *Outline) part(b, from, to int32) (sum int64) {
	switch {
	case from >= to:
	case o.own != nil:
		for _, w := range o.own[b*o.size+from : b*o.size+to] {
			sum += w
		}
	default:
		for _, l := range o.levels.block(b)[from:to] {
			sum += int64(o.tall) - int64(l)
		}
	}
	return sum
}

// first is the place of the first node of a block.
func (o *Outline) first(b int32) int32 {
	if b == 0 {
		return o.skip
	}
	return 0
}

// before is the sum of own weights of the nodes before a place: the weight of a subtree is a difference of two.
func (o *Outline) before(i int32) int64 {
	b, k := o.place(i)
	return o.sum[b] + o.part(b, o.first(b), k) - o.start + int64(i)*o.lift
}

// sumAt is that before a block, all of which is in the tree.
func (o *Outline) sumAt(b int32) int64 {
	return o.sum[b] - o.start + int64(b*o.size+o.first(b)-o.at(0))*o.lift
}

// base is the sum before the part of a node's sector that its children share.
func (o *Outline) base(i int32) int64 {
	if o.own != nil {
		return o.before(i)
	}
	return o.before(i + 1)
}

// End is the place behind the subtree of a node.
func (o *Outline) End(i int32) int32 { return o.nextAtMost(i+1, o.Level(i)) }

// Weight of a node: its height and the weights of its children.
func (o *Outline) Weight(i int32) int64 { return o.before(o.End(i)) - o.before(i) }

// nextAtMost is the first place from i on with this level or a lower one, or the end.
func (o *Outline) nextAtMost(i, level int32) int32 {
	large := o.size * o.size
	level += o.top
	for x := o.at(i); x < o.at(o.n); {
		switch b := x / o.size; {
		case x%large == 0 && o.large.least[x/large] > level:
			x += large
		case o.blocks.least[b] > level:
			x = (b + 1) * o.size
		default:
			for k, l := range o.levels.block(b)[x%o.size:] {
				if l <= level {
					return min(x+int32(k)-o.at(0), o.n)
				}
			}
			x = (b + 1) * o.size
		}
	}
	return o.n
}

// lastAtMost is the last place up to i with this level or a lower one; there is one.
func (o *Outline) lastAtMost(i, level int32) int32 {
	large := o.size * o.size
	level += o.top
	for x := o.at(i); ; {
		switch b := x / o.size; {
		case (x+1)%large == 0 && o.large.least[x/large] > level:
			x -= large
		case o.blocks.least[b] > level:
			x = b*o.size - 1
		default:
			list := o.levels.block(b)
			for k := x % o.size; k >= 0; k-- {
				if list[k] <= level {
					return b*o.size + k - o.at(0)
				}
			}
			x = b*o.size - 1
		}
	}
}

// Deepest is the greatest level in a stretch that is not empty.
func (o *Outline) Deepest(from, to int32) (deep int32) {
	large := o.size * o.size
	for x, end := o.at(from), o.at(to); x < end; {
		switch b := x / o.size; {
		case x%large == 0 && x+large <= end:
			deep = max(deep, o.large.most[x/large])
			x += large
		case o.blocks.most[b] <= deep:
			x = (b + 1) * o.size
		case x%o.size == 0 && x+o.size <= end:
			deep = max(deep, o.blocks.most[b])
			x += o.size
		default:
			next := min((b+1)*o.size, end)
			deep = max(deep, slices.Max(o.levels.block(b)[x%o.size:next-b*o.size]))
			x = next
		}
	}
	return deep - o.top
}

// childAt is the child of a node, whose subtree ends at end, that holds a place of the weight that they share, counted
// from its begin.
func (o *Outline) childAt(i, end int32, weight int64) int32 {
	want := o.base(i) + weight
	first, k := o.place(i + 1)
	low := first // the last block that begins at or before it
	high, _ := o.place(end - 1)
	for low < high {
		if mid := (low + high + 1) / 2; o.sumAt(mid) <= want {
			low = mid
		} else {
			high = mid - 1
		}
	}
	sum := o.before(i + 1)
	if low > first {
		k, sum = 0, o.sumAt(low)
	}
	for list := o.levels.block(low); k+1 < o.size && low*o.size+k+1 < o.at(end); k++ {
		if o.own != nil {
			sum += o.own[low*o.size+k]
		} else {
			sum += int64(o.tall) - int64(list[k]) + o.lift
		}
		if sum > want {
			break
		}
	}
	return o.lastAtMost(max(low*o.size+k-o.at(0), i+1), o.Level(i)+1)
}

// Parent of a node; -1 for the root.
func (o *Outline) Parent(i int32) int32 {
	if i == 0 {
		return -1
	}
	return o.lastAtMost(i-1, o.Level(i)-1)
}

// Chain returns the nodes whose sectors hold an angle, from the root to a level or as far as there are any.
func (o *Outline) Chain(angle float64, level int32) []int32 {
	chain, i, end := []int32{0}, int32(0), o.n
	start, alloc := 0.0, 360.0
	for range level {
		base := o.base(i)
		total := o.before(end) - base
		weight := int64((angle - start) / alloc * float64(total))
		if total == 0 || i+1 == end || weight < 0 || o.own != nil && weight < o.own[i] {
			break
		}
		c := o.childAt(i, end, min(weight, total-1))
		at, next := o.before(c), o.End(c)
		start += alloc * (float64(at-base) / float64(total))
		alloc *= float64(o.before(next)-at) / float64(total)
		chain, i, end = append(chain, c), c, next
	}
	return chain
}

// Sector of a node, in degrees: that of its parent shared among its children by weight.
func (o *Outline) Sector(i int32) (start, alloc float64) {
	chain := []int32{}
	for at := i; at > 0; at = o.Parent(at) {
		chain = append(chain, at)
	}
	start, alloc = 0, 360
	for k := len(chain) - 1; k >= 0; k-- {
		c := chain[k]
		up := int32(0)
		if k+1 < len(chain) {
			up = chain[k+1]
		}
		base := o.base(up)
		at, total := o.before(c), float64(o.before(o.End(up))-base)
		start += alloc * (float64(at-base) / total)
		alloc *= float64(o.before(o.End(c))-at) / total
	}
	return start, alloc
}
