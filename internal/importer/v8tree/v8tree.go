// Package v8tree holds the common parts of V8's profiles, whether they are files of their own or part of
// a Chrome trace: a call tree of numbered nodes, and samples that name a node and follow each other by
// microseconds.
//
// A node is a call path, a sample's time counts for its node: the time up to the next sample. Samples over time
// are a row aside. V8's `(idle)`, `(program)` and `(garbage collector)` are idle and overhead, and its `(root)`
// stands for the whole and is left out.
package v8tree

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// noParent is the parent of the root.
const noParent = -1

type node struct {
	region trace.RegionID
	parent int64
	hits   float64
	size   float64 // bytes, of a heap profile
	ticks  []tick  // hits by line
	taken  int     // samples that have a line
}

// A tick is how often a line of a node was hit.
type tick struct{ line, count int }

// mostTicks bounds the hits of a line.
const mostTicks = 1 << 30

// readTicks reads the hits of a node's lines.
func (n *node) readTicks(c *jsonstream.Cursor) {
	for ok := c.Open('['); ok && c.More(']'); {
		var t tick
		for ok := c.Open('{'); ok && c.More('}'); {
			switch string(c.Key()) {
			case "line":
				line, _ := c.Whole()
				t.line = int(min(max(line, 0), mostTicks))
			case "ticks":
				count, _ := c.Whole()
				t.count = int(min(max(count, 0), mostTicks))
			}
		}
		if t.line > 0 && t.count > 0 {
			n.ticks = append(n.ticks, t)
		}
	}
}

// nextLine returns the line of the next sample of a node. A profile counts the hits of lines for a node, and does not
// say which sample hit which: the first samples get the first line.
func (n *node) nextLine() int {
	at := n.taken
	n.taken++
	for _, t := range n.ticks {
		if at < t.count {
			return t.line
		}
		at -= t.count
	}
	return 0
}

// A Tree is the call tree of a profile.
type Tree struct {
	w        trace.Writer
	nodes    map[int64]*node
	order    []int64
	children map[int64][]int64
	twice    int64 // nodes that share a number, or have none
	counted  int64 // nodes with a count of hits: all, or none
	nameless int64 // nodes without a name, or without a number where there must be one
}

// New makes an empty tree.
func New(w trace.Writer) *Tree {
	return &Tree{w: w, nodes: map[int64]*node{}, children: map[int64][]int64{}}
}

// Len is the number of nodes.
func (t *Tree) Len() int { return len(t.nodes) }

// Node reads one node with its frame.
func (t *Tree) Node(c *jsonstream.Cursor) {
	id, children, named := int64(-1), []int64(nil), false
	n := &node{parent: noParent}
	r := trace.Region{}
	for ok := c.Open('{'); ok && c.More('}'); {
		switch string(c.Key()) {
		case "id":
			id, _ = c.Whole()
		case "parent":
			n.parent, _ = c.Whole()
		case "hitCount":
			hits, ok := c.Scalar().Number()
			if n.hits = hits; !ok {
				t.nameless++
			}
			t.counted++
		case "children":
			for ok := c.Open('['); ok && c.More(']'); {
				if child, ok := c.Whole(); ok {
					children = append(children, child)
				}
			}
		case "callFrame":
			named = frame(c, &r)
		case "positionTicks":
			n.readTicks(c)
		}
	}
	if !named {
		t.nameless++
	}
	n.region = t.w.Region(known(r))
	if t.nodes[id] == nil {
		t.order = append(t.order, id)
	} else {
		t.twice++
	}
	if id < 0 {
		t.twice++
	}
	t.nodes[id] = n
	if len(children) > 0 {
		t.children[id] = append(t.children[id], children...)
	}
}

// deepestHead bounds how deep nodes are in each other.
const deepestHead = 10_000

// Head reads a node that holds its children, as heap profiles and older CPU profiles have them, and says whether it
// was that of a heap profile.
func (t *Tree) Head(c *jsonstream.Cursor) (heap bool) { return t.nested(c, noParent, 0) }

func (t *Tree) nested(c *jsonstream.Cursor, parent int64, depth int) (heap bool) {
	n := &node{parent: parent}
	// Children come before the number of their parent in some files, so nodes have a number of their own until then.
	own := int64(-2 - len(t.order))
	id := own
	t.order = append(t.order, own)
	t.nodes[own] = n
	at := len(t.order) - 1
	r := trace.Region{}
	for ok := c.Open('{'); ok && c.More('}'); {
		switch key := string(c.Key()); key {
		case "id":
			id, _ = c.Whole()
		case "hitCount":
			n.hits, _ = c.Scalar().Number()
		case "selfSize":
			n.size, _ = c.Scalar().Number()
			heap = true
		case "callFrame":
			frame(c, &r)
		case "functionName", "url", "lineNumber":
			field(c, key, &r)
		case "positionTicks":
			n.readTicks(c)
		case "children":
			for ok := c.Open('['); ok && c.More(']'); {
				if depth == deepestHead {
					c.Skip()
				} else if t.nested(c, own, depth+1) {
					heap = true
				}
			}
		}
	}
	n.region = t.w.Region(known(r))
	if id >= 0 && t.nodes[id] == nil {
		t.nodes[id] = n // samples name it so; children know it by its own number
		t.order[at] = id
	}
	return heap
}

// Sizes writes the bytes of each node of a heap profile.
func (t *Tree) Sizes(thread trace.LocationID) {
	sizes := stack.New(t.w, trace.Metric{Name: "allocated", Unit: "bytes", Integer: true, Default: true})
	for _, id := range t.order {
		if n := t.nodes[id]; n.size > 0 {
			sizes.Add(thread, t.path(id, nil), []float64{n.size})
		}
	}
	sizes.Finish()
}

// frame reads where a node is in the source; named: it has a name, which may be empty.
func frame(c *jsonstream.Cursor, r *trace.Region) (named bool) {
	for ok := c.Open('{'); ok && c.More('}'); {
		key := string(c.Key())
		named = named || key == "functionName"
		field(c, key, r)
	}
	return named
}

func field(c *jsonstream.Cursor, key string, r *trace.Region) {
	switch key {
	case "functionName":
		r.Name = c.Text()
	case "url":
		r.File = c.Text()
	case "lineNumber":
		line, _ := c.Whole()
		r.Line = int(line) + 1 // lines count from 0
	}
}

// known gives V8's own frames their roles.
func known(r trace.Region) trace.Region {
	switch r.Name {
	case "":
		r.Name = "(anonymous)"
	case "(idle)":
		r.Role = trace.RoleIdle
	case "(program)", "(garbage collector)":
		r.Role = trace.RoleOverhead
	}
	if r.File == "" {
		r.Line = 0
	}
	return r
}

// Check reports nodes that contradict each other: of a damaged file.
func (t *Tree) Check(label string) {
	missing, roots := int64(0), int64(0)
	child := map[int64]bool{}
	for _, list := range t.children {
		for _, id := range list {
			if t.nodes[id] == nil {
				missing++
			}
			child[id] = true
		}
	}
	for _, id := range t.order {
		if n := t.nodes[id]; !child[id] && (n.parent == noParent || t.nodes[n.parent] == nil) {
			roots++
		}
	}
	if missing > 0 {
		t.w.Report(trace.MissingSamples, "nodes that their parent names and that are not there", missing, label)
	}
	if roots > 1 {
		t.w.Report(trace.MissingFrames, "callers of nodes, which are not there", roots-1, label)
	}
	if t.counted > 0 {
		t.nameless += max(int64(len(t.order))-t.counted, 0)
	}
	if t.nameless > 0 {
		t.w.Report(trace.MissingNames, "names and counts of nodes that cannot be read", t.nameless, label)
	}
	if t.twice > 0 {
		t.w.Report(trace.MissingSamples, "nodes with a number that another has, or with none", t.twice, label)
	}
}

// join gives children that only their parents name a parent.
func (t *Tree) join() {
	for id, list := range t.children {
		for _, child := range list {
			if n := t.nodes[child]; n != nil && child != id {
				n.parent = id
			}
		}
	}
	clear(t.children)
}

// path lists the regions from the outermost to a node.
func (t *Tree) path(id int64, to []trace.RegionID) []trace.RegionID {
	for depth := 0; depth <= len(t.nodes); depth++ {
		n := t.nodes[id]
		if n == nil {
			break
		}
		if n.parent != noParent || len(t.order) == 1 {
			to = append(to, n.region)
		}
		if n.parent == noParent {
			break
		}
		id = n.parent
	}
	slices.Reverse(to)
	return to
}

// Hits writes how often each node was hit, where a profile has no samples.
func (t *Tree) Hits(thread trace.LocationID) {
	t.join()
	hits := stack.New(t.w, trace.Metric{Name: "samples", Integer: true, Default: true})
	for _, id := range t.order {
		n := t.nodes[id]
		path, rest := t.path(id, nil), n.hits
		for _, x := range n.ticks {
			if count := min(float64(x.count), rest); count > 0 {
				hits.AddFrames(thread, stack.FramesAt(path, x.line, nil), []float64{count})
				rest -= count
			}
		}
		if rest > 0 {
			hits.Add(thread, path, []float64{rest})
		}
	}
	hits.Finish()
}

// Samples are nodes and the microseconds from the sample before.
type Samples struct {
	IDs, Deltas []int64
	Begin, End  int64 // microseconds; End 0: with the last sample
	Label       string
}

// at is when each sample was taken.
func (s *Samples) at() []int64 {
	const most = 1 << 52 // microseconds: 142 years, whatever deltas say
	times := make([]int64, len(s.IDs))
	now := s.Begin
	for i := range times {
		if i < len(s.Deltas) {
			now = min(max(now+min(max(s.Deltas[i], -most), most), -most), most)
		}
		times[i] = now
	}
	return times
}

// Show adds samples up and shows them over time, on a row below their thread; offset is added to times, in ns.
func (t *Tree) Show(ctx context.Context, total *stack.Profile, thread trace.LocationID, s *Samples,
	offset trace.Time) error {
	t.join()
	times := s.at()
	if !slices.IsSorted(times) {
		t.sort(s, times)
	}
	row := stack.NewRow(t.w, total, thread)
	var now []trace.RegionID
	unknown, last := int64(0), int64(0)
	for i, id := range s.IDs {
		if i%4096 == 0 && ctx.Err() != nil {
			_ = row.Close(0)
			return ctx.Err()
		}
		line := 0
		if n := t.nodes[id]; n == nil {
			unknown++
		} else {
			line = n.nextLine()
		}
		now = t.path(id, now[:0])
		row.TakeAt(trace.Time(times[i])*1000+offset, now, line)
		last = times[i]
	}
	failed := row.Close(trace.Time(max(last, s.End))*1000 + offset)
	if unknown > 0 {
		t.w.Report(trace.MissingSamples, "samples of a node that is not there", unknown, s.Label)
	}
	if n := len(s.IDs) - len(s.Deltas); n > 0 && len(s.Deltas) > 0 {
		t.w.Report(trace.Guessed, "samples without a time", int64(n),
			fmt.Sprintf("%s: sample %d", s.Label, len(s.Deltas)))
	}
	return failed
}

// sort puts samples in order of time: threads of the profiler may overtake each other.
func (t *Tree) sort(s *Samples, times []int64) {
	back := int64(0)
	for i := 1; i < len(times); i++ {
		if times[i] < times[i-1] {
			back++
		}
	}
	t.w.Report(trace.Repaired, "samples that lie before the one before: put in order of time", back, s.Label)
	sort.Stable(byTime{times, s.IDs})
}

type byTime struct{ times, ids []int64 }

func (b byTime) Len() int           { return len(b.times) }
func (b byTime) Less(i, k int) bool { return b.times[i] < b.times[k] }
func (b byTime) Swap(i, k int) {
	b.times[i], b.times[k] = b.times[k], b.times[i]
	b.ids[i], b.ids[k] = b.ids[k], b.ids[i]
}
