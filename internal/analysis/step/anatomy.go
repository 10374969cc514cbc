package step

import (
	"cmp"
	"context"
	"maps"
	"math/bits"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Analyse takes a window of a run apart.
func Analyse(s *runfacts.GPUPart) (*Job, error) { return analyse(s, true) }

// AnalyseBriefly is Analyse without the source's figures for how well kernels fill the GPU: it reads two columns less.
func AnalyseBriefly(s *runfacts.GPUPart) (*Job, error) { return analyse(s, false) }

func analyse(s *runfacts.GPUPart, fill bool) (*Job, error) {
	g, err := gather(s, fill)
	if err != nil {
		return nil, err
	}
	off, err := g.timeOff()
	if err != nil {
		return nil, err
	}
	j := &Job{units: make([]unit, len(s.Units)), GPUs: make([]GPU, len(s.GPUs)), Odd: g.odd}
	for i := range j.units {
		j.units[i].begin, j.units[i].end = 1<<62, -1<<62
	}
	for gpu, owner := range s.Owner {
		j.units[owner].gpus = append(j.units[owner].gpus, gpu)
	}
	streams := make([][][]Work, len(s.GPUs)) // in order of time each
	for _, l := range g.sorted() {
		if l.gpu >= 0 {
			streams[l.gpu] = append(streams[l.gpu], l.works)
			l.works = nil
			continue
		}
		u := &j.units[l.unit]
		u.begin, u.end = min(u.begin, l.begin), max(u.end, l.end)
		u.threads = append(u.threads, &l.thread)
	}
	lengths := make([]trace.Time, len(s.Units))
	for i := range j.units {
		lengths[i] = max(j.units[i].end-j.units[i].begin, 0)
	}
	families := make([]*family, 0, len(g.families))
	for _, f := range g.families {
		families = append(families, f)
	}
	if best := choose(families, lengths); best != nil {
		j.By = best.words()
		for i := range j.units {
			marks, err := best.steps(i, g, max(j.units[i].begin, s.Window.Begin))
			if err != nil {
				return nil, err
			}
			j.units[i].marks = marks
		}
	}
	// each has the steps of its unit; units and GPUs are shared, and each has its own
	parts := make([]Job, len(j.units))
	if err := parallel.For(context.Background(), len(parts), func(i int) {
		parts[i].units, parts[i].GPUs = j.units, j.GPUs
		parts[i].unit(s, i, streams, off)
	}); err != nil {
		return nil, err
	}
	for i := range parts {
		j.Steps = append(j.Steps, parts[i].Steps...)
	}
	j.units = nil
	j.average()
	return j, nil
}

// timeOff lists the time between the parts that were recorded. It is no GPU's.
func (g *gatherer) timeOff() (list []span, err error) {
	for _, l := range g.lanes {
		if !runfacts.MayHaveWindows(g.Store, l.recorded()) {
			return nil, nil
		}
	}
	parts, err := g.Recorded()
	for i := 1; i < len(parts); i++ {
		list = add(list, span{parts[i-1][1], parts[i][0]})
	}
	return list, err
}

// recorded is for how long a lane has something open.
func (l *lane) recorded() (sum trace.Time) {
	end := trace.Time(-1 << 62)
	for i := range l.works {
		w := &l.works[i]
		sum += max(0, w.End-max(w.Begin, end))
		end = max(end, w.End)
	}
	for i := 1; i < len(l.thread.at); i++ {
		if l.thread.state[i-1].terms != 0 {
			sum += l.thread.at[i] - l.thread.at[i-1]
		}
	}
	return sum
}

// unit takes one unit apart.
func (j *Job) unit(s *runfacts.GPUPart, number int, streams [][][]Work, off []span) {
	u := &j.units[number]
	u.hostSets()
	var lists [Communication + 1][]span
	var all []Work // of all GPUs
	sets, works := make([]gpuSets, len(u.gpus)), make([][]Work, len(u.gpus))
	for k, gpu := range u.gpus {
		w := merged(streams[gpu])
		streams[gpu], works[k] = nil, w
		kernels := map[trace.RegionID]Sum{}
		lists[Kernel] = slices.Grow(lists[Kernel], len(w))
		for i := range w {
			if w[i].Term == Kernel {
				x := kernels[w[i].Region]
				kernels[w[i].Region] = Sum{x.Count + 1, x.Time + w[i].End - w[i].Begin}
			}
			lists[w[i].Term] = append(lists[w[i].Term], span{w[i].Begin, w[i].End})
		}
		j.GPUs[gpu].Kernels = kernelSums(kernels)
		sets[k] = setsOf(w)
		sets[k].off = summed(without(off, sets[k].busy.spans))
		if k == 0 {
			all = w[:len(w):len(w)]
		} else {
			all = append(all, w...)
		}
	}
	first := len(j.Steps)
	j.lay(number, extended(u.marks, all, s.Window.End))
	// Earlier terms take their time from all later ones.
	var covered []span
	var exclusive [Terms]set
	for t := range Term(Terms - 1) {
		own := u.sets[t]
		if t <= Communication {
			own = both(union(lists[t]), own)
		}
		own = without(own, covered)
		exclusive[t], covered = summed(own), both(covered, own)
	}
	for i := first; i < len(j.Steps); i++ {
		x := &j.Steps[i]
		rest := x.Total()
		for t := range Term(Terms - 1) {
			x.Terms[t] = exclusive[t].within(x.Begin, x.End)
			rest -= x.Terms[t]
		}
		x.Terms[Other] = rest
		for k := range sets {
			x.GPUs = append(x.GPUs, sets[k].within(x.Begin, x.End))
		}
	}
	windows := make([]span, 0, len(j.Steps)-first)
	for i := first; i < len(j.Steps); i++ {
		windows = append(windows, span{j.Steps[i].Begin, j.Steps[i].End})
	}
	in := summed(union(windows))
	for k, gpu := range u.gpus {
		out := &j.GPUs[gpu]
		out.identity(works[k], &sets[k])
		out.metrics(works[k], &sets[k], in)
		out.explain(works[k], &sets[k], u, in)
		out.Launch = launchesOf(works[k])
	}
}

func byTime(a, b Work) int {
	return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.End, b.End), cmp.Compare(a.Stream, b.Stream),
		cmp.Compare(a.Row, b.Row))
}

// merged brings the work of streams into the order of time. O(n log streams) where each is in order.
func merged(streams [][]Work) []Work {
	for _, w := range streams {
		for i := 1; i < len(w); i++ {
			if w[i-1].Begin >= w[i].Begin && byTime(w[i-1], w[i]) > 0 {
				// of two that begin together the longer may come first
				slices.SortFunc(w, byTime)
				break
			}
		}
	}
	for len(streams) > 1 {
		next := streams[:0]
		for i := 0; i < len(streams); i += 2 {
			if i+1 == len(streams) {
				next = append(next, streams[i])
				break
			}
			next = append(next, mergeTwo(streams[i], streams[i+1]))
		}
		streams = next
	}
	if len(streams) == 0 {
		return nil
	}
	return streams[0]
}

func mergeTwo(a, b []Work) []Work {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	out := make([]Work, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0].Begin < b[0].Begin || a[0].Begin == b[0].Begin && byTime(a[0], b[0]) <= 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// lay appends the steps of a unit.
func (j *Job) lay(number int, marks []Mark) {
	for _, m := range marks {
		j.Steps = append(j.Steps, Step{Unit: number, Name: m.Name, Begin: m.Begin, End: m.End})
	}
}

// hostSets computes the time of each term from the states of threads.
func (u *unit) hostSets() {
	var counts [Terms]int
	const terms = 1<<Other - 1<<Communication
	for _, th := range u.threads {
		before := uint8(0)
		for _, s := range th.state {
			for ends := before &^ s.terms & terms; ends != 0; ends &= ends - 1 {
				counts[bits.TrailingZeros8(ends)]++
			}
			before = s.terms
		}
	}
	var lists [Terms][]span
	for t, n := range counts {
		lists[t] = make([]span, 0, n)
	}
	for _, th := range u.threads {
		var from [Terms]trace.Time
		before := uint8(0)
		for i, s := range th.state {
			if s.terms == before {
				continue
			}
			for begins := s.terms &^ before & terms; begins != 0; begins &= begins - 1 {
				from[bits.TrailingZeros8(begins)] = th.at[i]
			}
			for ends := before &^ s.terms & terms; ends != 0; ends &= ends - 1 {
				t := bits.TrailingZeros8(ends)
				lists[t] = append(lists[t], span{from[t], th.at[i]})
			}
			before = s.terms
		}
	}
	for t := Communication; t < Other; t++ {
		u.sets[t] = union(lists[t])
	}
}

// extended puts steps on the clock that waits for the GPU: a step begins when the one before is over and
// ends when the last work launched inside it does. GPU work from before the first step that no call in the
// file launched delays it, as the profiler had it.
func extended(marks []Mark, works []Work, limit trace.Time) []Mark {
	if len(marks) == 0 {
		return nil
	}
	type reach struct{ first, last trace.Time }
	reaches := make([]reach, len(marks))
	for i := range reaches {
		reaches[i] = reach{1 << 62, -1 << 62}
	}
	mine := make([]bool, len(works))
	for i := range works {
		w := &works[i]
		if !w.Launched() {
			continue
		}
		k,
			ok := slices.BinarySearchFunc(marks, w.Called,
			func(m Mark, t trace.Time) int { return cmp.Compare(m.Begin, t) })
		if !ok {
			k--
		}
		if k < 0 || w.Returned > marks[k].End {
			continue
		}
		mine[i] = true
		reaches[k].first, reaches[k].last = min(reaches[k].first, w.Begin), max(reaches[k].last, w.End)
	}
	previous := marks[0].Begin
	for i := range works {
		if !mine[i] && reaches[0].last >= reaches[0].first && works[i].End < reaches[0].first {
			previous = max(previous, works[i].End)
		}
	}
	out := make([]Mark, len(marks))
	for i, m := range marks {
		m.Begin = max(previous, m.Begin)
		m.End = min(max(m.End, m.Begin, reaches[i].last), max(limit, m.Begin))
		previous = m.End
		out[i] = m
	}
	return out
}

// average makes the mean of all steps.
func (j *Job) average() {
	if len(j.Steps) == 0 {
		return
	}
	var sum [Terms]trace.Time
	for i := range j.Steps {
		for t, x := range j.Steps[i].Terms {
			sum[t] += x
		}
	}
	for t, x := range sum {
		j.Mean[t] = float64(x) / float64(len(j.Steps))
	}
}

// kernelSums lists sums by the number of their region: a stored map has other bytes each time.
func kernelSums(sums map[trace.RegionID]Sum) []KernelSum {
	list := make([]KernelSum, 0, len(sums))
	for _, id := range slices.Sorted(maps.Keys(sums)) {
		list = append(list, KernelSum{id, sums[id]})
	}
	return list
}
