package pstats

import (
	"io"
	"math"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer/wire"
)

// remember is the bit of a type that says that references may name the object.
const remember = 0x80

// deepest bounds how deep values are in each other: a dictionary of tuples with a dictionary of tuples.
const deepest = 16

// A pair is an entry of a dictionary, which stays a list.
type pair struct{ key, value any }

// A decoder reads values of Python's marshal: strings, numbers (as float64), tuples ([]any), dictionaries ([]pair).
type decoder struct {
	*wire.Cursor
	refs  []any
	texts []any // of Python 2, which numbers them apart
}

func (d *decoder) fail() { d.Fail(io.ErrUnexpectedEOF) }

// entries passes on the entries of the dictionary that the file is.
func (d *decoder) entries(take func(key, value any)) {
	kind := d.Byte()
	if kind&^remember != '{' {
		d.fail()
		return
	}
	if kind&remember != 0 {
		d.refs = append(d.refs, nil)
	}
	for {
		key, more := d.value(1)
		if d.Failed() || !more {
			return
		}
		value, _ := d.value(1)
		if d.Failed() {
			return
		}
		take(key, value)
	}
}

// value reads one; false: the mark that ends a dictionary.
func (d *decoder) value(depth int) (v any, more bool) {
	if depth > deepest {
		d.fail()
		return nil, false
	}
	kind := d.Byte()
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
		v = float64(d.Int32())
	case 'I':
		v = float64(d.Int64())
	case 'l':
		v = d.long()
	case 'g':
		v = d.Float64()
	case 'f':
		v, _ = strconv.ParseFloat(d.Text(int(d.Byte())), 64)
	case 'z', 'Z':
		v = d.Text(int(d.Byte()))
	case 's', 'a', 'A', 'u':
		v = d.Text(int(d.Int32()))
	case 't':
		v = d.Text(int(d.Int32()))
		if place < 0 {
			d.texts = append(d.texts, v)
		}
	case 'R':
		v = d.known(d.texts)
	case 'r':
		v = d.known(d.refs)
	case ')':
		v = d.tuple(int(d.Byte()), depth)
	case '(', '[':
		v = d.tuple(int(d.Int32()), depth)
	case '{':
		v = d.dictionary(depth)
	default:
		d.fail()
	}
	if place >= 0 {
		d.refs[place] = v
	}
	return v, more && !d.Failed()
}

func (d *decoder) known(list []any) any {
	if n := int(d.Int32()); n >= 0 && n < len(list) {
		return list[n]
	}
	d.fail()
	return nil
}

func (d *decoder) tuple(n, depth int) (list []any) {
	if n < 0 || n > d.Left() {
		d.fail()
		return nil
	}
	for range n {
		v, _ := d.value(depth + 1)
		if d.Failed() {
			return nil
		}
		list = append(list, v)
	}
	return list
}

func (d *decoder) dictionary(depth int) (list []pair) {
	for {
		key, more := d.value(depth + 1)
		if !more || d.Failed() {
			return list
		}
		value, _ := d.value(depth + 1)
		if d.Failed() {
			return list
		}
		list = append(list, pair{key, value})
	}
}

// long reads a number of any size, in digits of 15 bits.
func (d *decoder) long() float64 {
	n := int(d.Int32())
	sign := 1.0
	if n < 0 {
		n, sign = -n, -1
	}
	x := 0.0
	for i := range n {
		if d.Failed() {
			return 0
		}
		x += math.Ldexp(float64(d.Uint16()), 15*i)
	}
	return sign * x
}
