package otlp

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/importer/span"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A record is one span as it is written, in either form. It is used again for the
// next.
type record struct {
	traceID          string
	spanID, parentID span.ID
	name, kind       string
	start, end       int64 // ns; 0 for none
	attributes       []trace.Attribute
	events           []event
	links            []link
	failed           bool
	message          string
	dropped          int64
}

type event struct {
	time       int64
	name       string
	attributes []trace.Attribute
}

type link struct {
	traceID string
	spanID  span.ID
}

type scope struct{ name, version string }

// objects reads objects one after the other. Spans are taken one by one.
func objects(in *jsonstream.Reader, c *converter) error {
	for {
		err := in.Objects(func() error { return in.Members(func(name string) error { return member(in, c, name) }) })
		if err != nil || in.Next() == 0 {
			return err
		}
	}
}

// member reads one member of an object with spans, or of a query service's wrapper
// around it.
func member(in *jsonstream.Reader, c *converter, name string) error {
	switch name {
	case "resourceSpans", "resource_spans", "batches":
		return in.Array(func() error { return resourceSpans(in, c) })
	case "result", "trace":
		if in.Next() == '{' {
			return in.Members(func(name string) error { return member(in, c, name) })
		}
	case "resourceLogs", "resourceMetrics":
		in.Leave(trace.MissingDetails, "parts of the protocol that are no spans")
	}
	return in.Skip()
}

// resourceSpans reads the spans of one resource. Members before the resource's
// own description, which is unusual, are held until that is known.
func resourceSpans(in *jsonstream.Reader, c *converter) error {
	c.resource(nil)
	known := false
	var held []*jsonstream.Reader
	err := in.Members(func(name string) error {
		switch name {
		case "resource":
			var attributes []trace.Attribute
			ok, err := in.Take(func(j *jsonstream.Cursor) { attributes = readResource(j) })
			if known = true; ok {
				c.resource(attributes)
			}
			return err
		case "scopeSpans", "scope_spans", "instrumentationLibrarySpans":
			if !known {
				late, err := in.Hold()
				held = append(held, late)
				return err
			}
			return in.Array(func() error { return scopeSpans(in, c) })
		}
		return in.Skip()
	})
	for _, late := range held {
		if late == nil {
			continue
		}
		if failed := late.Array(func() error { return scopeSpans(late, c) }); err == nil {
			err = failed
		}
	}
	return err
}

func scopeSpans(in *jsonstream.Reader, c *converter) error {
	c.scope = scope{}
	known := false
	var held []*jsonstream.Reader
	err := in.Members(func(name string) error {
		switch name {
		case "scope", "instrumentationLibrary":
			_, err := in.Take(func(j *jsonstream.Cursor) {
				if s := readScope(j); s.name != "" {
					c.scope = s
				}
			})
			known = true
			return err
		case "spans":
			if !known {
				late, err := in.Hold()
				held = append(held, late)
				return err
			}
			return spans(in, c)
		}
		return in.Skip()
	})
	for _, late := range held {
		if late == nil {
			continue
		}
		if failed := spans(late, c); err == nil {
			err = failed
		}
	}
	return err
}

func spans(in *jsonstream.Reader, c *converter) error {
	return in.Array(func() error {
		ok, err := in.Walk(c.record.read)
		if ok {
			c.one(in.Offset(), in.Leave)
		}
		return err
	})
}

func readResource(c *jsonstream.Cursor) (attributes []trace.Attribute) {
	for ok := c.Open('{'); ok && c.More('}'); {
		switch string(c.Key()) {
		case "attributes":
			attributes = readAttributes(c, attributes)
		}
	}
	return attributes
}

func readScope(c *jsonstream.Cursor) (s scope) {
	for ok := c.Open('{'); ok && c.More('}'); {
		switch string(c.Key()) {
		case "name":
			s.name = c.Text()
		case "version":
			s.version = c.Text()
		}
	}
	return s
}

func (r *record) reset() {
	*r = record{attributes: r.attributes[:0], events: r.events[:0], links: r.links[:0]}
}

func (r *record) read(c *jsonstream.Cursor) {
	r.reset()
	for ok := c.Open('{'); ok && c.More('}'); {
		switch string(c.Key()) {
		case "traceId", "trace_id":
			r.traceID = c.Text()
		case "spanId", "span_id":
			r.spanID = span.ParseID(c.Bytes())
		case "parentSpanId", "parent_span_id":
			r.parentID = span.ParseID(c.Bytes())
		case "name":
			r.name = c.Text()
		case "kind":
			r.kind = kindOf(c.Scalar())
		case "startTimeUnixNano", "start_time_unix_nano":
			r.start, _ = c.Whole()
		case "endTimeUnixNano", "end_time_unix_nano":
			r.end, _ = c.Whole()
		case "attributes":
			r.attributes = readAttributes(c, r.attributes)
		case "events":
			r.readEvents(c)
		case "links":
			r.readLinks(c)
		case "status":
			r.readStatus(c)
		case "droppedAttributesCount", "dropped_attributes_count":
			r.dropped, _ = c.Whole()
		}
	}
}

func (r *record) readEvents(c *jsonstream.Cursor) {
	for ok := c.Open('['); ok && c.More(']'); {
		n := len(r.events)
		r.events = slices.Grow(r.events, 1)[:n+1] // with the attributes of one that was there before
		e := &r.events[n]
		*e = event{attributes: e.attributes[:0]}
		for ok := c.Open('{'); ok && c.More('}'); {
			switch string(c.Key()) {
			case "timeUnixNano", "time_unix_nano":
				e.time, _ = c.Whole()
			case "name":
				e.name = c.Text()
			case "attributes":
				e.attributes = readAttributes(c, e.attributes)
			}
		}
	}
}

func (r *record) readLinks(c *jsonstream.Cursor) {
	for ok := c.Open('['); ok && c.More(']'); {
		var l link
		for ok := c.Open('{'); ok && c.More('}'); {
			switch string(c.Key()) {
			case "traceId", "trace_id":
				l.traceID = c.Text()
			case "spanId", "span_id":
				l.spanID = span.ParseID(c.Bytes())
			}
		}
		r.links = append(r.links, l)
	}
}

func (r *record) readStatus(c *jsonstream.Cursor) {
	for ok := c.Open('{'); ok && c.More('}'); {
		switch string(c.Key()) {
		case "code":
			code := c.Scalar().String()
			r.failed = code == "2" || code == "STATUS_CODE_ERROR"
		case "message":
			r.message = c.Text()
		}
	}
}

// readAttributes appends attributes; those without a value are none.
func readAttributes(c *jsonstream.Cursor, to []trace.Attribute) []trace.Attribute {
	for ok := c.Open('['); ok && c.More(']'); {
		var a trace.Attribute
		for ok := c.Open('{'); ok && c.More('}'); {
			switch string(c.Key()) {
			case "key":
				a.Key = c.Text()
			case "value":
				a.Value = readValue(c)
			}
		}
		if a.Value.Kind != 0 {
			to = append(to, a)
		}
	}
	return to
}

// readValue reads a value, which says its type; lists and maps stay as their JSON.
func readValue(c *jsonstream.Cursor) (v trace.Value) {
	for ok := c.Open('{'); ok && c.More('}'); {
		switch string(c.Key()) {
		case "stringValue", "bytesValue", "string_value", "bytes_value":
			v = trace.Text(c.Text())
		case "intValue", "int_value":
			s := c.Scalar()
			if n, ok := whole(s); ok {
				s = trace.Integer(n)
			}
			v = s
		case "doubleValue", "boolValue", "double_value", "bool_value":
			v = c.Scalar()
		case "arrayValue", "kvlistValue", "array_value", "kvlist_value":
			v = trace.Text(string(c.Raw()))
		}
	}
	return v
}
