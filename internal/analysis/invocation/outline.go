package invocation

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/parallel"
)

// An Outline is a tree as the levels of its nodes in preorder, with sums over blocks of them, from which weights,
// sectors and the nodes of a range are found without a look at every node. 4 bytes a node, and 16 for each block of
// 64.
type Outline struct {
	Height int
	level  []int32
	own    []int64 // weights without those of callees; nil: heights
	sum    []int64 // of own weights before each block, and of all
	blocks extremes
	large  extremes // of 64 blocks each
}

const blockSize = 64

// extremes are the least and the greatest level in each block.
type extremes struct{ least, most []int32 }

// NewOutline takes levels in preorder; the first is 0, the root's, and no other is. The weight of a node is its height
// and the weights of its children, which share all of its sector.
func NewOutline(level []int32) *Outline { return NewWeighed(level, nil) }

// NewWeighed takes the weight that each node has without its children. They share its sector but for that part, which
// comes first.
func NewWeighed(level []int32, own []int64) *Outline {
	o := &Outline{level: level, own: own}
	o.blocks = extremesOf(level, level)
	o.large = extremesOf(o.blocks.least, o.blocks.most)
	for _, l := range o.large.most {
		o.Height = max(o.Height, int(l)+1)
	}
	o.sum = make([]int64, len(o.blocks.least)+1)
	inParts(len(o.blocks.least), func(b int) {
		o.sum[b+1] = o.stretch(b*blockSize, min((b+1)*blockSize, len(level)))
	})
	for b := range o.blocks.least {
		o.sum[b+1] += o.sum[b]
	}
	return o
}

func extremesOf(least, most []int32) (e extremes) {
	n := (len(least) + blockSize - 1) / blockSize
	e.least, e.most = make([]int32, n), make([]int32, n)
	inParts(n, func(b int) {
		from, to := b*blockSize, min((b+1)*blockSize, len(least))
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
func (o *Outline) Len() int { return len(o.level) }

// Level of the node at a place.
func (o *Outline) Level(i int32) int32 { return o.level[i] }

// SizeBytes returns the memory of the outline.
func (o *Outline) SizeBytes() int64 {
	return 4*int64(len(o.level)) + 8*int64(len(o.own)) + 17*int64(len(o.sum))
}

// stretch is the sum of own weights from a place to another.
func (o *Outline) stretch(from, to int) (sum int64) {
	if o.own != nil {
		for _, w := range o.own[from:to] {
			sum += w
		}
		return sum
	}
	for _, l := range o.level[from:to] {
		sum += int64(o.Height) - int64(l)
	}
	return sum
}

// before is the sum of own weights of the nodes before a place: the weight of a subtree is a difference of two.
func (o *Outline) before(i int32) int64 {
	b := i / blockSize
	return o.sum[b] + o.stretch(int(b)*blockSize, int(i))
}

// base is the sum before the part of a node's sector that its children share.
func (o *Outline) base(i int32) int64 {
	if o.own != nil {
		return o.before(i)
	}
	return o.before(i + 1)
}

// End is the place behind the subtree of a node.
func (o *Outline) End(i int32) int32 { return o.nextAtMost(i+1, o.level[i]) }

// Weight of a node: its height and the weights of its children.
func (o *Outline) Weight(i int32) int64 { return o.before(o.End(i)) - o.before(i) }

// nextAtMost is the first place from i on with this level or a lower one, or the end.
func (o *Outline) nextAtMost(i, level int32) int32 {
	n := int32(len(o.level))
	for i < n {
		switch b := i / blockSize; {
		case i%(blockSize*blockSize) == 0 && o.large.least[b/blockSize] > level:
			i += blockSize * blockSize
		case i%blockSize == 0 && o.blocks.least[b] > level:
			i += blockSize
		case o.level[i] <= level:
			return i
		default:
			i++
		}
	}
	return n
}

// lastAtMost is the last place up to i with this level or a lower one; there is one.
func (o *Outline) lastAtMost(i, level int32) int32 {
	for {
		switch next := i + 1; {
		case next%(blockSize*blockSize) == 0 && o.large.least[i/blockSize/blockSize] > level:
			i -= blockSize * blockSize
		case next%blockSize == 0 && o.blocks.least[i/blockSize] > level:
			i -= blockSize
		case o.level[i] <= level:
			return i
		default:
			i--
		}
	}
}

// Deepest is the greatest level in a stretch that is not empty.
func (o *Outline) Deepest(from, to int32) (deep int32) {
	for i := from; i < to; {
		switch b := i / blockSize; {
		case i%(blockSize*blockSize) == 0 && i+blockSize*blockSize <= to:
			deep = max(deep, o.large.most[b/blockSize])
			i += blockSize * blockSize
		case i%blockSize == 0 && i+blockSize <= to:
			deep = max(deep, o.blocks.most[b])
			i += blockSize
		default:
			deep = max(deep, o.level[i])
			i++
		}
	}
	return deep
}

// childAt is the child of a node, whose subtree ends at end, that holds a place of the weight that they share, counted
// from its begin.
func (o *Outline) childAt(i, end int32, weight int64) int32 {
	want := o.base(i) + weight
	low, high := (i+1)/blockSize, (end-1)/blockSize // the last block that begins at or before it
	for low < high {
		if mid := (low + high + 1) / 2; o.sum[mid] <= want {
			low = mid
		} else {
			high = mid - 1
		}
	}
	at, sum := low*blockSize, o.sum[low]
	for at+1 < end && at+1 < (low+1)*blockSize {
		if sum += o.stretch(int(at), int(at)+1); sum > want {
			break
		}
		at++
	}
	return o.lastAtMost(max(at, i+1), o.level[i]+1)
}

// Parent of a node; -1 for the root.
func (o *Outline) Parent(i int32) int32 {
	if i == 0 {
		return -1
	}
	return o.lastAtMost(i-1, o.level[i]-1)
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
