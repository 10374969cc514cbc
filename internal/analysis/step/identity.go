package step

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// gpuSets are the times of one GPU, over all its streams.
type gpuSets struct {
	busy, kernels              set // kernels: those that communicate too
	computation, communication set
	exposed                    set // communication that is not under computation
	copies                     set // that are under neither
	off                        set // time in which the recorder was off
}

// setsOf makes the sets of work in order of begin.
func setsOf(works []Work) gpuSets {
	n := len(works)
	busy, kernels, computation := make([]span, 0, n), make([]span, 0, n), make([]span, 0, n)
	var communication, copies []span
	for i := range works {
		w := &works[i]
		s := span{w.Begin, w.End}
		busy = add(busy, s)
		switch w.Term {
		case Memcpy:
			copies = add(copies, s)
			continue
		case Communication:
			communication = add(communication, s)
		default: // setting memory is computation
			computation = add(computation, s)
		}
		if w.Term != Memset {
			kernels = add(kernels, s)
		}
	}
	return gpuSets{
		busy: summed(busy), kernels: summed(kernels), computation: summed(computation),
		communication: summed(communication),
		exposed:       summed(without(communication, computation)),
		copies:        summed(without(without(copies, computation), communication)),
	}
}

// within is the time of the GPU in [begin, end).
func (g *gpuSets) within(begin, end trace.Time) Time {
	t := Time{
		Span: max(end-begin, 0) - g.off.within(begin, end), Computation: g.computation.within(begin, end),
		ExposedCommunication: g.exposed.within(begin, end),
		ExposedCopy:          g.copies.within(begin, end), Communication: g.communication.within(begin, end),
	}
	t.Overlapped = t.Communication - t.ExposedCommunication
	t.Idle = t.Span - t.Computation - t.ExposedCommunication - t.ExposedCopy
	return t
}

// identity of a GPU from its first work to its last.
func (g *GPU) identity(works []Work, sets *gpuSets) {
	g.Works = len(works)
	g.Utilization, g.Efficiency, g.Occupancy = -1, -1, -1
	if len(works) == 0 {
		return
	}
	g.Begin = works[0].Begin
	for i := range works {
		w := &works[i]
		g.End = max(g.End, w.End)
		if !w.Launched() {
			g.Unlinked++
			g.UnlinkedTime += w.End - w.Begin
		}
	}
	g.Time = sets.within(g.Begin, g.End)
}

// metrics are shares of the time of steps and the time between them, or of the GPU's span if there are none.
func (g *GPU) metrics(works []Work, sets *gpuSets, in set) {
	in = summed(joined(in.spans))
	if len(in.spans) == 0 {
		in = summed(add(nil, span{g.Begin, g.End}))
	}
	if in.total() == 0 || len(works) == 0 {
		return
	}
	whole := float64(in.total())
	used := trace.Time(0)
	for _, w := range in.spans {
		used += sets.kernels.within(w.begin, w.end)
	}
	g.Utilization = float64(used) / whole
	if area, said := blocksArea(works, in); said {
		g.Efficiency = area / whole
	}
	var weight, sum float64
	for i := range works {
		w := &works[i]
		if w.Term != Kernel && w.Term != Communication || w.Occupancy < 0 {
			continue
		}
		d := float64(in.within(w.Begin, w.End))
		weight += d
		sum += d * float64(w.Occupancy) / 100
	}
	if weight > 0 {
		g.Occupancy = sum / weight
	}
}

// blocksArea integrates the blocks per multiprocessor of kernels that run together, at most 1, over a set.
func blocksArea(works []Work, in set) (area float64, said bool) {
	type point struct {
		at    trace.Time
		delta float64
	}
	var points []point
	for i := range works {
		if w := &works[i]; w.Blocks > 0 && w.End > w.Begin {
			points = append(points, point{w.Begin, float64(w.Blocks)}, point{w.End, -float64(w.Blocks)})
		}
	}
	slices.SortStableFunc(points, func(a, b point) int { return cmp.Compare(a.at, b.at) })
	open := 0.0
	for i, p := range points {
		if i > 0 && open > 1e-9 {
			area += min(open, 1) * float64(in.within(points[i-1].at, p.at))
		}
		open += p.delta
	}
	return area, len(points) > 0
}
