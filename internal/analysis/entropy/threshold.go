package entropy

import "math"

// Never is the threshold of a node that is at no p strictly better than its
// parts: a chain of single children, or nothing to gain.
const Never = math.MaxFloat64

// tie is how far p must be past a threshold to count as past it.
const tie = 1e-12

// Thresholds gives p* of every node in plain units: i is better as one than in
// parts exactly for p > p*[i]. Leaves have 0. significant are the p at which the
// best cut of the whole tree changes, ascending.
//
// The best value of a subtree is convex and piecewise linear in p: it starts as
// the constant 0 (all leaves) and its slope grows at breakpoints. Going up:
//
//  1. the children's functions add, so their breakpoints unite;
//  2. the node's own line p(G+L)-L meets that sum once; the piece that holds the
//     meeting point is found by removing breakpoints from the right;
//  3. what is right of the meeting point is replaced by one breakpoint there.
//
// Breakpoints lie in skew heaps with the largest p on top, and each is put in
// once and taken out once: O(n log n) in all, for n inner nodes.
func (l *Labels) Thresholds() (pstar []float64, significant []float64) {
	t, n := l.Tree, l.Tree.Len()
	pstar = make([]float64, n)
	h := heap{}
	top := make([]int32, n)         // heap of the subtree, 0: empty
	slope := make([]float64, n)     // of the last piece
	intercept := make([]float64, n) // value of the last piece is slope·p - intercept
	h.node = append(h.node, heapNode{})
	for i := n - 1; i >= 0; i-- {
		if !t.Leaf(i) {
			top[i], slope[i], intercept[i], pstar[i] = h.own(top[i], slope[i], intercept[i], l.Gain[i], l.Loss[i])
		}
		if p := t.Parent[i]; p >= 0 {
			top[p] = h.meld(top[p], top[i])
			slope[p] += slope[i]
			intercept[p] += intercept[i]
		}
	}
	for r := top[0]; r != 0; r = h.meld(h.node[r].left, h.node[r].right) {
		if p := h.node[r].p; p > 0 && p < 1 && (len(significant) == 0 || significant[len(significant)-1]-p > tie) {
			significant = append(significant, p)
		}
	}
	for i, j := 0, len(significant)-1; i < j; i, j = i+1, j-1 {
		significant[i], significant[j] = significant[j], significant[i]
	}
	return pstar, significant
}

// own brings a node's own line into the sum of its children's functions.
func (h *heap) own(top int32, slope, intercept, gain, loss float64) (int32, float64, float64, float64) {
	a := gain + loss
	if a <= 0 {
		return top, slope, intercept, Never
	}
	for {
		rise, fall := a-slope, loss-intercept
		if rise <= 1e-12*a {
			if math.Abs(fall) <= 1e-12*a || top == 0 {
				return top, slope, intercept, Never // the same line as the last piece
			}
		} else if p := fall / rise; top == 0 || p >= h.node[top].p-tie {
			if p = max(p, 0); p >= 1-tie {
				return top, slope, intercept, 1
			}
			return h.meld(h.push(p, rise), top), a, loss, p
		}
		b := h.node[top]
		slope -= b.delta
		intercept -= b.delta * b.p
		top = h.meld(b.left, b.right)
	}
}

// A heap holds many skew heaps in one slice; index 0 is the empty heap.
type heap struct{ node []heapNode }

type heapNode struct {
	p, delta    float64
	left, right int32
}

func (h *heap) push(p, delta float64) int32 {
	h.node = append(h.node, heapNode{p: p, delta: delta})
	return int32(len(h.node) - 1)
}

// meld unites two heaps, largest p on top: amortised O(log n). It goes down the
// right spines in a loop, so that a degenerate heap cannot exhaust the stack.
func (h *heap) meld(a, b int32) int32 {
	var root, above int32
	for a != 0 && b != 0 {
		if h.node[a].p < h.node[b].p {
			a, b = b, a
		}
		rest := h.node[a].right
		h.node[a].right = h.node[a].left
		h.node[a].left = 0
		if above == 0 {
			root = a
		} else {
			h.node[above].left = a
		}
		above, a = a, rest
	}
	if a == 0 {
		a = b
	}
	if above == 0 {
		return a
	}
	h.node[above].left = a
	return root
}
