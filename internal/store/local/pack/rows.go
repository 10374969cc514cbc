package pack

import (
	"sort"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Rows are the rows of table interval that share a frame, by column.
type Rows struct {
	First     uint64 // the number of the first
	Duration  []trace.Time
	Exclusive []trace.Time
	Parent    []int32
	Depth     []uint16
}

// levels is how many of the stack are followed; deeper rows are written as they are.
const levels = 64

const unknown = -2

// Fold puts in place of parents and exclusive times what the other columns do not tell: of a
// parent, how far it is from the last row of the frame that is one level up, or, for the first
// that asks for that level, from the row itself; of the exclusive time, what it is less
// than the duration without the children that lie in the frame. Most are 0. Lanes are where
// the rows of each lane begin.
func (r *Rows) Fold(lanes []uint64) { r.turn(lanes, true) }

// Unfold does the reverse.
func (r *Rows) Unfold(lanes []uint64) { r.turn(lanes, false) }

func (r *Rows) turn(lanes []uint64, fold bool) {
	n := len(r.Parent)
	duration, exclusive, depths := r.Duration[:n], r.Exclusive[:n], r.Depth[:n]
	var stack [levels]int32
	lane := sort.Search(len(lanes), func(i int) bool { return lanes[i] > r.First }) - 1 // the last that begins by then
	rel, left := int64(0), int64(n)+1                                                   // of the row in its lane, rows until the next lane
	if lane >= 0 {
		rel = int64(r.First - lanes[lane])
	}
	if lane+1 < len(lanes) {
		left = int64(lanes[lane+1] - r.First)
	}
	for d := range stack {
		stack[d] = unknown
	}
	start := rel // of the frame's first row, where it is of this lane
	for i := range n {
		if left == 0 {
			for lane++; lane+1 < len(lanes) && lanes[lane+1] == r.First+uint64(i); lane++ {
			}
			rel, start, left = 0, -int64(i), int64(n)+1
			if lane+1 < len(lanes) {
				left = int64(lanes[lane+1]) - int64(r.First) - int64(i)
			}
			for d := range stack {
				stack[d] = unknown
			}
		}
		d := int(depths[i])
		guess := int32(-1)
		if d > 0 {
			guess = int32(rel)
			if d <= levels && stack[d-1] != unknown {
				guess = stack[d-1]
			}
		}
		parent := r.Parent[i]
		if fold {
			r.Parent[i] = parent - guess
		} else {
			parent += guess
			r.Parent[i] = parent
		}
		if d > 0 && d <= levels {
			stack[d-1] = parent
		}
		if d < levels {
			stack[d] = int32(rel)
		}
		exclusive[i] = duration[i] - exclusive[i]
		if p := int64(parent) - start; parent >= 0 && p >= 0 && p < int64(i) {
			exclusive[p] -= duration[i]
		}
		rel++
		left--
	}
}
