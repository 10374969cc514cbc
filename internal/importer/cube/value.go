package cube

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
)

// A valueType describes the storage and the meaning of a value. Values are
// vectors of parts that combine one by one; number returns the value of a vector.
type valueType struct {
	size   int
	parts  int
	whole  bool // integers
	read   func(order binary.ByteOrder, b []byte, to []float64)
	number func(parts []float64) float64 // nil: the only part
	lowest bool                          // combine by the least
	most   bool                          // combine by the greatest
	ratio  bool                          // of two parts: neither adds up
	atomic bool                          // a count, least, greatest, sum and sum of squares
	bins   int                           // of a histogram
}

// valueTypeOf returns the types of Cube; nil for those that are no numbers.
func valueTypeOf(name string) *valueType {
	name = strings.ToUpper(strings.TrimSpace(name))
	base, argument, _ := strings.Cut(name, "(")
	n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(argument), ")"))
	switch base = strings.TrimSpace(base); base {
	case "MINDOUBLE":
		t := doubles(1)
		t.lowest = true
		return t
	case "MAXDOUBLE":
		t := doubles(1)
		t.most = true
		return t
	case "DOUBLE", "FLOAT", "":
		return doubles(1)
	case "COMPLEX":
		t := doubles(2)
		t.number = func(p []float64) float64 { return math.Hypot(p[0], p[1]) }
		return t
	case "RATE":
		t := doubles(2)
		t.ratio = true
		t.number = func(p []float64) float64 {
			if p[1] == 0 {
				return 0
			}
			return p[0] / p[1]
		}
		return t
	case "NDOUBLES":
		if n < 1 || n > 1<<16 {
			return nil
		}
		t := doubles(n)
		t.number = sumOf
		return t
	case "HISTOGRAM":
		if n < 1 || n > 1<<16 {
			return nil
		}
		t := doubles(n + 2)
		t.bins = n
		t.number = func(p []float64) float64 { return sumOf(p[2:]) }
		return t
	case "TAU_ATOMIC":
		return &valueType{size: 36, parts: 5, atomic: true, read: readAtomic,
			number: func(p []float64) float64 { return p[3] }}
	}
	return integerType(base)
}

func sumOf(p []float64) (s float64) {
	for _, v := range p {
		s += v
	}
	return s
}

func doubles(n int) *valueType {
	return &valueType{size: 8 * n, parts: n, read: func(o binary.ByteOrder, b []byte, to []float64) {
		for i := range to {
			to[i] = math.Float64frombits(o.Uint64(b[8*i:]))
		}
	}}
}

func readAtomic(o binary.ByteOrder, b []byte, to []float64) {
	to[0] = float64(o.Uint32(b))
	for i := range 4 {
		to[i+1] = math.Float64frombits(o.Uint64(b[4+8*i:]))
	}
}

func integerType(name string) *valueType {
	t := &valueType{parts: 1, whole: true}
	switch name {
	case "CHAR", "UINT8":
		t.size, t.read = 1, func(_ binary.ByteOrder, b []byte, to []float64) { to[0] = float64(b[0]) }
	case "INT8":
		t.size, t.read = 1, func(_ binary.ByteOrder, b []byte, to []float64) { to[0] = float64(int8(b[0])) }
	case "INT16", "SHORT INT", "SIGNED SHORT INT":
		t.size, t.read = 2, func(o binary.ByteOrder, b []byte, to []float64) { to[0] = float64(int16(o.Uint16(b))) }
	case "UINT16", "UNSIGNED SHORT INT":
		t.size, t.read = 2, func(o binary.ByteOrder, b []byte, to []float64) { to[0] = float64(o.Uint16(b)) }
	case "INT32", "INT", "SIGNED INT":
		t.size, t.read = 4, func(o binary.ByteOrder, b []byte, to []float64) { to[0] = float64(int32(o.Uint32(b))) }
	case "UINT32", "UNSIGNED INT":
		t.size, t.read = 4, func(o binary.ByteOrder, b []byte, to []float64) { to[0] = float64(o.Uint32(b)) }
	case "INT64", "INTEGER", "SIGNED INTEGER":
		t.size, t.read = 8, func(o binary.ByteOrder, b []byte, to []float64) { to[0] = float64(int64(o.Uint64(b))) }
	case "UINT64", "UNSIGNED INTEGER":
		t.size, t.read = 8, readUnsigned
	default:
		return nil
	}
	return t
}

// readUnsigned takes the last thousand numbers of 64 bits for negative ones: a
// counter that was stopped before it started leaves them.
func readUnsigned(o binary.ByteOrder, b []byte, to []float64) {
	v := o.Uint64(b)
	if v > 0xffff_ffff_ffff_fbff {
		to[0] = float64(int64(v))
		return
	}
	to[0] = float64(v)
}

// add combines a value of a child into that of its parent; has says whether the
// parent has one already.
func (t *valueType) add(to, from []float64, has bool) {
	switch {
	case !has:
		copy(to, from)
	case t.lowest:
		to[0] = min(to[0], from[0])
	case t.most:
		to[0] = max(to[0], from[0])
	case t.atomic || t.bins > 0:
		lo, hi := 0, 1
		if t.atomic {
			lo, hi = 1, 2
		}
		if t.atomic && from[0] == 0 {
			return
		}
		least, greatest := min(to[lo], from[lo]), max(to[hi], from[hi])
		if t.atomic && to[0] == 0 {
			least, greatest = from[lo], from[hi]
		}
		for i := range to {
			to[i] += from[i]
		}
		to[lo], to[hi] = least, greatest
	default:
		for i := range to {
			to[i] += from[i]
		}
	}
}

// subtract takes a child's value out of an inclusive one. The least and the
// greatest cannot be taken out and stay.
func (t *valueType) subtract(to, from []float64) {
	if t.lowest || t.most {
		return
	}
	for i := range to {
		if t.atomic && (i == 1 || i == 2) || t.bins > 0 && i < 2 {
			continue
		}
		to[i] -= from[i]
	}
}

func (t *valueType) value(parts []float64) float64 {
	if t.number == nil {
		return parts[0]
	}
	return t.number(parts)
}

func decimal(n int) string { return strconv.Itoa(n) }
