package gotrace

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	xtrace "golang.org/x/exp/trace"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A task is one of the program's, open now.
type task struct {
	name   string
	begin  trace.Time
	parent xtrace.TaskID
}

// nameless stands for tasks whose begin is not in the trace.
const nameless = "(begin not recorded)"

func (c *dictionary) taskRegion(name string) trace.RegionID {
	return c.region(name, "task", trace.RoleAnnotation)
}

func (c *converter) taskRow(name string) row {
	r, ok := c.taskRows[name]
	if !ok {
		r.at = c.w.Location(trace.Location{Parent: c.group(c.process, "tasks", 4), Kind: trace.KindGroup, Name: name,
			Rank: trace.NoRank})
		r.stream = c.w.Stream(r.at, trace.StreamOptions{Unordered: true})
		c.taskRows[name] = r
	}
	return r
}

func (c *converter) taskBegins(t trace.Time, e *xtrace.Event) {
	k := e.Task()
	c.tasks[k.ID] = &task{name: k.Type, begin: t, parent: k.Parent}
	parent := c.tasks[k.Parent]
	if parent == nil {
		return
	}
	l := c.newLink(trace.LinkSpawn)
	l.From = trace.End{Location: c.taskRow(parent.name).at, Time: parent.begin, Region: c.taskRegion(parent.name)}
	l.To = trace.End{Location: c.taskRow(k.Type).at, Time: t, Region: c.taskRegion(k.Type)}
}

func (c *converter) taskEnds(t trace.Time, ended *xtrace.Task) {
	id := ended.ID
	k := c.tasks[id]
	if k == nil {
		k = &task{name: ended.Type, begin: c.first, parent: ended.Parent}
		k.name = cmp.Or(k.name, nameless)
	}
	delete(c.tasks, id)
	c.writeTask(t, id, k)
}

func (c *converter) writeTask(t trace.Time, id xtrace.TaskID, k *task) {
	s := c.taskRow(k.name).stream
	s.Interval(k.begin, t, c.taskRegion(k.name))
	s.Attribute(c.attr.task, trace.Integer(int64(id)))
	if k.parent != xtrace.NoTask && k.parent != xtrace.BackgroundTask {
		s.Attribute(c.attr.parent, trace.Integer(int64(k.parent)))
	}
}

func (c *converter) closeTasks() {
	for _, id := range slices.Sorted(maps.Keys(c.tasks)) {
		c.writeTask(c.last, id, c.tasks[id])
	}
	for _, name := range slices.Sorted(maps.Keys(c.taskRows)) {
		c.keep(c.taskRows[name].stream.Close())
	}
}

func (c *converter) regionBegins(t trace.Time, e *xtrace.Event) {
	g, r := c.find(e.Goroutine()), e.Region()
	m := g.mark()
	m.regions = append(m.regions, span{name: r.Type, begin: t, task: r.Task})
}

// regionEnds closes the innermost region of that name. One without begin was open
// when the trace began.
func (c *converter) regionEnds(t trace.Time, e *xtrace.Event) {
	g, r := c.find(e.Goroutine()), e.Region()
	m := g.mark()
	i := findSpan(m.regions, r.Type)
	s := span{name: r.Type, begin: g.begin, task: r.Task}
	if i >= 0 {
		s = m.regions[i]
		m.regions = slices.Delete(m.regions, i, i+1)
	}
	c.writeRegion(t, g, s)
}

func (c *actors) writeRegion(t trace.Time, g *goroutine, s span) {
	c.locate(g)
	g.interval(s.begin, t, c.region(s.name, "user region", trace.RoleAnnotation))
	if s.task != xtrace.BackgroundTask && s.task != xtrace.NoTask {
		g.stream.Attribute(c.attr.task, trace.Integer(int64(s.task)))
	}
}

// own returns the stream for instants of the goroutine that was running, or of the
// process where none was.
func (c *converter) own(id xtrace.GoID) trace.Stream {
	if id == xtrace.NoGoroutine {
		return c.main
	}
	g := c.find(id)
	c.locate(g)
	return g.stream
}

func (c *converter) log(t trace.Time, e *xtrace.Event) {
	l := e.Log()
	name := cmp.Or(l.Category, "log")
	s := c.own(e.Goroutine())
	s.Instant(t, c.region(name, "log", trace.RoleAnnotation))
	s.Attribute(c.attr.message, trace.Text(l.Message))
	if l.Task != xtrace.BackgroundTask && l.Task != xtrace.NoTask {
		s.Attribute(c.attr.task, trace.Integer(int64(l.Task)))
	}
}

// label keeps the runtime's name of a goroutine, such as "GC (dedicated)". Workers
// of the garbage collector alone are called so, often before they have a stack.
func (c *converter) label(t trace.Time, l xtrace.Label) {
	s := c.main
	switch l.Resource.Kind {
	case xtrace.ResourceGoroutine:
		if g := c.find(l.Resource.Goroutine()); g.start == nil && strings.HasPrefix(l.Label, "GC (") {
			g.start = c.function("runtime.gcBgMarkWorker")
		}
		s = c.own(l.Resource.Goroutine())
	case xtrace.ResourceProc:
		s = c.processor(l.Resource.Proc()).stream
	}
	s.Instant(t, c.region(l.Label, "label", trace.RoleAnnotation))
}

// sample keeps a sample of the CPU profiler on the P where it was taken.
func (c *converter) sample(t trace.Time, e *xtrace.Event) {
	name := cmp.Or(innermost(e.Stack()), "(no stack)")
	s := c.main
	if e.Proc() != xtrace.NoProc {
		s = c.processor(e.Proc()).stream
	}
	s.Instant(t, c.region(name, "cpu sample", trace.RoleAnnotation))
	if at := e.Stack(); at != xtrace.NoStack {
		if known := c.textOf(at).orNone(); known != nil {
			s.Attribute(c.attr.stack, known.text)
			c.findAt(known)
		}
	}
	if e.Goroutine() != xtrace.NoGoroutine {
		s.Attribute(c.attr.goroutine, trace.Integer(int64(e.Goroutine())))
	}
}
