package recorder

import (
	"cmp"
	"maps"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// paths are the call paths of all processes, and the metrics of calls.
type paths struct {
	w                 trace.Writer
	known             map[step]trace.CallPathID
	near              map[nearStep]trace.CallPathID // of the names at hand
	names             *names
	ids               []trace.CallPathID
	time, bytes, late trace.MetricID
	each              trace.MetricID
}

type step struct {
	parent trace.CallPathID
	name   string
}

// A nearStep is a step by the number of its name: processes of one program mostly have the
// same names, and a number is found sooner than a text.
type nearStep struct {
	parent trace.CallPathID
	name   uint32
}

func newPaths(w trace.Writer) paths {
	return paths{w: w, known: map[step]trace.CallPathID{}, near: map[nearStep]trace.CallPathID{}}
}

// use takes the names of a process.
func (p *paths) use(n *names) {
	if p.names != n {
		p.names = n
		clear(p.near)
	}
}

// define names the metrics where there are calls at all.
func (p *paths) define() {
	if len(p.known) > 0 {
		return
	}
	p.time = p.w.Metric(trace.Metric{Name: "time", Unit: "ns", Integer: true, Default: true})
	p.bytes = p.w.Metric(trace.Metric{Name: "bytes", Unit: "bytes", Integer: true, Description: "a process's own share of what its calls moved"})
	p.each = p.w.Metric(trace.Metric{Name: "duration of a call", Unit: "ns"})
	p.late = p.w.Metric(trace.Metric{Name: "late arrival", Unit: "ns", Description: "how much later than the earliest process this one entered calls that the whole job makes together, added up"})
}

func (p *paths) below(parent trace.CallPathID, number uint32) trace.CallPathID {
	if id, ok := p.near[nearStep{parent, number}]; ok {
		return id
	}
	id := p.find(parent, p.names.list[number])
	p.near[nearStep{parent, number}] = id
	return id
}

func (p *paths) find(parent trace.CallPathID, name string) trace.CallPathID {
	p.define()
	id, ok := p.known[step{parent, name}]
	if !ok {
		id = p.w.CallPath(trace.CallPath{Parent: parent, Region: p.w.Region(trace.Region{Name: name, Role: trace.RoleOf(name, "")})})
		p.known[step{parent, name}] = id
	}
	return id
}

// nodes gives the paths of regions; they are valid until the next call.
func (p *paths) nodes(list []node) []trace.CallPathID {
	p.ids = p.ids[:0]
	for i, n := range list {
		parent := trace.NoCallPath
		if i > 0 {
			parent = p.ids[n.parent]
		}
		p.ids = append(p.ids, p.below(parent, n.name))
	}
	return p.ids
}

// cell writes all calls of one path.
func (p *paths) cell(at trace.LocationID, path trace.CallPathID, v cell) {
	t := float64(v.time)
	p.w.Profile(trace.ProfileRow{Location: at, Path: path, Metric: p.time, Calls: float64(v.count), Inclusive: t, Exclusive: t})
	if v.bytes > 0 {
		b := float64(v.bytes)
		p.w.Profile(trace.ProfileRow{Location: at, Path: path, Metric: p.bytes, Calls: float64(v.count), Inclusive: b, Exclusive: b})
	}
	if v.count > 0 {
		p.w.Atomic(trace.AtomicRow{Location: at, Path: path, Metric: p.each, Count: float64(v.count), Min: float64(v.least), Max: float64(v.most), Mean: t / float64(v.count), SumSquares: v.squares})
	}
}

// arrivals are the sums of the times at which processes entered calls that the whole
// job makes together. Sums are enough: calls of one path correspond one to one where
// their number is the same, and who comes late has the larger sum.
type arrivals map[trace.CallPathID][]arrival

type arrival struct {
	at    trace.LocationID
	calls uint64
	sum   float64 // ns since 1970
}

func (a arrivals) add(path trace.CallPathID, x arrival) { a[path] = append(a[path], x) }

// write gives late arrivals against the earliest of those that made as many calls.
// O(n log n) for n processes.
func (a arrivals) write(p paths, w trace.Writer) {
	for _, path := range slices.Sorted(maps.Keys(a)) {
		list := a[path]
		slices.SortFunc(list, func(x, y arrival) int {
			return cmp.Or(cmp.Compare(x.calls, y.calls), cmp.Compare(x.sum, y.sum), cmp.Compare(x.at, y.at))
		})
		for i := 0; i < len(list); {
			first, n := list[i], i
			for ; i < len(list) && list[i].calls == first.calls; i++ {
			}
			for _, x := range list[n:i] {
				if late := x.sum - first.sum; i-n > 1 {
					w.Profile(trace.ProfileRow{Location: x.at, Path: path, Metric: p.late, Calls: float64(x.calls), Inclusive: late, Exclusive: late})
				}
			}
		}
	}
}
