package chrometrace

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// meta holds the metadata records of a pid or a place.
type meta struct {
	name, labels string
	order        int64
	ordered      bool
	used         bool // a location took it over
	count        int64
	asked        string // the name that rank is about
	rank         bool
}

// metadata takes one record of phase M.
func (c *rowTree) metadata(r *record) {
	if c.dialect == dftracer && c.hash(r) {
		return
	}
	var m *meta
	name := string(r.name.raw())
	switch {
	case strings.HasPrefix(name, "process_"):
		pid := string(identifier(r.pid, c.scratch[3]))
		if m = c.pids[pid]; m == nil {
			m = &meta{}
			c.pids[pid] = m
		}
	case strings.HasPrefix(name, "thread_"):
		m = &c.place(r).meta
	default:
		c.tally.Add(otherMetadata, r.offset)
		return
	}
	m.count++
	switch name {
	case "process_name", "thread_name":
		m.name = strings.TrimSpace(string(r.argument("name").plain(nil)))
	case "process_labels":
		m.labels = string(r.argument("labels").plain(nil))
	case "process_sort_index", "thread_sort_index":
		if n, ok := r.argument("sort_index").integer(); ok {
			m.order, m.ordered = n, true
		}
	default:
		m.count--
		c.tally.Add(otherMetadata, r.offset)
	}
}

// describe gives all locations the names that the file's metadata has for them,
// and counts metadata that is about no location.
func (c *rowTree) describe() {
	for _, pid := range slices.Sorted(maps.Keys(c.processes)) {
		if p := c.processes[pid]; p.pid == pid { // a rank that started anew has two
			c.describeProcess(p)
		}
	}
	for _, pid := range slices.Sorted(maps.Keys(c.devices)) {
		c.describeDevice(c.devices[pid])
	}
	for _, key := range slices.Sorted(maps.Keys(c.places)) {
		if p := c.places[key]; p.gpu != nil {
			p.describe(c.w, p.gpu.location, streamName(p.name))
		} else if !p.used {
			c.tally.AddN(unusedNames, p.count, nowhere)
		}
	}
	c.arrange()
	for _, m := range c.pids {
		if !m.used {
			c.tally.AddN(unusedNames, m.count, nowhere)
		}
	}
}

func (c *rowTree) describeProcess(p *process) {
	m := c.pids[p.pid]
	if m == nil {
		m = &meta{}
	}
	l := trace.Location{Rank: trace.NoRank}
	if p != c.self || c.rank < 0 {
		l.Name = strings.TrimSpace(cmp.Or(m.name, "process") + " " + p.pid)
		if c.ranked(p.pid) {
			l.Name = m.name
		}
		l.Order = m.order
		if rank := processRank(m.name); rank >= 0 && p != c.self {
			l.Name, l.Rank = m.name, rank
			c.tally.Add(namedProcesses, nowhere)
		}
	}
	if m.name != "" {
		l.Attributes = append(l.Attributes, trace.Attribute{Key: "process", Value: trace.Text(m.name)})
	}
	if m.labels != "" {
		l.Attributes = append(l.Attributes, trace.Attribute{Key: "labels", Value: trace.Text(m.labels)})
	}
	if p.pid != "" {
		l.Attributes = append(l.Attributes, trace.Attribute{Key: "pid", Value: identity(p.pid)})
	}
	m.used = true
	c.w.Describe(p.location, l)
	p.threads = slices.DeleteFunc(p.threads, firstOfEach(p.threads))
	names := map[string]int{}
	for _, t := range p.threads {
		names[t.name]++
	}
	for _, t := range p.threads {
		name := t.name
		if names[name] > 1 && name != "" {
			name += " " + t.tid
		}
		t.describe(c.w, t.cpu.location, name)
	}
}

// firstOfEach finds places that share a location with an earlier one.
func firstOfEach(places []*place) func(*place) bool {
	first := map[trace.LocationID]*place{}
	for _, p := range places {
		if first[p.cpu.location] == nil {
			first[p.cpu.location] = p
		}
	}
	return func(p *place) bool {
		p.used = true
		return first[p.cpu.location] != p
	}
}

// describe passes a place's metadata to a location.
func (p *place) describe(w trace.Writer, id trace.LocationID, name string) {
	p.used = true
	if name == p.tid { // DFTracer's names say nothing more
		name = ""
	}
	l := trace.Location{Name: name, Rank: trace.NoRank, Order: p.order}
	if p.tid != "" {
		l.Attributes = []trace.Attribute{{Key: "tid", Value: identity(p.tid)}}
	}
	w.Describe(id, l)
}

// deviceOrder puts devices after threads, as Kineto itself does.
const deviceOrder = 5_000_000

func (c *rowTree) describeDevice(d *device) {
	l := trace.Location{Rank: trace.NoRank, Order: deviceOrder}
	if m := c.pids[d.pid]; m != nil && d.number == d.pid && !c.ranked(d.pid) {
		m.used = true
		l.Name, l.Order = m.labels, cmp.Or(m.order, deviceOrder)
	}
	if l.Name == "" {
		l.Name = strings.TrimSpace("GPU " + d.number)
	}
	if model := c.models[d.number]; model != "" {
		l.Attributes = append(l.Attributes, trace.Attribute{Key: "model", Value: trace.Text(model)})
	}
	if n := c.memories[d.number]; n > 0 {
		l.Attributes = append(l.Attributes, trace.Attribute{Key: "memory", Value: trace.Integer(n)})
	}
	c.w.Describe(d.location, l)
}

// identity is a pid or tid as an attribute.
func identity(id string) trace.Value {
	if n, err := strconv.ParseInt(id, 10, 64); err == nil {
		return trace.Integer(n)
	}
	return trace.Text(id)
}
