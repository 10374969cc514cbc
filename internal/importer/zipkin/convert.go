package zipkin

import (
	"cmp"
	"net"
	"slices"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/importer/span"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A converter turns records into spans, one after the other.
type converter struct {
	out    *span.Writer
	record record
	span   span.Span
	known  [recentEndpoints]instance
}

// An instance is an endpoint with its address.
type instance struct {
	endpoint
	at string
}

// recentEndpoints are those whose address is not made again.
const recentEndpoints = 256

func (c *converter) one(in *jsonstream.Reader) {
	r := &c.record
	if r.id.None() || r.traceID == "" {
		in.Leave(trace.MissingIntervals, "spans without an id")
		return
	}
	s := &c.span
	*s = span.Span{Trace: r.traceID, ID: r.id, Parent: r.parentID, Name: r.name, Kind: span.KindOf(r.kind),
		Shared: r.shared, Offset: in.Offset(),
		Service: r.local.service, Instance: c.instance(&r.local), Events: s.Events[:0], Tags: s.Tags[:0]}
	if r.timed && r.timestamp > 0 {
		s.Begin, s.Timed = span.FromMicroseconds(r.timestamp)
	}
	s.Zero = r.timed && r.timestamp == 0
	if r.lasting {
		s.Duration, s.Lasting = span.FromMicroseconds(r.duration)
	}
	for _, a := range r.annotations {
		t, ok := span.FromMicroseconds(a.timestamp)
		if !ok || t == 0 {
			in.Leave(trace.MissingEvents, "annotations without a time")
			continue
		}
		s.Events = append(s.Events, span.Event{Time: t, Name: a.value})
	}
	s.Tags = r.attributes(s.Tags)
	c.out.Add(s)
}

func (r *record) attributes(tags []trace.Attribute) []trace.Attribute {
	name := r.remote.service
	if a := r.remote.address(); a != "" && name != "" {
		name += " " + a
	} else if name == "" {
		name = a
	}
	if name != "" {
		tags = append(tags, trace.Attribute{Key: "remote", Value: trace.Text(name)})
	}
	if !slices.IsSortedFunc(r.tags, compareTags) {
		slices.SortStableFunc(r.tags, compareTags)
	}
	for _, t := range r.tags {
		tags = append(tags, trace.Attribute{Key: t.key, Value: trace.Text(t.value)})
	}
	if r.debug {
		tags = append(tags, trace.Attribute{Key: "debug", Value: trace.Integer(1)})
	}
	return tags
}

func compareTags(a, b tag) int { return cmp.Compare(a.key, b.key) }

// instance is the address of an endpoint, mostly one that came before.
func (c *converter) instance(e *endpoint) string {
	k := uint32(e.port)
	for _, text := range [...]string{e.service, e.ipv4, e.ipv6} {
		k = (k ^ last(text)) * 0x9e3779b1
	}
	x := &c.known[k>>24]
	if x.endpoint != *e {
		x.endpoint, x.at = *e, e.address()
	}
	return x.at
}

// last is a number of the end of a text, which mostly tells it from others.
func last(text string) uint32 {
	n := len(text)
	if n < 2 {
		return uint32(n)
	}
	return uint32(text[n-1]) | uint32(text[n-2])<<8 | uint32(n)<<16
}

// address is host and port, as far as they are told.
func (e *endpoint) address() string {
	host := cmp.Or(e.ipv4, e.ipv6)
	if e.port == 0 || host == "" {
		return host
	}
	return net.JoinHostPort(host, strconv.FormatInt(e.port, 10))
}
