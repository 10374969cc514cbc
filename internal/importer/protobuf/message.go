package protobuf

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// A Message walks the fields of an encoded message in place, without copies or
// allocations. After Next, Number is the field's number, and Value or Bytes its value.
//
//	m := protobuf.Open(b)
//	for m.Next() {
//		switch m.Number { … }
//	}
//
// Declare it outside of the loop: one declared by the loop is copied in every round.
type Message struct {
	rest   []byte
	Number int32
	Kind   protowire.Type
	Value  uint64 // of a varint or a number of fixed size
	Bytes  []byte // of text, bytes, a message or a packed list
	Broken bool   // the bytes are no message from here on
}

// Open returns the message whose encoding is b.
func Open(b []byte) Message { return Message{rest: b} }

// Small is Next for a number of one byte, as most fields are. It returns false for
// others, which Next then reads. The compiler inlines it, so hot loops ask for both.
func (m *Message) Small() bool {
	b := m.rest
	if len(b) < 2 || b[0]&0x87 != 0 || b[0] == 0 || b[1] >= 0x80 {
		return false
	}
	m.Number, m.Kind, m.Value, m.rest = int32(b[0]>>3), protowire.VarintType, uint64(b[1]), b[2:]
	return true
}

// Next goes to the next field. It returns false at the end, and if the bytes break.
// Tags, sizes and numbers of one or two bytes, as most are, are read in place.
func (m *Message) Next() bool {
	b := m.rest
	if len(b) == 0 {
		return false
	}
	tag, n := uint64(b[0]), 1
	if tag >= 0x80 {
		if len(b) > 1 && b[1] < 0x80 {
			tag, n = tag&0x7f|uint64(b[1])<<7, 2
		} else if tag, n = protowire.ConsumeVarint(b); n <= 0 || tag>>3 > math.MaxInt32 {
			return m.stop()
		}
	}
	if tag < 8 || n >= len(b) { // no field has number 0, and none is empty
		return m.stop()
	}
	b = b[n:]
	m.Number, m.Kind = int32(tag>>3), protowire.Type(tag&7)
	switch m.Kind {
	case protowire.VarintType:
		if n = 1; b[0] < 0x80 {
			m.Value = uint64(b[0])
		} else if n = 2; len(b) > 1 && b[1] < 0x80 {
			m.Value = uint64(b[0]&0x7f) | uint64(b[1])<<7
		} else if m.Value, n = protowire.ConsumeVarint(b); n <= 0 {
			return m.stop()
		}
	case protowire.BytesType:
		size := uint64(b[0])
		if n = 1; size >= 0x80 {
			if size, n = protowire.ConsumeVarint(b); n <= 0 {
				return m.stop()
			}
		}
		if size > uint64(len(b)-n) {
			return m.stop()
		}
		m.Bytes = b[n : n+int(size)]
		n += int(size)
	case protowire.Fixed64Type:
		if n = 8; len(b) < n {
			return m.stop()
		}
		m.Value = binary.LittleEndian.Uint64(b)
	case protowire.Fixed32Type:
		if n = 4; len(b) < n {
			return m.stop()
		}
		m.Value = uint64(binary.LittleEndian.Uint32(b))
	default: // groups, which no message of our formats has
		if n = protowire.ConsumeFieldValue(protowire.Number(m.Number), m.Kind, b); n <= 0 {
			return m.stop()
		}
	}
	m.rest = b[n:]
	return true
}

func (m *Message) stop() bool {
	m.rest, m.Broken = nil, true
	return false
}

// Double returns the value of a field of type double.
func (m *Message) Double() float64 { return math.Float64frombits(m.Value) }

// Uvarint is protowire.ConsumeVarint with the common case first.
func Uvarint(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return protowire.ConsumeVarint(b)
}

// AppendVarints appends the numbers of a repeated field, packed or one at a time.
func (m *Message) AppendVarints(to []uint64) []uint64 {
	if m.Kind != protowire.BytesType {
		return append(to, m.Value)
	}
	for b := m.Bytes; len(b) > 0; {
		v, n := Uvarint(b)
		if n <= 0 {
			m.Broken = true
			break
		}
		to, b = append(to, v), b[n:]
	}
	return to
}

// AppendFixed is AppendVarints for numbers of eight bytes.
func (m *Message) AppendFixed(to []uint64) []uint64 {
	if m.Kind != protowire.BytesType {
		return append(to, m.Value)
	}
	b := m.Bytes
	for ; len(b) >= 8; b = b[8:] {
		to = append(to, binary.LittleEndian.Uint64(b))
	}
	m.Broken = m.Broken || len(b) > 0
	return to
}
