package otlp

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/parallax-hpc/parallax/internal/importer/span"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A field is one of a message: a number, or bytes.
type field struct {
	number protowire.Number
	value  uint64
	bytes  []byte
}

// fields hands the fields of a message to f; it is false where the bytes break.
func fields(b []byte, f func(field)) bool {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return false
		}
		b = b[n:]
		x := field{number: number}
		switch kind {
		case protowire.VarintType:
			x.value, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			x.bytes, n = protowire.ConsumeBytes(b)
		case protowire.Fixed64Type:
			x.value, n = protowire.ConsumeFixed64(b)
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(b)
			x.value = uint64(v)
		default:
			n = protowire.ConsumeFieldValue(number, kind, b)
		}
		if n < 0 {
			return false
		}
		b = b[n:]
		f(x)
	}
	return true
}

// resource takes the spans of one resource.
func (m *messages) resource(b []byte) {
	var attributes []trace.Attribute
	sound := fields(b, func(f field) {
		if f.number == resourceSpansResource {
			fields(f.bytes, func(f field) {
				if f.number == resourceAttribute {
					attributes = m.attribute(f.bytes, attributes)
				}
			})
		}
	})
	m.c.resource(attributes)
	fields(b, func(f field) {
		if f.number == resourceSpansScope || f.number == resourceSpansLibrary {
			sound = m.scope(f.bytes) && sound
		}
	})
	if !sound {
		m.leave("messages that cannot be decoded")
	}
}

func (m *messages) scope(b []byte) bool {
	m.c.scope = scope{}
	sound := fields(b, func(f field) {
		if f.number == scopeSpansScope {
			fields(f.bytes, func(f field) {
				switch f.number {
				case scopeName:
					m.c.scope.name = m.text(f.bytes)
				case scopeVersion:
					m.c.scope.version = m.text(f.bytes)
				}
			})
		}
	})
	fields(b, func(f field) {
		if f.number == scopeSpansSpan {
			if m.span(f.bytes) {
				m.c.one(m.offset, m.leave)
			} else {
				sound = false
			}
		}
	})
	return sound
}

func (m *messages) span(b []byte) bool {
	r := &m.c.record
	r.reset()
	return fields(b, func(f field) {
		switch f.number {
		case spanTrace:
			m.hex = hex.AppendEncode(m.hex[:0], f.bytes)
			r.traceID = m.text(m.hex)
		case spanOwn:
			r.spanID = spanID(f.bytes)
		case spanParent:
			r.parentID = spanID(f.bytes)
		case spanName:
			r.name = m.text(f.bytes)
		case spanKind:
			if f.value < uint64(len(kinds)) {
				r.kind = kinds[f.value]
			}
		case spanStart:
			r.start = int64(f.value)
		case spanEnd:
			r.end = int64(f.value)
		case spanAttribute:
			r.attributes = m.attribute(f.bytes, r.attributes)
		case spanDropped:
			r.dropped = int64(f.value)
		case spanEvent:
			r.events = append(r.events, m.event(f.bytes))
		case spanLink:
			var l link
			fields(f.bytes, func(f field) {
				switch f.number {
				case linkTrace:
					l.traceID = hex.EncodeToString(f.bytes)
				case linkSpan:
					l.spanID = spanID(f.bytes)
				}
			})
			r.links = append(r.links, l)
		case spanStatus:
			fields(f.bytes, func(f field) {
				switch f.number {
				case statusMessage:
					r.message = m.text(f.bytes)
				case statusCode:
					r.failed = f.value == statusError
				}
			})
		}
	})
}

// spanID is an id in eight bytes, as it should be, or in some other number of them.
func spanID(b []byte) span.ID {
	if len(b) == 8 {
		return span.BinaryID(binary.BigEndian.Uint64(b))
	}
	return span.ParseID(hex.AppendEncode(nil, b))
}

func (m *messages) event(b []byte) (e event) {
	fields(b, func(f field) {
		switch f.number {
		case eventTime:
			e.time = int64(f.value)
		case eventName:
			e.name = m.text(f.bytes)
		case eventAttribute:
			e.attributes = m.attribute(f.bytes, e.attributes)
		}
	})
	return e
}

// attribute appends a pair of key and value; without a value it is none.
func (m *messages) attribute(b []byte, to []trace.Attribute) []trace.Attribute {
	var a trace.Attribute
	fields(b, func(f field) {
		switch f.number {
		case pairKey:
			a.Key = m.text(f.bytes)
		case pairValue:
			a.Value = m.value(f.bytes)
		}
	})
	if a.Value.Kind == 0 {
		return to
	}
	return append(to, a)
}

// value is a value of any type; lists and maps are told in JSON.
func (m *messages) value(b []byte) (v trace.Value) {
	fields(b, func(f field) {
		switch f.number {
		case valueText:
			v = trace.Text(m.text(f.bytes))
		case valueBool:
			v = trace.Text(strconv.FormatBool(f.value != 0))
		case valueInteger:
			v = trace.Integer(int64(f.value))
		case valueDouble:
			v = trace.Number(math.Float64frombits(f.value))
		case valueList, valueMap:
			if text, err := json.Marshal(plain(b, deepest)); err == nil {
				v = trace.Text(string(text))
			}
		case valueBytes:
			v = trace.Text(base64.StdEncoding.EncodeToString(f.bytes))
		}
	})
	return v
}

// deepest is how far lists and maps within each other are told.
const deepest = 16

// plain is a value as Go's, for JSON.
func plain(b []byte, depth int) (v any) {
	if depth == 0 {
		return "…"
	}
	fields(b, func(f field) {
		switch f.number {
		case valueText:
			v = string(f.bytes)
		case valueBool:
			v = f.value != 0
		case valueInteger:
			v = int64(f.value)
		case valueDouble:
			if x := math.Float64frombits(f.value); !math.IsNaN(x) && !math.IsInf(x, 0) {
				v = x
			}
		case valueList:
			list := []any{}
			fields(f.bytes, func(f field) { list = append(list, plain(f.bytes, depth-1)) })
			v = list
		case valueMap:
			entries := map[string]any{}
			fields(f.bytes, func(f field) {
				var key string
				var value any
				fields(f.bytes, func(f field) {
					if f.number == pairKey {
						key = string(f.bytes)
					} else {
						value = plain(f.bytes, depth-1)
					}
				})
				entries[key] = value
			})
			v = entries
		case valueBytes:
			v = f.bytes
		}
	})
	return v
}

// text is bytes as a string, the same one for texts that come often.
func (m *messages) text(b []byte) string { return m.texts.Intern(b) }
