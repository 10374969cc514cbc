package perfetto

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/protobuf"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A rowTree is processes, threads and tracks, and the streams of those that hold anything.
type rowTree struct {
	dictionary

	root trace.LocationID // above rows that belong to no process
	// rank is the process that the file is about, where it is one rank of several.
	rank      trace.LocationID
	rankPid   *process
	keyPrefix string // of processes, so that pids of different files differ

	tracks    map[uint64]*track
	order     []*track
	processes map[processKey]*process
	rows      importer.Rows
	cpus      map[cpuKey]*cpu
	cpuOrder  []*cpu
}

// A process is a pid of a machine. Names may come at any time, so they are given
// to its location at the end.
type process struct {
	machine uint32
	pid     int64
	name    string
	labels  string
	row     *row
	threads map[int64]*thread
}

type thread struct {
	tid  int64
	name string
	row  *row
}

type processKey struct {
	machine uint32
	pid     int64
}

func (c *rowTree) process(machine uint32, pid int64) *process {
	k := processKey{machine, pid}
	p := c.processes[k]
	if p == nil {
		p = &process{machine: machine, pid: pid, threads: map[int64]*thread{}}
		c.processes[k] = p
	}
	return p
}

func (c *rowTree) thread(machine uint32, pid, tid int64) *thread {
	p := c.process(machine, pid)
	t := p.threads[tid]
	if t == nil {
		t = &thread{tid: tid}
		p.threads[tid] = t
	}
	return t
}

func (c *rowTree) nameProcess(machine uint32, pid int64, name string) {
	if p := c.process(machine, pid); name != "" {
		p.name = name
	}
}

func (c *rowTree) nameThread(machine uint32, pid, tid int64, name string) {
	if t := c.thread(machine, pid, tid); name != "" {
		t.name = name
	}
}

// processRow is where events of a whole process are. In a file that is one rank
// the first process is the rank's own.
func (c *rowTree) processRow(machine uint32, pid int64) *row {
	p := c.process(machine, pid)
	if p.row != nil {
		return p.row
	}
	if c.rank != trace.NoLocation && c.rankPid == nil {
		c.rankPid = p
		p.row = c.rowOf(c.rank)
		return p.row
	}
	parent := trace.NoLocation
	if c.rank == trace.NoLocation {
		parent = c.root
	}
	if machine != 0 {
		number := strconv.FormatUint(uint64(machine), 10)
		parent = c.w.Location(trace.Location{Parent: parent, Kind: trace.KindMachine, Key: number,
			Name: "machine " + number, Rank: trace.NoRank})
	}
	number := strconv.FormatInt(pid, 10)
	p.row = c.rowOf(c.w.Location(trace.Location{Parent: parent, Kind: trace.KindProcess, Key: c.keyPrefix + number,
		Name: "process " + number, Rank: trace.NoRank, Order: pid}))
	return p.row
}

func (c *rowTree) threadRow(machine uint32, pid, tid int64) *row {
	t := c.thread(machine, pid, tid)
	if t.row == nil {
		number := strconv.FormatInt(tid, 10)
		l := trace.Location{Parent: c.processRow(machine, pid).At, Kind: trace.KindThread, Key: number,
			Name: "thread " + number, Rank: trace.NoRank, Order: tid, Attributes: importer.TID(tid)}
		if tid == pid { // the main thread comes first
			l.Order = 0
		}
		t.row = c.rowOf(c.w.Location(l))
	}
	return t.row
}

// A machineTree has the processes and threads of a machine.
type machineTree struct {
	processes [][]byte `pb:"1"`
	threads   [][]byte `pb:"2"`
}

type treeProcess struct {
	pid     int32    `pb:"1"`
	command []string `pb:"3"`
}

type treeThread struct {
	tid  int32  `pb:"1"`
	name string `pb:"2"`
	pid  int32  `pb:"3"`
}

var (
	machineTrees  = protobuf.TableOf[machineTree]()
	treeProcesses = protobuf.TableOf[treeProcess]()
	treeThreads   = protobuf.TableOf[treeThread]()
)

// processTree takes the names of all processes and threads of a machine.
func (c *rowTree) processTree(p *packet) bool {
	tree, ok := machineTrees.Of(p.payload)
	for _, b := range tree.processes {
		f, _ := treeProcesses.Of(b)
		c.nameProcess(p.machine, int64(f.pid), cmp.Or(f.command...))
	}
	for _, b := range tree.threads {
		f, _ := treeThreads.Of(b)
		c.nameThread(p.machine, int64(f.pid), int64(f.tid), f.name)
	}
	return ok
}

var rankPattern = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:mpi[ _-]?)?rank[ _#:=-]?(\d{1,7})(?:[^0-9]|$)`)

// rankIn finds "rank 3" in a name; -1 for none.
func rankIn(name string) int {
	m := rankPattern.FindStringSubmatch(name)
	if m == nil {
		return trace.NoRank
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// describeRows gives processes and threads that hold records their names.
func (c *rowTree) describeRows() {
	all := make([]*process, 0, len(c.processes))
	for _, p := range c.processes {
		if p.row != nil {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b *process) int {
		return cmp.Or(cmp.Compare(a.machine, b.machine), cmp.Compare(a.pid, b.pid))
	})
	for _, p := range all {
		c.describeProcessRow(p)
		for _, t := range p.threads {
			if t.row != nil && t.name != "" {
				c.w.Describe(t.row.At, trace.Location{Name: t.name, Rank: trace.NoRank})
			}
		}
	}
}

func (c *rowTree) describeProcessRow(p *process) {
	l := trace.Location{Rank: trace.NoRank, Attributes: []trace.Attribute{{Key: "pid", Value: trace.Integer(p.pid)}}}
	if p.name != "" {
		l.Attributes = append(l.Attributes, trace.Attribute{Key: "program", Value: trace.Text(p.name)})
	}
	if p.labels != "" {
		l.Attributes = append(l.Attributes, trace.Attribute{Key: "labels", Value: trace.Text(p.labels)})
	}
	if c.rank == trace.NoLocation || c.rankPid != p {
		if l.Rank = rankIn(p.name); l.Rank != trace.NoRank {
			c.tally.Add(namedRanks, nowhere)
		}
		if p.name != "" {
			l.Name = program(p.name) + " " + strconv.FormatInt(p.pid, 10)
		}
	}
	c.w.Describe(p.row.At, l)
}
