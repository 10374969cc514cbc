package pajecsv

import (
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A place is where and when a task ran.
type place struct {
	location   trace.LocationID
	region     trace.RegionID
	begin, end trace.Time
}

// A task is a node of the task graph, with its fields in the record of tasks.
type task struct {
	at      place
	ran     bool // it left a state
	listed  bool // the record of tasks has it
	facts   []fact
	before  []int32 // tasks that it waits for
	touched int32   // the walk that met it last
}

type fact struct {
	name  string
	value trace.Value
}

// A taskGraph is all tasks of a run. It grows with their number, up to a bound.
type taskGraph struct {
	ids   map[string]int32
	tasks []*task
	edges int64
}

const (
	maxTasks = 4 << 20
	maxEdges = 16 << 20
)

func newTaskGraph() taskGraph { return taskGraph{ids: map[string]int32{}} }

// task finds a task by its id, or adds it.
func (g *taskGraph) task(id string) (t *task, full bool) {
	n, full := g.number(id)
	if full {
		return nil, true
	}
	return g.tasks[n], false
}

func (g *taskGraph) number(id string) (n int32, full bool) {
	n, ok := g.ids[id]
	if !ok {
		if len(g.tasks) >= maxTasks {
			return 0, true
		}
		n = int32(len(g.tasks))
		g.ids[strings.Clone(id)] = n
		g.tasks = append(g.tasks, &task{})
	}
	return n, false
}

// edge takes a line of the graph: the task that is waited for, and who waits.
func (c *converter) edge(cols *columns, fields []string, line int64) {
	if len(fields) < len(cols.names) {
		c.tally.Add(shortLine, line)
		return
	}
	g := &c.graph
	if g.edges >= maxEdges {
		c.tally.Add(manyEdges, line)
		return
	}
	before, full := g.number(cols.get(fields, "Dependent"))
	after, full2 := g.number(cols.get(fields, "JobId"))
	if full || full2 {
		c.tally.Add(manyTasks, line)
		return
	}
	g.edges++
	g.tasks[after].before = append(g.tasks[after].before, before)
}

// kept are the columns of the record of tasks that become attributes.
var kept = []string{"SubmitTime", "Priority", "Model", "MemoryNode", "Iteration"}

// taskLine takes a line of the record of tasks, before the states are read.
func (c *converter) taskLine(cols *columns, fields []string, line int64) {
	id := cols.get(fields, "JobId")
	if id == "" || len(fields) < len(cols.names) {
		c.tally.Add(shortLine, line)
		return
	}
	t, full := c.graph.task(id)
	if full {
		c.tally.Add(manyTasks, line)
		return
	}
	t.listed = true
	for _, name := range kept {
		if text := cols.get(fields, name); text != "" {
			t.facts = append(t.facts, fact{name, value(strings.Clone(text))})
		}
	}
}

// links writes the graph: for each task that ran, a link from every task that ran and
// that it waits for, directly or through tasks that left no state. Each task is
// visited once for each walk that reaches it; the walks together are bounded.
func (c *converter) links() {
	g := &c.graph
	used := make([]bool, len(g.tasks)) // edges into the task were walked
	var through, dead, steps int64
	const most = 8 * maxEdges
	for n, t := range g.tasks {
		if !t.ran {
			if t.listed {
				c.tally.Add(orphanTasks, nowhere)
			}
			continue
		}
		used[n] = true
		todo := append([]int32(nil), t.before...)
		deep := make([]bool, len(todo))
		for len(todo) > 0 && steps < most {
			steps++
			at, far := todo[len(todo)-1], deep[len(deep)-1]
			todo, deep = todo[:len(todo)-1], deep[:len(deep)-1]
			b := g.tasks[at]
			if b.touched == int32(n)+1 {
				continue
			}
			b.touched = int32(n) + 1
			if !b.ran {
				used[at] = true
				if len(b.before) == 0 {
					dead++
				}
				for _, up := range b.before {
					todo, deep = append(todo, up), append(deep, true)
				}
				continue
			}
			if far {
				through++
			}
			c.w.Link(trace.Link{
				Kind: trace.LinkFlow, Size: -1, Communicator: trace.NoCommunicator,
				From: trace.End{Location: b.at.location, Time: b.at.end, Region: b.at.region},
				To:   trace.End{Location: t.at.location, Time: t.at.begin, Region: t.at.region},
			})
		}
	}
	for n, t := range g.tasks {
		if !used[n] {
			dead += int64(len(t.before))
		}
	}
	if through > 0 {
		c.tally.AddN(passedThrough, through, nowhere)
	}
	if dead > 0 {
		c.tally.AddN(deadEdges, dead, nowhere)
	}
	if steps >= most {
		c.tally.Add(manyEdges, nowhere)
	}
}
