package otlp

import (
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer/span"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// kinds are the names of the numbers of kinds.
var kinds = [...]string{"", "internal", "server", "client", "producer", "consumer"}

// A converter turns records into spans, one after the other.
type converter struct {
	out      *span.Writer
	record   record
	span     span.Span
	scope    scope
	facts    []trace.Attribute // of the resource
	service  string
	instance string
	written  string // the trace of the span before, as it is written, and in lower case
	lowered  string
}

// resource takes the attributes of a resource: those of the spans that follow.
func (c *converter) resource(attributes []trace.Attribute) {
	c.facts = attributes
	c.service = find(attributes, "service.name")
	c.instance = find(attributes, "service.instance.id", "k8s.pod.name", "container.id", "host.name", "process.pid")
}

// one writes the span of the record, which ends at an offset of the file.
func (c *converter) one(offset int64, leave func(trace.ReportKind, string)) {
	r, s := &c.record, &c.span
	if r.traceID == "" || r.spanID.None() {
		leave(trace.MissingIntervals, "spans without an id")
		return
	}
	*s = span.Span{Trace: c.lower(r.traceID), ID: r.spanID.Lower(), Parent: r.parentID.Lower(), Name: r.name,
		Kind: r.kind, Offset: offset,
		Service: c.service, Instance: c.instance, Resource: c.facts, Tags: append(s.Tags[:0], r.attributes...),
		Events: s.Events[:0], References: s.References[:0]}
	if r.start > 0 {
		s.Begin, s.Timed = trace.Time(r.start), true
	}
	if r.end > 0 && s.Timed {
		s.Duration, s.Lasting = trace.Time(r.end)-s.Begin, true
	}
	c.tags()
	for i := range r.events {
		e := &r.events[i]
		if e.time <= 0 {
			leave(trace.MissingEvents, "events without a time")
			continue
		}
		s.Events = append(s.Events, span.Event{Time: trace.Time(e.time), Name: e.name, Tags: e.attributes})
	}
	for _, l := range r.links {
		s.References = append(s.References, span.Reference{Trace: lower(l.traceID), ID: l.spanID.Lower()})
	}
	c.out.Add(s)
}

// tags adds fields that are no attributes in the format.
func (c *converter) tags() {
	r, s := &c.record, &c.span
	text := func(key, value string) {
		if value != "" {
			s.Tags = append(s.Tags, trace.Attribute{Key: key, Value: trace.Text(value)})
		}
	}
	if r.failed {
		text("status", "error")
	}
	text("status message", r.message)
	if r.dropped > 0 {
		s.Tags = append(s.Tags, trace.Attribute{Key: "dropped attributes", Value: trace.Integer(r.dropped)})
	}
	text("scope", c.scope.name)
	text("scope version", c.scope.version)
}

// lower brings the id of a trace to lower case. Mostly it is that of the span before.
func (c *converter) lower(id string) string {
	if id != c.written {
		c.written, c.lowered = id, lower(id)
	}
	return c.lowered
}

// lower brings hexadecimal ids to one case; ids of other kinds stay as they are.
func lower(id string) string {
	upper := false
	for i := 0; i < len(id); i++ {
		switch b := id[i]; {
		case b >= '0' && b <= '9' || b >= 'a' && b <= 'f':
		case b >= 'A' && b <= 'F':
			upper = true
		default:
			return id
		}
	}
	if upper {
		return strings.ToLower(id)
	}
	return id
}

// kindOf is the name of a kind that is written as a number or a name.
func kindOf(v trace.Value) string {
	if n, ok := whole(v); ok {
		if n >= 0 && int(n) < len(kinds) {
			return kinds[n]
		}
		return ""
	}
	return span.KindOf(v.String())
}

// whole is a value as a whole number, also where it is written as text.
func whole(v trace.Value) (int64, bool) {
	if v.Kind == trace.ValueText {
		n, err := strconv.ParseInt(v.String(), 10, 64)
		return n, err == nil
	}
	return v.Integer()
}

func find(attributes []trace.Attribute, keys ...string) string {
	for _, k := range keys {
		for _, a := range attributes {
			if a.Key == k && a.Value.String() != "" {
				return a.Value.String()
			}
		}
	}
	return ""
}
