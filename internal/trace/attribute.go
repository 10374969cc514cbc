package trace

import (
	"math"
	"strconv"
)

// An Attribute is an extra fact of a location or region.
type Attribute struct {
	Key   string
	Value Value
}

// A ValueKind is the type of a Value.
type ValueKind uint8

const (
	ValueInteger ValueKind = iota + 1
	ValueNumber
	ValueText
)

// A Value is an integer, a number or a text. The zero Value is no value.
type Value struct {
	Kind   ValueKind
	digits bool // a text, that of bits: see Hexadecimal
	bits   uint64
	text   string
}

// Hexadecimal returns the text of a number in sixteen digits, lower case, as the ids of spans are. It is a Text that
// costs nothing to make: a store keeps the number, and none of these strings, of which hardly two are equal.
func Hexadecimal(v uint64) Value { return Value{Kind: ValueText, digits: true, bits: v} }

// Hexadecimal returns the number whose text this is, in sixteen digits, lower case.
func (v Value) Hexadecimal() (uint64, bool) {
	if v.Kind != ValueText {
		return 0, false
	}
	if v.digits {
		return v.bits, true
	}
	if len(v.text) != 16 {
		return 0, false
	}
	n := uint64(0)
	for i := range 16 {
		switch b := v.text[i]; {
		case b >= '0' && b <= '9':
			n = n<<4 | uint64(b-'0')
		case b >= 'a' && b <= 'f':
			n = n<<4 | uint64(b-'a'+10)
		default:
			return 0, false
		}
	}
	return n, true
}

// FormatHexadecimal writes a number as Hexadecimal does.
func FormatHexadecimal(v uint64) string {
	const digits = "0123456789abcdef"
	var b [16]byte
	for i := range b {
		b[i] = digits[v>>(60-4*i)&15]
	}
	return string(b[:])
}

// Integer, Number and Text make values.
func Integer(v int64) Value  { return Value{Kind: ValueInteger, bits: uint64(v)} }
func Number(v float64) Value { return Value{Kind: ValueNumber, bits: math.Float64bits(v)} }
func Text(v string) Value    { return Value{Kind: ValueText, text: v} }

// ValueOf rebuilds a value from its stored form.
func ValueOf(kind ValueKind, bits uint64, text string) Value {
	return Value{Kind: kind, bits: bits, text: text}
}

// Bits returns the stored form of an integer or number.
func (v Value) Bits() uint64 { return v.bits }

// Integer returns the value as an integer, truncating a number.
func (v Value) Integer() (int64, bool) {
	switch v.Kind {
	case ValueInteger:
		return int64(v.bits), true
	case ValueNumber:
		return int64(math.Float64frombits(v.bits)), true
	}
	return 0, false
}

// Number returns the value as a number; text counts when it is one.
func (v Value) Number() (float64, bool) {
	switch v.Kind {
	case ValueInteger:
		return float64(int64(v.bits)), true
	case ValueNumber:
		return math.Float64frombits(v.bits), true
	case ValueText:
		f, err := strconv.ParseFloat(v.String(), 64)
		return f, err == nil
	}
	return 0, false
}

func (v Value) String() string {
	switch v.Kind {
	case ValueInteger:
		return strconv.FormatInt(int64(v.bits), 10)
	case ValueNumber:
		return strconv.FormatFloat(math.Float64frombits(v.bits), 'g', -1, 64)
	}
	if v.digits {
		return FormatHexadecimal(v.bits)
	}
	return v.text
}
