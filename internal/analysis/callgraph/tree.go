package callgraph

import "github.com/parallax-hpc/parallax/internal/trace"

// A Tree counts calls by call path: node i is entered from Parent[i] (-1 at the
// top). The zero Tree is empty.
type Tree struct {
	Parent []int32
	Node   []int32 // what is called
	Count  []int64
	child  map[uint64]int32 // by parent and node
	stack  []int32
}

// Add counts the calls that begin in a batch of one lane. node gives the node of
// each region. O(rows).
func (t *Tree) Add(c *trace.Columns, node []int32) {
	t.stack = t.stack[:0]
	base := 0 // of the stack: callers in other lanes
	around := func(row int) {
		t.stack, base = t.stack[:0], 0
		if c.Callers != nil {
			for _, r := range c.Callers(nil, row) {
				t.stack = append(t.stack, t.below(node[r]))
			}
			base = len(t.stack)
		}
	}
	if len(c.Open) > 0 {
		around(c.Open[0].Row)
	}
	for _, x := range c.Open {
		t.stack = append(t.stack, t.below(node[x.Region]))
	}
	for i, region := range c.Region {
		if c.Depth[i] == 0 {
			around(c.First + i)
		}
		t.stack = t.stack[:min(base+int(c.Depth[i]), len(t.stack))]
		at := t.below(node[region])
		t.Count[at]++
		t.stack = append(t.stack, at)
	}
}

// below gives the node for a call from the top of the stack.
func (t *Tree) below(node int32) int32 {
	parent := int32(-1)
	if n := len(t.stack); n > 0 {
		parent = t.stack[n-1]
	}
	key := Pair{parent, node}.key()
	at, ok := t.child[key]
	if !ok {
		if t.child == nil {
			t.child = map[uint64]int32{}
		}
		at = int32(len(t.Node))
		t.child[key] = at
		t.Parent, t.Node, t.Count = append(t.Parent, parent), append(t.Node, node), append(t.Count, 0)
	}
	return at
}
