package paraver

import (
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A thread is where records are put: the location of a thread, or of its task where
// that has only one.
type thread struct {
	location trace.LocationID
	stream   trace.Stream
	cpu      int64 // of its first record; 0 unknown
	open     []*openCall
	counters map[int64]trace.CounterID
}

// An openCall is the open regions of one type on a thread, innermost last.
type openCall struct {
	of    *eventType
	stack []trace.RegionID
}

// maxStack bounds how deep calls of one type are believed to nest.
const maxStack = 1 << 16

func (t *thread) call(e *eventType) *openCall {
	for _, o := range t.open {
		if o.of == e {
			return o
		}
	}
	o := &openCall{of: e}
	t.open = append(t.open, o)
	return o
}

// A process is a task of the header.
type process struct {
	location trace.LocationID
	first    int // number of its first thread among all, for names
	task     task
	threads  map[int]*thread
}

// maxTree is the number of threads that are put into the tree before any record.
const maxTree = 1 << 20

// defineTree makes the locations that the header tells of.
func (c *converter) defineTree() {
	nodes := make([]trace.LocationID, len(c.header.cpus))
	for i, cpus := range c.header.cpus {
		name := c.names.row("NODE", i)
		if name == "" {
			name = fmt.Sprint("node ", i+1)
		}
		nodes[i] = c.w.Location(trace.Location{
			Parent: trace.NoLocation, Kind: trace.KindMachine, Key: fmt.Sprint(i + 1), Name: name, Rank: trace.NoRank,
			Order:      int64(i),
			Attributes: []trace.Attribute{{Key: "processors", Value: trace.Integer(int64(cpus))}},
		})
	}
	first, number := 0, 0
	for a, tasks := range c.header.applications {
		var list []*process
		for i, t := range tasks {
			p := &process{first: first, task: t, threads: map[int]*thread{}}
			parent := trace.NoLocation
			if t.node > 0 {
				parent = nodes[t.node-1]
			}
			p.location = c.w.Location(c.process(a, i, number, p, parent))
			list = append(list, p)
			first += t.threads
			number++
		}
		c.processes = append(c.processes, list)
	}
	if first > maxTree {
		c.tally.AddN(manyThreads, int64(first), 1)
		return
	}
	for a, list := range c.processes {
		for i, p := range list {
			for k := range p.task.threads {
				c.define(a, i, k, p)
			}
		}
	}
}

// process describes the location of a task, the number-th of all.
func (c *converter) process(app, task, number int, p *process, parent trace.LocationID) trace.Location {
	name := c.names.row("TASK", number)
	if name == "" && p.task.threads == 1 {
		name = c.names.row("THREAD", p.first)
	}
	if name == "" {
		name = fmt.Sprintf("task %d.%d", app+1, task+1)
	}
	l := trace.Location{Parent: parent, Kind: trace.KindProcess, Key: fmt.Sprintf("%d.%d", app+1, task+1), Name: name,
		Rank: trace.NoRank, Order: int64(number)}
	if len(c.header.applications) > 1 {
		l.Attributes = append(l.Attributes, trace.Attribute{Key: "application", Value: trace.Integer(int64(app + 1))})
	}
	return l
}

// define makes the location of a thread.
func (c *converter) define(app, task, k int, p *process) *thread {
	t := &thread{location: p.location}
	if p.task.threads > 1 {
		name := c.names.row("THREAD", p.first+k)
		if name == "" {
			name = fmt.Sprintf("thread %d.%d.%d", app+1, task+1, k+1)
		}
		t.location = c.w.Location(trace.Location{Parent: p.location, Kind: kindOfThread(name), Key: fmt.Sprint(k + 1),
			Name: name, Rank: trace.NoRank, Order: int64(k)})
	}
	p.threads[k] = t
	return t
}

// kindOfThread recognises the streams of GPUs, which Extrae writes as threads, by name.
func kindOfThread(name string) trace.Kind {
	if upper := strings.ToUpper(name); strings.Contains(upper, "CUDA") || strings.Contains(upper, "HIP-") ||
		strings.Contains(upper, "OPENCL") {
		return trace.KindStream
	}
	return trace.KindThread
}

// thread finds a thread by its numbers, which count from 1; nil for none.
func (c *converter) thread(app, task, k int64) *thread {
	if app < 1 || app > int64(len(c.processes)) || task < 1 || task > int64(len(c.processes[app-1])) {
		return nil
	}
	p := c.processes[app-1][task-1]
	if k < 1 || k > int64(p.task.threads) {
		return nil
	}
	if t := p.threads[int(k-1)]; t != nil {
		return t
	}
	return c.define(int(app-1), int(task-1), int(k-1), p)
}

func (c *converter) stream(t *thread) trace.Stream {
	if t.stream == nil {
		// States and calls of different types are independent of each other.
		t.stream = c.w.Stream(t.location, trace.StreamOptions{Unordered: true, ByName: true})
		c.opened = append(c.opened, t)
	}
	return t.stream
}

// see follows the processor of a thread.
func (c *converter) see(t *thread, cpu int64) {
	switch {
	case cpu == 0 || t.cpu == cpu:
	case t.cpu == 0:
		t.cpu = cpu
	default:
		c.tally.Add(movedThread, c.line)
	}
}

// ranks numbers the tasks of applications that use MPI, one application after the
// other, and makes the communicators.
func (c *converter) ranks() {
	offset := 0
	for a, list := range c.processes {
		if !c.mpi[a] {
			continue
		}
		for i, p := range list {
			c.w.Describe(p.location, trace.Location{Rank: offset + i})
		}
		if offset > 0 {
			c.tally.AddN(severalWorlds, int64(len(list)), 1)
		}
		offset += len(list)
	}
	for _, k := range c.communicators {
		c.w.Communicator(k)
	}
}
