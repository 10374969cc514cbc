package trace

import "slices"

// A family lays intervals into lanes whose parents are recorded (StreamOptions.ByParent).
// An interval goes into the lane of its parent where the parent is innermost there and
// lasts as long, else into the first lane that is free: it never is in another than
// its parent. Intervals come in order of begin, longer ones first.
//
// Children may run side by side and outlast their parent, so its exclusive time is its duration less the union of
// them all, whatever lane they are in. The lane alone gives the part of those within it; the time that the others
// cover while the parent is innermost in its lane goes to the sink as stretches. O(1) per child, beside finding the
// lane.
type family struct {
	nest    *nester
	sink    CoverSink
	parents []uint32
	open    map[uint32]kinPlace // by Seq
	// early says how far the children reach that began before their parent.
	early map[uint32]Time
	kin   [][]kinFrame // by lane, next to the nester's stack
	group []Span       // of equal begin and end: parents among them come first
}

// A CoverSink is a RowSink that learns when a row, innermost in its lane, has children
// in other lanes: then it does nothing of its own. Stretches of a lane do not overlap,
// and come before the row is closed.
type CoverSink interface {
	RowSink
	Cover(lane, row int32, begin, end Time)
}

type kinPlace struct{ lane, depth int32 }

// A kinFrame is the state of an open interval's children: until when those in its lane and those in others cover it,
// as of the time until which all is settled.
type kinFrame struct {
	settled       Time
	inner, others Time
	exclusive     Time
}

func (f *family) reset(n *nester, parents []uint32, sink RowSink) {
	f.nest, f.parents = n, parents
	f.sink, _ = sink.(CoverSink)
	clear(f.open)
	clear(f.early)
	f.kin, f.group = f.kin[:0], f.group[:0]
}

func (f *family) parent(seq uint32) (uint32, bool) {
	if int(seq) >= len(f.parents) || f.parents[seq] == 0 {
		return 0, false
	}
	return f.parents[seq] - 1, true
}

// add takes the next interval. Those of equal begin and end wait for each other.
func (f *family) add(s Span) {
	if n := len(f.group); n > 0 && (f.group[0].Begin != s.Begin || f.group[0].End != s.End) {
		f.flush()
	}
	f.group = append(f.group, s)
}

// flush places those that wait, parents first.
func (f *family) flush() {
	if len(f.group) > 1 {
		f.sortGroup()
	}
	for _, s := range f.group {
		f.place(s)
	}
	f.group = f.group[:0]
}

// sortGroup orders by generation within the group, else as they came.
func (f *family) sortGroup() {
	in := make(map[uint32]bool, len(f.group))
	for _, s := range f.group {
		in[s.Seq] = true
	}
	level := make(map[uint32]int, len(f.group))
	var chain []uint32
	for _, s := range f.group {
		chain = chain[:0]
		at := s.Seq
		for {
			if _, known := level[at]; known {
				break
			}
			chain = append(chain, at)
			p, ok := f.parent(at)
			if !ok || !in[p] {
				break
			}
			at = p
		}
		for i := len(chain) - 1; i >= 0; i-- {
			if p, ok := f.parent(chain[i]); ok && in[p] {
				level[chain[i]] = level[p] + 1
			} else {
				level[chain[i]] = 0
			}
		}
	}
	slices.SortStableFunc(f.group, func(a, b Span) int { return level[a.Seq] - level[b.Seq] })
}

func (f *family) place(s Span) {
	if f.open == nil {
		f.open, f.early = map[uint32]kinPlace{}, map[uint32]Time{}
	}
	f.shut(s.Begin)
	lane, caller := -1, uint32(0)
	if p, ok := f.parent(s.Seq); ok {
		caller = p + 1
		if at, ok := f.open[p]; ok {
			stack, k := f.nest.lanes[at.lane].stack, &f.kin[at.lane][at.depth]
			f.settle(int(at.lane), int(at.depth), s.Begin)
			if int(at.depth) == len(stack)-1 && stack[at.depth].end >= s.End {
				lane, caller = int(at.lane), 0
				k.inner = max(k.inner, s.End)
			} else {
				k.others = max(k.others, s.End)
			}
		} else {
			f.early[p] = max(f.early[p], s.End)
		}
	}
	if lane < 0 {
		lane = f.free()
	}
	for lane >= len(f.nest.lanes) {
		f.nest.addLane()
	}
	for len(f.kin) < len(f.nest.lanes) {
		f.kin = append(f.kin, nil)
	}
	stack := f.nest.lanes[lane].stack
	x := frame{begin: s.Begin, end: s.End, region: s.Region, seq: s.Seq, caller: caller}
	x.row = f.nest.open(lane, stack, &x)
	f.nest.lanes[lane].stack = append(stack, x)
	f.open[s.Seq] = kinPlace{int32(lane), int32(len(stack))}
	f.kin[lane] = append(f.kin[lane], kinFrame{settled: s.Begin, inner: s.Begin, others: max(f.early[s.Seq], s.Begin)})
	delete(f.early, s.Seq)
	f.nest.update(lane)
}

// free finds the first lane in which nothing is open.
func (f *family) free() int {
	if len(f.nest.lanes) > fewLanes {
		return f.nest.fit.first(maxTime)
	}
	for l := range f.nest.lanes {
		if len(f.nest.lanes[l].stack) == 0 {
			return l
		}
	}
	return len(f.nest.lanes)
}

// settle accounts for the time of an open interval until t.
func (f *family) settle(lane, depth int, t Time) {
	x, k := &f.nest.lanes[lane].stack[depth], &f.kin[lane][depth]
	t = min(t, x.end)
	if t <= k.settled {
		return
	}
	if from := max(k.settled, k.inner); from < t {
		covered := min(max(k.others, from), t)
		if covered > from && f.sink != nil {
			f.sink.Cover(int32(lane), x.row, from, covered)
		}
		k.exclusive += t - covered
	}
	k.settled = t
}

// shut closes all intervals that end at t or before.
func (f *family) shut(t Time) {
	n := f.nest
	if len(n.lanes) > fewLanes {
		for l := n.fit.due(t); l >= 0; l = n.fit.due(t) {
			f.shutLane(l, t)
			n.update(l)
		}
		return
	}
	for l := range n.lanes {
		f.shutLane(l, t)
	}
}

func (f *family) shutLane(l int, t Time) {
	stack := f.nest.lanes[l].stack
	for k := len(stack) - 1; k >= 0 && stack[k].end <= t; k-- {
		f.settle(l, k, stack[k].end)
		x := stack[k]
		// The nester subtracts the children: all time that is not exclusive.
		x.children = x.end - x.begin - f.kin[l][k].exclusive
		stack = stack[:k]
		f.nest.close(l, stack, &x, x.end)
		delete(f.open, x.seq)
		f.kin[l] = f.kin[l][:k]
		f.nest.lanes[l].stack = stack
	}
}

func (f *family) finish() {
	f.flush()
	for l := range f.nest.lanes {
		f.shutLane(l, maxTime)
	}
}

// CutCircles makes a forest of parents that an input may give in circles, and says how
// many it took away. O(parents).
func CutCircles(parents []uint32) (cut int64) {
	const fresh, done = 0, 1 // and from 2 on: the walk that came by
	state := make([]uint32, len(parents))
	for i := range parents {
		mark := uint32(i) + 2
		at := i
		for at < len(parents) && state[at] == fresh {
			state[at] = mark
			if parents[at] == 0 || int(parents[at]-1) >= len(parents) {
				break
			}
			if up := int(parents[at] - 1); state[up] == mark {
				parents[at] = 0
				cut++
				break
			}
			at = int(parents[at] - 1)
		}
		for at = i; at < len(parents) && state[at] == mark; {
			state[at] = done
			if parents[at] == 0 {
				break
			}
			at = int(parents[at] - 1)
		}
	}
	return cut
}
