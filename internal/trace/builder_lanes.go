package trace

// A nester lays intervals into lanes. An interval goes into the first lane where
// it is within the innermost open interval or where nothing is open at its
// begin. Intervals come in order of begin, longer ones first.
type nester struct {
	sink     RowSink
	lanes    []lane
	fit      fitTree         // in use past fewLanes
	deep     int64           // rows whose depth does not fit
	slack    Time            // see Rounder
	rounded  int64           // ends that were moved by it
	unclosed map[uint32]bool // by Seq, of those that came through a sorter
	row      LaneRow         // handed to the sink; here so that it does not escape each time
}

// A lane is its open intervals, outermost first, and how many rows it has.
type lane struct {
	stack []frame
	rows  int32
}

// fewLanes is the number up to which lanes are tried one by one. Past it a tree
// finds the same lane in O(log lanes).
const fewLanes = 8

func (n *nester) reset(sink RowSink) {
	n.sink = sink
	for i := range n.lanes {
		n.lanes[i] = lane{stack: n.lanes[i].stack[:0]}
	}
	if len(n.lanes) > fewLanes {
		clear(n.lanes[fewLanes:])
	}
	n.lanes = n.lanes[:0]
	n.fit.reset()
	n.deep, n.rounded, n.slack = 0, 0, 0
	clear(n.unclosed)
}

// addLane appends an empty lane, with the memory of an earlier one.
func (n *nester) addLane() {
	if len(n.lanes) < cap(n.lanes) {
		n.lanes = n.lanes[:len(n.lanes)+1]
		return
	}
	n.lanes = append(n.lanes, lane{})
}

// place finds the lane of s.
func (n *nester) place(s Span) {
	l := 0
	if n.slack > 0 {
		l, s.End = n.findRounded(s)
	} else {
		l = n.find(s)
	}
	if l == len(n.lanes) {
		n.addLane()
	}
	f := frame{begin: s.Begin, end: s.End, region: s.Region, seq: s.Seq}
	f.row = n.open(l, n.lanes[l].stack, &f)
	n.lanes[l].stack = append(n.lanes[l].stack, f)
	n.update(l)
}

func (n *nester) find(s Span) int {
	if len(n.lanes) > fewLanes {
		for l := n.fit.due(s.Begin); l >= 0; l = n.fit.due(s.Begin) {
			n.shut(l, s.Begin)
			n.update(l)
		}
		return n.fit.first(s.End)
	}
	for l := range n.lanes {
		n.shut(l, s.Begin)
		if k := len(n.lanes[l].stack); k == 0 || n.lanes[l].stack[k-1].end >= s.End {
			return l
		}
	}
	return len(n.lanes)
}

// findRounded finds the lane of an interval where ends are inexact, and its end there.
// Among many lanes none is looked for in which something would have to end sooner.
func (n *nester) findRounded(s Span) (lane int, end Time) {
	if len(n.lanes) > fewLanes {
		for l := n.fit.due(s.Begin); l >= 0; l = n.fit.due(s.Begin) {
			n.shut(l, s.Begin)
			n.update(l)
		}
		lane = n.fit.first(s.End - n.slack)
	} else {
		for lane = 0; lane < len(n.lanes); lane++ {
			n.shut(lane, s.Begin)
			if n.ends(lane, s) {
				break
			}
		}
	}
	if lane < len(n.lanes) {
		if top := n.top(lane); top < s.End {
			n.rounded++
			return lane, top
		}
	}
	return lane, s.End
}

// ends reports whether an interval fits into a lane, if need be by ending the innermost one there a little sooner.
func (n *nester) ends(l int, s Span) bool {
	stack := n.lanes[l].stack
	from := len(stack)
	for from > 0 && stack[from-1].end-s.Begin <= n.slack && s.End-stack[from-1].end > n.slack {
		from--
	}
	if from > 0 && stack[from-1].end < s.End-n.slack {
		return false
	}
	for i := from; i < len(stack); i++ {
		stack[i].end = s.Begin
		n.rounded++
	}
	n.shut(l, s.Begin)
	return true
}

// update tells the tree about a lane; the tree starts with all of them.
func (n *nester) update(l int) {
	if len(n.lanes) <= fewLanes {
		return
	}
	if n.fit.empty() {
		for i := range n.lanes {
			n.fit.set(i, n.top(i))
		}
		return
	}
	n.fit.set(l, n.top(l))
}

// top returns the end of the innermost open interval of a lane.
func (n *nester) top(l int) Time {
	if k := len(n.lanes[l].stack); k > 0 {
		return n.lanes[l].stack[k-1].end
	}
	return maxTime
}

// shut closes the intervals of a lane that end at t or before.
func (n *nester) shut(l int, t Time) {
	stack := n.lanes[l].stack
	for k := len(stack) - 1; k >= 0 && stack[k].end <= t; k-- {
		f := stack[k]
		stack = stack[:k]
		n.close(l, stack, &f, f.end)
	}
	n.lanes[l].stack = stack
}

func (n *nester) finish() {
	for l := range n.lanes {
		n.shut(l, maxTime)
	}
}

// open yields a new row within the open intervals of a lane.
func (n *nester) open(l int, stack []frame, f *frame) int32 {
	if l == len(n.lanes) {
		n.addLane()
	}
	f.row = n.lanes[l].rows
	n.lanes[l].rows++
	if len(stack) > maxDepth {
		n.deep++
	}
	n.fill(l, stack, f)
	n.sink.Open(&n.row)
	return f.row
}

// close yields a row with all that is known, and accounts for it in its parent.
func (n *nester) close(l int, stack []frame, f *frame, end Time) {
	n.fill(l, stack, f)
	n.row.Unclosed = f.unclosed || len(n.unclosed) > 0 && n.unclosed[f.seq]
	n.row.Duration = end - f.begin
	n.row.Exclusive = n.row.Duration - f.children
	if k := len(stack); k > 0 {
		stack[k-1].children += n.row.Duration
	}
	n.sink.Close(&n.row)
}

const maxDepth = 1<<16 - 1

func (n *nester) fill(l int, stack []frame, f *frame) {
	parent := int32(-1)
	if k := len(stack); k > 0 {
		parent = stack[k-1].row
	}
	n.row = LaneRow{
		Lane: int32(l), Row: f.row, Parent: parent, Depth: uint16(min(len(stack), maxDepth)),
		Region: f.region, Seq: f.seq, Begin: f.begin, Caller: f.caller,
	}
}

// A fitTree holds the end of the innermost open interval of each lane, maxTime
// where nothing is open, with the least and the greatest of each subtree.
type fitTree struct {
	size     int // leaves, a power of two
	min, max []Time
}

func (t *fitTree) reset()      { t.size = 0 }
func (t *fitTree) empty() bool { return t.size == 0 }

func (t *fitTree) set(l int, end Time) {
	if l >= t.size {
		t.grow(l + 1)
	}
	i := t.size + l
	t.min[i], t.max[i] = end, end
	for i >>= 1; i > 0; i >>= 1 {
		t.min[i], t.max[i] = min(t.min[2*i], t.min[2*i+1]), max(t.max[2*i], t.max[2*i+1])
	}
}

func (t *fitTree) grow(lanes int) {
	old, leaves := t.size, []Time(nil)
	if old > 0 {
		leaves = append(leaves, t.min[old:2*old]...)
	}
	t.size = max(2*old, 4*fewLanes)
	for t.size < lanes {
		t.size *= 2
	}
	t.min, t.max = make([]Time, 2*t.size), make([]Time, 2*t.size)
	for i := range t.min {
		t.min[i], t.max[i] = maxTime, maxTime
	}
	for l, end := range leaves {
		if end != maxTime {
			t.set(l, end)
		}
	}
}

// due finds a lane whose innermost interval ends at b or before; -1 for none.
func (t *fitTree) due(b Time) int {
	if t.min[1] > b || b == maxTime {
		return -1
	}
	i := 1
	for i < t.size {
		i *= 2
		if t.min[i] > b {
			i++
		}
	}
	return i - t.size
}

// first finds the first lane that is free or whose innermost interval lasts until
// end. Lanes that do not exist yet count as free.
func (t *fitTree) first(end Time) int {
	if t.max[1] < end {
		return t.size
	}
	i := 1
	for i < t.size {
		i *= 2
		if t.max[i] < end {
			i++
		}
	}
	return i - t.size
}
