package perfetto

import (
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A cpu is a processor of a machine and the task that it runs.
type cpu struct {
	row     *row
	since   trace.Time
	task    trace.RegionID
	tid     int64
	running bool
}

type cpuKey struct {
	machine uint32
	number  uint64
}

// Numbers of the fields of a bundle of the kernel's events, and of an event.
const (
	bundleCPU       = 1
	bundleEvent     = 2
	bundleLost      = 3
	bundleCompact   = 4
	bundleThen      = 6 // the kernel's clock and the boot clock at one instant
	bundleThenBoot  = 7
	ftraceTime      = 1
	ftracePid       = 2
	ftracePrint     = 3
	ftraceSwitch    = 4
	ftraceFlags     = 5
	printText       = 2
	switchNextName  = 5
	switchNextTask  = 6
	compactTimes    = 1
	compactTasks    = 3
	compactNames    = 5
	compactNameRefs = 6
	compactWakings  = 7
)

// ftrace takes the events of the kernel on one CPU: which task it switches to, and
// what programs print.
func (c *converter) ftrace(s *sequence, p *packet) bool {
	var number, then, boot uint64
	m := open(p.payload)
	for m.next() {
		switch m.number {
		case bundleCPU:
			number = m.value
		case bundleLost:
			if m.value != 0 {
				c.tally.Add(lostKernel, p.at)
			}
		case bundleThen:
			then = m.value
		case bundleThenBoot:
			boot = m.value
		}
	}
	if m.broken {
		return false
	}
	k := &kernel{c: c, s: s, p: p, number: number}
	if then != 0 && boot != 0 {
		k.shift = int64(boot) - int64(then)
	}
	sound := true
	m = open(p.payload)
	for m.next() {
		switch m.number {
		case bundleEvent:
			sound = k.event(m.bytes) && sound
		case bundleCompact:
			sound = k.compact(m.bytes) && sound
		}
	}
	return sound
}

// A kernel reads one bundle.
type kernel struct {
	c      *converter
	s      *sequence
	p      *packet
	number uint64
	shift  int64 // from the kernel's clock to the boot clock
}

func (k *kernel) event(b []byte) bool {
	var at uint64
	var tid int64
	var change, print []byte
	m := open(b)
	for m.next() {
		switch m.number {
		case ftraceTime:
			at = m.value
		case ftraceSwitch:
			change = m.bytes
		case ftracePid:
			tid = int64(int32(m.value))
		case ftracePrint:
			print = m.bytes
		case ftraceFlags:
		default:
			k.c.tally.Add(otherKernel, k.p.at)
		}
	}
	if print != nil {
		f := open(print)
		for f.next() {
			if f.number == printText {
				k.print(at, tid, f.bytes)
			}
		}
	}
	if change != nil {
		var name []byte
		var tid int64
		f := open(change)
		for f.next() {
			switch f.number {
			case switchNextName:
				name = f.bytes
			case switchNextTask:
				tid = int64(int32(f.value))
			}
		}
		k.change(at, tid, k.c.text(name))
	}
	return !m.broken
}

// compact reads the switches that are written as lists side by side: differences
// of time, tasks, and numbers of names.
func (k *kernel) compact(b []byte) bool {
	var times, tasks, refs, wakings []uint64
	var names []string
	m := open(b)
	for m.next() {
		switch m.number {
		case compactNames:
			names = append(names, k.c.text(m.bytes))
		case compactTimes:
			times = m.list(times)
		case compactTasks:
			tasks = m.list(tasks)
		case compactNameRefs:
			refs = m.list(refs)
		case compactWakings:
			wakings = m.list(wakings)
		}
	}
	k.c.tally.AddN(otherKernel, int64(len(wakings)), k.p.at)
	if m.broken || len(tasks) != len(times) || len(refs) != len(times) {
		return false
	}
	var at uint64
	for i, d := range times {
		at += d
		name := ""
		if refs[i] < uint64(len(names)) {
			name = names[refs[i]]
		}
		k.change(at, int64(int32(tasks[i])), name)
	}
	return true
}

// change ends the task that the CPU ran and begins another.
func (k *kernel) change(ticks uint64, tid int64, name string) {
	c := k.c
	at := c.time(k.s, k.p, clockBoot, uint64(int64(ticks)+k.shift))
	u := c.cpu(k.p.machine, k.number)
	if u.running {
		if at < u.since {
			c.tally.Add(backwards, k.p.at)
			return
		}
		c.stay(u, at)
	}
	u.since, u.tid, u.running = at, tid, true
	switch {
	case tid == 0:
		u.task = c.define("idle", "scheduler", trace.RoleIdle)
	case name == "":
		u.task = c.define("task "+strconv.FormatInt(tid, 10), "scheduler", trace.RoleCompute)
	default:
		u.task = c.define(name, "scheduler", trace.RoleCompute)
	}
	c.last = max(c.last, at)
}

// stay writes the task that a CPU ran until a time.
func (c *converter) stay(u *cpu, until trace.Time) {
	u.row.Stream.Interval(u.since, until, u.task)
	if u.tid != 0 {
		c.scratch = c.scratch[:0]
		c.fact("tid", trace.Integer(u.tid))
		tell(u.row.Stream, c.scratch)
	}
}

func (c *rowTree) cpu(machine uint32, number uint64) *cpu {
	key := cpuKey{machine, number}
	u := c.cpus[key]
	if u == nil {
		name := "CPU " + strconv.FormatUint(number, 10)
		if machine != 0 {
			name = "machine " + strconv.FormatUint(uint64(machine), 10) + " " + name
		}
		at := c.w.Location(trace.Location{Parent: c.group("CPUs", -1), Kind: trace.KindProcessor, Name: name,
			Rank: trace.NoRank, Order: int64(number & (1<<31 - 1))})
		u = &cpu{row: c.rowOf(at)}
		c.cpus[key] = u
		c.cpuOrder = append(c.cpuOrder, u)
	}
	return u
}
