package perfetto

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// A message walks the fields of an encoded message in place: nothing is copied
// and nothing allocated. After next, number says which field it is at, and one of
// value and bytes holds what it says.
//
//	m := open(b)
//	for m.next() {
//		switch m.number { … }
//	}
//
// A message that the loop itself declares is copied in every round.
type message struct {
	rest   []byte
	number int32
	kind   protowire.Type
	value  uint64 // of a varint or a number of fixed size
	bytes  []byte // of text, bytes, a message or a packed list
	broken bool   // the bytes are no message from here on
}

func open(b []byte) message { return message{rest: b} }

// small is next for a small number, which most fields are: it is false for others,
// which next then reads. Loops that must be fast ask for both; small needs no call.
func (m *message) small() bool {
	b := m.rest
	if len(b) < 2 || b[0]&0x87 != 0 || b[0] == 0 || b[1] >= 0x80 {
		return false
	}
	m.number, m.kind, m.value, m.rest = int32(b[0]>>3), protowire.VarintType, uint64(b[1]), b[2:]
	return true
}

// next goes to the next field. It is false at the end, and where the bytes break.
// Tags, sizes and small numbers of one byte, which most are, are read in place.
func (m *message) next() bool {
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
	m.number, m.kind = int32(tag>>3), protowire.Type(tag&7)
	switch m.kind {
	case protowire.VarintType:
		if n = 1; b[0] < 0x80 {
			m.value = uint64(b[0])
		} else if n = 2; len(b) > 1 && b[1] < 0x80 {
			m.value = uint64(b[0]&0x7f) | uint64(b[1])<<7
		} else if m.value, n = protowire.ConsumeVarint(b); n <= 0 {
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
		m.bytes = b[n : n+int(size)]
		n += int(size)
	case protowire.Fixed64Type:
		if n = 8; len(b) < n {
			return m.stop()
		}
		m.value = binary.LittleEndian.Uint64(b)
	case protowire.Fixed32Type:
		if n = 4; len(b) < n {
			return m.stop()
		}
		m.value = uint64(binary.LittleEndian.Uint32(b))
	default: // groups, which no message of the format has
		if n = protowire.ConsumeFieldValue(protowire.Number(m.number), m.kind, b); n <= 0 {
			return m.stop()
		}
	}
	m.rest = b[n:]
	return true
}

func (m *message) stop() bool {
	m.rest, m.broken = nil, true
	return false
}

// double is the value of a field of type double.
func (m *message) double() float64 { return math.Float64frombits(m.value) }

// uvarint is protowire.ConsumeVarint with the common case first.
func uvarint(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return protowire.ConsumeVarint(b)
}

// list appends the numbers of a repeated field, packed or one at a time.
func (m *message) list(to []uint64) []uint64 {
	if m.kind != protowire.BytesType {
		return append(to, m.value)
	}
	for b := m.bytes; len(b) > 0; {
		v, n := uvarint(b)
		if n <= 0 {
			m.broken = true
			break
		}
		to, b = append(to, v), b[n:]
	}
	return to
}

// fixedList is list for numbers of eight bytes.
func (m *message) fixedList(to []uint64) []uint64 {
	if m.kind != protowire.BytesType {
		return append(to, m.value)
	}
	b := m.bytes
	for ; len(b) >= 8; b = b[8:] {
		to = append(to, binary.LittleEndian.Uint64(b))
	}
	m.broken = m.broken || len(b) > 0
	return to
}
