package topology

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/proposal"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A lattice is a grid of which every place has a point: messages are drawn as steps between neighbours.
type lattice struct {
	dims     []int
	periodic []bool
	place    []int // of each point: its number, the first axis fastest
	point    []int // of each place: its first point
}

// A board is where a layout puts points on a lattice.
type board struct {
	dims     []int
	periodic []bool
	at       func(point int) []int
}

// mostAxes is how many axes of a grid are places that can be distinguished.
const mostAxes = 3

// boardOf is the grid of a proposal; nil of one that is none.
func (r *result) boardOf(l *proposal.Layout) *board {
	if l.Kind != proposal.Grid || len(l.Dims) > mostAxes {
		return nil
	}
	return &board{l.Dims, l.Periodic, func(point int) []int {
		if rank := r.proposed.rank[r.location[point]]; rank >= 0 && int(rank) < len(l.Places) {
			return l.Places[rank]
		}
		return nil
	}}
}

// lattice returns the grid of the layout; nil if it has none, or a place without a point.
func (r *result) lattice() *lattice {
	if r.board == nil {
		return nil
	}
	axes := min(len(r.board.dims), mostAxes)
	g := &lattice{dims: r.board.dims[:axes], periodic: make([]bool, axes), place: make([]int, len(r.location))}
	copy(g.periodic, r.board.periodic)
	n := 1
	for _, d := range g.dims {
		if d < 1 || n > len(r.location)/d {
			return nil
		}
		n *= d
	}
	g.point = slices.Repeat([]int{-1}, n)
	for i := range r.location {
		at := r.board.at(i)
		if len(at) < axes {
			return nil
		}
		number := 0
		for k := axes - 1; k >= 0; k-- {
			if at[k] < 0 || at[k] >= g.dims[k] {
				return nil
			}
			number = number*g.dims[k] + at[k]
		}
		if g.place[i] = number; g.point[number] < 0 {
			g.point[number] = i
		}
	}
	if slices.Contains(g.point, -1) {
		return nil
	}
	return g
}

// A step goes from a place to the next one along an axis, round the edge from the last.
type step struct{ place, axis int }

// steps calls f for the steps of the shortest way between two places, first along the first axis.
func (g *lattice) steps(a, b int, f func(step)) (n int) {
	stride := 1
	at := a
	for k, d := range g.dims {
		from, to := a/stride%d, b/stride%d
		way := to - from
		if g.periodic[k] && 2*max(way, -way) > d {
			if way > 0 {
				way -= d
			} else {
				way += d
			}
		}
		for way != 0 {
			next := from + 1
			if way < 0 {
				next = from - 1
			}
			next = (next + d) % d
			after := at + (next-from)*stride
			if way > 0 {
				f(step{at, k})
				way--
			} else {
				f(step{after, k})
				way++
			}
			at, from = after, next
			n++
		}
		stride *= d
	}
	return n
}

const (
	// mostRouted is the number of pairs that are sent along a grid, those with the most first.
	mostRouted = 1 << 18
	// leastDrawn is the share of the largest traffic of a step below which others are not drawn.
	leastDrawn = 0.01
	// roundEdge is how far a line round the edge goes out, in steps.
	roundEdge = 0.3
)

// route sends the messages of pairs along a grid and adds them up by step. It says which part goes between neighbours.
func (t *traffic) route(g *lattice, ends [][2]int, amount []float64) string {
	sums := map[step]float64{}
	all, near := 0.0, 0.0
	for k, e := range ends[:min(len(ends), mostRouted)] {
		v := amount[k]
		if a, b := g.place[e[0]], g.place[e[1]]; a != b {
			all += v
			if g.steps(a, b, func(s step) { sums[s] += v }) == 1 {
				near += v
			}
		}
	}
	list := make([]step, 0, len(sums))
	for s, v := range sums {
		list, t.most = append(list, s), max(t.most, v)
	}
	slices.SortFunc(list, func(a, b step) int { // the largest are drawn last
		return cmp.Or(cmp.Compare(sums[a], sums[b]), cmp.Compare(a.place, b.place), cmp.Compare(a.axis, b.axis))
	})
	hidden := 0
	for _, s := range list {
		if v := sums[s]; v >= leastDrawn*t.most {
			t.draw(g, s, v)
		} else {
			hidden++
		}
	}
	text := fmt.Sprintf("lines are traffic along the grid, each message the shortest way: %s goes between neighbours",
		view.FormatShare(near/math.Max(all, 1)))
	if hidden > 0 {
		text += fmt.Sprintf("; %s with less than 1 %% of the most are not drawn", view.Count(hidden, "step"))
	}
	return text
}

// draw draws a step; one round the edge is a short line out of either side.
func (t *traffic) draw(g *lattice, s step, v float64) {
	stride := 1
	for _, d := range g.dims[:s.axis] {
		stride *= d
	}
	d := g.dims[s.axis]
	line := func(from, to int, part float32) {
		t.from, t.to = append(t.from, g.point[from]), append(t.to, g.point[to])
		t.amount, t.part = append(t.amount, v), append(t.part, part)
	}
	if s.place/stride%d < d-1 {
		line(s.place, s.place+stride, 1)
		return
	}
	first := s.place - (d-1)*stride
	out := -roundEdge / float32(d-1)
	line(s.place, first, out)
	line(first, s.place, out)
}
