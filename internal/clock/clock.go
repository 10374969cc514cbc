// Package clock fits the clocks of processes to each other.
//
// Some recorders give every process a clock of its own that starts anywhere, and do not record how they compare.
// Cause and effect are known: a message is not received before it is sent, and no process leaves a barrier before
// all have entered it. Each such pair bounds the difference of two clocks from one side; traffic in both directions
// bounds it from both. The estimate between the bounds assumes that the fastest messages need the same time there
// and back (Cristian, "Probabilistic clock synchronization", 1989), but is nearer to the side whose fastest
// messages are all alike: those of the other side waited for their receiver.
//
//  1. For each pair of processes the tightest bounds are kept, in a few stretches
//     of time each, so memory grows with the pairs that talk, not with the messages.
//  2. If no constant difference fits all bounds of a pair, one of the clocks
//     drifts: the line is taken that keeps farthest from all bounds.
//  3. The pairs with the narrowest bounds span a tree, along which differences
//     become offsets; then all pairs pull on them, the narrow ones harder; at last
//     bounds that this compromise breaks push back.
//
// The Result holds the quality of the fit; callers report the correction.
package clock

import (
	"cmp"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Fit collects bounds on the clocks of n processes. It is not safe for concurrent use.
type Fit struct {
	n     int
	edges map[pair]*edge
}

type pair struct{ low, high int32 }

// New begins a fit of the clocks of n processes.
func New(n int) *Fit {
	return &Fit{n: n, edges: map[pair]*edge{}}
}

// Before records that an event of process from at its time cause precedes one of process to at its time effect: a
// message, a step of a collective.
func (f *Fit) Before(from, to int, cause, effect trace.Time) {
	if from == to || from < 0 || to < 0 || from >= f.n || to >= f.n {
		return
	}
	p := pair{int32(min(from, to)), int32(max(from, to))}
	e := f.edges[p]
	if e == nil {
		e = &edge{pair: p}
		f.edges[p] = e
	}
	if from == int(p.low) {
		e.up.add(cause, effect-cause)
	} else {
		e.down.add(effect, effect-cause)
	}
}

// Pairs is the number of pairs of processes that something is known of.
func (f *Fit) Pairs() int { return len(f.edges) }

// An edge holds the bounds between two clocks: with x = offset(low) - offset(high), every up value bounds x from
// above and every down value bounds -x.
type edge struct {
	pair
	up, down bounds

	middle, slope float64 // x at origin, and its change a nanosecond
	origin        float64
	width         float64 // half the distance of the bounds
	oneSided      bool
}

// A Line is the correction of the clock of a process.
type Line struct {
	Origin trace.Time // of the process's own clock
	Offset float64    // to add at Origin, ns
	Drift  float64    // to add for each ns after
}

// At is a time of the process on the common clock.
func (l Line) At(t trace.Time) trace.Time {
	if l.Drift == 0 {
		return t + trace.Time(math.Round(l.Offset))
	}
	return t + trace.Time(math.Round(l.Offset+l.Drift*float64(t-l.Origin)))
}

// Then is the correction by l and then by another.
func (l Line) Then(o Line) Line {
	return Line{Origin: l.Origin,
		Offset: l.Offset + o.Offset + o.Drift*(float64(l.Origin-o.Origin)+l.Offset),
		Drift:  l.Drift + o.Drift*(1+l.Drift)}
}

// Moves reports whether any time is changed.
func (l Line) Moves() bool { return math.Round(l.Offset) != 0 || l.Drift != 0 }

// A Result is how the clocks are to be moved, and how well that fits.
type Result struct {
	Lines []Line
	// Group of each process: those of one group are aligned with each other,
	// those of different groups know nothing of each other.
	Group  []int
	Groups int
	// Moved is the number of processes whose clock is moved, Drifting of those
	// that also run at another speed.
	Moved, Drifting int
	// Largest is the largest offset.
	Largest trace.Time
	// Residual is the root mean square distance of the offsets from the middle of the bounds, over all pairs; Worst
	// is the excess over the tightest bound of a pair that is still broken, 0 if all hold.
	Residual, Worst trace.Time
}

// Solve fits the clocks.
func (f *Fit) Solve() *Result {
	edges := make([]*edge, 0, len(f.edges))
	for _, e := range f.edges {
		e.estimate()
		edges = append(edges, e)
	}
	slices.SortFunc(edges, func(a, b *edge) int {
		if a.oneSided != b.oneSided {
			if a.oneSided {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(a.width, b.width), cmp.Compare(a.low, b.low), cmp.Compare(a.high, b.high))
	})
	s := newSolver(f.n, edges)
	s.span()
	s.relax()
	s.settle()
	return s.result()
}
