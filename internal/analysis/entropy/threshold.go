package entropy

import (
	"math"
	"slices"
)

// Never is the threshold of a node that is at no p strictly better than its
// parts: a chain of single children, or nothing to gain.
var Never = math.Inf(1)

// tie is the share by which odds must be past a threshold to count as past it. It
// is a share, since odds grow and shrink with the unit of the values.
const tie = 1e-12

// A Scale is the unit of the gain and loss that p weighs.
type Scale uint8

const (
	Normalised Scale = iota // gain and loss as shares of the root's
	Plain                   // gain and loss as they are, as in the paper
)

// Axis is that of p on a scale.
func (l *Labels) Axis(s Scale) Axis { return Axis{l.Gain[0], l.Loss[0], s} }

// Odds turns p on a scale into odds, see Axis.
func (l *Labels) Odds(p float64, s Scale) float64 { return l.Axis(s).Odds(p) }

// P is the inverse of Odds.
func (l *Labels) P(odds float64, s Scale) float64 { return l.Axis(s).P(odds) }

// Thresholds returns the odds above which each node is better as one than in parts.
// Leaves have 0. significant are the odds at which the best cut of the whole tree
// changes, ascending.
//
// Divided by 1-p, the best value of a subtree is convex and piecewise linear in the
// odds: it starts as the constant 0 (all leaves) and its slope, the gain, grows at
// breakpoints. Going up:
//
//  1. the children's functions add, so their breakpoints unite;
//  2. the node's own line odds·G-L meets that sum once; the piece that holds the
//     meeting point is found by removing breakpoints from the right;
//  3. everything right of the meeting point is replaced by one breakpoint there.
//
// Breakpoints are in skew heaps with the largest odds on top, and each is put in
// once and taken out once: O(n log n) in all, for n inner nodes. A change of unit
// multiplies all losses, and so all thresholds: nothing here is compared with a
// fixed number.
func (l *Labels) Thresholds() (thresholds, significant []float64) {
	t, n := l.Tree, l.Tree.Len()
	thresholds = make([]float64, n)
	h := heap{}
	top := make([]int32, n)     // heap of the subtree, 0: empty
	slope := make([]float64, n) // gain of the last piece
	loss := make([]float64, n)  // loss of the last piece: its value is slope·odds - loss
	noise := make([]float64, n) // of the losses below
	h.node = append(h.node, heapNode{})
	for i := n - 1; i >= 0; i-- {
		if !t.Leaf(i) {
			o := own{gain: l.Gain[i], loss: l.Loss[i], noise: l.noise[i] + noise[i]}
			top[i], slope[i], loss[i], thresholds[i] = h.own(top[i], slope[i], loss[i], o)
		}
		if p := t.Parent[i]; p >= 0 {
			top[p] = h.meld(top[p], top[i])
			slope[p] += slope[i]
			loss[p] += loss[i]
			noise[p] += l.noise[i]
		}
	}
	for r := top[0]; r != 0; r = h.meld(h.node[r].left, h.node[r].right) {
		odds := h.node[r].odds
		if k := len(significant); odds > 0 && (k == 0 || significant[k-1]-odds > tie*odds) {
			significant = append(significant, odds)
		}
	}
	slices.Reverse(significant)
	return thresholds, significant
}

// own is a node drawn as one, and how large a loss may be that is but rounding.
type own struct{ gain, loss, noise float64 }

// own brings a node's own line into the sum of its children's functions.
func (h *heap) own(top int32, slope, loss float64, o own) (int32, float64, float64, float64) {
	if o.gain <= 0 {
		return top, slope, loss, Never
	}
	for {
		rise, fall := o.gain-slope, o.loss-loss
		if math.Abs(fall) <= o.noise+tie*o.loss {
			fall = 0
		}
		if rise <= tie*o.gain {
			return top, slope, loss, Never // the same line as this piece, or more loss for no gain
		}
		if odds := max(fall/rise, 0); top == 0 || odds >= h.node[top].odds*(1-tie) {
			return h.meld(h.push(odds, rise), top), o.gain, o.loss, odds
		}
		b := h.node[top]
		slope -= b.delta
		loss -= b.delta * b.odds
		top = h.meld(b.left, b.right)
	}
}

// A heap holds many skew heaps in one slice; index 0 is the empty heap.
type heap struct{ node []heapNode }

type heapNode struct {
	odds, delta float64
	left, right int32
}

func (h *heap) push(odds, delta float64) int32 {
	h.node = append(h.node, heapNode{odds: odds, delta: delta})
	return int32(len(h.node) - 1)
}

// meld unites two heaps, largest odds on top: amortised O(log n). It goes down the
// right spines in a loop, so that a degenerate heap cannot exhaust the stack.
func (h *heap) meld(a, b int32) int32 {
	var root, above int32
	for a != 0 && b != 0 {
		if h.node[a].odds < h.node[b].odds {
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
