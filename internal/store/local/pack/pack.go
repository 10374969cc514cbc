// Package pack writes columns of numbers in frames of 256 values, each as small as its
// values allow and readable without the others.
//
// A file is its frames, one after the other, and a directory that says where each begins.
// Every frame begins at a multiple of eight bytes with a word of its own:
//
//	bits 0-1    how: 0 as they are, 1 as differences, 2 by a list of values, 3 as floating point numbers without a
//	            fraction
//	bits 2-8    w, bits a value
//	bits 9-16   exceptions
//	bits 17-24  values in the list
//	bit 25      the base is a word of its own
//	bits 26-63  else the base, signed
//
// Words follow: the base, if it has its own; the first value, of differences; the list. Then w bits for each value (of
// differences: for each but the first, whose bits are 0), lowest first, filled up to a word; then the places of
// exceptions, a byte each, filled up to a word; then a word for each exception, in place of its bits. The bits of a
// value are added to the base, modulo 2^64; with a list they are an index into it. A frame without any byte has only
// zeros.
//
// Floating point numbers are their 64 bits, as any others. If none of a frame has a fraction, as with most counts,
// they are written as integers, and the head says so.
//
// The directory has one u32 for each frame and one more: the begin of the frame, in words of eight bytes. It is padded
// to a word and ends the file.
package pack

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/parallax-hpc/parallax/internal/spool"
)

// Frame is how many values share a frame; the last may have fewer.
const Frame = 256

const (
	plain = iota
	differences
	listed
	whole

	ownBase   = 1 << 25
	baseShift = 26
	mostList  = 16 // values in a list: more are hardly ever smaller
	fewBits   = 4  // of a value, which are not worth trying another way
)

// A coding is one way to write a frame, and how many bytes it takes.
type coding struct {
	how, width, exceptions int
	base                   uint64
	bytes                  int
}

// Append writes a frame of at most Frame values.
func Append(dst []byte, values []uint64) []byte {
	if allZero(values) {
		return dst
	}
	if c := fitSteps(values); c.bytes > 0 {
		var diff [Frame]uint64
		d := diff[:len(values)]
		differ(d, values, c.base)
		return appendCoded(dst, d, c, values[0])
	}
	best := fit(values, plain)
	var diff [Frame]uint64
	var list [mostList]uint64
	if best.width > fewBits || best.exceptions > 0 {
		d := diff[:len(values)]
		differ(d, values, 0)
		if c := fit(d[1:], differences); len(d) > 1 {
			c.bytes = size(len(d), c.width, c.exceptions) + 8 + baseBytes(c.base)
			if c.bytes < best.bytes {
				best = c
			}
		}
		if k := distinct(values, &list, best.bytes); k > 0 {
			w := bits.Len(uint(k - 1))
			if n := 8 + 8*k + size(len(values), w, 0); n < best.bytes {
				return appendListed(dst, values, list[:k], w)
			}
		}
	}
	if best.how == differences {
		diff[0] = best.base // so that its bits are 0
		return appendCoded(dst, diff[:len(values)], best, values[0])
	}
	return appendCoded(dst, values, best, 0)
}

// AppendFloats writes a frame of the bits of floating point numbers. Those with a fraction hardly have bits in common
// but where they are equal: no differences are tried.
func AppendFloats(dst []byte, values []uint64) []byte {
	if allZero(values) {
		return dst
	}
	var ints [Frame]uint64
	if asWhole(ints[:len(values)], values) {
		if c := fit(ints[:len(values)], whole); c.bytes < 8+8*len(values) {
			return appendCoded(dst, ints[:len(values)], c, 0)
		}
	}
	c := coding{width: 64}
	if fewOf(values) {
		if d := fit(values, plain); d.bytes < 7*len(values) { // else not worth the cost of decoding
			c = d
		}
	}
	return appendCoded(dst, values, c, 0)
}

// fewOf reports whether the bits of floating point numbers may take fewer: they lie close together, or many are 0.
func fewOf(values []uint64) bool {
	least, most, zeros := int64(values[0]), int64(values[0]), 0
	for _, v := range values {
		least, most = min(least, int64(v)), max(most, int64(v))
		if v == 0 {
			zeros++
		}
	}
	return bits.Len64(uint64(most)-uint64(least)) < 56 || 8*zeros > len(values)
}

// mostWhole is the largest of the integers that all are floating point numbers too.
const mostWhole = 1 << 53

// asWhole converts floating point numbers to integers; false where one would not come back as it was.
func asWhole(ints, values []uint64) bool {
	for i, v := range values {
		f := math.Float64frombits(v)
		n := int64(f)
		if n > mostWhole || n < -mostWhole || math.Float64bits(float64(n)) != v {
			return false
		}
		ints[i] = uint64(n)
	}
	return true
}

// differ writes the difference of each value from the one before, and first for the first.
func differ(d, values []uint64, first uint64) {
	d[0] = first
	for i := 1; i < len(values); i++ {
		d[i] = values[i] - values[i-1]
	}
}

// mostSteps is how often values that go up in equal steps may begin anew.
const mostSteps = Frame / 6

// fitSteps is for values that go up in equal steps but for few, as windows of time do location by location: hardly
// anything takes less. It has no bytes where they do not.
func fitSteps(values []uint64) coding {
	n := len(values)
	if n < Frame/2 {
		return coding{}
	}
	step := values[n/2] - values[n/2-1]
	if step < 1<<20 { // fewer bits may do as well
		return coding{}
	}
	others := 0
	for i := 1; i < n && others <= mostSteps; i++ {
		if values[i]-values[i-1] != step {
			others++
		}
	}
	if others > mostSteps {
		return coding{}
	}
	return coding{how: differences, exceptions: others, base: step, bytes: 16 + baseBytes(step) + size(n, 0, others)}
}

func allZero(values []uint64) bool {
	for _, v := range values {
		if v != 0 {
			return false // mostly the first
		}
	}
	return true
}

// fit finds the smallest way: bits for most values, exceptions for the others. The base is
// the least value, or 0 where a few are less.
func fit(values []uint64, how int) coding {
	if len(values) == 0 {
		return coding{how: how}
	}
	least, most := int64(values[0]), int64(values[0])
	for _, v := range values {
		least, most = min(least, int64(v)), max(most, int64(v))
	}
	if least == most {
		return coding{how: how, base: uint64(least), bytes: 8 + baseBytes(uint64(least))}
	}
	best := fitBase(values, uint64(least))
	if least < 0 && best.width > 0 {
		if c := fitBase(values, 0); c.bytes < best.bytes {
			best = c
		}
	}
	best.how = how
	return best
}

func fitBase(values []uint64, base uint64) coding {
	// Neighbours are often as long as each other, and a core waits for one count before it adds to it again: four take
	// turns.
	var count [4][65]uint8
	all := uint64(0)
	four := values[:len(values)&^3]
	for i := 0; i+3 < len(four); i += 4 {
		a, b, c, d := four[i]-base, four[i+1]-base, four[i+2]-base, four[i+3]-base
		count[0][bits.Len64(a)]++
		count[1][bits.Len64(b)]++
		count[2][bits.Len64(c)]++
		count[3][bits.Len64(d)]++
		all |= a | b | c | d
	}
	for _, v := range values[len(four):] {
		count[0][bits.Len64(v-base)]++ // 64 at the most, and these
		all |= v - base
	}
	best := coding{bytes: 1 << 30}
	above := 0
	fixed := 8 + baseBytes(base)
	for w := bits.Len64(all); w >= 0; w-- {
		if above > Frame-1 {
			break
		}
		here := int(count[0][w]) + int(count[1][w]) + int(count[2][w]) + int(count[3][w])
		// With many values fewer bits take less: only widths that leave another value out need be tried.
		if here > 0 || w == 0 || len(values) < 64 {
			if n := fixed + size(len(values), w, above); n < best.bytes {
				best = coding{width: w, exceptions: above, base: base, bytes: n}
			}
		}
		above += here
	}
	return best
}

// size of the bits and exceptions of a frame.
func size(n, width, exceptions int) int {
	return (n*width+63)/64*8 + (exceptions+7)/8*8 + exceptions*8
}

func baseBytes(base uint64) int {
	if short(base) {
		return 0
	}
	return 8
}

// short reports whether a base is in the first word.
func short(base uint64) bool { return int64(base<<baseShift)>>baseShift == int64(base) }

// distinct lists the values of a frame; 0: they are too many for a list, or it takes more than so many bytes.
func distinct(values []uint64, list *[mostList]uint64, most int) int {
	if most <= 24+size(len(values), 1, 0) {
		return 0
	}
	k := 0
next:
	for i, v := range values {
		if i > 0 && v == values[i-1] {
			continue
		}
		for _, have := range list[:k] {
			if have == v {
				continue next
			}
		}
		if k == mostList {
			return 0
		}
		list[k] = v
		k++
	}
	return k
}

func appendListed(dst []byte, values, list []uint64, w int) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, listed|uint64(w)<<2|uint64(len(list))<<17)
	for _, v := range list {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	var at [Frame]uint64
	for i, v := range values {
		for k, have := range list {
			if have == v {
				at[i] = uint64(k)
				break
			}
		}
	}
	return appendBits(dst, at[:len(values)], 0, w, nil)
}

func appendCoded(dst []byte, values []uint64, c coding, first uint64) []byte {
	head := uint64(c.how) | uint64(c.width)<<2 | uint64(c.exceptions)<<9
	if short(c.base) {
		dst = binary.LittleEndian.AppendUint64(dst, head|c.base<<baseShift)
	} else {
		dst = binary.LittleEndian.AppendUint64(dst, head|ownBase)
		dst = binary.LittleEndian.AppendUint64(dst, c.base)
	}
	if c.how == differences {
		dst = binary.LittleEndian.AppendUint64(dst, first)
	}
	var places [Frame]byte
	k := 0
	if c.exceptions > 0 {
		for i, v := range values {
			if bits.Len64(v-c.base) > c.width {
				places[k] = byte(i)
				k++
			}
		}
	}
	dst = appendBits(dst, values, c.base, c.width, places[:k])
	if k == 0 {
		return dst
	}
	dst = append(dst, places[:k]...)
	for len(dst)%8 != 0 {
		dst = append(dst, 0)
	}
	for _, i := range places[:k] {
		dst = binary.LittleEndian.AppendUint64(dst, values[i]-c.base)
	}
	return dst
}

// appendBits writes the lowest bits of each value less the base; of those at places, which ascend, 0.
func appendBits(dst []byte, values []uint64, base uint64, width int, places []byte) []byte {
	if width == 0 {
		return dst
	}
	from := len(dst)
	dst = slices.Grow(dst, (len(values)*width+63)/64*8)[:from+(len(values)*width+63)/64*8]
	out := dst[from:]
	if width == 64 && base == 0 && len(places) == 0 {
		copy(out, spool.BytesOf(values)) // stores are little endian, and so are machines that write them
		return dst
	}
	if len(places) > 0 {
		var rest [Frame]uint64
		values = rest[:copy(rest[:], values)]
		for _, i := range places {
			values[i] = base
		}
	}
	word, used := uint64(0), 0
	for _, v := range values {
		v -= base
		word |= v << (used & 63)
		if used += width; used >= 64 {
			binary.LittleEndian.PutUint64(out, word)
			out = out[8:]
			used -= 64
			word = v >> (width - used) // 0 where used is 0 and width 64: shifts may be long in Go
		}
	}
	if used > 0 {
		binary.LittleEndian.PutUint64(out, word)
	}
	return dst
}

// Decode fills in the values of a frame. At least eight bytes follow it in b, as a directory does. One that cannot be
// gives any values, or an index out of range. Values of columns with fewer bits are the lowest of 64.
func Decode[T uint8 | uint16 | uint32 | uint64](values []T, b []byte, empty bool) {
	if empty {
		clear(values)
		return
	}
	head := binary.LittleEndian.Uint64(b)
	b = b[8:]
	how, width, exceptions := int(head&3), int(head>>2&127), int(head>>9&255)
	width = min(width, 64)
	var list []byte
	base, first := uint64(int64(head)>>baseShift), uint64(0)
	switch {
	case how == listed:
		k := int(head >> 17 & 255)
		list, b = b[:8*k], b[8*k:]
		base = 0
	case head&ownBase != 0:
		base, b = binary.LittleEndian.Uint64(b), b[8:]
	}
	if how == differences {
		first, b = binary.LittleEndian.Uint64(b), b[8:]
	}
	unpack(values, b, base, width)
	if exceptions > 0 {
		b = b[(len(values)*width+63)/64*8:]
		words := b[(exceptions+7)/8*8:]
		for k, i := range b[:exceptions] {
			values[i] = T(base + binary.LittleEndian.Uint64(words[8*k:]))
		}
	}
	switch how {
	case differences:
		at := T(first) - values[0]
		for i, d := range values {
			at += d
			values[i] = at
		}
	case listed:
		for i, k := range values {
			values[i] = T(binary.LittleEndian.Uint64(list[8*uint64(k):]))
		}
	case whole:
		for i, n := range values {
			values[i] = T(math.Float64bits(float64(int64(n))))
		}
	}
}

// unpack reads width bits for each value and adds the base.
func unpack[T uint8 | uint16 | uint32 | uint64](values []T, b []byte, base uint64, width int) {
	switch {
	case width == 0:
		for i := range values {
			values[i] = T(base)
		}
	case width <= 57: // are in eight bytes wherever they begin
		mask := uint64(1)<<width - 1
		if len(values) == 0 {
			return
		}
		// Every scan goes through here: the bounds are looked at once, for the last value, rather than for each.
		_ = b[(len(values)-1)*width>>3+7]
		from, at := unsafe.Pointer(unsafe.SliceData(b)), 0
		for i := range values {
			values[i] = T(base + *(*uint64)(unsafe.Add(from, at>>3))>>(at&7)&mask)
			at += width
		}
	case width == 64 && base == 0 && unsafe.Sizeof(values[0]) == 8:
		copy(spool.BytesOf(values), b)
	default:
		mask := ^uint64(0) >> (64 - width)
		for i := range values {
			at := i * width
			word, shift := b[at>>6<<3:], at&63
			v := binary.LittleEndian.Uint64(word) >> shift
			if shift+width > 64 {
				v |= binary.LittleEndian.Uint64(word[8:]) << (64 - shift)
			}
			values[i] = T(base + v&mask)
		}
	}
}

// First returns the first value of a frame alone.
func First(b []byte, empty bool) uint64 {
	if empty {
		return 0
	}
	head := binary.LittleEndian.Uint64(b)
	if head&3 == differences {
		if head&ownBase != 0 {
			return binary.LittleEndian.Uint64(b[16:])
		}
		return binary.LittleEndian.Uint64(b[8:])
	}
	var all [Frame]uint64
	// Its exceptions are behind the bits of all values: how many there are does not matter without any.
	if head>>9&255 == 0 {
		Decode(all[:1], b, false)
		return all[0]
	}
	return NotAlone
}

// NotAlone is the result of First if the frame must be read as a whole.
const NotAlone = 1<<64 - 1
