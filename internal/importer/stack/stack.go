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
	cells   map[cellKey]int
	keys    []cellKey // of cells, in order of arrival
	values  []float64 // of cell i: inclusive and exclusive of each metric from i*2*len(metrics) on
}

type cellKey struct {
	location trace.LocationID
	path     trace.CallPathID
}

// New makes a profile with these metrics.
func New(w trace.Writer, metrics ...trace.Metric) *Profile {
	p := &Profile{w: w, paths: map[trace.CallPath]trace.CallPathID{}, cells: map[cellKey]int{}}
	for _, m := range metrics {
		p.metrics = append(p.metrics, w.Metric(m))
	}
	return p
}

// Add takes one stack, outermost region first, with a value for each metric.
// O(depth).
func (p *Profile) Add(at trace.LocationID, stack []trace.RegionID, values []float64) {
	path := trace.NoCallPath
	for i, region := range stack {
		key := trace.CallPath{Parent: path, Region: region}
		id, ok := p.paths[key]
		if !ok {
			id = p.w.CallPath(key)
			p.paths[key] = id
		}
		path = id
		cell := p.cell(cellKey{at, path})
		for k, v := range values {
			cell[2*k] += v
			if i == len(stack)-1 {
				cell[2*k+1] += v
			}
		}
	}
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
	for i, k := range p.keys {
		for m, metric := range p.metrics {
			v := p.values[(i*len(p.metrics)+m)*2:]
			p.w.Profile(trace.ProfileRow{Location: k.location, Path: k.path, Metric: metric, Inclusive: v[0],
				Exclusive: v[1]})
		}
	}
}

// A Frame is a region with the line at which a sample met it. The line is a fact of the sample: it does not tell
// regions apart.
type Frame struct {
	Region trace.RegionID
	Line   int // 0: not told, or that of the region
}

// Enter opens the frame, with its line as an attribute where it has one.
func (f Frame) Enter(s trace.Stream, t trace.Time, line trace.AttributeID) {
	s.Enter(t, f.Region)
	if f.Line > 0 {
		s.Attribute(line, trace.Integer(int64(f.Line)))
	}
}

// Regions are the regions of frames.
func Regions(frames []Frame) []trace.RegionID {
	out := make([]trace.RegionID, len(frames))
	for i, f := range frames {
		out[i] = f.Region
	}
	return out
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
