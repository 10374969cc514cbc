package step

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Cause is why a GPU has nothing to do.
type Cause int

// The causes. Up to InAnnotation the host was late: these name the activity of the thread that launched the
// next work. Then come the launch itself, and delays on the GPU with work that it had.
const (
	ByLoader Cause = iota
	BySynchronization
	ByAllocation
	BySleep
	ByExchange
	ByOperators
	ByPython
	ByAnnotation
	ByNothing
	ByCall       // a call of CUDA, HIP and their like, the launch among them
	ByQueue      // launched, and yet to start
	BetweenWorks // launched in time: the time of a GPU between two kernels
	ByUnknown    // the launch of what comes next is not in the file
	Causes       = int(ByUnknown) + 1
)

var causeNames = [Causes]string{
	"loader", "synchronization", "allocation", "sleep", "communication", "operators", "python", "annotation",
	"nothing_recorded", "call", "queue", "between_kernels", "launch_not_recorded",
}

var causeWords = [Causes]string{
	"host loads data", "host waits for the GPU", "host allocates memory", "host sleeps", "host communicates",
	"host is in operators", "host is in Python", "host is in a range", "host: nothing recorded",
	"host calls the driver", "launched, not yet started", "from one kernel to the next", "launch not in the file",
}

func (c Cause) String() string { return causeNames[c] }

// Words returns the cause as text.
func (c Cause) Words() string { return causeWords[c] }

// Host reports whether the host was late with the next launch.
func (c Cause) Host() bool { return c <= ByCall }

var causeOf = [...]Cause{
	Nothing: ByNothing, Annotated: ByAnnotation, Python: ByPython, Operating: ByOperators, Calling: ByCall,
	Allocating:    ByAllocation,
	Synchronizing: BySynchronization, Sleeping: BySleep, Exchanging: ByExchange, Loading: ByLoader,
}

// shortGap is the time that a GPU may take between two kernels that it has.
const shortGap = 2000

// mostGaps is the number of gaps that are listed.
const mostGaps = 20

// A Gap is a stretch in which no stream of a GPU had work.
type Gap struct {
	Begin, End trace.Time
	Causes     [Causes]trace.Time
	Next       trace.RegionID // what ended it
	// Host is the innermost long call that the thread which launched it was in for half of the gap or more.
	Host trace.RegionID
	// Lane of the thread that launched the work that ended the gap; Known: it is in the file.
	Lane  uint32
	Known bool
	// Drained: the thread waited for the GPU when the gap began, so nothing could be in the queue.
	Drained bool
}

// Length of the gap.
func (g *Gap) Length() trace.Time { return g.End - g.Begin }

// Cause is the largest of its causes.
func (g *Gap) Cause() Cause {
	best := Cause(0)
	for c, t := range g.Causes {
		if t > g.Causes[best] {
			best = Cause(c)
		}
	}
	return best
}

// explain finds the cause of every gap of a GPU: between its works for its own identity, and in steps also
// before the first and after the last. O(works + gaps log n).
func (g *GPU) explain(works []Work, sets *gpuSets, u *unit, steps set) {
	if len(works) == 0 {
		return
	}
	busy := both(sets.busy.spans, sets.off.spans) // while the recorder was off no GPU is known to be idle
	begin, end := g.Begin, g.End
	if n := len(steps.spans); n > 0 {
		begin, end = min(begin, steps.spans[0].begin), max(end, steps.spans[n-1].end)
	}
	at := 0
	for i := range len(busy) + 1 {
		gap := Gap{Begin: begin, End: end}
		if i > 0 {
			gap.Begin = busy[i-1].end
		}
		if i < len(busy) {
			gap.End = busy[i].begin
		}
		if gap.Length() <= 0 {
			continue
		}
		for at < len(works)-1 && works[at].Begin < gap.End {
			at++
		}
		next := at
		for k := at; k < len(works) && works[k].Begin == gap.End; k++ {
			if works[k].Launched() {
				next = k
				break
			}
		}
		gap.because(&works[next], u, func(from, to trace.Time, c Cause) {
			own := max(min(to, g.End)-max(from, g.Begin), 0)
			g.Causes[c] += own
			gap.Causes[c] += own
			in := steps.within(from, to)
			g.InSteps[c] += in
			if gap.Drained && c != ByLoader {
				g.Drained += in
			}
		})
		if gap.Begin >= g.Begin && gap.End <= g.End {
			g.keep(gap)
		}
	}
	slices.SortFunc(g.Gaps, longer)
	g.Gaps = g.Gaps[:min(len(g.Gaps), mostGaps)]
	for i := range g.Gaps {
		g.Gaps[i].Host = trace.NoRegion
		if gap := &g.Gaps[i]; gap.Known {
			gap.Host = u.thread(gap.Lane).longest(gap.Begin, gap.End)
		}
	}
}

// longest is the innermost of the stays of a thread that take half of [begin, end) or more.
func (t *thread) longest(begin, end trace.Time) trace.RegionID {
	best := trace.NoRegion
	if t == nil {
		return best
	}
	for _, s := range t.stays { // in preorder: the last that fits is the innermost
		if s.begin >= end {
			break
		}
		if 2*(min(s.end, end)-max(s.begin, begin)) >= end-begin {
			best = s.region
		}
	}
	return best
}

func longer(a, b Gap) int {
	return cmp.Or(cmp.Compare(b.Length(), a.Length()), cmp.Compare(a.Begin, b.Begin))
}

// keep adds a gap to the list, which is cut now and then.
func (g *GPU) keep(gap Gap) {
	if g.Gaps = append(g.Gaps, gap); len(g.Gaps) >= 8*mostGaps {
		slices.SortFunc(g.Gaps, longer)
		g.Gaps = g.Gaps[:mostGaps]
	}
}

// because splits a gap by its causes, given the work that ends it, or the last where none does.
func (gap *Gap) because(next *Work, u *unit, add func(from, to trace.Time, c Cause)) {
	gap.Next, gap.Lane, gap.Known = next.Region, next.Thread, next.Launched()
	if !gap.Known {
		if gap.Length() <= shortGap {
			add(gap.Begin, gap.End, BetweenWorks)
		} else {
			add(gap.Begin, gap.End, ByUnknown)
		}
		return
	}
	called := min(max(next.Called, gap.Begin), gap.End)
	returned := min(max(next.Returned, called), gap.End)
	if next.Begin < gap.Begin { // nothing comes after: the host launched no more
		called, returned = gap.End, gap.End
	}
	thread := u.thread(next.Thread)
	if called > gap.Begin {
		gap.Drained = thread.doing(gap.Begin) == Synchronizing
		thread.during(gap.Begin, called, add)
	}
	add(called, returned, ByCall)
	if gap.Begin == returned && gap.End-returned <= shortGap {
		add(returned, gap.End, BetweenWorks)
	} else {
		add(returned, gap.End, ByQueue)
	}
}

func (u *unit) thread(lane uint32) *thread {
	i,
		ok := slices.BinarySearchFunc(u.threads, lane,
		func(t *thread, lane uint32) int { return cmp.Compare(t.lane, lane) })
	if !ok {
		return nil
	}
	return u.threads[i]
}

// doing returns the activity of a thread at a time.
func (t *thread) doing(at trace.Time) Doing {
	if t == nil {
		return Nothing
	}
	i, ok := slices.BinarySearch(t.at, at)
	if !ok {
		i--
	}
	if i < 0 {
		return Nothing
	}
	return t.state[i].doing
}

// during reports the activities of a thread from begin to end.
func (t *thread) during(begin, end trace.Time, add func(from, to trace.Time, c Cause)) {
	if t == nil {
		add(begin, end, ByNothing)
		return
	}
	i, ok := slices.BinarySearch(t.at, begin)
	if !ok {
		i--
	}
	for at := begin; at < end; i++ {
		doing, next := Nothing, end
		if i >= 0 {
			doing = t.state[i].doing
		}
		if i+1 < len(t.at) {
			next = min(end, t.at[i+1])
		}
		add(at, next, causeOf[doing])
		at = next
	}
}

// Ranked returns the causes that have time, most first.
func Ranked(times [Causes]trace.Time) (out []Cause) {
	for c, t := range times {
		if t > 0 {
			out = append(out, Cause(c))
		}
	}
	slices.SortStableFunc(out, func(a, b Cause) int { return cmp.Compare(times[b], times[a]) })
	return out
}
