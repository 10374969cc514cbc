// Package steppath finds the critical path of a step of a GPU job: a walk back from its end, through the work of GPUs
// and the calls that launched it, across threads and ranks.
//
//	paths.go      results
//	steppath.go   the walk
//	gather.go     threads and streams as the walk asks them
//	peers.go      collectives that belong together
//
// From the end of a piece of GPU work the walk goes to its begin, and on to the last event that let it begin: the work
// before it on its stream, work of another stream that it has to wait for, or the call that launched it. From a
// call that waits for the GPU it goes to the work that ended last before the call returned. On a thread it follows the
// innermost interval; where a thread records nothing it goes on with the thread of the process that did something last.
// A collective begins when its last member does, so from a member that waited the walk goes to that one. The sections
// lie end to end: they add up to the length of the step exactly.
//
// It keeps the rows of the units looked at, O(n) memory; a walk takes O(log n) per section.
package steppath

import (
	"sort"

	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Kind is the activity of a section.
type Kind uint8

// The kinds.
const (
	Host          Kind = iota // code of a thread
	Call                      // a call of CUDA, HIP and their like
	Return                    // from the end of GPU work to the return of the call that waited for it
	Nothing                   // nothing recorded on any thread
	Kernel                    // work of a GPU
	Copy                      // copies and memory sets
	Communication             // a collective, from when its last member began
	Launch                    // from the launch to the begin of the work
	Queue                     // from the end of work to the begin of the next that waited for it
	Kinds         = int(Queue) + 1
)

var kindNames = [Kinds]string{"on the host", "call", "return", "nothing recorded", "kernel", "copy", "communication",
	"launch", "queue"}

func (k Kind) String() string { return kindNames[k] }

// OnGPU reports whether a GPU works meanwhile.
func (k Kind) OnGPU() bool { return k == Kernel || k == Copy || k == Communication }

// near is how long a thread may record nothing before another may be the reason.
const near = 2_000

// soon is how soon after the end of work of another stream work begins that waited for it.
const soon = 10_000

// A walk is one walk back.
type walk struct {
	*Graph
	begin trace.Time
	emit  func(place)
	rows  int // left before the walk gives up
}

// A place is a section while it is walked: where it is in the graph.
type place struct {
	kind       Kind
	begin, end trace.Time
	lane       *lane // nil for none
	at         int32 // row in lane, -1 for none
}

// walk yields the path of a unit from end back to begin, last section first.
func (g *Graph) walk(unit int, begin, end trace.Time, emit func(place)) {
	w := &walk{Graph: g, begin: begin, emit: emit, rows: 4*g.rows + 1000}
	work, i := g.lastWork(unit, end, -1<<62)
	l := g.busiest(unit, end)
	switch {
	case work != nil && (l == nil || work.end[i] == end && work.launch[i].lane != nil):
		if w.section(Nothing, nil, -1, work.end[i], end) {
			w.work(work, i, work.end[i])
		}
	case l != nil:
		w.host(l, end)
	default:
		w.section(Nothing, nil, -1, begin, end)
	}
}

// section yields a stretch that ends at end, clipped to the step; it reports whether the walk goes on.
func (w *walk) section(kind Kind, l *lane, at int32, begin, end trace.Time) bool {
	begin = max(begin, w.begin)
	if begin < end {
		w.emit(place{kind, begin, end, l, at})
	}
	w.rows--
	return begin > w.begin && w.rows > 0
}

// host walks back on a thread from t.
func (w *walk) host(l *lane, t trace.Time) {
	for {
		i := l.stretchBefore(t)
		if i < 0 || l.stretches[i].end < t || !w.active[l.region[l.stretches[i].row]] {
			inside := int32(-1) // a range that names this
			if i >= 0 && l.stretches[i].end >= t {
				inside = l.stretches[i].row
			}
			next, to := w.before(l, t)
			if next == nil {
				w.section(Nothing, l, inside, w.begin, t)
				return
			}
			if !w.section(Nothing, l, inside, to, t) {
				return
			}
			l, t = next, to
			continue
		}
		x := l.stretches[i]
		region := l.region[x.row]
		if at := w.collective(l, x.row); at >= 0 {
			if last, k := w.lastMember(l, at); last != nil {
				if ready := w.ready(last, k); ready < t {
					if !w.section(Communication, l, at, ready, t) {
						return
					}
					l, t = last, ready
					continue
				}
			}
		}
		if l.end[x.row] == t {
			if gpu, k := w.waitedFor(l, x.row, t); gpu != nil && gpu.begin[k] < t {
				// no work waits for work without length, and to follow it back leads here again
				if !w.section(Return, l, x.row, gpu.end[k], t) {
					return
				}
				w.work(gpu, k, gpu.end[k])
				return
			}
		}
		from := x.begin
		if other, to := w.backward(l, region, x.begin, t); other != nil {
			if !w.section(Host, l, x.row, to, t) {
				return
			}
			l, t = other, to
			continue
		}
		kind := Host
		switch {
		case w.call[region]:
			kind = Call
		case w.exchange[region]:
			kind = Communication
		}
		if !w.section(kind, l, x.row, from, t) {
			return
		}
		t = from
	}
}

// collective is the exchange with other units that a row is or is in; -1 for none.
func (w *walk) collective(l *lane, at int32) int32 {
	for ; at >= 0 && len(l.keys) > 0; at = l.parent[at] {
		if _, ok := l.keys[at]; ok {
			return at
		}
	}
	return -1
}

// waitedFor is the work that a call waited for: that which it launched itself and which ended before the call did, or,
// of a call that synchronizes, the last that ended while it waited.
func (w *walk) waitedFor(l *lane, at int32, t trace.Time) (*lane, int32) {
	if w.sync[l.region[at]] {
		if gpu, i := w.lastWork(int(l.unit), t, l.begin[at]); gpu != nil {
			return gpu, i
		}
	}
	var best *lane
	var which int32
	from := sort.Search(len(l.launches), func(k int) bool { return l.launches[k].from >= at })
	for ; from < len(l.launches) && l.launches[from].from == at; from++ {
		x := &l.launches[from]
		if end := x.lane.end[x.to]; end <= t && end > l.begin[at] && x.lane.begin[x.to] >= l.begin[at] &&
			(best == nil || end > best.end[which]) {
			best, which = x.lane, x.to
		}
	}
	return best, which
}

// backward is the thread that a call of autograd waits for: the one that did something last inside [begin, t].
func (w *walk) backward(l *lane, region trace.RegionID, begin, t trace.Time) (*lane, trace.Time) {
	if !w.gradient[region] {
		return nil, 0
	}
	var best *lane
	at := begin
	for _, o := range w.units[l.unit].threads {
		if o == l {
			continue
		}
		if end, ok := w.lastActive(o, t); ok && end > at {
			best, at = o, end
		}
	}
	return best, at
}

// before is the thread that did something last before t, where this one records nothing.
func (w *walk) before(l *lane, t trace.Time) (*lane, trace.Time) {
	best, at := (*lane)(nil), trace.Time(0)
	if end, ok := w.lastActive(l, t); ok {
		if best, at = l, end; t-end <= near {
			return best, at
		}
	}
	for _, o := range w.units[l.unit].threads {
		if end, ok := w.lastActive(o, t); ok && (best == nil || end > at) {
			best, at = o, end
		}
	}
	return best, at
}

// work walks back from the end of a piece of GPU work, which is at t or later.
func (w *walk) work(l *lane, i int32, t trace.Time) {
	for {
		begin := l.begin[i]
		kind := w.kinds[l.region[i]]
		if kind == Communication {
			if last, k := w.lastMember(l, i); last != nil && last.gpu >= 0 && last.begin[k] < t {
				// It waited for the last member: the walk goes on with that one's work before.
				if !w.section(kind, l, i, last.begin[k], t) {
					return
				}
				l, i, t, begin = last, k, last.begin[k], last.begin[k]
			}
		}
		if begin < t && !w.section(kind, l, i, begin, t) {
			return
		}
		t = min(t, begin)
		// Find the last event that let it begin.
		var before *lane
		var which int32
		ready := trace.Time(-1 << 62)
		if i > 0 && l.end[i-1] <= t {
			before, which, ready = l, i-1, l.end[i-1]
		}
		for _, stream := range l.waitsBefore(i) {
			if o := w.units[l.unit].streams[stream]; o != nil {
				if k := o.workBefore(t); k >= 0 && o.end[k] > ready {
					before, which, ready = o, k, o.end[k]
				}
			}
		}
		if x := l.launch[i]; x.lane != nil {
			returned := min(x.lane.end[x.to], t)
			// Orders to wait for another stream are seldom recorded: work that was launched long ago and begins just
			// when other work of its GPU ends waited for that.
			if o, k := w.lastWork(int(l.unit), t, max(returned, ready)); o != nil && t-o.end[k] <= soon &&
				t-returned > 2*soon {
				before, which, ready = o, k, o.end[k]
			}
			if returned >= ready && x.lane.begin[x.to] < t {
				if !w.section(Launch, l, i, returned, t) {
					return
				}
				w.host(x.lane, returned)
				return
			}
		}
		if l.launch[i].lane == nil { // its cause is not recorded: anything of its unit
			if o, k := w.lastWork(int(l.unit), t, ready); o != nil && (o != l || k < i) {
				before, which, ready = o, k, o.end[k]
			}
		}
		if before == nil {
			w.section(Nothing, nil, -1, w.begin, t)
			return
		}
		if !w.section(Queue, l, i, ready, t) {
			return
		}
		l, i, t = before, which, ready
	}
}

// kindOf is the kind of a work.
func kindOf(t step.Term) Kind {
	switch t {
	case step.Memcpy, step.Memset:
		return Copy
	case step.Communication:
		return Communication
	}
	return Kernel
}
