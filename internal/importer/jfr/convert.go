package jfr

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A converter turns chunks into a trace.
type converter struct {
	w       trace.Writer
	label   string
	process trace.LocationID
	rows    map[string]*row
	order   []*row
	plans   map[string]*plan // of classes of events, by name
	unread  map[string]int64
	names   []string // of unread, in order
	events  int64
	sampler *sampler
	attrs   importer.Attributes
}

// A row is a thread, or a part of the virtual machine.
type row struct {
	at       trace.LocationID
	stream   trace.Stream
	counters map[string]trace.CounterID
}

func newConverter(w trace.Writer, name, label string) *converter {
	c := &converter{w: w, label: label, rows: map[string]*row{}, plans: map[string]*plan{}, unread: map[string]int64{},
		attrs: importer.NewAttributes(w)}
	c.process = w.Location(importer.Process(name))
	c.sampler = newSampler(w)
	return c
}

// chunk takes all events of a chunk.
func (c *converter) chunk(ctx context.Context, k *chunk) error {
	cut := k.lost > 0
	if broken := k.define(); broken > 0 {
		c.w.Report(trace.MissingEvents, "descriptions of types, and constants, that cannot be read", broken,
			place(c.label, k.at))
	}
	if len(k.classes) == 0 {
		c.w.Report(trace.MissingEvents,
			"chunks without a description of their types (a recording that was not closed)", 1,
			place(c.label, k.at))
		return nil
	}
	c.sampler.begin(k)
	c.settings(k)
	broken, unknown, n := int64(0), int64(0), 0
	var err error
	k.events(func(kind int64, in *cursor) {
		if kind < 2 || err != nil {
			return
		}
		if n++; n%4096 == 0 && ctx.Err() != nil {
			err = ctx.Err()
			return
		}
		x := k.classes[kind]
		if x == nil || x.name == "" {
			unknown++
			return
		}
		e, ok := readEvent(k, x, in)
		if !ok {
			broken++
			return
		}
		c.events++
		c.event(e)
	})
	for _, x := range []struct {
		kind  trace.ReportKind
		what  string
		count int64
	}{
		{trace.MissingEvents, "events that cannot be read", broken},
		{trace.MissingEvents, "events of a type that is not described", unknown},
	} {
		importer.Tell(c.w, x.kind, x.what, x.count, place(c.label, k.at))
	}
	if cut || k.lost > 0 {
		c.w.Report(trace.MissingRest, "chunks that break off, read up to there", 1,
			place(c.label, k.at+int64(len(k.data))-k.lost))
	}
	return err
}

// settings reads the recorder's settings in a chunk, before any event that they are about.
func (c *converter) settings(k *chunk) {
	k.events(func(kind int64, in *cursor) {
		if x := k.classes[kind]; x != nil && x.name == "jdk.ActiveSetting" {
			if e, ok := readEvent(k, x, in); ok {
				c.sampler.setting(e)
			}
		}
	})
}

// readEvent reads the fields of an event; false if they break off.
func readEvent(k *chunk, x *class, in *cursor) (*event, bool) {
	e := &event{chunk: k, class: x}
	for i := range x.fields {
		e.values = append(e.values, x.fields[i].value(in, 0))
	}
	return e, !in.Failed()
}

// An event is one as it was read.
type event struct {
	chunk  *chunk
	class  *class
	values []value
}

// value finds a field.
func (e *event) value(name string) (value, *field) {
	if i := e.class.field(name); i >= 0 && i < len(e.values) {
		return e.values[i], &e.class.fields[i]
	}
	return value{}, nil
}

func (e *event) number(name string) (float64, bool) {
	v, _ := e.value(name)
	switch v.kind {
	case whole:
		return float64(v.n), true
	case real:
		return v.f, true
	}
	return 0, false
}

func (e *event) text(name string) string {
	v, f := e.value(name)
	if f == nil {
		return ""
	}
	return e.chunk.text(f.class, v, 0)
}

func (e *event) time() trace.Time {
	v, _ := e.value("startTime")
	return e.chunk.time(v.n)
}

// event gives one its meaning.
func (c *converter) event(e *event) {
	p := c.plan(e.class)
	switch {
	case p.setting: // read before all others
		c.leave(e.class.name)
	case p.sample != nil:
		thread, ok := c.thread(e, p.threadField)
		if !ok {
			thread = c.row("jvm", "JVM", trace.KindThread)
		}
		c.sampler.add(e, p.sample, thread.at)
	case len(p.counters) > 0:
		c.counters(e, p)
	case p.threadField >= 0 || p.duration >= 0:
		c.interval(e, p)
	default:
		c.leave(e.class.name)
	}
}

// leave counts an event that is not kept.
func (c *converter) leave(name string) {
	if c.unread[name] == 0 {
		c.names = append(c.names, name)
	}
	c.unread[name]++
}

// row finds a row by its key.
func (c *converter) row(key, name string, kind trace.Kind) *row {
	r, ok := c.rows[key]
	if !ok {
		at := c.w.Location(trace.Location{Parent: c.process, Kind: kind, Key: cmp.Or(key, name), Name: name,
			Rank: trace.NoRank, Order: int64(len(c.order))})
		r = &row{at: at, counters: map[string]trace.CounterID{}}
		c.rows[key] = r
		c.order = append(c.order, r)
	}
	return r
}

func (c *converter) open(r *row) trace.Stream {
	if r.stream == nil {
		r.stream = c.w.Stream(r.at, trace.StreamOptions{Unordered: true})
	}
	return r.stream
}

// thread finds the thread that a field names.
func (c *converter) thread(e *event, i int) (*row, bool) {
	if i < 0 || i >= len(e.values) {
		return nil, false
	}
	x, v := e.class.fields[i].class, e.values[i]
	if v.kind == constant {
		id := v.n
		var ok bool
		if v, ok = e.chunk.constant(x, id); !ok {
			if id == 0 {
				return nil, false
			}
			return c.row("constant "+strconv.FormatInt(id, 10), "thread "+strconv.FormatInt(id, 10), trace.KindThread),
				true
		}
	}
	if v.kind != structure {
		return nil, false
	}
	number := func(name string) int64 {
		if i := x.field(name); i >= 0 && i < len(v.list) {
			return v.list[i].n
		}
		return 0
	}
	java, os := number("javaThreadId"), number("osThreadId")
	name := e.chunk.text(x, v, 0)
	key := fmt.Sprint("thread ", os, " ", java)
	if java > 0 {
		key = fmt.Sprint("java ", java)
	}
	return c.row(key, cmp.Or(name, fmt.Sprint("thread ", os)), trace.KindThread), true
}

// interval takes an event that lasts, or an instant of a thread.
func (c *converter) interval(e *event, p *plan) {
	r, ok := c.thread(e, p.threadField)
	if !ok {
		key, name := "jvm", "JVM"
		if p.collector {
			key, name = "gc", "garbage collector"
		}
		r = c.row(key, name, trace.KindThread)
	}
	s := c.open(r)
	begin := e.time()
	span := int64(0)
	if p.duration >= 0 {
		span = e.chunk.span(e.values[p.duration].n)
	}
	if span > 0 {
		s.Interval(begin, begin+trace.Time(span), p.region)
	} else {
		s.Instant(begin, p.region)
	}
	c.attributes(s, e)
}

// attributes adds the scalars of an event.
func (c *converter) attributes(s trace.Stream, e *event) {
	for i := range e.class.fields {
		f, v := &e.class.fields[i], e.values[i]
		var out trace.Value
		switch f.name {
		case "startTime", "duration", "eventThread":
			continue
		case "stackTrace":
			text := c.sampler.stackText(e.chunk, v.n)
			if text == "" {
				continue
			}
			out = trace.Text(text)
		default:
			switch {
			case v.kind == whole && f.ticks:
				out = trace.Integer(e.chunk.span(v.n))
			case v.kind == whole:
				out = trace.Integer(v.n)
			case v.kind == real:
				out = trace.Number(v.f)
			default:
				text := e.chunk.text(f.class, v, 0)
				if text == "" {
					continue
				}
				out = trace.Text(text)
			}
		}
		s.Attribute(c.attrs.ID(f.name), out)
	}
}

// counters takes an event with levels.
func (c *converter) counters(e *event, p *plan) {
	r, ok := c.thread(e, p.threadField)
	if !ok {
		r = c.rows["process"]
		if r == nil {
			r = &row{at: c.process, counters: map[string]trace.CounterID{}}
			c.rows["process"] = r
			c.order = append(c.order, r)
		}
	}
	at := e.time()
	for _, k := range p.counters {
		v, ok := e.number(k.field)
		if parts := strings.Split(k.field, "."); len(parts) == 2 {
			v, ok = e.inner(parts[0], parts[1])
		}
		if !ok {
			continue
		}
		id, known := r.counters[k.name]
		if !known {
			id = c.w.Counter(trace.Counter{Location: r.at, Name: k.name, Unit: k.unit})
			r.counters[k.name] = id
		}
		c.open(r).Sample(id, at, v)
	}
}

// inner is a number in a structure.
func (e *event) inner(name, member string) (float64, bool) {
	v, f := e.value(name)
	if f == nil || v.kind != structure {
		return 0, false
	}
	if i := f.class.field(member); i >= 0 && i < len(v.list) && v.list[i].kind == whole {
		return float64(v.list[i].n), true
	}
	return 0, false
}

// finish writes samples and sums, and ends all streams.
func (c *converter) finish(ctx context.Context) error {
	err := c.sampler.finish(ctx, c.label)
	for _, r := range c.order {
		if r.stream != nil {
			if e := r.stream.Close(); err == nil {
				err = e
			}
		}
	}
	c.reportUnread()
	return err
}

// reportUnread counts events without a thread, a duration or a level, and names the most frequent.
func (c *converter) reportUnread() {
	slices.SortStableFunc(c.names, func(a, b string) int { return cmp.Compare(c.unread[b], c.unread[a]) })
	count, example := int64(0), c.label
	for i, name := range c.names {
		count += c.unread[name]
		if i < 6 {
			example += fmt.Sprintf("%s %s (%d)", map[bool]string{true: ":", false: ","}[i == 0], name, c.unread[name])
		}
	}
	importer.Tell(c.w, trace.Redundant, "events that only describe (flags, modules, settings, statistics)", count,
		example)
}
