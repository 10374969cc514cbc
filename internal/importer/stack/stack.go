// Package stack adds up sampled call stacks into a profile, for the formats of
// sampling profilers. Each stack adds to the exclusive value of its path and to
// the inclusive values of all paths above, so recursion counts once.
//
// A sample tells that a function was running, not how often it was called: calls
// stay 0. Memory grows with distinct paths on a location, not with samples.
package stack

import "github.com/parallax-hpc/parallax/internal/trace"

// A Profile gathers stacks.
type Profile struct {
	w       trace.Writer
	metrics []trace.MetricID
	paths   map[trace.CallPath]trace.CallPathID
	ids     map[nodeKey]int32
	nodes   []node
	cells   map[cellKey]int
	keys    []cellKey // of cells, in order of arrival
	values  []float64 // of cell i: inclusive and exclusive of each metric from i*2*len(metrics) on
	lined   map[trace.RegionID]bool
	scratch []Frame
}

// A node is a frame below others: a call path with the line that each of its frames was at.
type node struct {
	nodeKey
	path trace.CallPathID
}

type nodeKey struct {
	up int32 // the node above, -1 for none
	Frame
}

type cellKey struct {
	location trace.LocationID
	node     int32
}

// New makes a profile with these metrics.
func New(w trace.Writer, metrics ...trace.Metric) *Profile {
	p := &Profile{w: w, paths: map[trace.CallPath]trace.CallPathID{}, ids: map[nodeKey]int32{},
		cells: map[cellKey]int{}, lined: map[trace.RegionID]bool{}}
	for _, m := range metrics {
		p.metrics = append(p.metrics, w.Metric(m))
	}
	return p
}

// Add takes one stack, outermost region first, with a value for each metric.
// O(depth).
func (p *Profile) Add(at trace.LocationID, stack []trace.RegionID, values []float64) {
	p.scratch = p.scratch[:0]
	for _, r := range stack {
		p.scratch = append(p.scratch, Frame{Region: r})
	}
	p.AddFrames(at, p.scratch, values)
}

// AddFrames is Add for frames with lines.
func (p *Profile) AddFrames(at trace.LocationID, stack []Frame, values []float64) {
	up := int32(-1)
	for i, frame := range stack {
		up = p.node(nodeKey{up, frame})
		cell := p.cell(cellKey{at, up})
		for k, v := range values {
			cell[2*k] += v
			if i == len(stack)-1 {
				cell[2*k+1] += v
			}
		}
	}
}

func (p *Profile) node(k nodeKey) int32 {
	if id, ok := p.ids[k]; ok {
		return id
	}
	key := trace.CallPath{Parent: trace.NoCallPath, Region: k.Region}
	if k.up >= 0 {
		key.Parent = p.nodes[k.up].path
	}
	path, ok := p.paths[key]
	if !ok {
		path = p.w.CallPath(key)
		p.paths[key] = path
	}
	if k.Line > 0 {
		p.lined[k.Region] = true
	}
	id := int32(len(p.nodes))
	p.nodes = append(p.nodes, node{k, path})
	p.ids[k] = id
	return id
}

func (p *Profile) cell(k cellKey) []float64 {
	n := 2 * len(p.metrics)
	i, ok := p.cells[k]
	if !ok {
		i = len(p.keys)
		p.cells[k] = i
		p.keys = append(p.keys, k)
		p.values = append(p.values, make([]float64, n)...)
	}
	return p.values[i*n : (i+1)*n]
}

// Finish writes the rows.
func (p *Profile) Finish() {
	if len(p.lined) > 0 {
		p.finishLines()
		p.joinLines()
	}
	for i, k := range p.keys {
		for m, metric := range p.metrics {
			v := p.values[(i*len(p.metrics)+m)*2:]
			p.w.Profile(trace.ProfileRow{Location: k.location, Path: p.nodes[k.node].path, Metric: metric,
				Inclusive: v[0], Exclusive: v[1]})
		}
	}
}

// A Frame is a region with the line at which a sample met it. The line is a fact of the sample: it does not
// distinguish regions.
type Frame struct {
	Region trace.RegionID
	Line   int // 0: unknown, or that of the region
}

// FramesAt returns a stack with a line for its innermost frame.
func FramesAt(regions []trace.RegionID, line int, to []Frame) []Frame {
	to = to[:0]
	for _, r := range regions {
		to = append(to, Frame{Region: r})
	}
	if len(to) > 0 {
		to[len(to)-1].Line = line
	}
	return to
}

// Enter opens the frame, with its line as an attribute where it has one.
func (f Frame) Enter(s trace.Stream, t trace.Time, line trace.AttributeID) {
	s.Enter(t, f.Region)
	if f.Line > 0 {
		s.Attribute(line, trace.Integer(int64(f.Line)))
	}
}

// Change leaves and enters, at t, the frames in which the stack of a sample differs from the one that is open, and
// returns the open frames: so a frame is shown from the first sample that has it to the first that has not.
func Change(s trace.Stream, t trace.Time, open, now []trace.RegionID) []trace.RegionID {
	return change(open, now, func(r trace.RegionID) { s.Leave(t, r) }, func(r trace.RegionID) { s.Enter(t, r) })
}

// ChangeFrames is Change for frames with lines: a stay ends where its line changes.
func ChangeFrames(s trace.Stream, t trace.Time, open, now []Frame, line trace.AttributeID) []Frame {
	return change(open, now, func(f Frame) { s.Leave(t, f.Region) }, func(f Frame) { f.Enter(s, t, line) })
}

func change[F comparable](open, now []F, leave, enter func(F)) []F {
	same := 0
	for same < len(open) && same < len(now) && open[same] == now[same] {
		same++
	}
	for k := len(open) - 1; k >= same; k-- {
		leave(open[k])
	}
	for _, f := range now[same:] {
		enter(f)
	}
	return append(open[:0], now...)
}
