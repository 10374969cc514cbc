package paje

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A converter turns the blocks of a file into a trace, on all cores:
//
//  1. A parser turns the lines of a block into records, and looks up their meaning. Both need no order: new
//     definitions in earlier blocks change nothing that was found. It leaves records that use something for the first
//     time or are wrong, and all from the first that defines something.
//  2. The converter takes the blocks in the order of the file, and resolves the records that are left. So numbers of
//     regions, locations, attributes and counters are those of their first use.
//  3. Shards write: each the streams of some containers, and each joins the links of some keys, block by block.
//
// The output does not depend on how many of them there are.
type converter struct {
	tree

	unit      unit
	variables map[variableKey]*variable
	unknown   map[string]int64 // events that are not Paje's, by name
	seen      reach
	tally     tally
	base      int64 // lines of the file before the block

	mu      sync.RWMutex // parsers look up, the converter defines
	parser  *parser      // its own
	parsers []*parser
	shards  []*shard
	// waiting is at least how many ends of links wait for their other one, of mostWaiting.
	waiting, mostWaiting int
	blockSize            int
}

func newConverter(w trace.Writer, u unit, workers int) *converter {
	c := &converter{unit: u, variables: map[variableKey]*variable{}, unknown: map[string]int64{},
		mostWaiting: maxPending, blockSize: blockSize}
	c.vocabulary = vocabulary{w: w, symbols: newSymbols(), values: map[valueKey]*meaning{},
		rowTypes: map[[2]string]uint32{}, attributes: importer.NewAttributes(w)}
	c.moreRows, c.replaced = map[rowKey]uint32{}, map[trace.LocationID]uint32{}
	c.parser = newParser(c)
	c.parser.meaning.defines = true
	for n := range workers {
		c.parsers = append(c.parsers, newParser(c))
		c.shards = append(c.shards, newShard(c, n))
	}
	zero := c.symbols.keep([]byte("0"))
	rootType := &typ{op: opContainerType, name: "0", kind: trace.KindGroup}
	c.typeList = append(c.typeList, rootType)
	c.types.set(zero, rootType)
	root := c.containers.add(container{location: trace.NoLocation, rank: trace.NoRank, ended: endless})
	c.byAlias.set(zero, root)
	return c
}

// convert resolves the records that parsers left of a block, and passes it to the shards.
func (c *converter) convert(ctx context.Context, b *block) error {
	if b.rebound != c.rebound && b.data != nil {
		b.again()
		c.parser.parse(b)
	}
	if b.destroyed != c.destroyed {
		c.endedSince(b)
	}
	if len(b.rest) > 0 {
		c.mu.Lock()
		c.parser.meaning.settle(b)
		c.mu.Unlock()
	}
	c.seen.add(b.seen)
	c.tally.Take(&b.tally, c.base)
	c.tally.Take(&b.meant, c.base)
	b.base = c.base
	c.base += b.lines
	return c.hand(ctx, b)
}

// endedSince counts the records of a block on containers that were destroyed after a parser looked.
func (c *converter) endedSince(b *block) {
	for i := range b.deeds {
		if d := &b.deeds[i]; d.time > d.k.ended {
			b.meant.Add(afterDestroy, int64(d.line))
		}
	}
	for i := range b.links {
		if d := &b.links[i]; d.time > d.k.ended {
			b.meant.Add(afterDestroy, int64(d.line))
		}
	}
}

// hand passes a block to the shards that have something to do for it.
func (c *converter) hand(ctx context.Context, b *block) error {
	if c.waiting += len(b.links); c.waiting > c.mostWaiting && len(b.links) > 0 {
		if err := c.linkInOrder(ctx, b); err != nil {
			return err
		}
	}
	left := int32(0)
	for n := range c.shards {
		if !b.deedsOf[n].none() || !b.linksOf[n].none() {
			left++
		}
	}
	if left == 0 {
		b.free()
		return nil
	}
	b.left.Store(left)
	for n, s := range c.shards {
		if b.deedsOf[n].none() && b.linksOf[n].none() {
			continue
		}
		if err := s.give(ctx, handed{block: b}); err != nil {
			return err
		}
		if left--; left == 0 {
			break // b may be free by now
		}
	}
	return nil
}

// linkInOrder is for when so many ends of links may wait that some must be left out: which ones is decided in
// the order of the file, where it is not enough to count those that really wait.
func (c *converter) linkInOrder(ctx context.Context, b *block) error {
	idle := make(chan struct{}, len(c.shards))
	for _, s := range c.shards {
		if err := s.give(ctx, handed{idle: idle}); err != nil {
			return err
		}
	}
	waiting := 0
	for range c.shards {
		select {
		case <-idle:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for _, s := range c.shards {
		waiting += s.pending.count
	}
	if c.waiting = waiting + len(b.links); c.waiting <= c.mostWaiting {
		return nil
	}
	slices.SortStableFunc(b.links, func(x, y linkDeed) int { return cmp.Compare(x.line, y.line) })
	for i := range b.links {
		s := c.shards[b.links[i].shard]
		waiting -= s.pending.count
		s.link(b, &b.links[i], waiting+s.pending.count < c.mostWaiting)
		waiting += s.pending.count
	}
	c.waiting = waiting
	for n := range b.linksOf {
		b.linksOf[n].clear()
	}
	return nil
}

// A reach is the span of time of some records.
type reach struct {
	first, last trace.Time
	any         bool
}

func (s *reach) see(t trace.Time) {
	if !s.any {
		s.first, s.last, s.any = t, t, true
		return
	}
	s.first, s.last = min(s.first, t), max(s.last, t)
}

func (s *reach) add(o reach) {
	if o.any {
		s.see(o.first)
		s.see(o.last)
	}
}

// gather takes the counts of parsers and shards in a file, when all is done.
func (c *converter) gather() {
	for _, p := range c.parsers {
		for name, n := range p.unknown {
			c.unknown[name] += n
		}
		clear(p.unknown)
	}
	for _, s := range c.shards {
		s.flush()
		c.tally.Take(&s.tally, 0)
		s.tally = tally{}
	}
}

// finish ends all open states, and reports the facts of the whole trace.
func (c *converter) finish() error {
	for n := uint32(rootNumber); n <= c.containers.count; n++ {
		k := c.containers.at(n)
		end := c.seen.last
		if k.ended != endless {
			end = max(k.ended, k.last)
		} else {
			c.tally.AddN(unpopped, c.unpopped(k), nowhere)
		}
		if k.shard != 0 {
			for r := range c.eachRow(k) {
				c.shards[k.shard-1].end(k, r, end)
			}
		}
		if n != rootNumber {
			c.describe(k)
		}
	}
	if c.seen.any { // containers live though nothing happens in them
		trace.Cover(c.w, c.seen.first, c.seen.last)
	}
	var err error
	for _, s := range c.shards {
		s.pending.left(&c.tally)
		if err == nil {
			err = s.err
		}
	}
	return err
}

// describe keeps when a container lived, where that is not the whole trace.
func (c *converter) describe(k *container) {
	l := trace.Location{Rank: trace.NoRank}
	if k.created > c.seen.first {
		l.Attributes = append(l.Attributes,
			trace.Attribute{Key: "created (s)", Value: trace.Number(float64(k.created) / 1e9)})
	}
	switch {
	case k.ended < c.seen.last:
		l.Attributes = append(l.Attributes,
			trace.Attribute{Key: "destroyed (s)", Value: trace.Number(float64(k.ended) / 1e9)})
	case k.ended == endless && c.typeList[k.typ].destroys:
		c.tally.Add(undestroyed, nowhere)
	}
	if len(l.Attributes) > 0 {
		c.w.Describe(k.location, l)
	}
}
