package jaeger

import (
	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/importer/span"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A converter turns records into spans, one after the other.
type converter struct {
	out  *span.Writer
	span span.Span
}

func (c *converter) one(in *jsonstream.Reader, r *record, processes map[string]*process) {
	if r.spanID.None() || r.traceID == "" {
		in.LeaveAt(trace.MissingIntervals, "spans without an id", r.offset)
		return
	}
	s := &c.span
	*s = span.Span{Trace: r.traceID, ID: r.spanID, Name: r.operation, Offset: r.offset, Events: s.Events[:0],
		Tags: s.Tags[:0], References: s.References[:0]}
	if r.timed && r.start > 0 {
		s.Begin, s.Timed = span.FromMicroseconds(r.start)
	}
	s.Zero = r.timed && r.start == 0
	if r.lasting {
		s.Duration, s.Lasting = span.FromMicroseconds(r.duration)
	}
	p := r.process
	if q := processes[r.processID]; q != nil {
		p = q
	}
	if p != nil {
		s.Service, s.Instance, s.Resource = p.service, p.instance, p.tags
	} else {
		in.LeaveAt(trace.MissingNames, "processes that spans name but the file does not hold", r.offset)
	}
	s.Parent, s.Follows, s.References = r.parents(s.References)
	for _, a := range r.tags {
		if a.Key == "span.kind" {
			s.Kind = span.KindOf(a.Value.String())
		} else {
			s.Tags = append(s.Tags, a)
		}
	}
	for _, text := range r.warnings {
		s.Tags = append(s.Tags, trace.Attribute{Key: "warning", Value: text})
	}
	for i := range r.logs {
		l := &r.logs[i]
		at, fits := span.FromMicroseconds(l.timestamp)
		if !l.timed || !fits || at == 0 {
			in.LeaveAt(trace.MissingEvents, "logs without a time", r.offset)
			continue
		}
		s.Events = append(s.Events, span.Event{Time: at, Name: l.name(), Tags: l.fields})
	}
	s.Tags = r.baggage(s.Tags)
	if text, ok := r.failure(); ok {
		s.Tags = append(s.Tags, trace.Attribute{Key: span.ErrorInLog, Value: text})
	}
	c.out.Add(s)
}

// failure is the error in the logs. OpenTracing has it there: as the event "error", or as the error itself.
func (r *record) failure() (trace.Value, bool) {
	for i := range r.logs {
		for _, f := range r.logs[i].fields {
			if f.Key == "error" || f.Key == "error.object" || f.Key == "event" && f.Value.String() == "error" {
				return f.Value, true
			}
		}
	}
	return trace.Value{}, false
}

// baggage is the data that a span handed on to those it called: Jaeger's clients log it, by key and value.
func (r *record) baggage(tags []trace.Attribute) []trace.Attribute {
	for i := range r.logs {
		var key string
		var value trace.Value
		is := false
		for _, f := range r.logs[i].fields {
			switch f.Key {
			case "event":
				is = f.Value.String() == "baggage"
			case "key":
				key = f.Value.String()
			case "value":
				value = f.Value
			}
		}
		if is && key != "" {
			tags = append(tags, trace.Attribute{Key: "baggage." + key, Value: value})
		}
	}
	return tags
}

// parents distinguishes the parent from the other references.
func (r *record) parents(others []span.Reference) (parent span.ID, follows bool, rest []span.Reference) {
	own := -1
	for i, f := range r.references {
		if f.traceID == r.traceID && (own < 0 || f.kind == "CHILD_OF" && r.references[own].kind != "CHILD_OF") {
			own = i
		}
	}
	for i, f := range r.references {
		if i == own {
			parent, follows = f.spanID, f.kind == "FOLLOWS_FROM"
		} else {
			others = append(others, span.Reference{Trace: f.traceID, ID: f.spanID})
		}
	}
	if own < 0 {
		parent = r.parentID
	}
	return parent, follows, others
}

// name distinguishes processes of one service.
func (p *process) name() string {
	for _, key := range []string{"service.instance.id", "hostname", "host.name", "ip"} {
		for _, t := range p.tags {
			if t.Key == key && t.Value.String() != "" {
				return t.Value.String()
			}
		}
	}
	return ""
}

func (l *log) name() string {
	for _, key := range []string{"event", "message"} {
		for _, f := range l.fields {
			if f.Key == key {
				return f.Value.String()
			}
		}
	}
	return "log"
}
