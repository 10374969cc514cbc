package speedscope

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// scales of units of time, in ns.
var scales = map[string]float64{"nanoseconds": 1, "microseconds": 1e3, "milliseconds": 1e6, "seconds": 1e9}

// A converter turns profiles into a trace.
type converter struct {
	w       trace.Writer
	label   string
	frames  []stack.Frame          // by number
	only    map[trace.RegionID]int // the line of functions that have only one
	line    trace.AttributeID
	process trace.LocationID
	totals  map[string]*stack.Profile // by unit
	records int
}

func newConverter(w trace.Writer, run importer.Run, frames []frame) *converter {
	c := &converter{w: w, label: run.Label(run.Files[0]), totals: map[string]*stack.Profile{},
		only: map[trace.RegionID]int{}}
	c.define(frames)
	c.process = w.Location(importer.Process(run.Name))
	return c
}

// define makes a region of each function. Frames that differ in the sampled line alone are one: its line is the first
// of them, and each stay of a sample has its own as an attribute.
func (c *converter) define(frames []frame) {
	lines := map[frame][]int{}
	function := func(f frame) frame {
		if !f.begins {
			f.line = 0
		}
		return f
	}
	for _, f := range frames {
		if k := function(f); f.line > 0 {
			lines[k] = append(lines[k], int(min(f.line, 1<<30)))
		}
	}
	several := false
	for k, all := range lines {
		slices.Sort(all)
		lines[k] = slices.Compact(all)
		several = several || len(lines[k]) > 1
	}
	if several {
		c.line = c.w.Attribute("line")
	}
	for _, f := range frames {
		all := lines[function(f)]
		r := trace.Region{Name: f.name, File: f.file}
		r.Name = cmp.Or(r.Name, "frame without a name")
		if len(all) > 0 {
			r.Line = all[0]
		}
		x := stack.Frame{}
		if len(all) > 1 {
			x.Line = int(min(max(f.line, 0), 1<<30))
			r.Attributes = []trace.Attribute{{Key: "lines", Value: trace.Text(strings.Trim(fmt.Sprint(all), "[]"))}}
		}
		x.Region = c.w.Region(r)
		if len(all) == 1 {
			c.only[x.Region] = all[0]
		}
		c.frames = append(c.frames, x)
	}
}

// A profile is one thread while it is read.
type profile struct {
	*converter
	header
	at      trace.LocationID
	scale   float64 // to ns; 0: no time
	stream  trace.Stream
	samples [][]stack.Frame
	weights []float64
	now     float64
	open    []stack.Frame
	scratch []stack.Frame
	bad     int64
}

func (c *converter) profile(h header, number int) *profile {
	name := h.name
	if name == "" {
		name = "thread " + strconv.Itoa(number)
	}
	p := &profile{converter: c, header: h, scale: scales[h.unit], now: h.start}
	p.at = c.w.Location(trace.Location{Parent: c.process, Kind: trace.KindThread, Key: strconv.Itoa(number), Name: name,
		Rank: trace.NoRank, Order: int64(number)})
	return p
}

// total is the profile that adds up values of a unit.
func (c *converter) total(unit string) *stack.Profile {
	t, ok := c.totals[unit]
	if !ok {
		m := trace.Metric{Name: "samples", Integer: true, Default: len(c.totals) == 0}
		switch {
		case scales[unit] > 0:
			m = trace.Metric{Name: "time", Unit: "ns", Default: len(c.totals) == 0}
		case unit == "bytes":
			m = trace.Metric{Name: "bytes", Unit: "bytes", Integer: true, Default: len(c.totals) == 0}
		}
		t = stack.New(c.w, m)
		c.totals[unit] = t
	}
	return t
}

// event takes one event of an evented profile.
func (p *profile) event(c *jsonstream.Cursor) {
	kind, at, frame := "", 0.0, int64(-1)
	for ok := c.Open('{'); ok && c.More('}'); {
		switch string(c.Key()) {
		case "type":
			kind = c.Text()
		case "at":
			at, _ = c.Scalar().Number()
		case "frame":
			frame, _ = c.Whole()
		}
	}
	if frame < 0 || frame >= int64(len(p.frames)) || kind != "O" && kind != "C" {
		p.bad++
		return
	}
	x := p.frames[frame]
	if p.scale > 0 {
		if p.stream == nil {
			p.stream = p.w.Stream(p.at, trace.StreamOptions{Unordered: true})
		}
		if t := trace.Time(at * p.scale); kind == "O" {
			x.Enter(p.stream, t, p.line)
		} else {
			p.stream.Leave(t, x.Region)
		}
		return
	}
	// Not time: the amount between two events belongs to the stack that is open.
	if at > p.now && len(p.open) > 0 {
		p.total(p.unit).AddFrames(p.at, p.lined(p.open), []float64{at - p.now})
	}
	p.now = max(p.now, at)
	if kind == "O" {
		p.open = append(p.open, x)
	} else if n := len(p.open); n > 0 {
		p.open = p.open[:n-1]
	} else {
		p.bad++
	}
}

// lined returns frames with the lines of functions that have only one.
func (p *profile) lined(list []stack.Frame) []stack.Frame {
	p.scratch = append(p.scratch[:0], list...)
	for i := range p.scratch {
		if x := &p.scratch[i]; x.Line == 0 {
			x.Line = p.only[x.Region]
		}
	}
	return p.scratch
}

// sample takes one stack; its weight comes in another list.
func (p *profile) sample(c *jsonstream.Cursor) {
	var list []stack.Frame
	for ok := c.Open('['); ok && c.More(']'); {
		i, known := c.Whole()
		if !known || i < 0 || i >= int64(len(p.frames)) {
			p.bad++
			continue
		}
		list = append(list, p.frames[i])
	}
	p.samples = append(p.samples, list)
}

func (p *profile) weight(c *jsonstream.Cursor) {
	v, _ := c.Scalar().Number()
	p.weights = append(p.weights, v)
}

// close writes the samples, whose weights are known only now.
func (p *profile) close(place string) error {
	importer.Tell(p.w, trace.MissingSamples, "events and frames that make no sense", p.bad, place)
	if n := len(p.samples) - len(p.weights); n > 0 && len(p.weights) > 0 {
		p.w.Report(trace.Guessed, "samples without a weight: 1", int64(n), place)
	}
	var s trace.Stream
	if p.scale > 0 && len(p.samples) > 0 {
		at := p.w.Location(trace.Location{Parent: p.at, Kind: trace.KindSamples, Key: "samples", Name: "samples",
			Rank: trace.NoRank})
		s = p.w.Stream(at, trace.StreamOptions{})
	}
	scale := p.scale
	if scale == 0 {
		scale = 1
	}
	for i, list := range p.samples {
		weight := 1.0
		if i < len(p.weights) {
			weight = max(p.weights[i], 0) * scale
		}
		if len(list) > 0 {
			p.total(p.unit).AddFrames(p.at, p.lined(list), []float64{weight})
		}
		if s != nil {
			p.shown(s, list, weight)
		}
	}
	var errs error
	if s != nil {
		p.shown(s, nil, 0)
		errs = s.Close()
	}
	if p.stream != nil {
		if err := p.stream.Close(); errs == nil {
			errs = err
		}
	}
	return errs
}

// shown opens and closes the frames that differ from those of the sample before.
func (p *profile) shown(s trace.Stream, list []stack.Frame, weight float64) {
	t := trace.Time(p.now * max(p.scale, 1))
	p.open = stack.ChangeFrames(s, t, p.open, list, p.line)
	p.now += weight / max(p.scale, 1)
}

func (c *converter) finish() error {
	for _, t := range c.totals {
		t.Finish()
	}
	return nil
}
