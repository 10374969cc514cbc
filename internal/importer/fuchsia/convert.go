package fuchsia

import (
	"cmp"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/sched"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Reasons of the import report.
type reason uint8

const (
	brokenRecord reason = iota
	brokenFile
	fullBuffer
	blob
	openAsync
	openFlow
)

var reasons = []importer.Reason{
	brokenRecord: importer.Skipped(trace.MissingEvents, "records that are shorter than what they say to hold"),
	brokenFile:   importer.Skipped(trace.MissingRest, "files that break off, read up to there"),
	fullBuffer:   importer.Skipped(trace.MissingEvents, "buffers that were full while it was recorded"),
	blob:         importer.Redundant("blobs and objects of user space (they have no time)"),
	openAsync:    importer.Skipped(trace.MissingIntervals, "ends of asynchronous operations that never began"),
	openFlow:     importer.Skipped(trace.MissingLinks, "ends and steps of flows that never began"),
}

// Kinds of objects of the kernel.
const (
	objectProcess = 1
	objectThread  = 2
)

// A place is a point in time on a thread.
type place struct {
	at   trace.LocationID
	time trace.Time
}

// An operation is one that may end on another thread.
type operation struct {
	process        uint64
	category, name string
	id             uint64
}

// A converter turns records into a trace.
type converter struct {
	w         trace.Writer
	rows      importer.Rows
	threads   map[koid]*importer.Row
	process   map[uint64]uint64 // of a thread
	names     map[uint64]string
	processes map[uint64]trace.LocationID
	async     map[uint64]*importer.Row
	states    map[int64]*importer.Row
	open      map[operation]*event
	flows     map[operation]place
	regions   map[[2]string]trace.RegionID
	counters  map[string]trace.CounterID
	facts     importer.Attributes
	sched     *sched.Recorder
	events    int64
	tally     importer.Tally[reason]
}

func newConverter(w trace.Writer) *converter {
	c := &converter{w: w, rows: importer.NewRows(w), threads: map[koid]*importer.Row{}, process: map[uint64]uint64{},
		names: map[uint64]string{}, processes: map[uint64]trace.LocationID{}, async: map[uint64]*importer.Row{},
		states: map[int64]*importer.Row{}, open: map[operation]*event{}, flows: map[operation]place{},
		regions: map[[2]string]trace.RegionID{}, counters: map[string]trace.CounterID{},
		facts: importer.NewAttributes(w)}
	c.sched = sched.New(w, c.stateRow)
	return c
}

// named takes the name of an object of the kernel.
func (c *converter) named(kind, id, process uint64, name string) {
	if kind == objectThread && process != 0 {
		c.process[id] = process
	}
	if kind == objectProcess || kind == objectThread {
		c.names[id] = name
	}
}

func (c *converter) processOf(id uint64) trace.LocationID {
	return importer.Once(c.processes, id, func() trace.LocationID {
		n := strconv.FormatUint(id, 10)
		return c.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Key: n,
			Name: "process " + n, Rank: trace.NoRank, Order: int64(id >> 1), Attributes: importer.PID(int64(id))})
	})
}

func (c *converter) row(k koid) *importer.Row {
	if k.process == 0 {
		k.process = c.process[k.thread]
	}
	return importer.Once(c.threads, k, func() *importer.Row {
		c.process[k.thread] = k.process
		n := strconv.FormatUint(k.thread, 10)
		return c.rows.Open(trace.Location{Parent: c.processOf(k.process), Kind: trace.KindThread, Key: n,
			Name: "thread " + n, Rank: trace.NoRank, Order: int64(k.thread >> 1),
			Attributes: importer.TID(int64(k.thread))}, trace.StreamOptions{Unordered: true})
	})
}

func (c *converter) region(e *event) trace.RegionID {
	return importer.Once(c.regions, [2]string{e.name, e.category}, func() trace.RegionID {
		return c.w.Region(trace.Region{Name: cmp.Or(e.name, "(no name)"), Category: e.category})
	})
}

// attributes adds arguments to the row written last.
func (c *converter) attributes(s trace.Stream, list []argument) {
	for _, a := range list {
		s.Attribute(c.facts.ID(cmp.Or(a.name, "argument")), a.value)
	}
}

// event takes a record.
func (c *converter) event(e *event) {
	c.events++
	s := c.row(e.koid).Stream
	key := operation{e.koid.process, e.category, e.name, e.id}
	switch e.kind {
	case eventInstant, eventAsyncInstant:
		s.Instant(e.time, c.region(e))
		c.attributes(s, e.arguments)
	case eventCounter:
		c.counter(e)
	case eventBegin:
		s.Enter(e.time, c.region(e))
		c.attributes(s, e.arguments)
	case eventEnd:
		s.Leave(e.time, c.region(e))
	case eventWhole:
		s.Interval(e.time, e.end, c.region(e))
		c.attributes(s, e.arguments)
	case eventAsyncBegin:
		c.open[key] = e
	case eventAsyncEnd:
		begun, ok := c.open[key]
		if !ok {
			c.tally.Add(openAsync, importer.Nowhere)
			return
		}
		delete(c.open, key)
		row := c.asyncRow(e.koid.process)
		row.Interval(begun.time, e.time, c.region(e))
		c.attributes(row, append(begun.arguments, e.arguments...))
	case eventFlowBegin, eventFlowStep, eventFlowEnd:
		c.flow(e, key)
	}
}

func (c *converter) asyncRow(process uint64) trace.Stream {
	return importer.Once(c.async, process, func() *importer.Row {
		return c.rows.Open(trace.Location{Parent: c.processOf(process), Kind: trace.KindStates, Name: "async",
			Rank: trace.NoRank, Order: 1 << 62}, trace.StreamOptions{Unordered: true})
	}).Stream
}

// flow joins the points of one. They may cross processes, so their numbers are those of the whole trace.
func (c *converter) flow(e *event, key operation) {
	key.process = 0
	here := place{c.row(e.koid).At, e.time}
	before, ok := c.flows[key]
	if e.kind != eventFlowBegin && !ok {
		c.tally.Add(openFlow, importer.Nowhere)
		return
	}
	if e.kind != eventFlowBegin {
		end := func(p place) trace.End {
			return trace.End{Location: p.at, Time: p.time, Region: trace.NoRegion}
		}
		c.w.Link(trace.Link{Kind: trace.LinkFlow, From: end(before), To: end(here), Size: -1,
			Communicator: trace.NoCommunicator})
	}
	if c.flows[key] = here; e.kind == eventFlowEnd {
		delete(c.flows, key)
	}
}

// counter takes a value of each argument.
func (c *converter) counter(e *event) {
	row := c.rows.At(c.processOf(e.koid.process), trace.StreamOptions{Unordered: true})
	for _, a := range e.arguments {
		value, err := strconv.ParseFloat(a.value.String(), 64)
		if err != nil {
			continue
		}
		name := e.name
		if a.name != "" && a.name != e.name && len(e.arguments) > 1 {
			name += " " + a.name
		}
		if e.id != 0 {
			name += " " + strconv.FormatUint(e.id, 10)
		}
		id := importer.Once(c.counters, strconv.Itoa(int(row.At))+name, func() trace.CounterID {
			return c.w.Counter(trace.Counter{Location: row.At, Name: name})
		})
		row.Stream.Sample(id, e.time, value)
	}
}

// stateRow is that of the states of a thread, which cross its durations.
func (c *converter) stateRow(t sched.Task) *importer.Row {
	return importer.Once(c.states, t.ID, func() *importer.Row {
		return c.rows.Open(trace.Location{Parent: c.row(koid{0, uint64(t.ID)}).At, Kind: trace.KindRepeat,
			Name: "scheduler", Rank: trace.NoRank}, trace.StreamOptions{Unordered: true})
	})
}

func (c *converter) task(k koid) sched.Task {
	if k.process != 0 {
		c.process[k.thread] = k.process
	}
	return sched.Task{ID: int64(k.thread & (1<<62 - 1)), Name: c.names[k.thread]}
}

func (c *converter) switched(t trace.Time, cpu uint64, prev, next koid, ready bool) {
	c.events++
	c.sched.Switch(t, int64(cpu), c.task(prev), c.task(next), ready)
}

func (c *converter) woken(t trace.Time, cpu uint64, k koid) {
	c.events++
	c.sched.Wake(t, int64(cpu), sched.Task{}, c.task(k))
}

func (c *converter) close() error {
	for _, e := range c.open { // never ended
		c.asyncRow(e.koid.process).Enter(e.time, c.region(e))
	}
	if c.sched.Any() {
		at := c.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindGroup, Name: "processors",
			Rank: trace.NoRank, Order: 1 << 40})
		if err := c.sched.Write(at); err != nil {
			return err
		}
	}
	for id, at := range c.processes {
		if name := c.names[id]; name != "" {
			c.w.Describe(at, trace.Location{Name: name + " " + strconv.FormatUint(id, 10), Rank: trace.NoRank})
		}
	}
	for k, row := range c.threads {
		if name := c.names[k.thread]; name != "" {
			c.w.Describe(row.At, trace.Location{Name: name + " " + strconv.FormatUint(k.thread, 10),
				Rank: trace.NoRank})
		}
	}
	return c.rows.Close()
}
