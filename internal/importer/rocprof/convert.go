package rocprof

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/launch"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A converter turns the records of one process into a trace.
type converter struct {
	*process
	w        trace.Writer
	label    string
	at       trace.LocationID
	rows     importer.Rows
	threads  map[int64]*row
	queues   map[queue]*row
	devices  map[int64]trace.LocationID
	kernelOf map[int64]trace.RegionID
	others   map[string]trace.RegionID
	calls    []launch.End
	works    []launch.End
	changes  map[series][]change
	sizes    map[series]map[int64]int64 // bytes allocated, by address

	correlation, grid, block, group, private, bytes, stream trace.AttributeID
}

type queue struct{ agent, number int64 }

// A row is a location with its stream.
type row = importer.Row

// A series is memory of one sort on one agent.
type series struct {
	agent   int64
	scratch bool
}

type change struct {
	time  trace.Time
	bytes int64
}

var streamOptions = trace.StreamOptions{Unordered: true, ByName: true}

func newConverter(w trace.Writer, p *process, label string) *converter {
	c := &converter{
		process: p, w: w, label: label, rows: importer.NewRows(w), threads: map[int64]*row{}, queues: map[queue]*row{},
		devices:  map[int64]trace.LocationID{},
		kernelOf: map[int64]trace.RegionID{}, others: map[string]trace.RegionID{}, changes: map[series][]change{},
		sizes:       map[series]map[int64]int64{},
		correlation: w.Attribute("correlation"), grid: w.Attribute("grid"), block: w.Attribute("block"),
		group:   w.Attribute("shared memory"),
		private: w.Attribute("private memory"), bytes: w.Attribute("bytes"), stream: w.Attribute("stream"),
	}
	parent := trace.NoLocation
	if p.host != "" {
		parent = w.Location(importer.Below(parent, trace.KindMachine, p.host))
	}
	number := strconv.FormatInt(p.pid, 10)
	name := "process " + number
	if p.command != "" {
		name = path.Base(p.command) + " " + number
	}
	c.at = w.Location(trace.Location{Parent: parent, Kind: trace.KindProcess, Key: number, Name: name,
		Rank: trace.NoRank, Attributes: importer.PID(p.pid)})
	return c
}

// thread finds the row of a thread.
func (c *converter) thread(id int64) *row {
	return importer.Once(c.threads, id, func() *importer.Row {
		number := strconv.FormatInt(id, 10)
		return c.rows.Open(trace.Location{Parent: c.at, Kind: trace.KindThread, Key: number, Name: "thread " + number,
			Rank: trace.NoRank, Order: id, Attributes: importer.TID(id)}, streamOptions)
	})
}

// device finds the location of a GPU.
func (c *converter) device(handle int64) trace.LocationID {
	return importer.Once(c.devices, handle, func() trace.LocationID {
		a := c.agents[handle]
		word := "CPU "
		if a.gpu || a.name == "" {
			word = "GPU "
		}
		l := trace.Location{Parent: c.at, Kind: trace.KindDevice, Key: strconv.FormatInt(handle, 10),
			Name: word + strconv.FormatInt(a.index, 10), Rank: trace.NoRank, Order: 1<<40 + a.index}
		if a.name != "" {
			l.Attributes = append(l.Attributes, trace.Attribute{Key: "model", Value: trace.Text(a.name)})
		}
		return c.w.Location(l)
	})
}

// copies is the number of the row for the copy engines of a GPU.
const copies = -1

// queue finds the row of a queue of a GPU.
func (c *converter) queue(agent, number int64) *row {
	key := queue{agent, number}
	return importer.Once(c.queues, key, func() *importer.Row {
		name := "queue " + strconv.FormatInt(number, 10)
		if number == copies {
			name = "copies"
		}
		return c.rows.Open(trace.Location{Parent: c.device(agent), Kind: trace.KindStream, Key: name, Name: name,
			Rank: trace.NoRank, Order: number & (1<<40 - 1)}, streamOptions)
	})
}

// dispatch adds a kernel.
func (c *converter) dispatch(d *dispatch) {
	region := importer.Once(c.kernelOf, d.kernel, func() trace.RegionID {
		name := cmp.Or(c.kernels[d.kernel], "kernel without a name")
		return c.w.Region(trace.Region{Name: strings.TrimSuffix(name, ".kd"), Category: "kernel"})
	})
	r := c.queue(d.agent, d.queue)
	c.add(r, &d.call, region, true)
	r.Stream.Attribute(c.stream, trace.Integer(d.stream))
	r.Stream.Attribute(c.grid, trace.Text(fmt.Sprintf("[%d, %d, %d]", d.grid[0], d.grid[1], d.grid[2])))
	r.Stream.Attribute(c.block, trace.Text(fmt.Sprintf("[%d, %d, %d]", d.block[0], d.block[1], d.block[2])))
	if d.group > 0 {
		r.Stream.Attribute(c.group, trace.Integer(d.group))
	}
	if d.private > 0 {
		r.Stream.Attribute(c.private, trace.Integer(d.private))
	}
}

// add adds an interval, and remembers it by its correlation id.
func (c *converter) add(r *row, x *call, region trace.RegionID, work bool) {
	begin, stop := x.times()
	r.Stream.Interval(begin, stop, region)
	if x.correlation <= 0 {
		return
	}
	r.Stream.Attribute(c.correlation, trace.Integer(x.correlation))
	e := launch.End{ID: x.correlation, Time: begin, Location: r.At, Region: region}
	if work {
		c.works = append(c.works, e)
	} else {
		c.calls = append(c.calls, e)
	}
}

// region finds a region by its name.
func (c *converter) region(name, category string, role trace.Role) trace.RegionID {
	key := category + "\x00" + name
	return importer.Once(c.others, key,
		func() trace.RegionID { return c.w.Region(trace.Region{Name: name, Category: category, Role: role}) })
}

// call adds a call of an API, or a range of a marker.
func (c *converter) call(x *call, list string) {
	name, role := c.strings.operation(x.kind, x.operation), trace.RoleByName
	category := list
	if list == "marker_api" {
		category, role = "user_annotation", trace.RoleAnnotation
		if text := c.strings.markers[x.correlation]; text != "" {
			name = text
		}
	}
	if name == "" {
		name = list + " call without a name"
	}
	r := c.thread(x.thread)
	if begin, stop := x.times(); begin == stop && list == "marker_api" {
		r.Stream.Instant(begin, c.region(name, category, role))
		return
	}
	c.add(r, x, c.region(name, category, role), false)
}

// transfer adds a copy, on the GPU that takes part in it.
func (c *converter) transfer(t *transfer) {
	at := t.to
	if !c.agents[at].gpu && c.agents[t.from].gpu {
		at = t.from
	}
	name := "Memcpy " +
		strings.NewReplacer("MEMORY_COPY_", "", "HOST", "H", "DEVICE", "D", "_TO_",
			"to").Replace(c.strings.operation(t.kind, t.operation))
	r := c.queue(at, copies)
	c.add(r, &t.call, c.region(strings.TrimSpace(name), "gpu_memcpy", trace.RoleCopy), true)
	if t.bytes > 0 {
		r.Stream.Attribute(c.bytes, trace.Integer(t.bytes))
	}
}

// allocation adds the bytes allocated, or subtracts those freed at an address.
func (c *converter) allocation(a *allocation, scratch bool) {
	key := series{a.agent, scratch}
	if c.sizes[key] == nil {
		c.sizes[key] = map[int64]int64{}
	}
	bytes := a.bytes
	if a.free || strings.Contains(strings.ToUpper(c.strings.operation(a.kind, a.operation)), "FREE") {
		bytes = -c.sizes[key][a.address]
		delete(c.sizes[key], a.address)
	} else {
		c.sizes[key][a.address] = bytes
	}
	if bytes != 0 {
		_, stop := a.times()
		c.changes[key] = append(c.changes[key], change{stop, bytes})
	}
}

// close adds the counters and links, and ends all streams.
func (c *converter) close() error {
	for key, list := range c.changes {
		slices.SortStableFunc(list, func(a, b change) int { return cmp.Compare(a.time, b.time) })
		owner := c.rows.At(c.device(key.agent), streamOptions)
		name := "memory in use"
		if key.scratch {
			name = "scratch memory in use"
		}
		counter := c.w.Counter(trace.Counter{Location: owner.At, Name: name, Unit: "bytes"})
		sum := int64(0)
		for _, x := range list {
			sum += x.bytes
			owner.Stream.Sample(counter, x.time, float64(sum))
		}
	}
	c.link()
	return c.rows.Close()
}

// link joins dispatches and copies with the calls of their correlation ids.
func (c *converter) link() {
	alone := launch.Join(c.w, trace.LinkSpawn, c.calls, c.works)
	// Without records of calls none could be linked, which is how it was recorded.
	if alone > 0 && len(c.calls) > 0 {
		c.w.Report(trace.Guessed, "GPU work whose call is not in the file: kept without a link", alone, c.label)
	}
}
