package span

import (
	"encoding/binary"
	"math/bits"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// An ID is the id of a span. Those of up to sixteen hexadecimal digits are a number, in either case, and need no memory
// of their own where they are written as they mostly are: sixteen digits, lower case. The zero ID is none.
type ID struct {
	number uint64
	kind   idKind
	text   string // as it was written, if the number is written differently
}

type idKind uint8

const (
	noID idKind = iota
	hexID
	oddID // no hexadecimal number of 64 bits
)

// ParseID takes an id as a source writes it. The bytes are not kept.
func ParseID(b []byte) ID {
	if len(b) == 0 {
		return ID{}
	}
	if len(b) > 16 {
		return ID{kind: oddID, text: string(b)}
	}
	if len(b) == 16 { // as most are written
		high, is := eightDigits(binary.LittleEndian.Uint64(b))
		low, too := eightDigits(binary.LittleEndian.Uint64(b[8:]))
		if is && too {
			return ID{number: high<<32 | low, kind: hexID}
		}
	}
	n, plain := uint64(0), len(b) == 16
	for _, ch := range b {
		d := hexadecimal[ch]
		if d == 0 {
			return ID{kind: oddID, text: string(b)}
		}
		plain = plain && ch >= '0' && (ch <= '9' || ch >= 'a')
		n = n<<4 | uint64(d-1)
	}
	if plain {
		return ID{number: n, kind: hexID}
	}
	return ID{number: n, kind: hexID, text: string(b)}
}

// eightDigits returns the number of eight hexadecimal digits in lower case, all at once: a byte each, the first one
// lowest. Whether they are such is told by writing the number again.
func eightDigits(w uint64) (n uint64, ok bool) {
	const ones = 0x0101010101010101
	n = w&(0x0f*ones) + 9*(w>>6&ones) // letters have bit 6, and 'a' ends in 1
	letter := (n + 6*ones) >> 4 & ones
	if n&(0xf0*ones) != 0 || n+'0'*ones+letter*('a'-'9'-1) != w {
		return 0, false
	}
	n = bits.ReverseBytes64(n)
	n = (n | n>>4) & 0x00ff00ff00ff00ff
	n = (n | n>>8) & 0x0000ffff0000ffff
	return (n | n>>16) & 0xffffffff, true
}

// BinaryID is the id of eight bytes, most significant first.
func BinaryID(n uint64) ID { return ID{number: n, kind: hexID} }

// None reports whether there is no id.
func (i ID) None() bool { return i.kind == noID }

// Lower is the id with hexadecimal digits in lower case.
func (i ID) Lower() ID {
	if i.kind == hexID && i.text != "" {
		if i.text = strings.ToLower(i.text); len(i.text) == 16 {
			i.text = ""
		}
	}
	return i
}

// value is the id as an attribute.
func (i ID) value() trace.Value {
	if i.text == "" {
		return trace.Hexadecimal(i.number)
	}
	return trace.Text(i.text)
}

// hexadecimal gives each digit's value and one.
var hexadecimal = func() (t [256]uint8) {
	for i := range 10 {
		t['0'+i] = uint8(i) + 1
	}
	for i := range 6 {
		t['a'+i], t['A'+i] = uint8(i)+11, uint8(i)+11
	}
	return t
}()
