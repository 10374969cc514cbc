package zipkin

import (
	"encoding/json"
	"maps"
	"net"
	"slices"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer/span"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A converter turns records into spans.
type converter struct{ out *span.Writer }

// list takes a trace of a list of traces.
func (c *converter) list(in *span.Reader, raw json.RawMessage) error {
	var all []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	for _, one := range all {
		if err := c.one(in, one); err != nil {
			return err
		}
	}
	return nil
}

func (c *converter) one(in *span.Reader, raw json.RawMessage) error {
	var r record
	if err := json.Unmarshal(raw, &r); err != nil {
		in.Leave("spans with a value of the wrong type", err)
		return nil
	}
	if r.ID == "" || r.TraceID == "" {
		in.Leave("spans without an id", nil)
		return nil
	}
	s := span.Span{Trace: r.TraceID, ID: r.ID, Parent: r.ParentID, Name: r.Name, Kind: span.KindOf(r.Kind), Shared: r.Shared, Offset: in.InputOffset()}
	if r.Timestamp != nil && *r.Timestamp > 0 {
		s.Begin, s.Timed = span.FromMicroseconds(*r.Timestamp)
	}
	if r.Duration != nil {
		s.Duration, s.Lasting = span.FromMicroseconds(*r.Duration)
	}
	if r.Local != nil {
		s.Service, s.Instance = r.Local.Service, r.Local.address()
	}
	for _, a := range r.Annotations {
		t, ok := span.FromMicroseconds(a.Timestamp)
		if !ok || t == 0 {
			in.Leave("annotations without a time", nil)
			continue
		}
		s.Events = append(s.Events, span.Event{Time: t, Name: a.Value})
	}
	s.Tags = r.tags()
	c.out.Add(&s)
	return nil
}

func (r *record) tags() (tags []trace.Attribute) {
	if r.Remote != nil {
		name := r.Remote.Service
		if a := r.Remote.address(); a != "" && name != "" {
			name += " " + a
		} else if name == "" {
			name = a
		}
		if name != "" {
			tags = append(tags, trace.Attribute{Key: "remote", Value: trace.Text(name)})
		}
	}
	for _, k := range slices.Sorted(maps.Keys(r.Tags)) {
		tags = append(tags, trace.Attribute{Key: k, Value: trace.Text(r.Tags[k])})
	}
	if r.Debug {
		tags = append(tags, trace.Attribute{Key: "debug", Value: trace.Integer(1)})
	}
	return tags
}

// address is host and port, as far as they are told.
func (e *endpoint) address() string {
	host := e.IPv4
	if host == "" {
		host = e.IPv6
	}
	if e.Port == 0 || host == "" {
		return host
	}
	return net.JoinHostPort(host, strconv.Itoa(e.Port))
}
