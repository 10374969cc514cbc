package ctf

import (
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A cpu is a processor and the task that it runs.
type cpu struct {
	row
	since, last trace.Time
	task        trace.RegionID
	tid         int64
	running     bool
}

// A thread is one that the scheduler or the context of events names.
type thread struct {
	at      trace.LocationID
	calls   *row // of calls and events; nil: none so far
	states  *row // by the word of the scheduler, aside
	state   trace.RegionID
	since   trace.Time
	pending bool // a state has begun
}

func (c *converter) cpu(n int64) *cpu {
	u := c.cpus[n]
	if u == nil {
		group := c.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindGroup, Name: "CPUs",
			Rank: trace.NoRank, Order: -1})
		r := c.addRow(rowKey{kind: trace.KindProcessor, id: n},
			trace.Location{Parent: group, Kind: trace.KindProcessor, Name: "CPU " + strconv.FormatInt(n, 10),
				Rank: trace.NoRank, Order: n}, trace.StreamOptions{Unordered: true, ByName: true})
		u = &cpu{row: *r}
		c.cpus[n] = u
		c.cpuList = append(c.cpuList, u)
	}
	return u
}

// thread finds a thread by its number. If its process is known, the thread is below that.
func (c *converter) thread(tid, pid int64, name []byte) *thread {
	t := c.threads[tid]
	if t != nil {
		return t
	}
	number := strconv.FormatInt(tid, 10)
	label := number
	text := strings.ToValidUTF8(string(name), "\uFFFD")
	if text != "" {
		label = text + " " + number
	}
	var parent trace.LocationID
	if pid >= 0 {
		parent = c.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess,
			Key: strconv.FormatInt(pid, 10), Name: strings.TrimSpace(text + " " + strconv.FormatInt(pid, 10)),
			Rank: trace.NoRank, Order: pid, Attributes: importer.PID(pid)})
	} else {
		parent = c.w.Location(importer.Below(trace.NoLocation, trace.KindGroup, "threads"))
	}
	t = &thread{at: c.w.Location(trace.Location{Parent: parent, Kind: trace.KindThread, Key: number, Name: label,
		Rank: trace.NoRank, Order: tid, Attributes: importer.TID(tid)})}
	c.threads[tid] = t
	c.threadList = append(c.threadList, t)
	return t
}

func (t *thread) row(c *converter) *row {
	if t.calls == nil {
		t.calls = c.opened.At(t.at, trace.StreamOptions{Unordered: true})
	}
	return t.calls
}

// schedule ends the task that a CPU ran and begins another, and tells both threads' states.
func (c *converter) schedule(s *stream, m *meaning) {
	previous, state, next, name := s.d.find(m.field[0]), s.d.find(m.field[1]), s.d.find(m.field[2]),
		s.d.find(m.field[3])
	if next == nil || s.cpu < 0 {
		r := c.rowOf(s, false)
		r.Stream.Instant(s.time, c.regionOf(m))
		c.tell(s, r)
		return
	}
	if s.on == nil {
		s.on = c.cpu(s.cpu)
	}
	u := s.on
	if u.running && s.time >= u.since {
		c.ran(u, s.time)
	}
	u.since, u.tid, u.running, u.last = s.time, int64(next.bits), true, s.time
	var text []byte
	if name != nil {
		text = name.text
	}
	u.task = c.task(u.tid, text)
	if previous != nil && previous.bits != 0 {
		to := stateRunnable
		if state != nil {
			switch {
			case state.bits == 0:
			case state.bits&1 != 0:
				to = stateSleeping
			case state.bits&2 != 0:
				to = stateBlocked
			default:
				to = stateStopped
			}
		}
		var was []byte
		if v := s.d.find(m.field[4]); v != nil {
			was = v.text
		}
		c.state(c.thread(int64(previous.bits), -1, was), s.time, to)
	}
	if u.tid != 0 {
		c.state(c.thread(u.tid, -1, text), s.time, stateRunning)
	}
}

// task is the region of a task that a CPU runs: by its name, which any number of threads may share.
func (c *converter) task(tid int64, name []byte) trace.RegionID {
	if tid == 0 {
		name = idleTask
	}
	region, ok := c.tasks[string(name)]
	if !ok || len(name) == 0 {
		r := trace.Region{Name: c.textOf(name).String(), Category: "scheduler", Role: trace.RoleCompute}
		switch {
		case tid == 0:
			r.Role = trace.RoleIdle
		case len(name) == 0:
			r.Name = "task " + strconv.FormatInt(tid, 10)
		}
		region = c.w.Region(r)
		c.tasks[string(name)] = region
	}
	return region
}

var idleTask = []byte("idle")

// wake tells that a thread may run again, and is an event of its own.
func (c *converter) wake(s *stream, m *meaning) {
	if v, name := s.d.find(m.field[0]), s.d.find(m.field[1]); v != nil && v.bits != 0 {
		var text []byte
		if name != nil {
			text = name.text
		}
		if t := c.thread(int64(v.bits), -1, text); !c.runs(int64(v.bits)) {
			c.state(t, s.time, stateRunnable)
		}
	}
	r := c.rowOf(s, false)
	r.Stream.Instant(s.time, c.regionOf(m))
	c.tell(s, r)
}

// runs reports whether a CPU runs a thread.
func (c *converter) runs(tid int64) bool {
	for _, u := range c.cpuList {
		if u.running && u.tid == tid {
			return true
		}
	}
	return false
}

// States of threads, by the word of the scheduler.
const (
	stateRunning = iota
	stateRunnable
	stateSleeping
	stateBlocked
	stateStopped
	threadStates
)

var stateRegions = [threadStates]trace.Region{
	{Name: "running", Category: "state", Role: trace.RoleCompute},
	{Name: "runnable", Category: "state", Role: trace.RoleOverhead},
	{Name: "sleeping", Category: "state", Role: trace.RoleIdle},
	{Name: "blocked", Category: "state", Role: trace.RoleIdle},
	{Name: "stopped", Category: "state", Role: trace.RoleIdle},
}

// state ends the state of a thread and begins another.
func (c *converter) state(t *thread, at trace.Time, to int) {
	region := c.states[to]
	if region == trace.NoRegion {
		region = c.w.Region(stateRegions[to])
		c.states[to] = region
	}
	if t.pending && t.state == region {
		return
	}
	c.endState(t, at)
	t.state, t.since, t.pending = region, at, true
}

func (c *converter) endState(t *thread, at trace.Time) {
	if !t.pending || at < t.since {
		return
	}
	if t.states == nil {
		t.states = c.opened.Open(importer.Below(t.at, trace.KindRepeat, "states"), trace.StreamOptions{Unordered: true})
	}
	t.states.Stream.Interval(t.since, at, t.state)
}

// ran writes the task that a CPU ran until a time.
func (c *converter) ran(u *cpu, until trace.Time) {
	u.Stream.Interval(u.since, until, u.task)
	if u.tid != 0 {
		u.Stream.Attribute(c.tid, trace.Integer(u.tid))
	}
}

// stay ends the states of tasks and threads when the trace ends: at the last event of the CPU, or of all.
func (c *converter) stay() {
	var last trace.Time
	for i, u := range c.cpuList {
		if u.running && u.last > u.since {
			c.ran(u, u.last)
		}
		if i == 0 || u.last > last {
			last = u.last
		}
	}
	for _, t := range c.threadList {
		if last > t.since {
			c.endState(t, last)
		}
	}
}
