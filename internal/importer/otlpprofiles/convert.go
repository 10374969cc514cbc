package otlpprofiles

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A converter turns messages into profiles and instants.
type converter struct {
	w       trace.Writer
	label   string
	rows    importer.Rows
	metrics map[string]*stack.Profile
	order   []*stack.Profile
	span    trace.AttributeID
	trace   trace.AttributeID
	samples int64

	dictionary *dictionary
	stacks     map[number][]stack.Frame // of the dictionary, outermost first
	bad        int64
}

func newConverter(w trace.Writer, label string) *converter {
	return &converter{w: w, label: label, rows: importer.NewRows(w), metrics: map[string]*stack.Profile{},
		span: w.Attribute("span id"), trace: w.Attribute("trace id")}
}

// at is an entry of a table, or nothing if there is none.
func at[T any](c *converter, table []T, i number) (v T) {
	if i < 0 || int(i) >= len(table) {
		c.bad++
		return v
	}
	return table[i]
}

func (c *converter) text(i number) string {
	if i == 0 {
		return ""
	}
	return at(c, c.dictionary.Texts, i)
}

// data takes a whole message.
func (c *converter) data(p *profilesData) {
	c.dictionary, c.stacks = &p.Dictionary, map[number][]stack.Frame{}
	for _, r := range p.Resources {
		process := c.process(r.Resource.Attributes)
		for _, s := range r.Scopes {
			for i := range s.Profiles {
				c.profile(process, &s.Profiles[i])
			}
		}
	}
	if c.bad > 0 {
		c.w.Report(trace.MissingNames, "references to entries of the dictionary that are not there", c.bad, c.label)
		c.bad = 0
	}
}

// words are attributes by name, as text.
func (c *converter) words(list []attribute) map[string]string {
	words := map[string]string{}
	for _, a := range list {
		key, v := a.Name, a.Value.Text
		if key == "" {
			key = c.text(a.Key)
		}
		if v == "" {
			v = c.text(a.Value.TextAt)
		}
		if v == "" && a.Value.Integer != 0 {
			v = strconv.FormatInt(int64(a.Value.Integer), 10)
		}
		words[key] = v
	}
	return words
}

// process is the location of a resource, below its machine.
func (c *converter) process(list []attribute) trace.LocationID {
	a := c.words(list)
	parent := trace.NoLocation
	if host := a["host.name"]; host != "" {
		parent = c.w.Location(importer.Below(parent, trace.KindMachine, host))
	}
	name := a["service.name"]
	for _, other := range []string{"process.executable.name", "container.name", "container.id", "k8s.pod.name"} {
		if name == "" {
			name = a[other]
		}
	}
	name = cmp.Or(name, "process")
	pid := a["process.pid"]
	l := trace.Location{Parent: parent, Kind: trace.KindProcess, Key: name + " " + pid, Name: name, Rank: trace.NoRank}
	if pid != "" {
		l.Name += " " + pid
		if n, err := strconv.ParseInt(pid, 10, 64); err == nil {
			l.Attributes = importer.PID(n)
		}
	}
	return c.w.Location(l)
}

func (c *converter) profile(process trace.LocationID, p *profile) {
	name, unit := c.text(p.Type.Name), c.text(p.Type.Unit)
	name = cmp.Or(name, "samples")
	switch unit {
	case "nanoseconds":
		unit = "ns"
	case "count":
		unit = ""
	}
	out := importer.Once(c.metrics, name, func() *stack.Profile {
		s := stack.New(c.w, trace.Metric{Name: name, Unit: unit, Integer: true, Default: len(c.metrics) == 0})
		c.order = append(c.order, s)
		return s
	})
	for i := range p.Samples {
		c.sample(process, out, &p.Samples[i])
	}
}

func (c *converter) sample(process trace.LocationID, out *stack.Profile, s *sample) {
	c.samples++
	where := c.thread(process, s.Attributes)
	total := 0.0
	for _, v := range s.Values {
		total += float64(v)
	}
	if len(s.Values) == 0 {
		total = float64(len(s.Times))
	}
	frames := c.stack(s.Stack)
	out.AddFrames(where, frames, []float64{total})
	if len(s.Times) == 0 {
		return
	}
	row := c.rows.At(where, trace.StreamOptions{Unordered: true})
	for _, t := range s.Times {
		row.Stream.Instant(trace.Time(t), frames[len(frames)-1].Region)
		if s.Link > 0 {
			l := at(c, c.dictionary.Links, s.Link)
			row.Stream.Attribute(c.span, trace.Text(l.Span))
			row.Stream.Attribute(c.trace, trace.Text(l.Trace))
		}
	}
}

func (c *converter) thread(process trace.LocationID, indices []number) trace.LocationID {
	id, name := "", ""
	for _, i := range indices {
		a := at(c, c.dictionary.Attributes, i)
		for key, v := range c.words([]attribute{attribute(a)}) {
			switch key {
			case "thread.id":
				id = v
			case "thread.name":
				name = v
			}
		}
	}
	if id == "" && name == "" {
		return process
	}
	l := trace.Location{Parent: process, Kind: trace.KindThread, Key: id, Name: "thread " + id, Rank: trace.NoRank}
	if name != "" {
		l.Name = name
	}
	if n, err := strconv.ParseInt(id, 10, 64); err == nil {
		l.Order, l.Attributes = n, importer.TID(n)
	}
	return c.w.Location(l)
}

// stack is a call path, outermost first.
func (c *converter) stack(i number) []stack.Frame {
	return importer.Once(c.stacks, i, func() (frames []stack.Frame) {
		for _, k := range at(c, c.dictionary.Stacks, i).Locations {
			frames = c.location(frames, at(c, c.dictionary.Locations, k))
		}
		if len(frames) == 0 {
			frames = append(frames, stack.Frame{Region: c.w.Region(trace.Region{Name: "(no stack)"})})
		}
		slices.Reverse(frames)
		return frames
	})
}

// location appends the functions of a location, the innermost first.
func (c *converter) location(to []stack.Frame, l location) []stack.Frame {
	object := ""
	if l.Mapping > 0 {
		object = path.Base(c.text(at(c, c.dictionary.Mappings, l.Mapping).File))
	}
	for _, x := range l.Lines {
		f := at(c, c.dictionary.Functions, x.Function)
		r := trace.Region{Name: c.text(f.Name), Category: object, File: c.text(f.File), Line: int(max(f.Start, 0))}
		r.Name = cmp.Or(r.Name, "(no name)")
		to = append(to, stack.Frame{Region: c.w.Region(r), Line: int(min(max(x.Line, 0), 1<<30))})
	}
	if len(l.Lines) == 0 {
		name := fmt.Sprintf("0x%x", uint64(l.Address))
		if object != "" {
			name = "[" + object + "]"
		}
		to = append(to, stack.Frame{Region: c.w.Region(trace.Region{Name: name, Category: object})})
	}
	return to
}

func (c *converter) close() error {
	for _, p := range c.order {
		p.Finish()
	}
	return c.rows.Close()
}
