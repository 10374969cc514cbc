// Package stackalign aligns the calls of several locations or runs over time: which call of one is which
// call of the others, and the calls that only some make.
//
// After the hierarchical alignment of Weber, Brendel and Brunst: the outermost calls are aligned as
// sequences of regions; where two calls are matched, their callees are aligned within them, and so on down.
// A call never matches one in another caller, so the work is that of many short lists in place of one long
// one.
//
// Two lists are aligned by a longest common subsequence, O((n+m) × edits); more than two one after the
// other with the lists merged so far, in the order given. The result is a tree of slots: a slot is the same
// call of all that make it.
package stackalign

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Sequence is the calls of one location in preorder.
type Sequence struct {
	Node       []int32 // the callee, the same numbers in all sequences
	Begin, End []trace.Time
	Parent     []int32 // -1 for the outermost
}

// Len is the number of calls.
func (s *Sequence) Len() int { return len(s.Node) }

// A Slot is the same call of several sequences.
type Slot struct {
	Node  int32
	Calls []int32 // of each sequence, -1 where it does not make the call
	Inner []*Slot
	// Self is the longest time that a sequence spends in it outside of its callees, and Width that with the
	// widths of the inner ones: its width in a picture.
	Self, Width trace.Time
}

// An Alignment is all slots, and the similarity of the sequences.
type Alignment struct {
	Slots []*Slot
	Count int // of slots
	// Inexact is how many lists took more edits than are searched for.
	Inexact int
	Pairs   []Pair // of each sequence with the first
}

// A Pair says how a sequence fits the first one.
type Pair struct {
	Matched         int // calls that both make
	OnlyHere, There int // calls of this one alone, of the first alone
	// Time is Σ min / Σ max of the exclusive times of all slots of either, from 0 to 1.
	Time float64

	least, most trace.Time
}

// Structure is the share of calls in common, from 0 to 1.
func (p *Pair) Structure() float64 {
	if n := 2*p.Matched + p.OnlyHere + p.There; n > 0 {
		return 2 * float64(p.Matched) / float64(n)
	}
	return 1
}

// Align aligns sequences. O(calls × edits within one list) time, O(calls × sequences)
// memory.
func Align(list []*Sequence) *Alignment {
	w := &worker{list: list, out: &Alignment{Pairs: make([]Pair, len(list))}}
	tops := make([][]int32, len(list))
	for s, q := range list {
		w.inner = append(w.inner, innerOf(q))
		w.self = append(w.self, selfOf(q))
		tops[s] = w.inner[s][q.Len()]
	}
	w.out.Slots = w.merge(tops)
	for i := range w.out.Pairs {
		p := &w.out.Pairs[i]
		p.Time = 1
		if p.most > 0 {
			p.Time = float64(p.least) / float64(p.most)
		}
	}
	return w.out
}

type worker struct {
	list  []*Sequence
	inner [][][]int32    // calls of each call, the outermost last
	self  [][]trace.Time // exclusive time of each call
	out   *Alignment
}

// innerOf lists the callees of each call, and in the end the outermost calls.
func innerOf(q *Sequence) [][]int32 {
	out := make([][]int32, q.Len()+1)
	for i, p := range q.Parent {
		if p < 0 {
			p = int32(q.Len())
		}
		out[p] = append(out[p], int32(i))
	}
	return out
}

func selfOf(q *Sequence) []trace.Time {
	self := make([]trace.Time, q.Len())
	for i := range self {
		self[i] += q.End[i] - q.Begin[i]
		if p := q.Parent[i]; p >= 0 {
			self[p] -= q.End[i] - q.Begin[i]
		}
	}
	return self
}

// merge aligns the lists of calls under one slot, and the callees of each slot.
func (w *worker) merge(calls [][]int32) []*Slot {
	var slots []*Slot
	for s, list := range calls {
		if len(list) > 0 {
			slots = w.add(slots, s, list)
		}
	}
	for _, slot := range slots {
		w.finish(slot)
	}
	return slots
}

// add aligns the calls of sequence s with the slots so far.
func (w *worker) add(slots []*Slot, s int, calls []int32) []*Slot {
	have, want := make([]int32, len(slots)), make([]int32, len(calls))
	for i, x := range slots {
		have[i] = x.Node
	}
	for i, c := range calls {
		want[i] = w.list[s].Node[c]
	}
	same, exact := longest(have, want, mostEdits)
	if !exact {
		w.out.Inexact++
	}
	out := make([]*Slot, 0, len(slots)+len(calls)-len(same))
	i, j := 0, 0
	rest := func(toI, toJ int) {
		out = append(out, slots[i:toI]...)
		for ; j < toJ; j++ {
			x := &Slot{Node: want[j], Calls: slices.Repeat([]int32{-1}, len(w.list))}
			x.Calls[s] = calls[j]
			out = append(out, x)
		}
		i = toI
	}
	for _, m := range same {
		rest(int(m.a), int(m.b))
		slots[i].Calls[s] = calls[j]
		out = append(out, slots[i])
		i, j = i+1, j+1
	}
	rest(len(slots), len(calls))
	return out
}

// finish aligns the callees of a slot, and counts them.
func (w *worker) finish(x *Slot) {
	w.out.Count++
	inner := make([][]int32, len(w.list))
	any := false
	first := x.Calls[0]
	for s, c := range x.Calls {
		self := trace.Time(0)
		if c >= 0 {
			inner[s] = w.inner[s][c]
			any = any || len(inner[s]) > 0
			self = max(w.self[s][c], 0)
			x.Self = max(x.Self, self)
		}
		w.out.Pairs[s].count(first >= 0, c >= 0, w.selfAt(0, first), self)
	}
	if any {
		x.Inner = w.merge(inner)
	}
	x.Width = x.Self
	for _, y := range x.Inner {
		x.Width += y.Width
	}
}

func (w *worker) selfAt(s int, c int32) trace.Time {
	if c < 0 {
		return 0
	}
	return max(w.self[s][c], 0)
}

func (p *Pair) count(there, here bool, first, own trace.Time) {
	switch {
	case there && here:
		p.Matched++
	case here:
		p.OnlyHere++
	case there:
		p.There++
	default:
		return
	}
	p.least += min(first, own)
	p.most += max(first, own)
}
