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

// decode takes the wanted columns of a record; false where it is damaged. A record may have
// fewer columns than its table, if these were added later: they are null.
func (r *Row) decode(b []byte, id int64) bool {
	clear(r.values)
	size, k := varint(b)
	if k == 0 || size < int64(k) || size > int64(len(b)) {
		return false
	}
	header, body := b[k:size], b[size:]
	for column := 0; len(header) > 0; column++ {
		serial, k := varint(header)
		if k == 0 || serial < 0 {
			return false
		}
		header = header[k:]
		n := serialSize(serial)
		if n > int64(len(body)) {
			return false
		}
		if column < len(r.wanted) && r.wanted[column] >= 0 {
			r.values[r.wanted[column]] = value(serial, body[:n])
		}
		body = body[n:]
	}
	if r.rowid >= 0 && r.values[r.rowid].kind == null {
		r.values[r.rowid] = Value{kind: integer, num: id}
	}
	return true
}

// serialSize is how many bytes a value of a serial type takes.
func serialSize(serial int64) int64 {
	switch {
	case serial >= 12:
		return (serial - 12) / 2
	case serial <= 4:
		return serial
	case serial == 5:
		return 6
	case serial == 6 || serial == 7:
		return 8
	}
	return 0
}

func value(serial int64, b []byte) Value {
	switch {
	case serial == 0 || serial == 10 || serial == 11:
		return Value{}
	case serial == 7:
		return Value{kind: float, num: int64(binary.BigEndian.Uint64(b))}
	case serial == 8 || serial == 9:
		return Value{kind: integer, num: serial - 8}
	case serial < 7:
		n := int64(int8(b[0]))
		for _, x := range b[1:] {
			n = n<<8 | int64(x)
		}
		return Value{kind: integer, num: n}
	case serial&1 == 1:
		return Value{kind: text, data: b}
	}
	return Value{kind: blob, data: b}
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
