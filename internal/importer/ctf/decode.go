package ctf

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// A value is one field of an event. Texts point into the packet.
type value struct {
	leaf  *leaf
	kind  valueKind
	bits  uint64
	text  []byte
	label string
}

type valueKind uint8

const (
	valueSigned valueKind = iota
	valueUnsigned
	valueFloat
	valueText
	valueLabel
)

// A decoder reads fields out of a packet.
type decoder struct {
	b        []byte
	pos      int64 // bits
	end      int64 // bits of content
	slots    []int64
	has      [roles]bool
	role     [roles]uint64
	clock    uint64
	values   []value
	contexts int    // how many of them are of contexts
	text     []byte // of lists; values point into it
	nest     int    // in how many lists
	bad      bool
}

const (
	mostValues   = 24  // fields that are kept with an event
	mostElements = 16  // of a list
	mostText     = 240 // bytes of a text
)

// start begins an event: the buffers of the last event's values are used again.
func (d *decoder) start() {
	d.values, d.text = d.values[:0], d.text[:0]
}

// alignTo moves on to a multiple of so many bits, a power of two.
func (d *decoder) alignTo(n int64) { d.pos = (d.pos + n - 1) &^ (n - 1) }

// field reads one field of whatever type.
func (d *decoder) field(c *class) {
	if c == nil || d.bad {
		return
	}
	switch c.kind {
	case kindInteger:
		d.whole(c, d.integer(c))
	case kindStruct:
		d.alignTo(c.align)
		for i := range c.fields {
			d.field(c.fields[i].class)
		}
	case kindVariant:
		v := d.slots[c.from]
		for _, o := range c.options {
			if holds(o.low, o.high, o.wide, v) {
				d.field(c.fields[o.option].class)
				return
			}
		}
		d.bad = true
	case kindOptional:
		v := d.slots[c.from]
		if len(c.options) == 0 && v != 0 {
			d.field(c.elem)
		}
		for _, o := range c.options {
			if holds(o.low, o.high, o.wide, v) {
				d.field(c.elem)
				return
			}
		}
	case kindString:
		d.zeroEnded(c)
	case kindFloat:
		d.float(c)
	case kindArray:
		d.list(c, c.count)
	case kindSequence:
		d.list(c, d.slots[c.from])
	case kindVarInteger:
		d.whole(c, d.varInteger(c))
	}
}

// integer reads the bits of an integer, sign and all.
func (d *decoder) integer(c *class) int64 {
	d.alignTo(c.align)
	if d.pos+c.size > d.end {
		d.bad = true
		return 0
	}
	if d.pos&7 == 0 {
		b := d.b[d.pos>>3:]
		var v uint64
		switch c.size {
		case 8:
			v = uint64(b[0])
		case 16:
			if v = uint64(binary.LittleEndian.Uint16(b)); c.order == big {
				v = uint64(bits.ReverseBytes16(uint16(v)))
			}
		case 32:
			if v = uint64(binary.LittleEndian.Uint32(b)); c.order == big {
				v = uint64(bits.ReverseBytes32(uint32(v)))
			}
		case 64:
			if v = binary.LittleEndian.Uint64(b); c.order == big {
				v = bits.ReverseBytes64(v)
			}
		default:
			return d.odd(c)
		}
		d.pos += c.size
		if c.signed {
			return int64(v<<(64-c.size)) >> (64 - c.size)
		}
		return int64(v)
	}
	return d.odd(c)
}

// odd reads an integer that is no whole bytes or does not begin with one. In little-endian order bits
// come from the low end of each byte, in big-endian order from the high end.
func (d *decoder) odd(c *class) int64 {
	var v uint64
	for done := int64(0); done < c.size; {
		b := uint64(d.b[d.pos>>3])
		at := d.pos & 7
		n := min(8-at, c.size-done)
		if c.order == big {
			v = v<<n | b>>(8-at-n)&(1<<n-1)
		} else {
			v |= (b >> at & (1<<n - 1)) << done
		}
		done += n
		d.pos += n
	}
	if c.signed && c.size < 64 {
		return int64(v<<(64-c.size)) >> (64 - c.size)
	}
	return int64(v)
}

// varInteger reads seven bits a byte, the lowest first.
func (d *decoder) varInteger(c *class) int64 {
	d.alignTo(8)
	var v uint64
	for shift := uint(0); ; shift += 7 {
		if d.pos+8 > d.end || shift > 63 {
			d.bad = true
			return 0
		}
		b := d.b[d.pos>>3]
		d.pos += 8
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if c.signed && b&0x40 != 0 && shift+7 < 64 {
				v |= ^uint64(0) << (shift + 7)
			}
			return int64(v)
		}
	}
}

// whole takes an integer: for those that refer to it, for its role, for its event.
func (d *decoder) whole(c *class, v int64) {
	if d.bad {
		return
	}
	if c.slot >= 0 {
		d.slots[c.slot] = v
	}
	if c.mapped || c.role == roleTime {
		d.tick(uint64(v), c.size)
	}
	if c.role != roleNone {
		d.has[c.role], d.role[c.role] = true, uint64(v)
	}
	switch {
	case d.nest > 0:
		if d.element() {
			if c.signed {
				d.text = strconv.AppendInt(d.text, v, 10)
			} else {
				d.text = strconv.AppendUint(d.text, uint64(v), 10)
			}
		}
	case c.leaf != nil && len(d.values) < mostValues:
		k := valueUnsigned
		if c.signed {
			k = valueSigned
		}
		for i := range c.labels {
			if r := &c.labels[i]; holds(r.low, r.high, r.wide, v) {
				d.values = append(d.values, value{leaf: c.leaf, kind: valueLabel, bits: uint64(v), label: r.label})
				return
			}
		}
		d.values = append(d.values, value{leaf: c.leaf, kind: k, bits: uint64(v)})
	}
}

// tick moves the clock to a value of which only the low bits are told.
func (d *decoder) tick(v uint64, size int64) {
	if size >= 64 || size <= 0 {
		d.clock = v
		return
	}
	mask := uint64(1)<<size - 1
	next := d.clock&^mask | v&mask
	if v&mask < d.clock&mask {
		next += mask + 1
	}
	d.clock = next
}

func (d *decoder) float(c *class) {
	v := uint64(d.integer(c))
	if d.bad {
		return
	}
	f := math.Float64frombits(v)
	switch c.size {
	case 32:
		f = float64(math.Float32frombits(uint32(v)))
	case 16:
		f = half(uint16(v))
	}
	switch {
	case d.nest > 0:
		if d.element() {
			d.text = strconv.AppendFloat(d.text, f, 'g', -1, 64)
		}
	case c.leaf != nil && len(d.values) < mostValues:
		d.values = append(d.values, value{leaf: c.leaf, kind: valueFloat, bits: math.Float64bits(f)})
	}
}

// half is a number of 16 bits.
func half(v uint16) float64 {
	sign, exp, mant := 1.0, int(v>>10&0x1f), float64(v&0x3ff)
	if v>>15 != 0 {
		sign = -1
	}
	switch exp {
	case 0:
		return sign * math.Ldexp(mant, -24)
	case 31:
		if mant != 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+mant, exp-25)
}

func (d *decoder) zeroEnded(c *class) {
	d.alignTo(8)
	if d.pos >= d.end {
		d.bad = true
		return
	}
	b := d.b[d.pos>>3 : d.end>>3]
	n := bytes.IndexByte(b, 0)
	if n < 0 {
		d.bad = true
		return
	}
	d.pos += 8 * int64(n+1)
	d.words(c, b[:n])
}

// words takes a text.
func (d *decoder) words(c *class, b []byte) {
	b = b[:min(len(b), mostText)]
	switch {
	case d.nest > 0:
		if d.element() {
			d.text = append(d.text, b...)
		}
	case c.leaf != nil && len(d.values) < mostValues:
		d.values = append(d.values, value{leaf: c.leaf, kind: valueText, text: b})
	}
}

// list reads an array or a sequence: a text where its elements are characters, else told as one text.
func (d *decoder) list(c *class, n int64) {
	e := c.elem
	d.alignTo(c.align)
	if n < 0 || d.pos > d.end {
		d.bad = true
		return
	}
	if e.text && e.kind == kindInteger && e.size == 8 && d.pos&7 == 0 && e.align <= 8 {
		if n > (d.end-d.pos)>>3 {
			d.bad = true
			return
		}
		b := d.b[d.pos>>3 : d.pos>>3+n]
		d.pos += 8 * n
		if i := bytes.IndexByte(b, 0); i >= 0 {
			b = b[:i]
		}
		d.words(c, b)
		return
	}
	from := len(d.text)
	if d.nest > 0 && d.element() {
		d.text = append(d.text, '[')
	} else if d.nest == 0 {
		d.text = append(d.text, '[')
	}
	d.nest++
	for i := range n {
		if i == mostElements && len(d.text) < mostText {
			d.text = append(d.text, ", …"...)
		}
		if i >= mostElements {
			if e.kind == kindInteger && e.slot < 0 && e.role == roleNone && e.size%e.align == 0 {
				if d.alignTo(e.align); n-i > (d.end-d.pos)/max(1, e.size) {
					d.bad = true
				} else {
					d.pos += (n - i) * e.size
				}
				break
			}
			d.nest += mostElements // no more text
		}
		before := d.pos
		d.field(e)
		if i >= mostElements {
			d.nest -= mostElements
		}
		if d.bad || d.pos == before { // nothing of no size is worth its time
			break
		}
	}
	d.nest--
	if d.nest < mostElements {
		d.text = append(d.text, ']')
	}
	if d.nest == 0 && c.leaf != nil && len(d.values) < mostValues && !d.bad {
		d.values = append(d.values, value{leaf: c.leaf, kind: valueText, text: d.text[from:len(d.text):len(d.text)]})
	}
}

// element begins one in the text of a list, and says whether there is room.
func (d *decoder) element() bool {
	if d.nest >= mostElements || len(d.text) > 4*mostText {
		return false
	}
	if n := len(d.text); n > 0 && d.text[n-1] != '[' {
		d.text = append(d.text, ", "...)
	}
	return true
}
