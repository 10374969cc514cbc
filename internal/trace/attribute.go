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
	Kind ValueKind
	bits uint64
	text string
}

// Integer, Number and Text make values.
func Integer(v int64) Value  { return Value{Kind: ValueInteger, bits: uint64(v)} }
func Number(v float64) Value { return Value{Kind: ValueNumber, bits: math.Float64bits(v)} }
func Text(v string) Value    { return Value{Kind: ValueText, text: v} }

// ValueOf rebuilds a value from its stored form.
func ValueOf(kind ValueKind, bits uint64, text string) Value { return Value{kind, bits, text} }

// Bits is the stored form of an integer or number.
func (v Value) Bits() uint64 { return v.bits }

// Integer gives the value as an integer, truncating a number.
func (v Value) Integer() (int64, bool) {
	switch v.Kind {
	case ValueInteger:
		return int64(v.bits), true
	case ValueNumber:
		return int64(math.Float64frombits(v.bits)), true
	}
	return 0, false
}

// Number gives the value as a number; text counts when it is one.
func (v Value) Number() (float64, bool) {
	switch v.Kind {
	case ValueInteger:
		return float64(int64(v.bits)), true
	case ValueNumber:
		return math.Float64frombits(v.bits), true
	case ValueText:
		f, err := strconv.ParseFloat(v.text, 64)
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
	return v.text
}
