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

// Fold replaces parents and exclusive times by differences from values that follow from the other columns. For a
// parent that is the distance from the last row of the frame that is one level up, or, for the first that asks for
// that level, from the row itself. For the exclusive time it is the difference from the duration without the children
// in the frame. Most are 0. Lanes are where the rows of each lane begin.
func (r *Rows) Fold(lanes []uint64) { r.turn(lanes, true) }

// Unfold does the reverse.
func (r *Rows) Unfold(lanes []uint64) { r.turn(lanes, false) }

func (r *Rows) turn(lanes []uint64, fold bool) {
	n := len(r.Parent)
	lane := sort.Search(len(lanes), func(i int) bool { return lanes[i] > r.First }) // the first that begins later
	before := 0                                                                     // rows of the lane before the frame
	if lane > 0 {
		before = int(r.First - lanes[lane-1])
	}
	for from := 0; from < n; { // most frames are of one lane
		to := n
		for ; lane < len(lanes) && lanes[lane] < r.First+uint64(n); lane++ {
			if to = int(lanes[lane] - r.First); to > from {
				break
			}
			to = n
		}
		part := Rows{Duration: r.Duration[from:to], Exclusive: r.Exclusive[from:to], Parent: r.Parent[from:to],
			Depth: r.Depth[from:to]}
		part.turnLane(before, fold)
		from, before = to, 0
	}
}

// turnLane does for rows of one lane, which has so many before them.
func (r *Rows) turnLane(before int, fold bool) {
	var stack [levels]int32
	for d := range stack {
		stack[d] = unknown
	}
	parents := r.Parent
	duration, exclusive, depths := r.Duration[:len(parents)], r.Exclusive[:len(parents)], r.Depth[:len(parents)]
	for i, parent := range parents {
		d, row := int(depths[i]), int32(before+i)
		guess := int32(-1)
		if d > 0 {
			guess = row
			if d <= levels && stack[d-1] != unknown {
				guess = stack[d-1]
			}
		}
		if fold {
			parents[i] = parent - guess
		} else {
			parent += guess
			parents[i] = parent
		}
		if d > 0 && d <= levels {
			stack[d-1] = parent
		}
		if d < levels {
			stack[d] = row
		}
		exclusive[i] = duration[i] - exclusive[i]
		if p := int(parent) - before; parent >= 0 && uint(p) < uint(i) {
			exclusive[p] -= duration[i]
		}
	}
}
