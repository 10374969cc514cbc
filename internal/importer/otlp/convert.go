package otlp

import (
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer/span"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// kinds are the names of the numbers of kinds.
var kinds = [...]string{"", "internal", "server", "client", "producer", "consumer"}

func convert(in *span.Reader, out *span.Writer, r *resourceSpans) {
	resource := attributes(r.Resource.Attributes)
	service := find(resource, "service.name")
	instance := find(resource, "service.instance.id", "k8s.pod.name", "container.id", "host.name", "process.pid")
	for _, scopes := range [][]scopeSpans{r.Scopes, r.Scopes2, r.Libraries} {
		for i := range scopes {
			scope := scopes[i].Scope
			if scope.Name == "" {
				scope = scopes[i].Library
			}
			for k := range scopes[i].Spans {
				s, ok := scopes[i].Spans[k].span(in)
				if !ok {
					in.Leave("spans without an id", nil)
					continue
				}
				s.Service, s.Instance, s.Resource = service, instance, resource
				s.Tags = append(s.Tags, scope.tags()...)
				out.Add(&s)
			}
		}
	}
}

func (r *record) span(in *span.Reader) (s span.Span, ok bool) {
	if r.TraceID == "" || r.SpanID == "" {
		return s, false
	}
	s = span.Span{Trace: id(r.TraceID), ID: id(r.SpanID), Parent: id(r.ParentID), Name: r.Name, Kind: kindOf(r.Kind), Offset: in.InputOffset()}
	if t, ok := r.Start.Whole(); ok && t > 0 {
		s.Begin, s.Timed = trace.Time(t), true
	}
	if t, ok := r.End.Whole(); ok && t > 0 && s.Timed {
		s.Duration, s.Lasting = trace.Time(t)-s.Begin, true
	}
	s.Tags = attributes(r.Attributes)
	if code := r.Status.Code.String(); code == "2" || code == "STATUS_CODE_ERROR" {
		s.Tags = append(s.Tags, trace.Attribute{Key: "status", Value: trace.Text("error")})
	}
	if r.Status.Message != "" {
		s.Tags = append(s.Tags, trace.Attribute{Key: "status message", Value: trace.Text(r.Status.Message)})
	}
	if r.Dropped > 0 {
		s.Tags = append(s.Tags, trace.Attribute{Key: "dropped attributes", Value: trace.Integer(r.Dropped)})
	}
	for _, e := range r.Events {
		t, ok := e.Time.Whole()
		if !ok || t <= 0 {
			in.Leave("events without a time", nil)
			continue
		}
		s.Events = append(s.Events, span.Event{Time: trace.Time(t), Name: e.Name, Tags: attributes(e.Attributes)})
	}
	for _, l := range r.Links {
		s.References = append(s.References, span.Reference{Trace: id(l.TraceID), ID: id(l.SpanID)})
	}
	return s, true
}

// id brings hexadecimal ids to one case; ids of other kinds stay as they are.
func id(text string) string {
	if strings.Trim(text, "0123456789abcdefABCDEF") == "" {
		return strings.ToLower(text)
	}
	return text
}

func kindOf(k span.Scalar) string {
	if n, ok := k.Whole(); ok {
		if n >= 0 && int(n) < len(kinds) {
			return kinds[n]
		}
		return ""
	}
	return span.KindOf(k.String())
}

func (s scope) tags() (tags []trace.Attribute) {
	if s.Name != "" {
		tags = append(tags, trace.Attribute{Key: "scope", Value: trace.Text(s.Name)})
	}
	if s.Version != "" {
		tags = append(tags, trace.Attribute{Key: "scope version", Value: trace.Text(s.Version)})
	}
	return tags
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

func attributes(in []attribute) (out []trace.Attribute) {
	for _, a := range in {
		if v := a.Value.value(); v.Kind != 0 {
			out = append(out, trace.Attribute{Key: a.Key, Value: v})
		}
	}
	return out
}

func (v *value) value() trace.Value {
	switch {
	case v.Text != nil:
		return trace.Text(*v.Text)
	case v.Whole != nil:
		if n, ok := v.Whole.Whole(); ok {
			return trace.Integer(n)
		}
		return v.Whole.Value
	case v.Number != nil:
		return v.Number.Value
	case v.Truth != nil:
		return v.Truth.Value
	case v.Bytes != nil:
		return trace.Text(*v.Bytes)
	case v.List != nil:
		return trace.Text(string(v.List))
	case v.Map != nil:
		return trace.Text(string(v.Map))
	}
	return trace.Value{}
}
