package pstats

import (
	"encoding/binary"
	"math"
	"strconv"
)

// remember is the bit of a type that says that references may name the object.
const remember = 0x80

// deepest bounds how deep values are in each other: a dictionary of tuples with a dictionary of tuples.
const deepest = 16

// A pair is an entry of a dictionary, which stays a list.
type pair struct{ key, value any }

// A decoder reads values of Python's marshal: strings, numbers (as float64), tuples ([]any), dictionaries ([]pair).
type decoder struct {
	data   []byte
	at     int
	refs   []any
	texts  []any // of Python 2, which numbers them apart
	failed bool
}

// bytes takes n bytes; nil and failed if there are none.
func (d *decoder) bytes(n int) []byte {
	if n < 0 || n > len(d.data)-d.at {
		d.failed = true
		return nil
	}
	d.at += n
	return d.data[d.at-n : d.at]
}

func (d *decoder) u8() int {
	if b := d.bytes(1); b != nil {
		return int(b[0])
	}
	return 0
}

func (d *decoder) u32() int {
	if b := d.bytes(4); b != nil {
		return int(int32(binary.LittleEndian.Uint32(b)))
	}
	return 0
}

// entries passes on the entries of the dictionary that the file is.
func (d *decoder) entries(take func(key, value any)) {
	kind := byte(d.u8())
	if kind&^remember != '{' {
		d.failed = true
		return
	}
	if kind&remember != 0 {
		d.refs = append(d.refs, nil)
	}
	for {
		key, more := d.value(1)
		if d.failed || !more {
			return
		}
		value, _ := d.value(1)
		if d.failed {
			return
		}
		take(key, value)
	}
}

// value reads one; false: the mark that ends a dictionary.
func (d *decoder) value(depth int) (v any, more bool) {
	if depth > deepest {
		d.failed = true
		return nil, false
	}
	kind := byte(d.u8())
	place := -1
	if kind&remember != 0 {
		place = len(d.refs)
		d.refs = append(d.refs, nil)
		kind &^= remember
	}
	more = true
	switch kind {
	case '0':
		return nil, false
	case 'N', 'T', 'F', '.', 'S':
	case 'i':
		v = float64(d.u32())
	case 'I':
		if b := d.bytes(8); b != nil {
			v = float64(int64(binary.LittleEndian.Uint64(b)))
		}
	case 'l':
		v = d.long()
	case 'g':
		if b := d.bytes(8); b != nil {
			v = math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
	case 'f':
		v, _ = strconv.ParseFloat(string(d.bytes(d.u8())), 64)
	case 'z', 'Z':
		v = string(d.bytes(d.u8()))
	case 's', 'a', 'A', 'u':
		v = string(d.bytes(d.u32()))
	case 't':
		v = string(d.bytes(d.u32()))
		if place < 0 {
			d.texts = append(d.texts, v)
		}
	case 'R':
		v = d.known(d.texts)
	case 'r':
		v = d.known(d.refs)
	case ')':
		v = d.tuple(d.u8(), depth)
	case '(', '[':
		v = d.tuple(d.u32(), depth)
	case '{':
		v = d.dictionary(depth)
	default:
		d.failed = true
	}
	if place >= 0 {
		d.refs[place] = v
	}
	return v, more && !d.failed
}

func (d *decoder) known(list []any) any {
	if n := d.u32(); n >= 0 && n < len(list) {
		return list[n]
	}
	d.failed = true
	return nil
}

func (d *decoder) tuple(n, depth int) (list []any) {
	if n < 0 || n > len(d.data)-d.at {
		d.failed = true
		return nil
	}
	for range n {
		v, _ := d.value(depth + 1)
		if d.failed {
			return nil
		}
		list = append(list, v)
	}
	return list
}

func (d *decoder) dictionary(depth int) (list []pair) {
	for {
		key, more := d.value(depth + 1)
		if !more || d.failed {
			return list
		}
		value, _ := d.value(depth + 1)
		if d.failed {
			return list
		}
		list = append(list, pair{key, value})
	}
}

// long reads a number of any size, in digits of 15 bits.
func (d *decoder) long() float64 {
	n := d.u32()
	sign := 1.0
	if n < 0 {
		n, sign = -n, -1
	}
	x := 0.0
	for i := range n {
		b := d.bytes(2)
		if b == nil {
			return 0
		}
		x += math.Ldexp(float64(binary.LittleEndian.Uint16(b)), 15*i)
	}
	return sign * x
}
