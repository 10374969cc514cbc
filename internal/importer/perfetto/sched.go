package perfetto

import (
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer/protobuf"
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

// A kernelBundle has events of the kernel on one CPU.
type kernelBundle struct {
	cpu     uint64   `pb:"1"`
	events  [][]byte `pb:"2"`
	lost    bool     `pb:"3"`
	compact [][]byte `pb:"4"`
	then    uint64   `pb:"6"` // the kernel's clock and the boot clock at one instant
	boot    uint64   `pb:"7"`
}

// A kernelEvent is a print of a program, a switch to another task, or another event.
type kernelEvent struct {
	time  uint64 `pb:"1"`
	pid   int32  `pb:"2"`
	print []byte `pb:"3"`
	next  []byte `pb:"4"`
	flags uint64 `pb:"5"`
	other protobuf.Others
}

type kernelPrint struct {
	texts [][]byte `pb:"2"`
}

type taskSwitch struct {
	name []byte `pb:"5"`
	task int32  `pb:"6"`
}

// A compactSched has switches as lists side by side: differences of time, tasks, and
// numbers of names.
type compactSched struct {
	times   []uint64 `pb:"1"`
	tasks   []uint64 `pb:"3"`
	names   [][]byte `pb:"5"`
	refs    []uint64 `pb:"6"`
	wakings []uint64 `pb:"7"`
}

var (
	kernelBundles = protobuf.TableOf[kernelBundle]()
	kernelEvents  = protobuf.TableOf[kernelEvent]()
	kernelPrints  = protobuf.TableOf[kernelPrint]()
	taskSwitches  = protobuf.TableOf[taskSwitch]()
	compactScheds = protobuf.TableOf[compactSched]()
)

// ftrace takes the events of the kernel on one CPU: the task it switches to, and the prints of programs.
func (c *converter) ftrace(s *sequence, p *packet) bool {
	b, ok := kernelBundles.Of(p.payload)
	if b.lost {
		c.tally.Add(lostKernel, p.at)
	}
	if !ok {
		return false
	}
	k := &kernel{c: c, s: s, p: p, number: b.cpu}
	if b.then != 0 && b.boot != 0 {
		k.shift = int64(b.boot) - int64(b.then)
	}
	sound := true
	for _, e := range b.events {
		sound = k.event(e) && sound
	}
	for _, e := range b.compact {
		sound = k.compact(e) && sound
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
	e, ok := kernelEvents.Of(b)
	k.c.tally.AddN(otherKernel, int64(e.other), k.p.at)
	prints, _ := kernelPrints.Of(e.print)
	for _, text := range prints.texts {
		k.print(e.time, int64(e.pid), text)
	}
	if e.next != nil {
		next, _ := taskSwitches.Of(e.next)
		k.change(e.time, int64(next.task), k.c.text(next.name))
	}
	return ok
}

func (k *kernel) compact(b []byte) bool {
	f, ok := compactScheds.Of(b)
	k.c.tally.AddN(otherKernel, int64(len(f.wakings)), k.p.at)
	if !ok || len(f.tasks) != len(f.times) || len(f.refs) != len(f.times) {
		return false
	}
	var at uint64
	for i, d := range f.times {
		at += d
		name := ""
		if f.refs[i] < uint64(len(f.names)) {
			name = k.c.text(f.names[f.refs[i]])
		}
		k.change(at, int64(int32(f.tasks[i])), name)
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
