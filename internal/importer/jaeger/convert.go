package jaeger

import (
	"github.com/parallax-hpc/parallax/internal/importer/span"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// write hands the spans of a trace on.
func (t *traceReader) write() {
	for i := range t.spans {
		r := &t.spans[i]
		if r.SpanID == "" || r.TraceID == "" {
			t.in.Leave("spans without an id", nil)
			continue
		}
		t.one(r)
	}
}

func (t *traceReader) one(r *record) {
	s := span.Span{Trace: r.TraceID, ID: r.SpanID, Name: r.Operation, Offset: r.offset}
	if us, ok := r.Start.Whole(); ok && us > 0 {
		s.Begin, s.Timed = span.FromMicroseconds(us)
	}
	if us, ok := r.Duration.Whole(); ok {
		s.Duration, s.Lasting = span.FromMicroseconds(us)
	}
	p := r.Process
	if q := t.processes[r.ProcessID]; q != nil {
		p = q
	}
	if p != nil {
		s.Service, s.Instance, s.Resource = p.Service, p.instance(), attributes(p.Tags)
	} else {
		t.in.Leave("processes that spans name but the file does not hold", nil)
	}
	s.Parent, s.References = r.parents()
	for _, a := range r.Tags {
		if a.Key == "span.kind" {
			s.Kind = span.KindOf(a.Value.String())
		} else {
			s.Tags = append(s.Tags, trace.Attribute{Key: a.Key, Value: a.Value.Value})
		}
	}
	for _, text := range r.Warnings {
		s.Tags = append(s.Tags, trace.Attribute{Key: "warning", Value: text.Value})
	}
	for _, l := range r.Logs {
		us, ok := l.Timestamp.Whole()
		at, fits := span.FromMicroseconds(us)
		if !ok || !fits || at == 0 {
			t.in.Leave("logs without a time", nil)
			continue
		}
		s.Events = append(s.Events, span.Event{Time: at, Name: l.name(), Tags: attributes(l.Fields)})
	}
	t.out.Add(&s)
}

// parents tells the parent from the other references.
func (r *record) parents() (parent string, others []span.Reference) {
	own := -1
	for i, f := range r.References {
		if f.TraceID == r.TraceID && (own < 0 || f.Type == "CHILD_OF" && r.References[own].Type != "CHILD_OF") {
			own = i
		}
	}
	for i, f := range r.References {
		if i == own {
			parent = f.SpanID
		} else {
			others = append(others, span.Reference{Trace: f.TraceID, ID: f.SpanID})
		}
	}
	if own < 0 {
		parent = r.ParentID
	}
	return parent, others
}

// instance is what tells processes of one service apart.
func (p *process) instance() string {
	for _, key := range []string{"service.instance.id", "hostname", "host.name", "ip"} {
		for _, t := range p.Tags {
			if t.Key == key && t.Value.String() != "" {
				return t.Value.String()
			}
		}
	}
	return ""
}

func (l *log) name() string {
	for _, key := range []string{"event", "message"} {
		for _, f := range l.Fields {
			if f.Key == key {
				return f.Value.String()
			}
		}
	}
	return "log"
}

func attributes(tags []tag) (out []trace.Attribute) {
	for _, t := range tags {
		if t.Value.Kind != 0 {
			out = append(out, trace.Attribute{Key: t.Key, Value: t.Value.Value})
		}
	}
	return out
}
