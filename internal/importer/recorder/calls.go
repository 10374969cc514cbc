package recorder

import (
	"bytes"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// paths are the call paths of all processes, and the metrics of calls.
type paths struct {
	w                 trace.Writer
	known             map[step]trace.CallPathID
	near              map[nearStep]trace.CallPathID // of the names at hand
	names             *names
	guesses           []guess
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
	if p.names == nil || !bytes.Equal(p.names.raw, n.raw) {
		p.names = n
		clear(p.near)
		p.guesses = p.guesses[:0]
	}
}

// define names the metrics where there are calls at all.
func (p *paths) define() {
	if len(p.known) > 0 {
		return
	}
	p.time = p.w.Metric(trace.Metric{Name: "time", Unit: "ns", Integer: true, Default: true})
	p.bytes = p.w.Metric(trace.Metric{Name: "bytes", Unit: "bytes", Integer: true,
		Description: "a process's own share of what its calls moved"})
	p.each = p.w.Metric(trace.Metric{Name: "duration of a call", Unit: "ns"})
	p.late = p.w.Metric(trace.Metric{Name: "late arrival", Unit: "ns",
		Description: "how much later than the earliest process this one entered calls that the whole job makes " +
			"together, added up"})
}

// A guess is the call path at a place of the lists of the process before: mostly the same.
type guess struct {
	nearStep
	path trace.CallPathID
}

// cell is below for the cell at a place of its list.
func (p *paths) cell(at int, parent trace.CallPathID, number uint32) trace.CallPathID {
	for at >= len(p.guesses) {
		p.guesses = append(p.guesses, guess{path: trace.NoCallPath})
	}
	g := &p.guesses[at]
	if step := (nearStep{parent, number}); g.nearStep != step || g.path == trace.NoCallPath {
		*g = guess{step, p.below(parent, number)}
	}
	return g.path
}

func (p *paths) below(parent trace.CallPathID, number uint32) trace.CallPathID {
	if id, ok := p.near[nearStep{parent, number}]; ok {
		return id
	}
	id := p.find(parent, p.names.list[number])
	p.near[nearStep{parent, number}] = id
	return id
}

// behindName is between the name of a region and the role that the program gave it.
const behindName = "\x1f"

func regionOf(name string) trace.Region {
	own, role, told := strings.Cut(name, behindName)
	if r, ok := trace.ParseRole(role); told && ok {
		return trace.Region{Name: own, Role: r}
	}
	return trace.Region{Name: own, Role: trace.RoleOf(own, "")}
}

func (p *paths) find(parent trace.CallPathID, name string) trace.CallPathID {
	p.define()
	id, ok := p.known[step{parent, name}]
	if !ok {
		id = p.w.CallPath(trace.CallPath{Parent: parent, Region: p.w.Region(regionOf(name))})
		p.known[step{parent, name}] = id
	}
	return id
}

// nodes returns the paths of regions; they are valid until the next call.
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

// arrivals are the sums of the times at which processes entered calls that the whole
// job makes together. Sums are enough: calls of one path correspond one to one where
// their number is the same, and who comes late has the larger sum.
type arrivals [][]arrival // by call path

type arrival struct {
	at    trace.LocationID
	calls uint64
	sum   float64 // ns since 1970
}

func (a *arrivals) add(path trace.CallPathID, x arrival) {
	for int(path) >= len(*a) {
		*a = append(*a, nil)
	}
	(*a)[path] = append((*a)[path], x)
}

// write gives late arrivals against the earliest of those that made as many calls.
func (a arrivals) write(metric trace.MetricID, w trace.Writer) {
	type group struct {
		first float64
		count int
	}
	var rows trace.Rows
	for path, list := range a {
		groups := map[uint64]group{}
		for _, x := range list {
			g, ok := groups[x.calls]
			if g.count++; !ok || x.sum < g.first {
				g.first = x.sum
			}
			groups[x.calls] = g
		}
		for _, x := range list {
			if g := groups[x.calls]; g.count > 1 {
				late := x.sum - g.first
				rows.Profile = append(rows.Profile,
					trace.ProfileRow{Location: x.at, Path: trace.CallPathID(path), Metric: metric,
						Calls: float64(x.calls), Inclusive: late, Exclusive: late})
			}
		}
		trace.AddRows(w, &rows)
	}
}
