package zipkin

import (
	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/importer/span"
)

// A record is one span as it is written. It is used again for the next.
type record struct {
	traceID             string
	id, parentID        span.ID
	name, kind          string
	timestamp, duration int64 // µs
	timed, lasting      bool
	local, remote       endpoint
	annotations         []annotation
	tags                []tag
	shared, debug       bool
}

type endpoint struct {
	service, ipv4, ipv6 string
	port                int64
}

type annotation struct {
	timestamp int64 // µs
	value     string
}

type tag struct{ key, value string }

// spans reads a list of spans, or of lists of them.
func spans(in *jsonstream.Reader, out *span.Writer) error {
	c := converter{out: out}
	return in.Array(func() error {
		if in.Next() == '[' {
			return in.Array(func() error { return c.take(in) })
		}
		return c.take(in)
	})
}

// take reads one span.
func (c *converter) take(in *jsonstream.Reader) error {
	ok, err := in.Walk(c.record.read)
	if ok {
		c.one(in)
	}
	return err
}

func (r *record) read(c *jsonstream.Cursor) {
	*r = record{annotations: r.annotations[:0], tags: r.tags[:0]}
	for ok := c.Open('{'); ok && c.More('}'); {
		switch string(c.Key()) {
		case "traceId":
			r.traceID = c.Text()
		case "id":
			r.id = span.ParseID(c.Bytes())
		case "parentId":
			r.parentID = span.ParseID(c.Bytes())
		case "name":
			r.name = c.Text()
		case "kind":
			r.kind = c.Text()
		case "timestamp":
			r.timestamp, r.timed = c.Number()
		case "duration":
			r.duration, r.lasting = c.Number()
		case "localEndpoint":
			r.local.read(c)
		case "remoteEndpoint":
			r.remote.read(c)
		case "annotations":
			r.readAnnotations(c)
		case "tags":
			for ok := c.Open('{'); ok && c.More('}'); {
				key := c.Name()
				r.tags = append(r.tags, tag{key, c.Text()})
			}
		case "shared":
			r.shared = c.Truth()
		case "debug":
			r.debug = c.Truth()
		}
	}
}

func (e *endpoint) read(c *jsonstream.Cursor) {
	for ok := c.Open('{'); ok && c.More('}'); {
		switch string(c.Key()) {
		case "serviceName":
			e.service = c.Text()
		case "ipv4":
			e.ipv4 = c.Text()
		case "ipv6":
			e.ipv6 = c.Text()
		case "port":
			e.port, _ = c.Number()
		}
	}
}

func (r *record) readAnnotations(c *jsonstream.Cursor) {
	for ok := c.Open('['); ok && c.More(']'); {
		var a annotation
		for ok := c.Open('{'); ok && c.More('}'); {
			switch string(c.Key()) {
			case "timestamp":
				a.timestamp, _ = c.Number()
			case "value":
				a.value = c.Text()
			}
		}
		r.annotations = append(r.annotations, a)
	}
}
