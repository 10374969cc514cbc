package match

import (
	"cmp"
	"context"
	"sort"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	// leastSenders is how many senders make a group of their own.
	leastSenders = 16
	pairBlock    = 2048
	pairBlocks   = 4 // of a group on their way
)

// A pairs is a block of pairs in order of time. Rounds use parts of it; when all are done with it, it goes back to its
// group.
type pairs struct {
	list  []Pair
	users atomic.Int32
	group *group
}

func (b *pairs) release() {
	if b.users.Add(-1) == 0 {
		b.list = b.list[:0]
		b.group.free <- b // has room for all blocks there are
	}
}

// A group is the messages of some senders, in order of time.
type group struct {
	full, free chan *pairs
	block      *pairs // at hand; nil after the last
	rest       []Pair // of it
	stats      Matched
}

func newGroup() *group {
	x := &group{full: make(chan *pairs, pairBlocks), free: make(chan *pairs, pairBlocks)}
	for range pairBlocks {
		x.free <- &pairs{list: make([]Pair, 0, pairBlock), group: x}
	}
	return x
}

// join fills blocks with the messages of a range of senders.
func (x *group) join(ctx context.Context, c *channels, receivers []receiver, from, to int) error {
	defer close(x.full)
	block := <-x.free
	give := func() {
		select {
		case next := <-x.free:
			x.full <- block // has room for all blocks there are
			block = next
		case <-ctx.Done():
			block.list = block.list[:0] // it is not wanted
		}
	}
	err := c.joinGroup(ctx, receivers, from, to, &x.stats, func(p *Pair) {
		if block.list = append(block.list, *p); len(block.list) == pairBlock {
			give()
		}
	})
	if len(block.list) > 0 && err == nil {
		x.full <- block
	}
	return err
}

// turn goes to the next block once the one at hand is used up; false after the last.
func (x *group) turn() bool {
	if len(x.rest) > 0 {
		return true
	}
	if x.block != nil {
		x.block.release()
	}
	if x.block = <-x.full; x.block == nil {
		return false
	}
	x.block.users.Store(1)
	x.rest = x.block.list
	return true
}

// A round is pairs that come before all others, by group, and the values made of them.
type round[T any] struct {
	parts  [][]Pair
	blocks []*pairs
	made   []T
}

// take fills the round with all pairs of which it is sure that none comes before: those up to the first time at which
// the block of a group ends. It is false after the last. O(groups log block).
func (r *round[T]) take(groups []*group) bool {
	r.parts, r.blocks = r.parts[:0], r.blocks[:0]
	var last trace.Time
	first := -1 // the first group whose block ends at that time
	for i, x := range groups {
		if !x.turn() {
			continue
		}
		if t := x.rest[len(x.rest)-1].Cause.Time; first < 0 || t < last {
			first, last = i, t
		}
	}
	for i, x := range groups {
		// Among those at the same time an earlier group is first: it has no more of them than these, the group whose
		// block ends may.
		n := len(x.rest)
		if i != first && n > 0 {
			n = sort.Search(n,
				func(k int) bool { t := x.rest[k].Cause.Time; return t > last || t == last && i > first })
		}
		if n == 0 {
			continue
		}
		x.block.users.Add(1)
		r.parts, r.blocks = append(r.parts, x.rest[:n]), append(r.blocks, x.block)
		x.rest = x.rest[n:]
	}
	return first >= 0
}

// merge makes the values of the pairs of a round, in order.
func (r *round[T]) merge(fill func(*T, *Pair)) {
	n := 0
	for _, p := range r.parts {
		n += len(p)
	}
	if cap(r.made) < n {
		r.made = make([]T, n+n/4)
	}
	r.made = r.made[:n]
	var t tournament
	next := func(i uint32) contender {
		if len(r.parts[i]) == 0 {
			return over
		}
		return contender{r.parts[i][0].Cause.Time, i}
	}
	t.start(len(r.parts), next)
	for k := range r.made {
		i, _ := t.next()
		fill(&r.made[k], &r.parts[i][0])
		r.parts[i] = r.parts[i][1:]
		t.replace(i, next(i))
	}
	for _, b := range r.blocks {
		b.release()
	}
}

// joinGroups joins several groups of senders side by side, and returns the values made of the pairs in the order in
// which one alone would. Groups are ranges of senders, so that of those who send at the same time the one of the
// earlier group comes first. Rounds are put in order side by side too.
func joinGroups[T any](ctx context.Context, c *channels, receivers []receiver, n int, stats *Matched,
	out Output[T]) error {
	asked := ctx
	ctx, cancel := context.WithCancel(asked)
	defer cancel()
	g, ctx := errgroup.WithContext(ctx)
	groups := make([]*group, n)
	for i := range groups {
		x := newGroup()
		groups[i] = x
		g.Go(func() error { return x.join(ctx, c, receivers, c.groupEdge(i, n), c.groupEdge(i+1, n)) })
	}
	parallel.Piped(n, func() struct{} { return struct{}{} }, func(r *round[T]) bool { return r.take(groups) },
		func(_ struct{}, r *round[T]) { r.merge(out.Fill) }, func(r *round[T]) bool {
			if ctx.Err() == nil {
				out.Take(r.made)
			}
			return ctx.Err() == nil
		})
	if ctx.Err() != nil {
		cancel()
	}
	err := g.Wait()
	for _, x := range groups {
		stats.Add(&x.stats)
	}
	return cmp.Or(err, asked.Err())
}

// groupEdge is where the i-th of n groups begins. All messages of one location are in one group.
func (c *channels) groupEdge(i, n int) int {
	at := len(c.senders) * i / n
	for at > 0 && at < len(c.senders) && c.senders[at].at == c.senders[at-1].at {
		at++
	}
	return at
}
