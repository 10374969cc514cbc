package ftrace

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/sched"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A converter turns lines into records of a trace.
type converter struct {
	w         trace.Writer
	label     string
	html      bool
	rows      importer.Rows
	tasks     map[int64]*importer.Row
	parents   map[int64]trace.LocationID
	named     map[int64]bool
	marks     map[int64]*importer.Row
	functions map[int64]*importer.Row
	async     map[string]record // begun and not finished
	machine   trace.LocationID
	sched     *sched.Recorder
	regions   map[[2]string]trace.RegionID
	counters  map[string]trace.CounterID
	fields    trace.AttributeID
	cpu       trace.AttributeID
	events    int64
}

func newConverter(w trace.Writer, label string, html bool) *converter {
	c := &converter{w: w, label: label, html: html, rows: importer.NewRows(w), tasks: map[int64]*importer.Row{},
		parents: map[int64]trace.LocationID{}, named: map[int64]bool{}, marks: map[int64]*importer.Row{},
		functions: map[int64]*importer.Row{},
		async:     map[string]record{}, machine: trace.NoLocation, regions: map[[2]string]trace.RegionID{},
		counters: map[string]trace.CounterID{}, fields: w.Attribute("fields"), cpu: w.Attribute("cpu")}
	c.sched = sched.New(w, c.row)
	return c
}

func (c *converter) line(n int, line []byte) {
	r, ok := parse(line)
	if !ok {
		if !c.html && !about(line) {
			c.w.Report(trace.MissingEvents,
				"lines that are no event of ftrace", 1, fmt.Sprintf("%s: line %d", c.label, n))
		}
		return
	}
	c.take(r)
}

// waker is the task to which a wake-up is due, none if an interrupt woke.
func (r *record) waker() sched.Task {
	if r.byTask {
		return r.task
	}
	return sched.Task{}
}

// take adds an event.
func (c *converter) take(r record) {
	c.events++
	if r.tgid >= 0 && c.tasks[r.task.ID] == nil {
		c.parents[r.task.ID] = c.process(r.tgid)
	}
	switch {
	case c.sched.Take(r.event, r.fields, r.time, r.cpu, r.waker()):
		if r.event == "sched_switch" {
			return
		}
	case r.event == "tracing_mark_write" || r.event == "print":
		if c.mark(r) {
			return
		}
	case r.event == "cpu_frequency" && c.frequency(r):
		return
	}
	s := c.row(r.task).Stream
	s.Instant(r.time, c.region(r.event, "event", trace.RoleByName))
	s.Attribute(c.cpu, trace.Integer(r.cpu))
	if len(r.fields) > 0 {
		s.Attribute(c.fields, trace.Text(string(r.fields)))
	}
}

func (c *converter) region(name, category string, role trace.Role) trace.RegionID {
	return importer.Once(c.regions, [2]string{name, category}, func() trace.RegionID {
		return c.w.Region(trace.Region{Name: name, Category: category, Role: role})
	})
}

// process is that of a tgid.
func (c *converter) process(tgid int64) trace.LocationID {
	n := strconv.FormatInt(tgid, 10)
	return c.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Key: n, Name: "process " + n,
		Rank: trace.NoRank, Order: tgid, Attributes: importer.PID(tgid)})
}

// row is that of a task; "<...>" stands for a name that is not known.
func (c *converter) row(t sched.Task) *importer.Row {
	row := importer.Once(c.tasks, t.ID, func() *importer.Row {
		n := strconv.FormatInt(t.ID, 10)
		parent, ok := c.parents[t.ID]
		if !ok {
			parent = c.w.Location(importer.Below(trace.NoLocation, trace.KindGroup, "tasks"))
		}
		return c.rows.Open(trace.Location{Parent: parent, Kind: trace.KindThread, Key: n, Name: "thread " + n,
			Rank: trace.NoRank, Order: t.ID, Attributes: importer.TID(t.ID)}, trace.StreamOptions{Unordered: true})
	})
	if !c.named[t.ID] && t.Name != "<...>" && t.Name != "<unknown>" {
		c.named[t.ID] = true
		c.w.Describe(row.At, trace.Location{Name: fmt.Sprintf("%s %d", t.Name, t.ID), Rank: trace.NoRank})
	}
	return row
}

// mark reads the text that a program wrote: B|pid|name, E|pid, C|pid|name|value, S|pid|name|cookie, F|…; an address
// may come first.
func (c *converter) mark(r record) bool {
	text := r.fields
	if at := bytes.Index(text, []byte(": ")); at > 0 && bytes.HasPrefix(text, []byte("0x")) {
		text = text[at+2:]
	}
	parts := strings.Split(string(text), "|")
	switch kind := parts[0]; {
	case kind == "B" && len(parts) >= 3:
		c.marksOf(r.task).Stream.Enter(r.time, c.region(strings.Join(parts[2:], "|"), "mark", trace.RoleAnnotation))
	case kind == "E":
		c.marksOf(r.task).Stream.Leave(r.time, trace.NoRegion)
	case kind == "C" && len(parts) >= 4:
		value, err := strconv.ParseFloat(strings.TrimSpace(parts[len(parts)-1]), 64)
		if err != nil {
			return false
		}
		c.sample(c.row(r.task), strings.Join(parts[2:len(parts)-1], "|"), "", r.time, value)
	case kind == "S" && len(parts) >= 4:
		c.async[string(text[1:])] = r
	case kind == "F" && len(parts) >= 4:
		begun, ok := c.async[string(text[1:])]
		if !ok {
			return false
		}
		delete(c.async, string(text[1:]))
		c.marksOf(begun.task).Stream.Interval(begun.time, r.time,
			c.region(strings.Join(parts[2:len(parts)-1], "|"), "asynchronous mark", trace.RoleAnnotation))
	default:
		return false
	}
	return true
}

// marksOf is the row of a task's marks, which cross its states.
func (c *converter) marksOf(t sched.Task) *importer.Row { return c.beside(c.marks, "marks", t) }

// functionsOf is the row of the functions of the kernel that a task was in.
func (c *converter) functionsOf(t sched.Task) *importer.Row {
	return c.beside(c.functions, "kernel", t)
}

func (c *converter) beside(known map[int64]*importer.Row, name string, t sched.Task) *importer.Row {
	return importer.Once(known, t.ID, func() *importer.Row {
		return c.rows.Open(trace.Location{Parent: c.row(t).At, Kind: trace.KindStates, Name: name,
			Rank: trace.NoRank}, trace.StreamOptions{Unordered: true})
	})
}

// function is a call of the kernel's function, as the function_graph tracer records it.
func (c *converter) function(t sched.Task, name string, begin, end trace.Time) {
	c.functionsOf(t).Stream.Interval(begin, end, c.region(name, "kernel", trace.RoleByName))
}

var frequency = regexp.MustCompile(`state=(\d+) cpu_id=(\d+)`)

func (c *converter) frequency(r record) bool {
	m := frequency.FindSubmatch(r.fields)
	if m == nil {
		return false
	}
	value, _ := strconv.ParseFloat(string(m[1]), 64)
	row := c.rows.Open(trace.Location{Parent: c.processors(), Kind: trace.KindProcessor, Key: string(m[2]),
		Name: "CPU " + string(m[2]) + " frequency", Rank: trace.NoRank}, trace.StreamOptions{Unordered: true})
	c.sample(row, "frequency", "kHz", r.time, value)
	return true
}

func (c *converter) sample(row *importer.Row, name, unit string, t trace.Time, value float64) {
	id := importer.Once(c.counters, fmt.Sprint(row.At, name), func() trace.CounterID {
		return c.w.Counter(trace.Counter{Location: row.At, Name: name, Unit: unit})
	})
	row.Stream.Sample(id, t, value)
}

func (c *converter) processors() trace.LocationID {
	if c.machine == trace.NoLocation {
		c.machine = c.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindGroup, Name: "processors",
			Rank: trace.NoRank, Order: 1 << 40})
	}
	return c.machine
}

func (c *converter) close() error {
	for _, r := range c.async {
		c.marksOf(r.task).Stream.Enter(r.time, c.region(string(r.fields), "asynchronous mark", trace.RoleAnnotation))
	}
	if c.sched.Any() {
		if err := c.sched.Write(c.processors()); err != nil {
			return err
		}
	}
	return c.rows.Close()
}
