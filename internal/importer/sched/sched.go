// Package sched makes intervals of the events of Linux' scheduler: which task ran on which processor, which waited or
// was ready, and which task woke it. Formats that hold such events (ftrace, perf's trace points) share it.
//
//	sched_switch                 interval "running" of the task that ran, and of its processor with the task's name; the
//	                             task is then "runnable" if it was preempted, else "waiting"
//	sched_waking, sched_wakeup   end of "waiting"; wake link from the task that did it to where the other runs again,
//	                             unless an interrupt did it, such as a timer, whatever task ran meanwhile
//
// Rows of processors repeat the time of threads, so they are overlays.
package sched

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Task is who runs: a thread of the kernel's numbering, 0 when a processor is idle.
type Task struct {
	ID   int64
	Name string
}

// An event is a switch, or a wake-up (next is who is woken, prev who does it).
type event struct {
	time       trace.Time
	cpu        int32
	wake       bool
	preempted  bool
	prev, next Task
}

// A Recorder takes events in any order, and writes at the end.
type Recorder struct {
	w      trace.Writer
	row    func(Task) *importer.Row // of a task
	events []event
	names  map[string]string
}

// New writes to w; row finds the row of a task.
func New(w trace.Writer, row func(Task) *importer.Row) *Recorder {
	return &Recorder{w: w, row: row, names: map[string]string{}}
}

var (
	switchFields = regexp.MustCompile(`^\s*prev_comm=(.*) prev_pid=(-?\d+) prev_prio=-?\d+ prev_state=(\S+)` +
		`(?: ==>)? next_comm=(.*) next_pid=(-?\d+)`)
	switchShort = regexp.MustCompile(`^\s*(.*):(\d+) \[-?\d+\] (\S+) ==> (.*):(\d+) \[-?\d+\]`)
	wakeFields  = regexp.MustCompile(`^\s*comm=(.*) pid=(-?\d+) prio=`)
	wakeShort   = regexp.MustCompile(`^\s*(.*):(\d+) \[-?\d+\]`)
)

// Take reads an event of the scheduler as the kernel prints its fields; false: it is none that is known here. A wake-up
// is due to by, 0 if no task is known to have done it.
func (r *Recorder) Take(name string, fields []byte, t trace.Time, cpu int64, by Task) bool {
	switch name {
	case "sched_switch":
		if prev, next, state, ok := r.switchOf(fields); ok {
			r.Switch(t, cpu, prev, next, runnable(state))
			return true
		}
		m := switchFields.FindSubmatch(fields)
		if m == nil {
			m = switchShort.FindSubmatch(fields)
		}
		if m == nil {
			return false
		}
		r.Switch(t, cpu, r.task(m[1], m[2]), r.task(m[4], m[5]), runnable(string(m[3])))
		return true
	case "sched_waking", "sched_wakeup", "sched_wakeup_new":
		m := wakeFields.FindSubmatch(fields)
		if m == nil {
			m = wakeShort.FindSubmatch(fields)
		}
		if m == nil {
			return false
		}
		r.Wake(t, cpu, by, r.task(m[1], m[2]))
		return true
	}
	return false
}

// switchOf reads the fields of a switch as the kernel prints them; false: a name in them may hold one of these words,
// or they have another form.
func (r *Recorder) switchOf(b []byte) (prev, next Task, state string, ok bool) {
	var parts [6][]byte
	for i, word := range switchWords {
		before, after, found := bytes.Cut(b, word)
		if !found || i == 0 && len(bytes.TrimSpace(before)) > 0 || bytes.Contains(after, word) {
			return prev, next, "", false
		}
		if i > 0 {
			parts[i-1] = before
		}
		b = after
	}
	parts[5], _, _ = bytes.Cut(b, []byte(" "))
	stateOf, _ := bytes.CutSuffix(parts[3], []byte(" ==>"))
	if !isNumber(parts[1]) || !isNumber(parts[2]) || !isNumber(parts[5]) || len(stateOf) == 0 ||
		bytes.IndexByte(stateOf, ' ') >= 0 {
		return prev, next, "", false
	}
	return r.task(parts[0], parts[1]), r.task(parts[4], parts[5]), string(stateOf), true
}

var switchWords = [][]byte{[]byte("prev_comm="), []byte(" prev_pid="), []byte(" prev_prio="), []byte(" prev_state="),
	[]byte(" next_comm="), []byte(" next_pid=")}

// isNumber reports whether b is digits, with a sign or without.
func isNumber(b []byte) bool {
	b = bytes.TrimPrefix(b, []byte("-"))
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

// Switch takes a change of the task of a processor; preempted: the one before could have run on.
func (r *Recorder) Switch(t trace.Time, cpu int64, prev, next Task, preempted bool) {
	r.events = append(r.events, event{time: t, cpu: int32(cpu), preempted: preempted, prev: prev, next: next})
}

// Wake takes that a task can run again; by is 0 if it is not known who woke it.
func (r *Recorder) Wake(t trace.Time, cpu int64, by, task Task) {
	r.events = append(r.events, event{time: t, cpu: int32(cpu), wake: true, prev: by, next: task})
}

// Any says that there is something to write.
func (r *Recorder) Any() bool { return len(r.events) > 0 }

func (r *Recorder) task(name, id []byte) Task {
	n, _ := strconv.ParseInt(string(id), 10, 64)
	text := string(bytes.TrimSpace(name))
	return Task{n, importer.Once(r.names, text, func() string { return text })}
}

// runnable: a task that was switched out and could run on was preempted. States are letters, or numbers of which 0 is
// running and a high bit means preemption.
func runnable(state string) bool {
	switch state {
	case "R", "R+", "0", "256", "1024", "2048", "4096":
		return true
	}
	return false
}

// A state is that of a task between two events.
type state struct {
	since  trace.Time
	region trace.RegionID
	known  bool
	waker  trace.End // who ended its waiting
	woken  bool
}

// Write makes intervals of the events. at is where processors are put.
func (r *Recorder) Write(at trace.LocationID) error {
	slices.SortStableFunc(r.events, func(a, b event) int { return int(min(max(a.time-b.time, -1), 1)) })
	region := func(name string, role trace.Role) trace.RegionID {
		return r.w.Region(trace.Region{Name: name, Category: "scheduler", Role: role})
	}
	running, runnable := region("running", trace.RoleCompute), region("runnable", trace.RoleOverhead)
	waiting := region("waiting", trace.RoleIdle)
	tasks := map[int64]*state{}
	of := func(t Task) *state { return importer.Once(tasks, t.ID, func() *state { return &state{} }) }
	// leave ends a state. One that does not fit the next event has an end that was not recorded: it is left out.
	leave := func(t Task, s *state, now trace.Time, fits bool) {
		if s.known && fits && now > s.since {
			r.row(t).Stream.Interval(s.since, now, s.region)
		}
	}
	current := map[int32]int64{} // task of a processor
	cpus := r.processors(at)
	for _, e := range r.events {
		next := of(e.next)
		if e.wake {
			if e.next.ID != 0 && next.region == waiting && next.known {
				leave(e.next, next, e.time, true)
				*next = state{since: e.time, region: runnable, known: true, woken: e.prev.ID > 0}
				if next.woken {
					next.waker = trace.End{Location: r.row(e.prev).At, Time: e.time, Region: trace.NoRegion}
				}
			}
			continue
		}
		cpus.ran(e)
		if ran, ok := current[e.cpu]; ok && ran != e.prev.ID && tasks[ran] != nil && tasks[ran].region == running {
			tasks[ran].known = false // it left the processor at a time that is not recorded
		}
		current[e.cpu] = e.next.ID
		if prev := of(e.prev); e.prev.ID != 0 {
			leave(e.prev, prev, e.time, prev.region == running)
			*prev = state{since: e.time, region: waiting, known: true}
			if e.preempted {
				prev.region = runnable
			}
		}
		if e.next.ID != 0 {
			leave(e.next, next, e.time, next.region != running)
			if next.woken {
				r.w.Link(trace.Link{Kind: trace.LinkWake, From: next.waker, Size: -1,
					Communicator: trace.NoCommunicator,
					To:           trace.End{Location: r.row(e.next).At, Time: e.time, Region: running}})
			}
			*next = state{since: e.time, region: running, known: true}
		}
	}
	r.events = nil
	return cpus.close()
}

// processors are the rows aside that say which task a processor ran.
type processors struct {
	w       trace.Writer
	at      trace.LocationID
	rows    importer.Rows
	open    map[int32]*cpu
	regions map[string]trace.RegionID
	id      trace.AttributeID
	lost    int64
}

type cpu struct {
	row   *importer.Row
	since trace.Time
	task  Task
	known bool
}

func (r *Recorder) processors(at trace.LocationID) *processors {
	return &processors{w: r.w, at: at, rows: importer.NewRows(r.w), open: map[int32]*cpu{},
		regions: map[string]trace.RegionID{}, id: r.w.Attribute("tid")}
}

// ran ends the task of a processor, which the event names once more, and begins the next.
func (p *processors) ran(e event) {
	c := importer.Once(p.open, e.cpu, func() *cpu {
		n := strconv.Itoa(int(e.cpu))
		return &cpu{row: p.rows.Open(trace.Location{Parent: p.at, Kind: trace.KindRepeat, Key: "cpu " + n,
			Name: "CPU " + n, Rank: trace.NoRank, Order: int64(e.cpu)}, trace.StreamOptions{Unordered: true})}
	})
	if c.known && c.task.ID != 0 && c.task.ID == e.prev.ID {
		name := e.prev.Name
		c.row.Stream.Interval(c.since, e.time, importer.Once(p.regions, name, func() trace.RegionID {
			return p.w.Region(trace.Region{Name: name, Category: "task", Role: trace.RoleCompute})
		}))
		c.row.Stream.Attribute(p.id, trace.Integer(e.prev.ID))
	}
	if c.known && c.task.ID != e.prev.ID {
		p.lost++
	}
	c.since, c.task, c.known = e.time, e.next, true
}

func (p *processors) close() error {
	importer.Tell(p.w, trace.MissingIntervals,
		"running times of processors whose end was not recorded (the next switch is from another task)", p.lost, "")
	return p.rows.Close()
}
