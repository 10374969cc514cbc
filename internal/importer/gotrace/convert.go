package gotrace

import (
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
	xtrace "golang.org/x/exp/trace"
)

// A converter turns events into a trace. It holds open goroutines, Ps, ranges and tasks; O(1) for each event.
type converter struct {
	actors

	process trace.LocationID
	runtime trace.Stream // global ranges; nil until there is one
	last    trace.Time

	ranges   []span // global ones that are open
	tasks    map[xtrace.TaskID]*task
	ended    []xtrace.Task // of the batch, those that are yet to come
	taskRows map[string]row
	counters map[string]trace.CounterID

	lastMetric lastMetric
}

type attributes struct {
	stack, created, woken, goroutine, processor, reason, message, task, parent trace.AttributeID
}

// fixedRegions are those that most traces have; NoRegion until one is needed.
type fixedRegions struct {
	running, working, runnable, syscall, scheduling, idle trace.RegionID
}

// A wait is the region that was last found for a reason to wait.
type wait struct {
	region     trace.RegionID
	reason     string
	own, known bool
}

// A row is a location and its stream.
type row struct {
	at     trace.LocationID
	stream trace.Stream
}

// A span is something open.
type span struct {
	name  string
	begin trace.Time
	onP   trace.Time // where the current stay on a P began, if it has one
	task  xtrace.TaskID
}

type regionKey struct{ name, category string }

func newConverter(w trace.Writer, name string) *converter {
	c := &converter{tasks: map[xtrace.TaskID]*task{}, taskRows: map[string]row{},
		counters: map[string]trace.CounterID{}}
	c.dictionary = dictionary{
		w: w, functions: map[string]*function{}, stacks: map[xtrace.Stack]*stack{},
		regions: map[regionKey]trace.RegionID{}, factNames: importer.NewAttributes(w),
		functionRegions: map[string]trace.RegionID{},
	}
	c.process = w.Location(importer.Process(name))
	c.processors = c.group(c.process, "processors", 1)
	c.goroutines = c.group(c.process, "goroutines", 3)
	c.main = w.Stream(c.process, trace.StreamOptions{Unordered: true})
	c.alive.id = w.Counter(trace.Counter{Location: c.process, Name: "goroutines"})
	c.runnable.id = w.Counter(trace.Counter{Location: c.process, Name: "goroutines runnable"})
	c.waits = [2]map[string]trace.RegionID{{}, {}}
	none := trace.NoRegion
	c.fixed = fixedRegions{none, none, none, none, none, none}
	c.attr = attributes{
		stack: w.Attribute("stack"), created: w.Attribute("created at"), woken: w.Attribute("woken at"),
		goroutine: w.Attribute("goroutine"), processor: w.Attribute("processor"),
		reason: w.Attribute("reason"), message: w.Attribute("message"), task: w.Attribute("task"),
		parent: w.Attribute("parent task"),
	}
	return c
}

func (c *dictionary) group(parent trace.LocationID, name string, order int64) trace.LocationID {
	return c.w.Location(trace.Location{Parent: parent, Kind: trace.KindGroup, Name: name, Rank: trace.NoRank,
		Order: order})
}

// take takes the next events.
func (c *converter) take(b *batch) {
	c.ended = b.ended
	for i := range b.events {
		c.event(&b.events[i], b.kinds[i])
	}
}

// event takes the next event. Times only grow. Every question to an event copies it,
// so none is asked twice, or without need.
func (c *converter) event(e *xtrace.Event, kind xtrace.EventKind) {
	t := trace.Time(e.Time())
	if !c.started {
		c.first, c.started = t, true
	}
	c.last = max(c.last, t)
	if kind == xtrace.EventStateTransition {
		tr := e.StateTransition()
		switch tr.Resource.Kind {
		case xtrace.ResourceGoroutine:
			c.goroutineMoves(t, e, &tr)
		case xtrace.ResourceProc:
			c.processorMoves(t, &tr)
		default:
			c.skip(trace.MissingIntervals, "changes of state of resources that are neither goroutines nor Ps")
		}
		return
	}
	if kind == xtrace.EventMetric {
		m := e.Metric()
		if c.metric(t, &m); m.Name != stacked {
			return
		}
	}
	if g := c.running(e.Goroutine()); g != nil && g.start == nil {
		c.learn(g, e.Stack())
	}
	switch kind {
	case xtrace.EventMetric:
	case xtrace.EventRangeBegin, xtrace.EventRangeActive:
		c.rangeBegins(t, e, kind == xtrace.EventRangeActive)
	case xtrace.EventRangeEnd:
		c.rangeEnds(t, e)
	case xtrace.EventRegionBegin:
		c.regionBegins(t, e)
	case xtrace.EventRegionEnd:
		c.regionEnds(t, e)
	case xtrace.EventTaskBegin:
		c.taskBegins(t, e)
	case xtrace.EventTaskEnd:
		c.taskEnds(t, &c.ended[0])
		c.ended = c.ended[1:]
	case xtrace.EventLog:
		c.log(t, e)
	case xtrace.EventLabel:
		c.label(t, e.Label())
	case xtrace.EventStackSample:
		c.sample(t, e)
	case xtrace.EventSync:
		c.synchronize(e.Sync())
	default:
		c.skip(trace.MissingEvents, "events of kinds that are not known, or experimental")
	}
}

// synchronize takes the begin of a generation, or the end of the last.
func (c *converter) synchronize(s xtrace.Sync) {
	c.forgetStacks()
	c.addPlaces(c.process)
	if s.N > 1 { // the first generation is over
		c.settle(&c.alive)
		c.settle(&c.runnable)
	} else if s.ClockSnapshot != nil {
		importer.TimeOfDay(c.w, trace.Time(s.ClockSnapshot.Trace), trace.Time(s.ClockSnapshot.Wall.UnixNano()))
		c.w.Property("start", s.ClockSnapshot.Wall.UTC().Format("2006-01-02T15:04:05.999999999Z"))
	}
}

func (c *dictionary) skip(consequence trace.ReportKind, what string) {
	c.w.Report(consequence, what, 1, "")
}

// region finds a region by name and category.
func (c *dictionary) region(name, category string, role trace.Role) trace.RegionID {
	key := regionKey{name, category}
	return importer.Once(c.regions, key,
		func() trace.RegionID { return c.w.Region(trace.Region{Name: name, Category: category, Role: role}) })
}

// fix is region for one that is kept at hand.
func (c *dictionary) fix(id *trace.RegionID, name, category string, role trace.Role) trace.RegionID {
	if *id == trace.NoRegion {
		*id = c.region(name, category, role)
	}
	return *id
}

// metric takes a value of the runtime, named like "/memory/classes/heap/objects:bytes".
func (c *converter) metric(t trace.Time, m *xtrace.Metric) {
	if m.Value.Kind() != xtrace.ValueUint64 {
		c.skip(trace.MissingValues, "values of metrics that are no numbers")
		return
	}
	if c.lastMetric.name != m.Name {
		c.lastMetric = lastMetric{m.Name, importer.Once(c.counters, m.Name, func() trace.CounterID {
			name, unit, _ := strings.Cut(m.Name, ":")
			return c.w.Counter(trace.Counter{Location: c.process, Name: strings.TrimPrefix(name, "/"), Unit: unit})
		})}
	}
	c.main.Sample(c.lastMetric.id, t, float64(m.Value.Uint64()))
}

// stacked is the one metric whose events have a stack.
const stacked = "/sched/gomaxprocs:threads"

// A lastMetric is the counter of the last value: most are of the heap, one after the other.
type lastMetric struct {
	name string
	id   trace.CounterID
}

// close ends all open intervals at the time of the last event.
func (c *converter) close() error {
	c.closeLevels()
	for _, g := range c.g.all() {
		c.leaveProcessor(c.last, g)
		c.endGoroutine(c.last, g)
	}
	for _, p := range c.p.all() {
		c.endProcessor(c.last, p)
		c.keep(p.stream.Close())
	}
	for _, r := range c.ranges {
		c.runtime.Interval(r.begin, c.last, c.rangeRegion(r.name, onRuntime))
	}
	c.closeTasks()
	c.giveLinks()
	c.finishPlaces(c.process)
	if c.runtime != nil {
		c.keep(c.runtime.Close())
	}
	c.keep(c.main.Close())
	return c.failed
}

func (c *actors) keep(err error) {
	if c.failed == nil {
		c.failed = err
	}
}
