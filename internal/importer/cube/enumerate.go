package cube

// A tree is the call tree in preorder.
type tree struct {
	nodes  []*node
	parent []int32
	// wide[i] is the preorder place of the node that inclusive metrics number i.
	wide []int32
}

// newTree walks the call tree without recursion: its depth is the input's.
func newTree(roots []*node) *tree {
	t := &tree{}
	type step struct {
		n      *node
		parent int32
	}
	var stack []step
	for i := len(roots) - 1; i >= 0; i-- {
		stack = append(stack, step{roots[i], -1})
	}
	for len(stack) > 0 {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		at := int32(len(t.nodes))
		t.nodes = append(t.nodes, s.n)
		t.parent = append(t.parent, s.parent)
		for i := len(s.n.Children) - 1; i >= 0; i-- {
			stack = append(stack, step{s.n.Children[i], at})
		}
	}
	t.enumerate(roots)
	return t
}

// enumerate numbers each root, then for every node in preorder all its children.
func (t *tree) enumerate(roots []*node) {
	place := make(map[*node]int32, len(t.nodes))
	for i, n := range t.nodes {
		place[n] = int32(i)
	}
	for i, n := range t.nodes {
		if t.parent[i] < 0 {
			t.wide = append(t.wide, int32(i))
		}
		for _, c := range n.Children {
			t.wide = append(t.wide, place[c])
		}
	}
}

// order returns the place of the node that an index of a metric calls i.
func (t *tree) order(inclusive bool, i uint32) (int32, bool) {
	switch {
	case int64(i) >= int64(len(t.nodes)):
		return 0, false
	case inclusive:
		return t.wide[i], true
	}
	return int32(i), true
}
