package match

import (
	"cmp"
	"context"

	"golang.org/x/sync/errgroup"
)

const (
	// leastSenders is how many senders make a group of their own.
	leastSenders = 16
	pairBlock    = 512
	pairBlocks   = 4 // of a group on their way
)

// A group is what some senders sent, in order of time.
type group struct {
	full, free chan []Pair
	whole      []Pair // the block at hand
	block      []Pair // from the next pair on
	stats      Matched
}

// next turns to the next block of a group, which is the i-th.
func (x *group) next(i uint32) contender {
	if x.whole != nil {
		select {
		case x.free <- x.whole[:0]:
		default: // there are more blocks than usual, since this is being cancelled
		}
	}
	if x.whole = <-x.full; x.whole == nil {
		return over
	}
	x.block = x.whole
	return contender{x.block[0].Cause.Time, i}
}

// joinGroups joins several groups of senders side by side, and gives the pairs in the
// order in which one alone would. Groups are ranges of senders, so that of those who
// send at the same time the one of the earlier group comes first.
func (c *channels) joinGroups(ctx context.Context, receivers []receiver, n int, stats *Matched, f func(*Pair)) error {
	asked := ctx
	ctx, cancel := context.WithCancel(asked)
	defer cancel()
	g, ctx := errgroup.WithContext(ctx)
	groups := make([]group, n)
	for i := range groups {
		x := &groups[i]
		x.full, x.free = make(chan []Pair, pairBlocks), make(chan []Pair, pairBlocks)
		for range pairBlocks {
			x.free <- make([]Pair, 0, pairBlock)
		}
		from, to := c.groupEdge(i, n), c.groupEdge(i+1, n)
		g.Go(func() error {
			defer close(x.full)
			block := <-x.free
			err := c.joinGroup(ctx, receivers, from, to, &x.stats, func(p *Pair) {
				if block = append(block, *p); len(block) < pairBlock {
					return
				}
				x.full <- block // has room for all blocks there are
				select {
				case block = <-x.free:
				case <-ctx.Done():
					block = make([]Pair, 0, pairBlock) // nobody wants it
				}
			})
			if len(block) > 0 && err == nil {
				x.full <- block
			}
			return err
		})
	}
	var t tournament
	t.start(n, func(i uint32) contender { return groups[i].next(i) })
	for count := 0; ; count++ {
		if count&0xffff == 0 && ctx.Err() != nil {
			break
		}
		i, ok := t.next()
		if !ok {
			break
		}
		x := &groups[i]
		f(&x.block[0])
		if x.block = x.block[1:]; len(x.block) > 0 {
			t.replace(i, contender{x.block[0].Cause.Time, i})
		} else {
			t.replace(i, x.next(i))
		}
	}
	if ctx.Err() != nil {
		cancel()
		for i := range groups {
			for range groups[i].full { // until its goroutine has ended
			}
		}
	}
	err := g.Wait()
	for i := range groups {
		stats.add(&groups[i].stats)
	}
	return cmp.Or(err, asked.Err())
}

// groupEdge is where the i-th of n groups begins. What one location sent is in one group.
func (c *channels) groupEdge(i, n int) int {
	at := len(c.senders) * i / n
	for at > 0 && at < len(c.senders) && c.senders[at].at == c.senders[at-1].at {
		at++
	}
	return at
}
