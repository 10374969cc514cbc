package nettrace

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/addresses"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Reasons of the import report.
type reason uint8

const (
	unknownEvent reason = iota
	brokenBlock
	droppedEvents
	brokenFile
	description
	nativeFrame
	withoutStack
	samplerEvent
)

var reasons = []importer.Reason{
	unknownEvent: importer.Skipped(trace.MissingEvents, "events whose kind the file does not describe"),
	brokenBlock:  importer.Skipped(trace.MissingEvents, "blocks that are broken, from there on"),
	droppedEvents: importer.Skipped(trace.MissingEvents,
		"events that the runtime dropped because its buffers were full"),
	brokenFile:   importer.Skipped(trace.MissingRest, "files that break off, read up to there"),
	description:  importer.Redundant("descriptions of methods and modules (they became names)"),
	nativeFrame:  importer.Guessed("frames in native code, of which the file holds no names"),
	withoutStack: importer.Guessed("samples without a stack, taken as native code"),
	samplerEvent: importer.Redundant("suspensions that are not for a collection, as the sampler makes them"),
}

// Providers whose events are known.
const (
	sampler = "Microsoft-DotNETCore-SampleProfiler"
	runtime = "Microsoft-Windows-DotNETRuntime"
	rundown = "Microsoft-Windows-DotNETRuntimeRundown"
)

// Events of the runtime. Those with a second number are intervals that end by it.
var runtimeEvents = map[uint32]struct {
	name string
	end  uint32
	role trace.Role
}{
	1: {"garbage collection", 2, trace.RoleOverhead}, 9: {"suspend threads", 8, trace.RoleOverhead},
	7: {"restart threads", 3, trace.RoleOverhead}, 81: {"lock contention", 91, trace.RoleSynchronization},
	4: {"GCHeapStats", 0, 0}, 10: {"GCAllocationTick", 0, 0}, 13: {"GCFinalizersEnd", 0, 0},
	14: {"GCFinalizersBegin", 0, 0},
	50: {"ThreadPoolWorkerThreadStart", 0, 0}, 51: {"ThreadPoolWorkerThreadStop", 0, 0},
	54: {"ThreadPoolWorkerThreadAdjustmentSample", 0, 0}, 55: {"ThreadPoolWorkerThreadAdjustment", 0, 0},
	57: {"ThreadPoolWorkerThreadWait", 0, 0}, 80: {"ExceptionThrown", 0, 0}, 145: {"MethodJittingStarted", 0, 0},
	187: {"RuntimeStart", 0, 0}, 202: {"GCMarkWithType", 0, 0}, 204: {"GCPerHeapHistory", 0, 0},
	205: {"GCGlobalHeapHistory", 0, 0}, 250: {"ExceptionCatchStart", 0, 0}, 251: {"ExceptionCatchStop", 0, 0},
}

// Numbers of events around a suspension, and of a reason for it: not a collection.
const (
	suspendBegin = 9
	suspendEnd   = 8
	restartBegin = 7
	restartEnd   = 3
	suspendOther = 0
)

// A method is at an address.
type method struct {
	name   string
	module uint64
}

// A sample of a thread.
type sample struct {
	time   trace.Time
	stack  int32
	native bool
}

// A converter turns events into a trace. Methods are named at the end of a file, so samples wait.
type converter struct {
	w          trace.Writer
	name       string
	at         trace.LocationID
	rows       importer.Rows
	threads    map[[2]uint64]*importer.Row
	samples    map[trace.LocationID][]sample
	order      []trace.LocationID
	methods    addresses.Map[method]
	modules    map[uint64]string
	open       map[[2]uint64]trace.Time // begins of intervals, by thread and event
	forSamples map[uint64]bool          // threads whose last suspension was not for a collection
	regions    map[[2]string]trace.RegionID
	counters   map[string]trace.CounterID
	fields     trace.AttributeID
	events     int64
	last       trace.Time
	tally      importer.Tally[reason]
}

func newConverter(w trace.Writer, name string) *converter {
	return &converter{w: w, name: path.Base(name), at: trace.NoLocation, rows: importer.NewRows(w),
		threads: map[[2]uint64]*importer.Row{}, samples: map[trace.LocationID][]sample{}, modules: map[uint64]string{},
		open: map[[2]uint64]trace.Time{}, forSamples: map[uint64]bool{}, regions: map[[2]string]trace.RegionID{},
		counters: map[string]trace.CounterID{}, fields: w.Attribute("fields")}
}

// process defines the one that was recorded.
func (c *converter) process(id uint64) {
	l := importer.Process(c.name)
	if id > 0 && id < 1<<32-1 {
		l.Key = strconv.FormatUint(id, 10)
		l.Name = "process " + l.Key
		l.Attributes = importer.PID(int64(id))
	}
	c.at = c.w.Location(l)
}

// row is that of a thread.
func (c *converter) row(t thread) *importer.Row {
	return importer.Once(c.threads, [2]uint64{t.process, t.id}, func() *importer.Row {
		if t.process != 0 || c.at == trace.NoLocation {
			c.process(t.process)
		}
		id := strconv.FormatUint(t.id, 10)
		return c.rows.Open(trace.Location{Parent: c.at, Kind: trace.KindThread, Key: id,
			Name: cmp.Or(t.name, "thread "+id), Rank: trace.NoRank, Order: int64(t.id & (1<<62 - 1)),
			Attributes: importer.TID(int64(t.id))},
			trace.StreamOptions{Unordered: true})
	})
}

func (c *converter) region(name, category string, role trace.Role) trace.RegionID {
	return importer.Once(c.regions, [2]string{name, category}, func() trace.RegionID {
		return c.w.Region(trace.Region{Name: name, Category: category, Role: role})
	})
}

// event takes one.
func (c *converter) event(e *event, pointer int) {
	c.events++
	switch {
	case e.provider == sampler:
		p := cursorOf(e.payload)
		at := c.row(e.thread).At
		if c.samples[at] == nil {
			c.order = append(c.order, at)
		}
		c.samples[at] = append(c.samples[at], sample{e.time, e.stack, p.Uint32() == 1})
	case e.provider == rundown, e.provider == runtime && e.id >= 141 && e.id <= 156 && e.id != 145:
		c.describe(e)
		return
	case e.provider == runtime && c.interval(e):
	case e.name == "EventCounters" && c.counter(e):
	default:
		c.instant(e)
	}
	c.last = max(c.last, e.time)
}

// describe takes names of methods and modules.
func (c *converter) describe(e *event) {
	c.tally.Add(description, importer.Nowhere)
	p := cursorOf(e.payload)
	switch ended := e.provider == rundown; {
	case e.id == 143, e.id == 144 && ended: // loaded, or there at the begin or the end
		p.Uint64()
		m := method{module: p.Uint64()}
		begin, length := p.Uint64(), uint64(p.Uint32())
		p.Take(8)
		space := p.wide()
		m.name = p.wide()
		if space != "" {
			m.name = space + "." + m.name
		}
		if !p.Failed() && length > 0 {
			c.methods.Put(begin, length, m)
		}
	case e.id == 152 && !ended, (e.id == 153 || e.id == 154) && ended: // modules
		id := p.Uint64()
		p.Take(16)
		il, native := p.wide(), p.wide()
		if file := cmp.Or(il, native); !p.Failed() && file != "" {
			c.modules[id] = file
		}
	}
}

// interval joins the events that begin and end one.
func (c *converter) interval(e *event) bool {
	if known := runtimeEvents[e.id]; known.end != 0 {
		if e.id == suspendBegin {
			p := cursorOf(e.payload)
			c.forSamples[e.thread.id] = p.Uint32() == suspendOther
		}
		if (e.id == suspendBegin || e.id == restartBegin) && c.forSamples[e.thread.id] {
			c.tally.Add(samplerEvent, importer.Nowhere)
			return true
		}
		c.open[[2]uint64{e.thread.id, uint64(known.end)}] = e.time
		return true
	}
	for _, known := range runtimeEvents {
		if known.end != e.id || known.end == 0 {
			continue
		}
		key := [2]uint64{e.thread.id, uint64(e.id)}
		begin, ok := c.open[key]
		if !ok { // the sampler's own are none
			return c.forSamples[e.thread.id] && (e.id == suspendEnd || e.id == restartEnd)
		}
		delete(c.open, key)
		c.row(e.thread).Stream.Interval(begin, e.time, c.region(known.name, "runtime", known.role))
		return true
	}
	return false
}

// counter takes a value of EventCounters.
func (c *converter) counter(e *event) bool {
	name, unit, value := "", "", ""
	cursorOf(e.payload).each(e.fields, func(field, v string) {
		switch field {
		case "Name":
			name = v
		case "DisplayUnits":
			unit = v
		case "Mean", "Increment":
			value = v
		}
	})
	number, err := strconv.ParseFloat(value, 64)
	if err != nil || name == "" {
		return false
	}
	name = e.provider + "/" + name
	c.row(e.thread) // defines the process
	row := c.rows.At(c.at, trace.StreamOptions{Unordered: true})
	id := importer.Once(c.counters, name, func() trace.CounterID {
		return c.w.Counter(trace.Counter{Location: row.At, Name: name, Unit: unit})
	})
	row.Stream.Sample(id, e.time, number)
	return true
}

func (c *converter) instant(e *event) {
	name := e.name
	if known := runtimeEvents[e.id]; e.provider == runtime && known.name != "" {
		name = known.name
	}
	if name == "" {
		name = fmt.Sprintf("event %d", e.id)
	}
	s := c.row(e.thread).Stream
	s.Instant(e.time, c.region(name, e.provider, trace.RoleByName))
	var text []string
	cursorOf(e.payload).each(e.fields, func(field, v string) { text = append(text, field+"="+v) })
	if len(text) > 0 {
		s.Attribute(c.fields, trace.Text(strings.Join(text, " ")))
	}
}

// close names the methods of samples, and adds them up.
func (c *converter) close(ctx context.Context, stacks [][]uint64) error {
	named := make([][]trace.RegionID, len(stacks))
	frames := func(number int32) []trace.RegionID {
		if number < 0 || int(number) >= len(stacks) {
			return nil
		}
		if named[number] == nil {
			named[number] = c.named(stacks[number])
		}
		return named[number]
	}
	native := c.region("(native code)", "", trace.RoleByName)
	var total *stack.Profile
	for _, at := range c.order {
		list := c.samples[at]
		slices.SortStableFunc(list, func(a, b sample) int { return cmp.Compare(a.time, b.time) })
		if total == nil {
			total = stack.New(c.w, stack.Times()...)
		}
		row := stack.NewRow(c.w, total, at)
		var now []trace.RegionID
		for i, s := range list {
			if i%4096 == 0 && ctx.Err() != nil {
				_ = row.Close(0)
				return ctx.Err()
			}
			now = append(now[:0], frames(s.stack)...)
			if len(now) == 0 {
				c.tally.Add(withoutStack, importer.Nowhere)
			}
			if s.native && (len(now) == 0 || now[len(now)-1] != native) || len(now) == 0 {
				now = append(now, native)
			}
			row.Take(s.time, now)
		}
		if err := row.Close(list[len(list)-1].time); err != nil {
			return err
		}
	}
	if total != nil {
		total.Finish()
	}
	return c.rows.Close()
}

// named is a stack from the outermost region on. Frames in a row that have no name are one.
func (c *converter) named(stack []uint64) []trace.RegionID {
	out := make([]trace.RegionID, 0, len(stack))
	native := c.region("(native code)", "", trace.RoleByName)
	for i, address := range slices.Backward(stack) {
		if i > 0 { // where it returns to may be behind its end
			address--
		}
		m, ok := c.methods.Find(address)
		if !ok {
			c.tally.Add(nativeFrame, importer.Nowhere)
			if len(out) == 0 || out[len(out)-1] != native {
				out = append(out, native)
			}
			continue
		}
		module := strings.ReplaceAll(c.modules[m.module], "\\", "/")
		out = append(out, c.region(m.name, strings.TrimSuffix(path.Base(module), "."), trace.RoleByName))
	}
	return out
}
