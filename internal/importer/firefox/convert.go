package firefox

import (
	"cmp"
	"context"
	"math"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A converter turns the threads of a file into a trace.
type converter struct {
	w         trace.Writer
	name      string // of the file
	label     string
	known     *survey
	next      int // process of the survey
	threads   int
	processes map[string]trace.LocationID
	totals    map[string]*stack.Profile // by meaning of the weights
}

func newConverter(w trace.Writer, name, label string, known *survey) *converter {
	for _, fact := range known.processes[0].meta.facts {
		w.Property(fact[0], fact[1])
	}
	return &converter{w: w, name: name, label: label, known: known, processes: map[string]trace.LocationID{},
		totals: map[string]*stack.Profile{}}
}

// profile reads a profile, and those of other processes in it.
func (c *converter) profile(ctx context.Context, r *jsonstream.Reader, level int) error {
	if c.next >= len(c.known.processes) || level > 8 {
		return r.Skip()
	}
	p := &c.known.processes[c.next]
	c.next++
	var held []*jsonstream.Reader
	pid := ""
	var member func(name string) error
	member = func(name string) error {
		switch name {
		case wrapped:
			return r.Members(member)
		case "threads":
			return r.Array(func() error {
				at, err := c.thread(ctx, r, p)
				pid = cmp.Or(pid, at)
				return err
			})
		case "counters": // they may name the process of a thread that comes after them
			h, err := r.Hold()
			if err == nil {
				held = append(held, h)
			}
			return err
		case "processes":
			return r.Array(func() error { return c.profile(ctx, r, level+1) })
		}
		return r.Skip()
	}
	err := r.Members(member)
	for _, h := range held {
		if e := h.Array(func() error { return c.counter(h, p, pid) }); err == nil {
			err = e
		}
	}
	return err
}

// time is milliseconds of a process on the clock of the first one, in ns.
func (c *converter) time(p *process, ms float64) trace.Time {
	first := c.known.processes[0].meta.start
	if delta := p.meta.start - first; p.meta.start > 0 && first > 0 && math.Abs(delta) < 1e12 {
		ms += delta
	}
	const most = 1 << 62
	return trace.Time(math.Round(math.Min(math.Max(ms*1e6, -most), most)))
}

// location finds the location of a process.
func (c *converter) location(pid, name string, p *process) trace.LocationID {
	return importer.Once(c.processes, pid, func() trace.LocationID {
		if len(c.processes) == 0 {
			name = cmp.Or(name, p.meta.product, c.name)
		}
		name = cmp.Or(name, "process")
		if pid != "" {
			name += " " + pid
		}
		return c.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Key: "process " + pid,
			Name: name, Rank: trace.NoRank, Order: int64(len(c.processes))})
	})
}

// A thread is one while it is read.
type thread struct {
	tables
	name, processName, kind, pid, tid string
	samples, markers                  *table
	unread                            []string
}

// thread reads a thread, and returns its process.
func (c *converter) thread(ctx context.Context, r *jsonstream.Reader, p *process) (string, error) {
	t := &thread{}
	err := r.Members(func(name string) error { return t.member(r, name) })
	t.or(&c.known.shared)
	place := r.Place()
	if t.samples == nil && t.markers == nil {
		if err == nil {
			c.w.Report(trace.Redundant, "threads that hold neither samples nor markers", 1, place)
		}
		return t.pid, err
	}
	for _, name := range t.unread {
		c.w.Report(trace.MissingEvents, "tables that are not read: "+name, 1, place)
	}
	kind := t.kind
	if kind == "default" {
		kind = ""
	}
	owner := c.location(t.pid, cmp.Or(t.processName, kind), p)
	name := cmp.Or(t.name, "thread")
	if t.tid != "" && t.tid != t.pid {
		name += " " + t.tid
	}
	at := c.w.Location(trace.Location{Parent: owner, Kind: trace.KindThread, Key: strconv.Itoa(c.threads), Name: name,
		Rank: trace.NoRank, Order: int64(c.threads)})
	c.threads++
	s := &stacker{tables: &t.tables, w: c.w, process: p, regions: map[frameIn]trace.RegionID{}}
	if e := c.samples(ctx, t, s, at, place); err == nil {
		err = e
	}
	if e := c.markers(ctx, t, p, at, place); err == nil {
		err = e
	}
	return t.pid, err
}

func (t *thread) member(r *jsonstream.Reader, name string) (err error) {
	text := func(to *string) error {
		_, err := r.Take(func(c *jsonstream.Cursor) { *to = c.Scalar().String() })
		return err
	}
	switch name {
	case "name":
		return text(&t.name)
	case "processName":
		return text(&t.processName)
	case "processType":
		return text(&t.kind)
	case "pid":
		return text(&t.pid)
	case "tid":
		return text(&t.tid)
	case "samples":
		t.samples, err = readTable(r, "stack", "time", "timeDeltas", "weight", "threadCPUDelta")
		return err
	case "markers":
		t.markers, err = readTable(r, "name", "time", "startTime", "endTime", "phase", "category")
		return err
	case "jsAllocations", "nativeAllocations", "jsTracer":
		t.unread = append(t.unread, name)
		return r.Skip()
	}
	return t.tables.member(r, name)
}

// finish writes the sums.
func (c *converter) finish() error {
	for _, unit := range []string{"samples", "tracing-ms", "bytes"} {
		if t := c.totals[unit]; t != nil {
			t.Finish()
		}
	}
	return nil
}
