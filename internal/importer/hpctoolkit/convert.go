package hpctoolkit

import "github.com/parallax-hpc/parallax/internal/trace"

// A step is a function, a loop, or a source line in one of them.
type step struct {
	name, category, file string
	line                 int
}

// contexts are the functions, loops and lines of a tree, parents before children.
type contexts struct {
	nodes []contextNode
	byID  map[uint32]int32 // of a context: the function or loop that it is or belongs to
	self  map[uint32]int32 // of a context that is a node: the node
}

type contextNode struct {
	step
	parent int32 // the node above
	owner  int32 // of a line: its function or loop; else -1
	path   trace.CallPathID
	region trace.RegionID
	// of a line: its file, and that no line above is the same line of the same region
	source    trace.FileID
	outermost bool
	// of a function or loop below a line: no node above is the same call from the same line
	firstCall bool
}

func (n *contextNode) isLine() bool { return n.owner >= 0 }

func newContexts() contexts {
	return contexts{byID: map[uint32]int32{}, self: map[uint32]int32{}}
}

// add makes a function or loop of a context.
func (c *contexts) add(id uint32, parent int32, s step) int32 {
	node := int32(len(c.nodes))
	c.nodes = append(c.nodes, contextNode{step: s, parent: parent, owner: -1})
	c.byID[id], c.self[id] = node, node
	return node
}

// addLine makes a line of a context. One without a place, or outside of any function, belongs to the node above.
func (c *contexts) addLine(id uint32, parent int32, file string, line int) int32 {
	owner := c.ownerOf(parent)
	c.byID[id] = owner
	if owner < 0 || line <= 0 {
		return parent
	}
	node := int32(len(c.nodes))
	c.nodes = append(c.nodes, contextNode{step: step{file: file, line: line}, parent: parent, owner: owner})
	c.self[id] = node
	return node
}

// fold lets a context belong to the node above.
func (c *contexts) fold(id uint32, node int32) { c.byID[id] = c.ownerOf(node) }

// ownerOf returns the function or loop that a node is or belongs to.
func (c *contexts) ownerOf(node int32) int32 {
	if node >= 0 && c.nodes[node].isLine() {
		return c.nodes[node].owner
	}
	return node
}

// define writes regions and call paths.
func (c *contexts) define(w trace.Writer) {
	for i := range c.nodes {
		n := &c.nodes[i]
		if n.isLine() {
			owner := &c.nodes[n.owner]
			n.region, n.path, n.source = owner.region, owner.path, trace.NoFile
			if n.file != "" && n.file != owner.file {
				n.source = trace.SourceFile(w, n.file)
			}
			n.outermost = !c.above(n, func(up *contextNode) bool { return up.sameLine(n) })
			continue
		}
		n.region = w.Region(trace.Region{Name: n.name, Category: n.category, File: n.file, Line: n.line})
		parent := trace.NoCallPath
		if up := c.ownerOf(n.parent); up >= 0 {
			parent = c.nodes[up].path
		}
		n.path = w.CallPath(trace.CallPath{Parent: parent, Region: n.region})
		if n.parent >= 0 && c.nodes[n.parent].isLine() {
			from := &c.nodes[n.parent]
			n.firstCall = !c.above(n, func(up *contextNode) bool {
				return !up.isLine() && up.region == n.region && up.parent >= 0 && c.nodes[up.parent].sameLine(from)
			})
		}
	}
}

func (n *contextNode) sameLine(o *contextNode) bool {
	return n.isLine() && n.region == o.region && n.source == o.source && n.line == o.line
}

// above reports whether a node above n is one that is looked for.
func (c *contexts) above(n *contextNode, is func(*contextNode) bool) bool {
	for up := n.parent; up >= 0; up = c.nodes[up].parent {
		if is(&c.nodes[up]) {
			return true
		}
	}
	return false
}

// rows writes the values of a thread: inclusive as given, exclusive without the nodes below.
// Rounding may leave less than nothing, which is nothing. O(nodes × metrics).
func (c *contexts) rows(w trace.Writer, at trace.LocationID, metrics []metric, inclusive []float64) {
	n := len(metrics)
	below := make([]float64, len(inclusive)) // of a function or loop: those below it; of a line: all nodes below it
	for i := len(c.nodes) - 1; i >= 0; i-- {
		x := &c.nodes[i]
		for k := range n {
			v := inclusive[i*n+k]
			if owner := c.ownerOf(x.parent); owner >= 0 && !x.isLine() {
				below[int(owner)*n+k] += v
			}
			if p := x.parent; p >= 0 && c.nodes[p].isLine() {
				below[int(p)*n+k] += v
			}
		}
	}
	exclusive := func(i int) float64 {
		own := max(inclusive[i]-below[i], 0)
		if own < 1e-9*inclusive[i] {
			return 0
		}
		return own
	}
	for i := range c.nodes {
		if c.nodes[i].isLine() {
			continue
		}
		for k := range n {
			if v := inclusive[i*n+k]; v != 0 {
				w.Profile(trace.ProfileRow{Location: at, Path: c.nodes[i].path, Metric: metrics[k].id,
					Inclusive: v * metrics[k].scale, Exclusive: exclusive(i*n+k) * metrics[k].scale})
			}
		}
	}
	c.lines(w, at, metrics, inclusive, exclusive)
}

// lines writes the values of lines and of the calls that they make. The rest of a function or loop that has lines is
// of no line.
func (c *contexts) lines(w trace.Writer, at trace.LocationID, metrics []metric, inclusive []float64,
	exclusive func(int) float64) {
	n := len(metrics)
	rest := map[int]float64{} // of functions and loops that have lines
	var rows []trace.LineRow
	for i := range c.nodes {
		x := &c.nodes[i]
		for k, m := range metrics {
			v := inclusive[i*n+k]
			row := trace.LineRow{Location: at, Path: x.path, Callee: trace.NoCallPath, File: x.source,
				Line: uint32(x.line), Metric: m.id, Inclusive: v * m.scale}
			switch {
			case v == 0:
			case x.isLine():
				owner := int(x.owner)*n + k
				if _, ok := rest[owner]; !ok {
					rest[owner] = exclusive(owner)
				}
				own := exclusive(i*n + k)
				rest[owner] -= own
				row.Exclusive = own * m.scale
				if !x.outermost {
					row.Inclusive = 0
				}
				if row.Inclusive != 0 || row.Exclusive != 0 {
					rows = append(rows, row)
				}
			case x.firstCall:
				from := &c.nodes[x.parent]
				row.Path, row.Callee, row.File, row.Line = from.path, x.path, from.source, uint32(from.line)
				rows = append(rows, row)
			}
		}
	}
	for i := range c.nodes {
		for k, m := range metrics {
			if v := rest[i*n+k]; v > 1e-9*inclusive[i*n+k] {
				rows = append(rows, trace.LineRow{Location: at, Path: c.nodes[i].path, Callee: trace.NoCallPath,
					File: trace.NoFile, Metric: m.id, Inclusive: v * m.scale, Exclusive: v * m.scale})
			}
		}
	}
	trace.AddLines(w, rows)
}
