package sqlitefile

import (
	"encoding/binary"
	"math"
	"unicode/utf16"
)

// A Value is a cell of a row. It holds no pointer, so that filling one costs the collector nothing.
type Value struct {
	kind kind
	size int32 // of a text or a blob
	num  int64 // or the bits of a float, or where in the row's bytes a text begins
}

type kind uint8

const (
	null kind = iota
	integer
	float
	text
	blob
	given // a text that is outside the row's bytes
)

// A Row is the columns that a scan asked for, in the order of asking.
type Row struct {
	values   []Value
	wanted   []int // of each column of the table: its place in values, or -1
	rowid    int   // the place in values of the column that is the row's id, or -1
	encoding int
	body     []byte   // of the record
	texts    [][]byte // of cells that were given
}

// Int is column i as an integer; false if it is null or no number.
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

// Number is column i as a number; false if it is null or no number.
func (r *Row) Number(i int) (float64, bool) {
	switch v := &r.values[i]; v.kind {
	case integer:
		return float64(v.num), true
	case float:
		return math.Float64frombits(uint64(v.num)), true
	}
	return 0, false
}

// Text is column i as UTF-8, or the bytes of a blob; nil if it is null or a number.
func (r *Row) Text(i int) []byte {
	v := &r.values[i]
	switch {
	case v.kind == given:
		return r.texts[i]
	case v.kind == text && r.encoding > 1:
		return r.convert(r.body[v.num : v.num+int64(v.size)])
	case v.kind >= text:
		return r.body[v.num : v.num+int64(v.size) : v.num+int64(v.size)]
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

// decode takes the wanted columns of a record; false if it is damaged up to the last of these. A record may have
// fewer columns than its table, if these were added later: they are null.
func (r *Row) decode(b []byte, id int64) bool {
	clear(r.values)
	size, k := varint(b)
	if k == 0 || size < int64(k) || size > int64(len(b)) {
		return false
	}
	header, body, at := b[k:size], b[size:], int64(0)
	r.body = body
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
		n := (serial - 12) / 2
		if serial < int64(len(serialSizes)) {
			n = int64(serialSizes[serial])
		}
		if n > int64(len(body))-at {
			return false
		}
		if want >= 0 && serial != 0 {
			r.values[want] = valueOf(serial, body[at:at+n], at)
		}
		at += n
	}
	if r.rowid >= 0 && r.values[r.rowid].kind == null {
		r.values[r.rowid] = Value{kind: integer, num: id}
	}
	return true
}

// serialSizes are how many bytes values of the first serial types take; of the others it follows from the number.
var serialSizes = [12]uint8{0, 1, 2, 3, 4, 6, 8, 8}

// valueOf decodes the bytes at a place of the record.
func valueOf(serial int64, b []byte, at int64) Value {
	switch serial {
	case 0, 10, 11:
		return Value{}
	case 1:
		return Value{kind: integer, num: int64(int8(b[0]))}
	case 2:
		return Value{kind: integer, num: int64(int16(binary.BigEndian.Uint16(b)))}
	case 3, 5: // three or six bytes
		n := int64(int8(b[0]))
		for _, x := range b[1:] {
			n = n<<8 | int64(x)
		}
		return Value{kind: integer, num: n}
	case 4:
		return Value{kind: integer, num: int64(int32(binary.BigEndian.Uint32(b)))}
	case 6:
		return Value{kind: integer, num: int64(binary.BigEndian.Uint64(b))}
	case 7:
		return Value{kind: float, num: int64(binary.BigEndian.Uint64(b))}
	case 8, 9:
		return Value{kind: integer, num: serial - 8}
	}
	if serial&1 == 1 {
		return Value{kind: text, size: int32(len(b)), num: at}
	}
	return Value{kind: blob, size: int32(len(b)), num: at}
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

// NewRow is an empty row of n columns, for tables that are kept otherwise than in a database and read by the same code.
func NewRow(n int) *Row {
	return &Row{values: make([]Value, n), rowid: -1, encoding: 1, texts: make([][]byte, n)}
}

// Clear makes all columns null.
func (r *Row) Clear() { clear(r.values) }

// SetInt gives column i an integer.
func (r *Row) SetInt(i int, n int64) { r.values[i] = Value{kind: integer, num: n} }

// SetNumber gives column i a number.
func (r *Row) SetNumber(i int, x float64) {
	r.values[i] = Value{kind: float, num: int64(math.Float64bits(x))}
}

// SetText gives column i a text, which is not copied.
func (r *Row) SetText(i int, b []byte) {
	r.values[i] = Value{kind: given}
	r.texts[i] = b
}
