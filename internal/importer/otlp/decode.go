package otlp

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer/protobuf"
	"github.com/parallax-hpc/parallax/internal/importer/span"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Messages of OpenTelemetry's protocol, as far as they are read.
type (
	tracesMessage struct {
		resources [][]byte `pb:"1"`
	}
	resourceMessage struct {
		resource struct {
			attributes [][]byte `pb:"1"`
		} `pb:"1"`
		scopes [][]byte `pb:"2,1000"` // before there were scopes there were libraries
	}
	scopeMessage struct {
		scope struct {
			name    []byte `pb:"1"`
			version []byte `pb:"2"`
		} `pb:"1"`
		spans [][]byte `pb:"2"`
	}
	spanMessage struct {
		traceID    []byte   `pb:"1"`
		spanID     []byte   `pb:"2"`
		parentID   []byte   `pb:"4"`
		name       []byte   `pb:"5"`
		kind       uint64   `pb:"6"`
		start      int64    `pb:"7"`
		end        int64    `pb:"8"`
		attributes [][]byte `pb:"9"`
		dropped    int64    `pb:"10"`
		events     [][]byte `pb:"11"`
		links      [][]byte `pb:"13"`
		status     struct {
			message []byte `pb:"2"`
			code    uint64 `pb:"3"`
		} `pb:"15"`
	}
	eventMessage struct {
		time       int64    `pb:"1"`
		name       []byte   `pb:"2"`
		attributes [][]byte `pb:"3"`
	}
	linkMessage struct {
		traceID []byte `pb:"1"`
		spanID  []byte `pb:"2"`
	}
	pairMessage struct {
		key   []byte `pb:"1"`
		value []byte `pb:"2"`
	}
	valueMessage struct {
		value protobuf.Value `pb:"1,2,3,4,5,6,7"`
	}
	listMessage struct {
		values [][]byte `pb:"1"`
	}
)

var (
	tracesTable   = protobuf.TableOf[tracesMessage]()
	resourceTable = protobuf.TableOf[resourceMessage]()
	scopeTable    = protobuf.TableOf[scopeMessage]()
	spanTable     = protobuf.TableOf[spanMessage]()
	eventTable    = protobuf.TableOf[eventMessage]()
	linkTable     = protobuf.TableOf[linkMessage]()
	pairTable     = protobuf.TableOf[pairMessage]()
	valueTable    = protobuf.TableOf[valueMessage]()
	listTable     = protobuf.TableOf[listMessage]()
)

// statusError is the code of a span that failed.
const statusError = 2

// Field numbers of values.
const (
	valueText    = 1
	valueBool    = 2
	valueInteger = 3
	valueDouble  = 4
	valueList    = 5
	valueMap     = 6
	valueBytes   = 7
)

// readResource writes the spans of one resource.
func (m *messages) readResource(b []byte) {
	r, sound := resourceTable.Of(b)
	m.c.resource(m.appendAttributes(nil, r.resource.attributes))
	for _, scope := range r.scopes {
		sound = m.readScope(scope) && sound
	}
	if !sound {
		m.leave(trace.MissingIntervals, "messages that cannot be decoded")
	}
}

func (m *messages) readScope(b []byte) bool {
	s, sound := scopeTable.Of(b)
	m.c.scope = scope{m.text(s.scope.name), m.text(s.scope.version)}
	for _, span := range s.spans {
		if m.readSpan(span) {
			m.c.one(m.offset, m.leave)
		} else {
			sound = false
		}
	}
	return sound
}

// readSpan reads a span into the converter's record.
func (m *messages) readSpan(b []byte) bool {
	s := &m.span
	*s = spanMessage{attributes: s.attributes[:0], events: s.events[:0], links: s.links[:0]}
	sound := spanTable.Decode(b, s)
	r := &m.c.record
	r.reset()
	m.hex = hex.AppendEncode(m.hex[:0], s.traceID)
	r.traceID, r.spanID, r.parentID = m.text(m.hex), spanID(s.spanID), spanID(s.parentID)
	r.name, r.start, r.end, r.dropped = m.text(s.name), s.start, s.end, s.dropped
	if s.kind < uint64(len(kinds)) {
		r.kind = kinds[s.kind]
	}
	r.message, r.failed = m.text(s.status.message), s.status.code == statusError
	r.attributes = m.appendAttributes(r.attributes, s.attributes)
	for _, b := range s.events {
		e, _ := eventTable.Of(b)
		r.events = append(r.events, event{e.time, m.text(e.name), m.appendAttributes(nil, e.attributes)})
	}
	for _, b := range s.links {
		l, _ := linkTable.Of(b)
		r.links = append(r.links, link{hex.EncodeToString(l.traceID), spanID(l.spanID)})
	}
	return sound
}

// spanID returns the id of a span, of eight bytes as a rule.
func spanID(b []byte) span.ID {
	if len(b) == 8 {
		return span.BinaryID(binary.BigEndian.Uint64(b))
	}
	return span.ParseID(hex.AppendEncode(nil, b))
}

// appendAttributes appends pairs of key and value; those without a value are left out.
func (m *messages) appendAttributes(to []trace.Attribute, pairs [][]byte) []trace.Attribute {
	for _, b := range pairs {
		p, _ := pairTable.Of(b)
		if v := m.value(p.value); v.Kind != 0 {
			to = append(to, trace.Attribute{Key: m.text(p.key), Value: v})
		}
	}
	return to
}

// value returns a value of any type; lists and maps as JSON.
func (m *messages) value(b []byte) trace.Value {
	f, _ := valueTable.Of(b)
	switch v := f.value; v.Number {
	case valueText:
		return trace.Text(m.text(v.Bytes))
	case valueBool:
		return trace.Text(strconv.FormatBool(v.Bits != 0))
	case valueInteger:
		return trace.Integer(int64(v.Bits))
	case valueDouble:
		return trace.Number(v.Double())
	case valueList, valueMap:
		if text, err := json.Marshal(plain(b, deepest)); err == nil {
			return trace.Text(string(text))
		}
	case valueBytes:
		return trace.Text(base64.StdEncoding.EncodeToString(v.Bytes))
	}
	return trace.Value{}
}

// deepest bounds the nesting of lists and maps.
const deepest = 16

// plain returns a value as one of Go's, for JSON.
func plain(b []byte, depth int) any {
	if depth == 0 {
		return "…"
	}
	f, _ := valueTable.Of(b)
	switch v := f.value; v.Number {
	case valueText:
		return string(v.Bytes)
	case valueBool:
		return v.Bits != 0
	case valueInteger:
		return int64(v.Bits)
	case valueDouble:
		if x := v.Double(); !math.IsNaN(x) && !math.IsInf(x, 0) {
			return x
		}
	case valueList:
		list := []any{}
		values, _ := listTable.Of(v.Bytes)
		for _, b := range values.values {
			list = append(list, plain(b, depth-1))
		}
		return list
	case valueMap:
		entries := map[string]any{}
		pairs, _ := listTable.Of(v.Bytes)
		for _, b := range pairs.values {
			p, _ := pairTable.Of(b)
			entries[string(p.key)] = nil
			if p.value != nil {
				entries[string(p.key)] = plain(p.value, depth-1)
			}
		}
		return entries
	case valueBytes:
		return v.Bytes
	}
	return nil
}

// text returns bytes as a string, the same one for frequent strings.
func (m *messages) text(b []byte) string { return m.texts.Intern(b) }
