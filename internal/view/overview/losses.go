package overview

import (
	"context"
	"math"
	"math/bits"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A sheet adds up role × slice of locations, of a difference state × slice: times, and the information of each
// location. Slices that a location spends in one role count as changes, so that adding
// is O(1) however many they are; settle turns these into times.
type sheet struct {
	time  []trace.Time // at role*slices + slice
	info  []float64
	whole []int32 // changes of how many locations spend all of a slice so; one slice more
	roles uint32  // that are not all zero
}

func newSheet(roles, slices int) *sheet {
	n := slices * roles
	return &sheet{time: make([]trace.Time, n), info: make([]float64, n), whole: make([]int32, n+roles)}
}

// add counts a location.
func (s *sheet) add(runs []store.RoleRun, slices int) {
	for i := range runs {
		x := &runs[i]
		s.roles |= 1 << x.Role
		if x.First == x.Last {
			at := int(x.Role)*slices + int(x.First)
			s.time[at] += x.Time
			s.info[at] += entropy.XLog2(float64(x.Time) / 1e9)
			continue
		}
		at := int(x.Role) * (slices + 1)
		s.whole[at+int(x.First)]++
		s.whole[at+int(x.Last)+1]--
	}
}

// settle makes times of slices that are spent in one role. widths are those of the
// slices and full the information of each.
func (s *sheet) settle(widths []trace.Time, full []float64) {
	slices := len(widths)
	s.each(func(role int) {
		n, at := int32(0), role*slices
		whole := s.whole[role*(slices+1):][:slices+1]
		for k, d := range whole[:slices] {
			if n += d; n != 0 {
				s.time[at+k] += trace.Time(n) * widths[k]
				s.info[at+k] += float64(n) * full[k]
			}
		}
		clear(whole)
	})
}

// join adds another that is settled.
func (s *sheet) join(o *sheet, slices int) {
	s.roles |= o.roles
	o.each(func(role int) {
		at := role * slices
		for k := at; k < at+slices; k++ {
			s.time[k] += o.time[k]
			s.info[k] += o.info[k]
		}
	})
}

func (s *sheet) each(f func(role int)) {
	for x := s.roles; x != 0; x &= x - 1 {
		f(bits.TrailingZeros32(x))
	}
}

func (s *sheet) reset(slices int) {
	s.each(func(role int) {
		clear(s.time[role*slices : (role+1)*slices])
		clear(s.info[role*slices : (role+1)*slices])
	})
	s.roles = 0
}

// mostSheets bounds the bytes of the sheets of nodes that are kept.
var mostSheets = 64 << 20 // a test keeps none

// keepFrom is the number of locations from which on the sheet of a node is kept: nodes
// of fewer are quickly read again.
func (g *gatherer) keepFrom() int32 {
	most := mostSheets / (16 * g.roles * g.slices())
	for from := int32(1); ; from *= 2 {
		n := 0
		for i, last := range g.hierarchy.Last {
			if last > int32(i) && g.leaves[i] >= from {
				n++
			}
		}
		if n <= most || from > 1<<29 {
			return from
		}
	}
}

// losses returns the loss of each node of the hierarchy if drawn as one, slice by slice.
// It goes through the leaves in order and adds up only the nodes around the present one.
// It keeps the large ones, so that groups that stay shut need not be read again. O(runs
// + inner nodes × slices × roles) time.
func (g *gatherer) losses(ctx context.Context) ([]float64, error) {
	h, slices := g.hierarchy, g.slices()
	type around struct {
		node int32
		*sheet
	}
	var stack []around
	var free []*sheet
	from := g.keepFrom()
	out := make([]float64, h.Len())
	shut := func() {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		top.settle(g.widths, g.full)
		out[top.node] = top.loss(float64(g.leaves[top.node]), slices)
		if k := len(stack); k > 0 {
			stack[k-1].join(top.sheet, slices)
		}
		if g.leaves[top.node] >= from {
			g.keep(top.node, top.sheet)
		}
		top.reset(slices)
		free = append(free, top.sheet)
	}
	next := int32(0) // the first node that is not on the stack yet
	err := g.each(ctx, nil, func(leaf int32, runs []store.RoleRun) {
		for ; next <= leaf; next++ {
			for k := len(stack); k > 0 && h.Last[stack[k-1].node] < next; k-- {
				shut()
			}
			if h.Last[next] == next {
				continue
			}
			x := around{node: next}
			if k := len(free); k > 0 {
				x.sheet, free = free[k-1], free[:k-1]
			} else {
				x.sheet = newSheet(g.roles, slices)
			}
			stack = append(stack, x)
		}
		if k := len(stack); k > 0 { // else a single location
			stack[k-1].add(runs, slices)
		}
	})
	for len(stack) > 0 {
		shut()
	}
	return out, err
}

// loss returns the loss of count locations if drawn as one, in each slice by itself.
func (s *sheet) loss(count float64, slices int) float64 {
	var loss, cancel float64
	log := math.Log2(count)
	s.each(func(role int) {
		for k := role * slices; k < (role+1)*slices; k++ {
			if s.time[k] > 0 {
				v := float64(s.time[k]) / 1e9
				own, all := s.info[k], entropy.XLog2(v)
				loss += own + v*log - all
				cancel += math.Abs(own) + v*log + math.Abs(all)
			}
		}
	})
	if loss > 1e-12*cancel {
		return loss
	}
	return 0
}

// keep copies a sheet, without the roles that it does not have.
func (g *gatherer) keep(node int32, s *sheet) {
	n := g.slices()
	own := &sheet{roles: s.roles}
	own.time = make([]trace.Time, 0, bits.OnesCount32(s.roles)*n)
	own.info = make([]float64, 0, cap(own.time))
	s.each(func(role int) {
		own.time = append(own.time, s.time[role*n:(role+1)*n]...)
		own.info = append(own.info, s.info[role*n:(role+1)*n]...)
	})
	g.sheets[node] = own
}

// spread writes a sheet that keep made into one of all roles.
func (s *sheet) spread(to *sheet, slices int) {
	to.roles |= s.roles
	at := 0
	s.each(func(role int) {
		copy(to.time[role*slices:(role+1)*slices], s.time[at:])
		copy(to.info[role*slices:(role+1)*slices], s.info[at:])
		at += slices
	})
}
