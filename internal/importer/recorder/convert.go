package recorder

import (
	"slices"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A converter writes processes, and tells what needs several of them.
type converter struct {
	outcome
	w        trace.Writer
	rows     trace.Rows // of the process at hand
	machines map[string]trace.LocationID
	paths    paths
	messages messages
	arrivals arrivals
	own      []uint64
}

func newConverter(w trace.Writer) *converter {
	return &converter{
		w: w, machines: map[string]trace.LocationID{},
		paths: newPaths(w), messages: newMessages(w),
	}
}

// record writes one process.
func (c *converter) record(file string, r *record) {
	process := trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: r.name, Rank: trace.NoRank,
		Key: file}
	if r.rank >= 0 {
		process.Rank, process.Order = int(r.rank), int64(r.rank)
	}
	if process.Name == "" || r.program != nil && r.rank >= 0 {
		process.Name = "process"
		if r.rank >= 0 {
			process.Name = "rank " + strconv.Itoa(int(r.rank))
		}
	}
	if r.program != nil {
		c.Size = max(c.Size, r.program.size)
		process.Parent = c.machine(r.program.host)
		process.Attributes = importer.PID(r.program.pid)
		process.Key = file + " " + strconv.Itoa(int(r.rank))
		if n := len(c.Programs); n == 0 || c.Programs[n-1].Name != r.name {
			c.Programs = append(c.Programs, programTold{r.name, r.program.outside})
		}
	}
	id := c.w.Location(process)
	if r.rank >= 0 {
		c.Ranks = append(c.Ranks, rankTold{r.rank, id})
	}
	dropped := uint64(0)
	for i := range r.workers {
		x, at := &r.workers[i], id
		if len(r.workers) > 1 || r.program == nil {
			thread := trace.Location{Parent: id, Kind: trace.KindThread, Name: x.name, Key: strconv.Itoa(i),
				Rank: trace.NoRank, Order: order(r.workers, i)}
			if x.calls != nil {
				thread.Attributes = importer.TID(x.calls.thread)
			}
			at = c.w.Location(thread)
		}
		c.rows.Moments = appendWindows(c.rows.Moments, r.start, at, x)
		if x.calls != nil {
			c.calls(file, r, at, id, x)
			c.cores(at, x.calls)
		}
		dropped += x.dropped
	}
	trace.AddRows(c.w, &c.rows)
	c.count(file, r, dropped)
}

// Running is the property of a run with processes that were running when it was written, and will write it anew.
const Running = "running"

// count reports the losses of a process.
func (c *converter) count(file string, r *record, dropped uint64) {
	what := "intervals whose time ran backwards, dropped by the program"
	if r.program != nil {
		what = "calls and regions beyond what the recorder keeps, dropped by the program"
		if r.program.running {
			c.w.Report(trace.Guessed, "processes that were still running when this was written", 1, file)
			c.w.Property(Running, "yes")
		}
		if r.program.aborted {
			c.w.Report(trace.Repaired, "processes that ended before MPI_Finalize, kept as far as they came", 1, file)
		}
	}
	importer.Tell(c.w, trace.MissingEvents, what, int64(dropped), file)
}

func (c *converter) machine(host string) trace.LocationID {
	if host == "" {
		return trace.NoLocation
	}
	id, ok := c.machines[host]
	if !ok {
		id = c.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindMachine, Name: host, Key: host,
			Rank: trace.NoRank})
		c.machines[host] = id
	}
	return id
}

// appendWindows appends the windows of a worker. The first and the last are there
// even without busy time, so that the run spans all that was watched.
func appendWindows(rows []trace.MomentRow, start int64, id trace.LocationID, x *worker) []trace.MomentRow {
	begin, end := trace.Time(start), trace.Time(start)+trace.Time(x.end)
	add := func(index uint32, v window) {
		from := begin + trace.Time(index)<<x.shift
		rows = append(rows, trace.MomentRow{})
		m := &rows[len(rows)-1]
		m.Location, m.Role, m.Begin, m.End = id, trace.RoleCompute, from, max(from, min(from+1<<x.shift, end))
		m.Weight, m.Mean, m.Central[2], m.Central[3] = v.weight, v.mean, v.m2, v.m3
	}
	last := uint32(max(x.end-1, 0) >> x.shift)
	if len(x.windows) == 0 || x.windows[0].index > 0 {
		add(0, window{})
	}
	for _, v := range x.windows {
		add(v.index, v)
	}
	if n := len(x.windows); last > 0 && (n == 0 || x.windows[n-1].index < last) {
		add(last, window{})
	}
	return rows
}

// calls writes the calls and messages of a worker.
func (c *converter) calls(file string, r *record, at, process trace.LocationID, x *worker) {
	k := x.calls
	c.paths.use(r.program.names)
	nodes := c.paths.nodes(k.nodes)
	own := slices.Grow(c.own[:0], len(k.nodes))[:len(k.nodes)] // time of the callees of a node
	clear(own)
	c.own = own
	for i, n := range k.nodes {
		if i > 0 {
			own[n.parent] += n.time
		}
	}
	for _, v := range k.cells {
		own[v.node] += v.time
	}
	// In the order of the call paths, which the first process defined the same way: then there is nothing to sort.
	for i, n := range k.nodes {
		// Calls that clocks say took longer than the region around them leave nothing.
		c.rows.Profile = append(c.rows.Profile,
			trace.ProfileRow{Location: at, Path: nodes[i], Metric: c.paths.time, Calls: float64(n.count),
				Inclusive: float64(n.time), Exclusive: float64(n.time - min(n.time, own[i]))})
		if i == 0 {
			c.messages.worker(file, at, process, nodes[0], k, &c.rows)
		}
	}
	for i, v := range k.cells {
		path := c.paths.cell(i, nodes[v.node], v.name)
		c.cell(at, path, v)
		if v.joint > 0 {
			c.arrivals.add(path, arrival{at, v.joint, v.entries + float64(v.joint)*float64(r.start)})
		}
	}
}

// cores writes the counters of the system for a thread, on its program's path. calls has defined the paths.
func (c *converter) cores(at trace.LocationID, k *calls) {
	add := func(name, what string, ns uint64) {
		if ns == untold {
			return
		}
		m := c.messages.metric[c.messages.define(trace.Metric{Name: name, Unit: "ns", Description: what})]
		row := trace.ProfileRow{Location: at, Path: c.paths.ids[0], Metric: m, Calls: 1, Inclusive: float64(ns)}
		row.Exclusive = row.Inclusive
		c.rows.Profile = append(c.rows.Profile, row)
	}
	add(trace.RanOnCore, "processor time of the thread, while recorded", k.ran)
	add(trace.WaitedForCore, "how long the thread could have run, while others had the cores", k.waited)
}

// cell writes all calls of one path.
func (c *converter) cell(at trace.LocationID, path trace.CallPathID, v cell) {
	t := float64(v.time)
	c.rows.Profile = append(c.rows.Profile,
		trace.ProfileRow{Location: at, Path: path, Metric: c.paths.time, Calls: float64(v.count), Inclusive: t,
			Exclusive: t})
	if v.bytes > 0 {
		b := float64(v.bytes)
		c.rows.Profile = append(c.rows.Profile,
			trace.ProfileRow{Location: at, Path: path, Metric: c.paths.bytes, Calls: float64(v.count), Inclusive: b,
				Exclusive: b})
	}
	if v.count > 0 {
		c.rows.Atomic = append(c.rows.Atomic,
			trace.AtomicRow{Location: at, Path: path, Metric: c.paths.each, Count: float64(v.count),
				Min: float64(v.least), Max: float64(v.most), Mean: t / float64(v.count), SumSquares: v.squares})
	}
}

// order assigns to the threads of a process the order in which they began: recorders in C write the last one first, and
// end with the main thread.
func order(workers []worker, i int) int64 {
	if last := len(workers) - 1; workers[last].name == "main" {
		return int64(last - i)
	}
	return int64(i)
}
