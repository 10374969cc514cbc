package hpctoolkit

import "github.com/parallax-hpc/parallax/internal/trace"

// A step is a function or a loop.
type step struct {
	name, category, file string
	line                 int
}

// contexts are the functions and loops of a tree, parents before children.
type contexts struct {
	nodes []contextNode
	byID  map[uint32]int32 // of a context: the node it is or belongs to
	own   map[uint32]bool  // contexts that are a node themselves
}

type contextNode struct {
	step
	parent int32
	path   trace.CallPathID
	region trace.RegionID
	depth  int
}

func newContexts() contexts {
	return contexts{byID: map[uint32]int32{}, own: map[uint32]bool{}}
}

// add makes a node of a context.
func (c *contexts) add(id uint32, parent int32, s step) int32 {
	node := int32(len(c.nodes))
	depth := 0
	if parent >= 0 {
		depth = c.nodes[parent].depth + 1
	}
	c.nodes = append(c.nodes, contextNode{step: s, parent: parent, depth: depth})
	c.byID[id], c.own[id] = node, true
	return node
}

// fold lets a context belong to a node.
func (c *contexts) fold(id uint32, node int32) { c.byID[id] = node }

// define writes regions and call paths.
func (c *contexts) define(w trace.Writer) {
	for i := range c.nodes {
		n := &c.nodes[i]
		n.region = w.Region(trace.Region{Name: n.name, Category: n.category, File: n.file, Line: n.line})
		parent := trace.NoCallPath
		if n.parent >= 0 {
			parent = c.nodes[n.parent].path
		}
		n.path = w.CallPath(trace.CallPath{Parent: parent, Region: n.region})
	}
}

// rows writes the values of a thread: inclusive as given, exclusive without the nodes below.
// Rounding may leave less than nothing, which is nothing. O(nodes × metrics).
func (c *contexts) rows(w trace.Writer, at trace.LocationID, metrics []metric, inclusive []float64) {
	n := len(metrics)
	below := make([]float64, len(inclusive))
	for i := len(c.nodes) - 1; i >= 0; i-- {
		if p := c.nodes[i].parent; p >= 0 {
			for k := range n {
				below[int(p)*n+k] += inclusive[i*n+k]
			}
		}
	}
	for i := range c.nodes {
		for k := range n {
			v := inclusive[i*n+k]
			if v == 0 {
				continue
			}
			own := max(v-below[i*n+k], 0)
			if own < 1e-9*v {
				own = 0
			}
			w.Profile(trace.ProfileRow{Location: at, Path: c.nodes[i].path, Metric: metrics[k].id,
				Inclusive: v * metrics[k].scale, Exclusive: own * metrics[k].scale})
		}
	}
}
