// Package criticalpath finds the calls that make up the length of a request: it walks back from its end
// through the calls that it waited for.
//
// The walk is that of CRISP (Zhang, Ramanathan, Raj, Parwal, Sherwood, Chabbi: CRISP:
// Critical Path Analysis of Large-Scale Microservice Architectures, USENIX ATC 2022): from
// the end of a call, the child that ends last and no later than the cursor; the time
// between belongs to the call; the child is walked likewise, and the cursor jumps to its
// begin. Children are clipped to their parents.
//
// Clocks of hosts disagree a little, so two siblings that overlap by at most one part in a
// hundred of their parent count as one after the other, where nothing else happens in that
// time. The earlier one is then moved back by as much, with all that it called: so the
// sections of a path lie end to end and add up to its length.
package criticalpath

import (
	"cmp"
	"slices"
	"sort"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Allowance is the part of a parent by which siblings may overlap and still count as
// one after the other.
const Allowance = 0.01

// A Tree is calls with those that they made: the children of node i are
// Children[First[i]:First[i+1]], by begin.
type Tree struct {
	Begin, End []trace.Time
	First      []int32
	Children   []int32
	// Apart says that a call's parent waits neither for it nor for its callees; nil: none.
	Apart func(node int32) bool
}

// A Section is a stretch of a path that one call has for itself. The sections of a path
// lie end to end; Moved is by how much they were moved back for clocks that disagree, so
// the recorded time is Begin+Moved.
type Section struct {
	Node       int32
	Begin, End trace.Time
	Moved      trace.Time
}

// A Walker walks one path after the other.
type Walker struct {
	Tree
	// Counts so far: calls that reach out of their parent and were clipped; that lie wholly outside and
	// were left out; and that were moved for clocks, with the largest shift.
	Clipped, Outside, Moved int64
	MostMoved               trace.Time

	stack []frame
	kids  []kid // of all frames, by end, last first
	by    []kid // the same by begin
}

// A kid is a child as its parent sees it: clipped.
type kid struct {
	node       int32
	begin, end trace.Time
}

// A frame is a call that is being walked. Times are as recorded; those of the path are
// earlier by moved.
type frame struct {
	node          int32
	begin, end    trace.Time
	moved         trace.Time
	floor         trace.Time // of the path: nothing of it comes before
	cursor        trace.Time // end of the part that is walked
	later         kid        // the child taken last
	has           bool
	from, at, top int // in kids: first, next, past the last
}

// Walk yields the sections of the path of a call, last first.
func (w *Walker) Walk(root int32, emit func(Section)) {
	w.stack, w.kids, w.by = w.stack[:0], w.kids[:0], w.by[:0]
	w.push(root, w.Begin[root], w.End[root], 0, w.Begin[root])
	for len(w.stack) > 0 {
		f := &w.stack[len(w.stack)-1]
		child, moved, ok := w.next(f)
		if !ok {
			w.emit(f, f.begin, f.cursor, emit)
			w.kids, w.by = w.kids[:f.from], w.by[:f.from]
			w.stack = w.stack[:len(w.stack)-1]
			continue
		}
		w.emit(f, child.end-moved, f.cursor, emit)
		f.cursor = max(child.begin-moved, f.begin)
		f.later, f.has = child, true
		w.push(child.node, child.begin, child.end, f.moved+moved, max(f.floor, f.begin-f.moved))
	}
}

// emit yields time of a call for itself.
func (w *Walker) emit(f *frame, begin, end trace.Time, emit func(Section)) {
	begin, end = max(begin-f.moved, f.floor), end-f.moved
	if begin < end {
		emit(Section{f.node, begin, end, f.moved})
	}
}

// push begins a call, which is clipped to [begin, end).
func (w *Walker) push(node int32, begin, end, moved, floor trace.Time) {
	from := len(w.kids)
	for _, c := range w.Children[w.First[node]:w.First[node+1]] {
		if w.Apart != nil && w.Apart(c) {
			continue
		}
		k := kid{c, max(w.Begin[c], begin), min(w.End[c], end)}
		if k.begin >= k.end {
			if w.End[c] > w.Begin[c] {
				w.Outside++
			}
			continue
		}
		if k.begin != w.Begin[c] || k.end != w.End[c] {
			w.Clipped++
		}
		w.kids, w.by = append(w.kids, k), append(w.by, k)
	}
	// Among calls that end together the longest comes first: it tells more.
	slices.SortStableFunc(w.kids[from:],
		func(a, b kid) int { return cmp.Or(cmp.Compare(b.end, a.end), cmp.Compare(a.begin, b.begin)) })
	if !slices.IsSortedFunc(w.by[from:], byBegin) {
		slices.SortStableFunc(w.by[from:], byBegin)
	}
	w.stack = append(w.stack,
		frame{node: node, begin: begin, end: end, moved: moved, floor: floor, cursor: end, from: from, at: from,
			top: len(w.kids)})
}

func byBegin(a, b kid) int { return cmp.Compare(a.begin, b.begin) }

// next finds the child that the call waited for before the cursor, and by how much it is
// to be moved back.
func (w *Walker) next(f *frame) (child kid, moved trace.Time, ok bool) {
	for f.at < f.top && f.cursor > f.begin {
		k := w.kids[f.at]
		f.at++
		if f.has && k.end > f.later.begin && !w.skewed(f, k) {
			continue
		}
		if moved = max(k.end-f.cursor, 0); moved > 0 {
			w.Moved++
			w.MostMoved = max(w.MostMoved, moved)
		}
		return k, moved, true
	}
	return kid{}, 0, false
}

// skewed reports whether a child that overlaps the one taken last is before it all the
// same: by little, and with no other child's begin or end in the overlap.
func (w *Walker) skewed(f *frame, k kid) bool {
	l := f.later
	if k.end >= l.end || k.begin >= l.begin || float64(k.end-l.begin) > Allowance*float64(f.end-f.begin) {
		return false
	}
	kids, by := w.kids[f.from:f.top], w.by[f.from:f.top]
	begins := sort.Search(len(by), func(i int) bool { return by[i].begin > k.end }) - sort.Search(len(by),
		func(i int) bool { return by[i].begin >= l.begin })
	ends := sort.Search(len(kids), func(i int) bool { return kids[i].end < l.begin }) - sort.Search(len(kids),
		func(i int) bool { return kids[i].end <= k.end })
	return begins+ends == 2
}
