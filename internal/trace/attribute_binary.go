package trace

import (
	"encoding/binary"
	"errors"
)

// AppendBinary appends the value in a form that UnmarshalBinary reads.
func (v Value) AppendBinary(b []byte) ([]byte, error) {
	digits := byte(0)
	if v.digits {
		digits = 1
	}
	b = append(b, byte(v.Kind), digits)
	return append(binary.LittleEndian.AppendUint64(b, v.bits), v.text...), nil
}

// MarshalBinary implements encoding.BinaryMarshaler.
func (v Value) MarshalBinary() ([]byte, error) { return v.AppendBinary(nil) }

// UnmarshalBinary implements encoding.BinaryUnmarshaler.
func (v *Value) UnmarshalBinary(b []byte) error {
	if len(b) < 10 {
		return errors.New("a value is cut off")
	}
	*v = Value{Kind: ValueKind(b[0]), digits: b[1] != 0, bits: binary.LittleEndian.Uint64(b[2:]), text: string(b[10:])}
	return nil
}
