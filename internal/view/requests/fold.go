package requests

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/criticalpath"
	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// repeated is from how many calls of one operation under one caller on they are one row.
const repeated = 4

// A fold is the tree of one request as rows: a call each, or all calls of an operation that
// one caller repeats.
type fold struct {
	lines    []line
	critical map[int32]trace.Time // on the path, by call
	sections []criticalpath.Section
	onPath   map[int32][]criticalpath.Section
	expand   func(trace.RegionID) bool
	// From the first call to the last, those outside of the root too.
	begin, end trace.Time
}

// A line is a row of the tree.
type line struct {
	nodes  []int32 // calls by begin
	depth  int
	parent int // line; -1
	hidden int // calls below that have no line
	weight trace.Time
	failed int
}

// keepFold takes the fold of the request from the cache of the run, where it was made before: to scroll through one or
// to look at a part of it makes no new one.
func (r *result) keepFold() error {
	key := fmt.Sprintf("fold %d of %d %q %q", r.one, r.forest.Len(), r.forest.Requests[r.one].ID,
		r.request.Values.RegionPatterns("expand", r.forest.Regions))
	d, err := derived.Keep(r.request.Runs[0].Cache, key, (*fold).sizeBytes, func() (*fold, error) {
		r.fold = &fold{}
		return r.fold, r.makeFold()
	})
	r.fold = d
	return err
}

func (d *fold) sizeBytes() int64 {
	n := int64(0)
	for i := range d.lines {
		n += 96 + 4*int64(len(d.lines[i].nodes))
	}
	return n + 60*int64(len(d.critical)) + 120*int64(len(d.sections))
}

// makeFold folds the request and finds its critical path.
func (r *result) makeFold() error {
	f, q := r.forest, &r.forest.Requests[r.one]
	*r.fold = fold{critical: map[int32]trace.Time{}, onPath: map[int32][]criticalpath.Section{}, begin: q.Begin,
		end: q.End}
	f.Each(q, func(node int32, _ int) {
		r.fold.begin, r.fold.end = min(r.fold.begin, f.Begin[node]), max(r.fold.end, f.End[node])
	})
	f.Walk(f.Walker(), q, func(s criticalpath.Section) {
		r.fold.sections = append(r.fold.sections, s)
		if s.Node != request.NoRoot {
			r.fold.critical[s.Node] += s.End - s.Begin
			r.fold.onPath[s.Node] = append(r.fold.onPath[s.Node], s)
		}
	})
	slices.Reverse(r.fold.sections)
	open := make([]bool, len(f.Regions))
	for _, p := range r.request.Values.RegionPatterns("expand", f.Regions) {
		match, err := view.RegionPattern(p)
		if err != nil {
			return err
		}
		for i := range f.Regions {
			open[i] = open[i] || match(trace.RegionID(i), &f.Regions[i])
		}
	}
	r.fold.expand = func(id trace.RegionID) bool { return open[id] }
	r.foldTree(q)
	return nil
}

// foldTree makes lines in preorder, without a stack of functions as deep as the tree.
func (r *result) foldTree(q *request.Request) {
	f := r.forest
	size := sizesOf(f, q)
	type task struct {
		nodes         []int32
		depth, parent int
	}
	var stack []task
	push := func(kids []int32, depth, parent int) {
		groups := r.groups(kids)
		for i := len(groups) - 1; i >= 0; i-- {
			stack = append(stack, task{groups[i], depth, parent})
		}
	}
	push(q.Roots, 0, -1)
	for len(stack) > 0 {
		t := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		l := line{nodes: t.nodes, depth: t.depth, parent: t.parent}
		for _, n := range t.nodes {
			l.weight = max(l.weight, f.End[n]-f.Begin[n])
			if f.Failed(n) {
				l.failed++
			}
			if len(t.nodes) > 1 {
				l.hidden += size(n) - 1
			}
		}
		at := len(r.fold.lines)
		r.fold.lines = append(r.fold.lines, l)
		if len(t.nodes) == 1 {
			push(f.Kids(t.nodes[0]), t.depth+1, at)
		}
	}
	// A callee may last longer than its caller: a line weighs as much as the longest below it.
	for i := len(r.fold.lines) - 1; i >= 0; i-- {
		if l := &r.fold.lines[i]; l.parent >= 0 {
			up := &r.fold.lines[l.parent]
			up.weight = max(up.weight, l.weight)
		}
	}
}

// sizesOf counts the calls in and below each call of a request, where there are calls below.
func sizesOf(f *request.Forest, q *request.Request) func(int32) int {
	order := make([]int32, 0, q.Spans)
	f.Each(q, func(node int32, _ int) { order = append(order, node) })
	// In preorder, the lines in and below a call follow it up to the next that is not below it.
	last := make(map[int32]int32)
	var open []int32 // places in order
	close := func(until int) {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		if n := order[at]; until-int(at) > 1 {
			last[n] = int32(until) - at
		}
	}
	for i, n := range order {
		for len(open) > 0 && order[open[len(open)-1]] != f.Parent[n] {
			close(i)
		}
		open = append(open, int32(i))
	}
	for len(open) > 0 {
		close(len(order))
	}
	return func(node int32) int {
		if n, ok := last[node]; ok {
			return int(n)
		}
		return 1
	}
}

// groups puts calls of one operation together that are many, in the order of their first.
func (r *result) groups(kids []int32) (out [][]int32) {
	f := r.forest
	type op struct {
		service trace.LocationID
		region  trace.RegionID
	}
	count := map[op]int{}
	if len(kids) >= repeated {
		for _, n := range kids {
			count[op{f.Service(n), f.Region[n]}]++
		}
	}
	at := map[op]int{}
	for _, n := range kids {
		o := op{f.Service(n), f.Region[n]}
		if count[o] < repeated || r.fold.expand(o.region) {
			out = append(out, []int32{n})
			continue
		}
		k, ok := at[o]
		if !ok {
			k = len(out)
			at[o] = k
			out = append(out, nil)
		}
		out[k] = append(out[k], n)
	}
	return out
}

// show returns the lines that are drawn in so many rows: from the one that is scrolled to,
// or the longest, each with those around it.
func (d *fold) show(room, scroll int) (out []int, short int) {
	n := len(d.lines)
	if scroll > 0 || n <= room {
		from := min(max(scroll, 0), max(n-1, 0))
		for i := from; i < min(from+room, n); i++ {
			out = append(out, i)
		}
		return out, 0
	}
	// The heaviest so far, the lightest of them first. A line weighs no more than its caller's and comes after it, so
	// that is there too.
	lighter := func(a, b int) bool {
		return cmp.Or(cmp.Compare(d.lines[a].weight, d.lines[b].weight), cmp.Compare(b, a)) < 0
	}
	for i := range n {
		if len(out) < room {
			out = append(out, i)
			for k := len(out) - 1; k > 0 && lighter(out[k], out[(k-1)/2]); k = (k - 1) / 2 {
				out[k], out[(k-1)/2] = out[(k-1)/2], out[k]
			}
			continue
		}
		if !lighter(out[0], i) {
			continue
		}
		out[0] = i
		for k := 0; ; {
			least := k
			for _, c := range []int{2*k + 1, 2*k + 2} {
				if c < len(out) && lighter(out[c], out[least]) {
					least = c
				}
			}
			if least == k {
				break
			}
			out[k], out[least] = out[least], out[k]
			k = least
		}
	}
	slices.Sort(out)
	return out, n - room
}
