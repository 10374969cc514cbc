package trace

// A StackBuilder does the same as a Builder, for the simplest and most common streams: Enter and Leave in order of
// time under the rule of call stacks. Such rows are all of one lane and come in preorder, so they go straight into
// columns, without a call for each. The rules are those of Builder; a test holds the two against each other.
//
// Call Reset first, then the records, then Finish.
type StackBuilder struct {
	// Unclosed are the rows that Finish closed at the end of the trace.
	Unclosed []int64
	// Lasting is a region whose intervals may last until the end of the trace.
	Lasting RegionID

	out     *StackRows
	first   int64 // row of the first interval
	last    Time
	stack   []stackFrame
	onStack []uint32 // by region, from the first Leave on that is not of the innermost one
	counted bool     // onStack is in use
	beyond  int
	depth   int
	end     Time
	repairs Repairs
}

// StackRows are the rows at hand, N of them, in columns of one length. If they are full Flush must take them away, set
// N to 0 and add to First; rows that are open then are closed by Late.
type StackRows struct {
	First                      int64 // row of index 0
	N                          int
	Begin, Duration, Exclusive []Time
	Region                     []RegionID
	Parent                     []int32
	Depth                      []uint16

	Flush func()
	Late  func(row int64, duration, exclusive Time)
}

// A stackFrame is an open interval.
type stackFrame struct {
	begin    Time
	children Time // time covered by direct children that are closed
	row      int64
	region   RegionID
}

// Reset makes b ready for the records of another location, whose first row is the
// next of out. Memory is kept.
func (b *StackBuilder) Reset(out *StackRows) {
	*b = StackBuilder{out: out, first: out.First + int64(out.N), last: minTime, stack: b.stack[:0],
		onStack: b.onStack[:0], Lasting: NoRegion}
}

// Enter opens an interval.
func (b *StackBuilder) Enter(t Time, region RegionID) {
	if t < b.last {
		b.repairs.Backwards++
		t = b.last
	}
	b.last = t
	c := b.out
	if c.N >= len(c.Begin) {
		c.Flush()
	}
	i, n := c.N, len(b.stack)
	c.N++
	parent := int32(-1)
	if n > 0 {
		parent = int32(b.stack[n-1].row - b.first)
	}
	c.Begin[i], c.Region[i], c.Parent[i] = t, region, parent
	c.Depth[i] = uint16(min(n, maxDepth))
	if n >= b.depth {
		b.depth = n + 1
	}
	if n > maxDepth {
		b.repairs.Deep++
		if n >= maxOpen { // it is kept as an empty one
			b.repairs.Deep++
			b.beyond++
			c.Duration[i], c.Exclusive[i] = 0, 0
			b.end = max(b.end, t)
			return
		}
	}
	if b.counted {
		b.count(region)
	}
	b.stack = append(b.stack, stackFrame{begin: t, row: c.First + int64(i), region: region})
}

// count notes a region that is on the stack. Most streams never need to know.
func (b *StackBuilder) count(region RegionID) {
	if n := int(region) + 1 - len(b.onStack); n > 0 {
		b.onStack = append(b.onStack, make([]uint32, n)...)
	}
	b.onStack[region]++
}

// Leave closes an interval.
func (b *StackBuilder) Leave(t Time, region RegionID) {
	if t < b.last {
		b.repairs.Backwards++
		t = b.last
	}
	b.last = t
	if b.beyond > 0 {
		b.beyond--
		return
	}
	n := len(b.stack)
	if n == 0 || b.stack[n-1].region != region && region != NoRegion && !b.force(t, region) {
		b.repairs.Stray++
		return
	}
	b.pop(t)
}

// force closes the intervals within the innermost interval of a region; false if there is none.
func (b *StackBuilder) force(t Time, region RegionID) bool {
	if !b.counted {
		b.counted = true
		for i := range b.stack {
			b.count(b.stack[i].region)
		}
	}
	if int(region) >= len(b.onStack) || b.onStack[region] == 0 {
		return false
	}
	for b.stack[len(b.stack)-1].region != region {
		b.repairs.Forced++
		b.pop(t)
	}
	return true
}

// pop closes the innermost interval.
func (b *StackBuilder) pop(t Time) {
	n := len(b.stack) - 1
	f := &b.stack[n]
	b.stack = b.stack[:n]
	if b.counted {
		b.onStack[f.region]--
	}
	b.end = max(b.end, t)
	d := t - f.begin
	c := b.out
	if i := f.row - c.First; i >= 0 {
		c.Duration[i], c.Exclusive[i] = d, d-f.children
	} else {
		c.Late(f.row, d, d-f.children)
	}
	if n > 0 {
		b.stack[n-1].children += d
	}
}

// Finish closes open intervals at the end of the trace. It returns the depth of nesting, and the end of the last
// interval; 0 before any.
func (b *StackBuilder) Finish(end Time) (depth int, last Time, repairs Repairs) {
	b.Unclosed = b.Unclosed[:0]
	for n := len(b.stack); n > 0; n = len(b.stack) {
		if b.stack[n-1].region != b.Lasting {
			b.repairs.Unclosed++
			b.Unclosed = append(b.Unclosed, b.stack[n-1].row)
		}
		b.pop(max(end, b.stack[n-1].begin))
	}
	return b.depth, b.end, b.repairs
}
