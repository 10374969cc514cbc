package sqlitefile

import (
	"encoding/binary"
	"math"
	"unicode/utf16"
)

// A Value is a cell of a row.
type Value struct {
	kind kind
	num  int64 // or the bits of a float
	data []byte
}

type kind uint8

const (
	null kind = iota
	integer
	float
	text
	blob
)

// A Row is the columns that a scan asked for, in the order of asking.
type Row struct {
	values   []Value
	wanted   []int // of each column of the table: its place in values, or -1
	rowid    int   // the place in values of the column that is the row's id, or -1
	encoding int
}

// Int is column i as an integer; false where it is null or no number.
func (r *Row) Int(i int) (int64, bool) {
	switch v := &r.values[i]; v.kind {
	case integer:
		return v.num, true
	case float:
		if x := math.Float64frombits(uint64(v.num)); x >= -1<<63 && x < 1<<63 {
			return int64(x), true
		}
	}
	return 0, false
}

// Number is column i as a number; false where it is null or no number.
func (r *Row) Number(i int) (float64, bool) {
	switch v := &r.values[i]; v.kind {
	case integer:
		return float64(v.num), true
	case float:
		return math.Float64frombits(uint64(v.num)), true
	}
	return 0, false
}

// Text is column i as UTF-8, or the bytes of a blob; nil where it is null or a number.
func (r *Row) Text(i int) []byte {
	v := &r.values[i]
	switch {
	case v.kind == text && r.encoding > 1:
		return r.convert(v.data)
	case v.kind >= text:
		return v.data
	}
	return nil
}

// Null reports whether column i holds nothing.
func (r *Row) Null(i int) bool { return r.values[i].kind == null }

// convert makes UTF-8 of UTF-16.
func (r *Row) convert(b []byte) []byte {
	var order binary.ByteOrder = binary.LittleEndian
	if r.encoding == 3 {
		order = binary.BigEndian
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

// decode takes the wanted columns of a record; false where it is damaged up to the last of these. A record may have
// fewer columns than its table, if these were added later: they are null.
func (r *Row) decode(b []byte, id int64) bool {
	clear(r.values)
	size, k := varint(b)
	if k == 0 || size < int64(k) || size > int64(len(b)) {
		return false
	}
	header, body := b[k:size], b[size:]
	for _, want := range r.wanted {
		if len(header) == 0 {
			break
		}
		serial, k := int64(header[0]), 1
		if serial >= 0x80 {
			if serial, k = varint(header); k == 0 || serial < 0 {
				return false
			}
		}
		header = header[k:]
		n := int64(0)
		if serial < int64(len(serialSizes)) {
			n = int64(serialSizes[serial])
		} else {
			n = (serial - 12) / 2
		}
		if n > int64(len(body)) {
			return false
		}
		if want >= 0 {
			r.values[want].set(serial, body[:n])
		}
		body = body[n:]
	}
	if r.rowid >= 0 && r.values[r.rowid].kind == null {
		r.values[r.rowid] = Value{kind: integer, num: id}
	}
	return true
}

// serialSizes are how many bytes values of the first serial types take; of the others it follows from the number.
var serialSizes = [12]uint8{0, 1, 2, 3, 4, 6, 8, 8}

// set gives an empty value what its bytes say.
func (v *Value) set(serial int64, b []byte) {
	switch {
	case serial == 0 || serial == 10 || serial == 11:
	case serial == 7:
		v.kind, v.num = float, int64(binary.BigEndian.Uint64(b))
	case serial == 8 || serial == 9:
		v.kind, v.num = integer, serial-8
	case serial < 7:
		v.kind = integer
		switch len(b) {
		case 1:
			v.num = int64(int8(b[0]))
		case 2:
			v.num = int64(int16(binary.BigEndian.Uint16(b)))
		case 4:
			v.num = int64(int32(binary.BigEndian.Uint32(b)))
		case 8:
			v.num = int64(binary.BigEndian.Uint64(b))
		default: // 3 or 6
			n := int64(int8(b[0]))
			for _, x := range b[1:] {
				n = n<<8 | int64(x)
			}
			v.num = n
		}
	case serial&1 == 1:
		v.kind, v.data = text, b
	default:
		v.kind, v.data = blob, b
	}
}

// varint reads a number of one to nine bytes, and how many these are; 0 where b is cut.
func varint(b []byte) (n int64, size int) {
	for i, x := range b {
		if i == 8 {
			return n<<8 | int64(x), 9
		}
		n = n<<7 | int64(x&0x7f)
		if x < 0x80 {
			return n, i + 1
		}
	}
	return 0, 0
}
