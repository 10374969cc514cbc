package perfscript

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/sched"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A converter turns samples into a profile and instants.
type converter struct {
	w       trace.Writer
	now     sample
	open    bool
	keys    []regionKey      // frames of the sample, innermost first
	frames  []trace.RegionID // of keys
	lines   []int            // of the first of them
	placed  bool             // there is no frame whose place may follow
	regions map[regionKey]trace.RegionID
	opened  importer.Rows
	rows    map[rowKey]*importer.Row
	events  map[eventKey]*stack.Profile
	inOrder []*stack.Profile
	cpu     trace.AttributeID
	event   trace.AttributeID
	fields  trace.AttributeID // of a trace point
	samples int
	sched   *sched.Recorder
	byTID   map[int64]*importer.Row
}

type regionKey struct{ symbol, object, file string }

type rowKey struct {
	comm     string
	pid, tid int64
}

type eventKey struct {
	name    string
	weighed bool
}

func newConverter(w trace.Writer) *converter {
	c := &converter{byTID: map[int64]*importer.Row{}, w: w, regions: map[regionKey]trace.RegionID{},
		opened: importer.NewRows(w),
		rows:   map[rowKey]*importer.Row{}, events: map[eventKey]*stack.Profile{},
		cpu: w.Attribute("cpu"), event: w.Attribute("event"), fields: w.Attribute("fields")}
	c.sched = sched.New(w, c.task)
	return c
}

// task is the row of a thread that an event of the scheduler names.
func (c *converter) task(t sched.Task) *importer.Row {
	if r := c.byTID[t.ID]; r != nil {
		return r
	}
	return c.row(rowKey{t.Name, -1, t.ID})
}

// begin starts a sample; frames may follow, or one on the same line.
func (c *converter) begin(s sample) {
	c.now, c.open, c.placed = s, true, true
	c.keys, c.frames, c.lines = c.keys[:0], c.frames[:0], c.lines[:0]
	if s.rest != "" && c.frame([]byte(s.rest)) {
		c.now.rest, c.now.whole = "", true
	}
}

// frame adds a frame to the sample that is open.
func (c *converter) frame(line []byte) bool {
	symbol, object, ok := parseFrame(line)
	if ok {
		c.keys, c.placed = append(c.keys, regionKey{symbol: symbol, object: object}), false
		return true
	}
	if file, number, found := parsePlace(line); found && !c.placed {
		c.keys[len(c.keys)-1].file = file
		for len(c.lines) < len(c.keys) {
			c.lines = append(c.lines, 0)
		}
		c.lines[len(c.keys)-1], c.placed = number, true
		return true
	}
	return false
}

// lined returns the frames, outermost first, with their lines.
func (c *converter) lined() (out []stack.Frame) {
	for i, r := range slices.Backward(c.frames) {
		f := stack.Frame{Region: r}
		if i < len(c.lines) {
			f.Line = c.lines[i]
		}
		out = append(out, f)
	}
	return out
}

func (c *converter) region(k regionKey) trace.RegionID {
	return importer.Once(c.regions, k, func() trace.RegionID {
		r := trace.Region{Name: demangle.Filter(k.symbol), File: k.file}
		if k.object != "" {
			r.Category = strings.Trim(path.Base(k.object), "[]")
		}
		if r.Name != k.symbol {
			r.Attributes = []trace.Attribute{{Key: "mangled", Value: trace.Text(k.symbol)}}
		}
		return c.w.Region(r)
	})
}

// end writes the sample that is open.
func (c *converter) end() {
	if !c.open {
		return
	}
	c.open = false
	c.samples++
	for _, k := range c.keys { // their places are known now: a function is one region
		c.frames = append(c.frames, c.region(k))
	}
	if len(c.frames) == 0 {
		name := "(no stack)"
		if strings.Contains(c.now.event, ":") && c.now.rest != "" { // a trace point with its fields
			name = c.now.event
		}
		c.frames = append(c.frames, c.region(regionKey{symbol: name, object: ""}))
	}
	r := c.row(rowKey{c.now.comm, c.now.pid, c.now.tid})
	if c.now.timed {
		r.Stream.Instant(c.now.time, c.frames[0])
		if c.now.event != "" {
			r.Stream.Attribute(c.event, trace.Text(c.now.event))
		}
		if c.now.cpu >= 0 {
			r.Stream.Attribute(c.cpu, trace.Integer(c.now.cpu))
		}
		if c.now.rest != "" {
			r.Stream.Attribute(c.fields, trace.Text(c.now.rest))
			if name, ok := strings.CutPrefix(c.now.event, "sched:"); ok {
				waker := sched.Task{}
				if c.now.byTask {
					waker = sched.Task{ID: c.now.tid, Name: c.now.comm}
				}
				c.sched.Take(name, []byte(c.now.rest), c.now.time, c.now.cpu, waker)
			}
		}
	}
	values := []float64{1, c.now.period}
	if !c.now.weighed {
		values = values[:1]
	}
	c.profile().AddFrames(r.At, c.lined(), values)
}

// row finds the thread of a sample. Threads of one process are below it; if only the thread is printed, its process is
// known by name, and a thread that changed its name is another.
func (c *converter) row(k rowKey) *importer.Row {
	return importer.Once(c.rows, k, func() *importer.Row {
		tid := strconv.FormatInt(k.tid, 10)
		process := trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: k.comm, Rank: trace.NoRank,
			Order: max(k.pid, 0), Attributes: importer.PID(k.pid)}
		thread := trace.Location{Kind: trace.KindThread, Key: tid, Name: "thread " + tid, Rank: trace.NoRank,
			Order: max(k.tid, 0), Attributes: importer.TID(k.tid)}
		if k.pid >= 0 {
			process.Key = strconv.FormatInt(k.pid, 10)
			process.Name += " " + process.Key
			thread.Name = k.comm + " " + tid
		}
		thread.Parent = c.w.Location(process)
		if k.pid >= 0 && k.pid == k.tid { // the first thread has the name of the process
			c.w.Describe(thread.Parent, trace.Location{Name: process.Name, Rank: trace.NoRank})
		}
		row := c.opened.Open(thread, trace.StreamOptions{Unordered: true})
		c.byTID[k.tid] = row
		return row
	})
}

// profile finds the sums of the sample's event. The first event is the one to show.
func (c *converter) profile() *stack.Profile {
	k := eventKey{c.now.event, c.now.weighed}
	p := c.events[k]
	if p == nil {
		first := len(c.events) == 0
		samples, periods := "samples of "+k.name, k.name
		if k.name == "" {
			samples, periods = "samples", "period"
		}
		metrics := []trace.Metric{{Name: samples, Integer: true, Default: first && !k.weighed}}
		if k.weighed {
			m := trace.Metric{Name: periods, Integer: true, Default: first}
			if strings.HasPrefix(k.name, "cpu-clock") || strings.HasPrefix(k.name, "task-clock") {
				m.Unit = "ns"
			}
			metrics = append(metrics, m)
		}
		p = stack.New(c.w, metrics...)
		c.events[k] = p
		c.inOrder = append(c.inOrder, p)
	}
	return p
}

// comment keeps the lines of the header that name the machine and the command.
func (c *converter) comment(line string) {
	name, value, ok := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "#")), " : ")
	if ok &&
		slices.Contains([]string{"hostname", "os release", "perf version", "arch", "nrcpus online", "cpudesc",
			"cmdline"}, name) {
		c.w.Property(name, strings.TrimSpace(value))
	}
}

func (c *converter) close() error {
	if c.sched.Any() {
		at := c.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindGroup, Name: "processors",
			Rank: trace.NoRank, Order: 1 << 40})
		if err := c.sched.Write(at); err != nil {
			return err
		}
	}
	for _, p := range c.inOrder {
		p.Finish()
	}
	return c.opened.Close()
}
