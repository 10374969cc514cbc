package otf2

import (
	"bytes"
	"encoding/binary"
	"math"
)

// Values that stand for "none" in records.
const (
	undefined32 = math.MaxUint32
	undefined64 = math.MaxUint64
)

// The byte that says how the numbers of a file or chunk are laid out.
const (
	littleEndian = 0x42
	bigEndian    = 0x23
)

// fields takes the body of a record apart. Reading past its end or a size that
// cannot be gives zero and sets bad, so that a record is checked once, at its end.
type fields struct {
	b   []byte
	big bool
	bad bool
}

// more reports whether fields are left: those that newer versions added come last.
func (f *fields) more() bool { return len(f.b) > 0 && !f.bad }

func (f *fields) take(n int) []byte {
	if n > len(f.b) {
		f.bad, f.b = true, nil
		return nil
	}
	t := f.b[:n]
	f.b = f.b[n:]
	return t
}

func (f *fields) uint8() uint8 {
	if t := f.take(1); t != nil {
		return t[0]
	}
	return 0
}

// uint reads an integer in its short form: a byte that says how many bytes
// follow, or 0xff for "undefined".
func (f *fields) uint(most int, undefined uint64) uint64 {
	if len(f.b) > 0 && cap(f.b) >= 9 && !f.big { // eight bytes may be looked at, also those of the next record
		if n := int(f.b[0]); n <= most && n < len(f.b) {
			v := binary.LittleEndian.Uint64(f.b[1:9]) & masks[n]
			f.b = f.b[1+n:]
			return v
		}
	}
	n := int(f.uint8())
	if n == 0xff {
		return undefined
	}
	if n > most {
		f.bad, f.b = true, nil
		return 0
	}
	return number(f.take(n), f.big)
}

func (f *fields) uint32() uint32 { return uint32(f.uint(4, undefined32)) }
func (f *fields) uint64() uint64 { return f.uint(8, undefined64) }
func (f *fields) int64() int64   { return int64(f.uint(8, undefined64)) }

// message reads the first fields of records of messages: a rank, a communicator, a tag
// and a size. They are many, and mostly plain.
func (f *fields) message() (rank, comm, tag uint32, size uint64) {
	if cap(f.b) >= ahead && !f.big { // so many bytes may be looked at, also those of the next record
		b := (*[ahead]byte)(f.b[:ahead])
		r, at := plainUint(b, 0, 4)
		c, at := plainUint(b, at, 4)
		t, at := plainUint(b, at, 4)
		s, at := plainUint(b, at, 8)
		if at <= uint(len(f.b)) {
			f.b = f.b[at:]
			return uint32(r), uint32(c), uint32(t), s
		}
	}
	return f.uint32(), f.uint32(), f.uint32(), f.uint64()
}

const (
	ahead   = 48
	nowhere = 1 << 30 // no record is that long
)

// plainUint reads an integer in its short form at a place in the first bytes of b, and
// gives the next place: nowhere and more where it is not plain.
func plainUint(b *[ahead]byte, at, most uint) (v uint64, next uint) {
	n := uint(b[at%32])
	if n > most {
		return 0, nowhere
	}
	return binary.LittleEndian.Uint64(b[at%32+1:]) & masks[n], at + 1 + n
}

// full reads an integer of n bytes.
func (f *fields) full(n int) uint64 { return number(f.take(n), f.big) }

// text reads a string that ends in a zero byte.
func (f *fields) text() string {
	i := bytes.IndexByte(f.b, 0)
	if i < 0 {
		f.bad, f.b = true, nil
		return ""
	}
	s := string(f.b[:i])
	f.b = f.b[i+1:]
	return s
}

// count reads how many items follow, each of at least size bytes, so that a
// number that was misread asks for no memory.
func (f *fields) count(n uint64, size int) int {
	if n > uint64(len(f.b)/max(size, 1)) {
		f.bad, f.b = true, nil
		return 0
	}
	return int(n)
}

// number is an integer of up to eight bytes.
func number(b []byte, big bool) uint64 {
	var v uint64
	if big {
		for _, c := range b {
			v = v<<8 | uint64(c)
		}
		return v
	}
	if len(b) == 8 {
		return binary.LittleEndian.Uint64(b)
	}
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}

// A value is the value of an attribute, with the type that says how to read it.
type value struct {
	kind uint8
	bits uint64
}

// The types of values. Those from typeString on refer to definitions.
const (
	typeNone = iota
	typeUint8
	typeUint16
	typeUint32
	typeUint64
	typeInt8
	typeInt16
	typeInt32
	typeInt64
	typeFloat
	typeDouble
	typeString
	typeAttribute
	typeLocation
	typeRegion
	typeGroup
	typeMetric
	typeComm
	typeParameter
	typeRmaWin
	typeSourceCodeLocation
	typeCallingContext
	typeInterruptGenerator
	typeIOFile
	typeIOHandle
	typeLocationGroup
)

// value reads a value of the given type; of signed ones the sign is spread over
// all bits.
func (f *fields) value(kind uint8) value {
	v := value{kind: kind}
	switch kind {
	case typeNone:
	case typeUint8:
		v.bits = f.full(1)
	case typeInt8:
		v.bits = uint64(int64(int8(f.full(1))))
	case typeUint16:
		v.bits = f.full(2)
	case typeInt16:
		v.bits = uint64(int64(int16(f.full(2))))
	case typeUint32:
		v.bits = f.uint(4, undefined32)
	case typeInt32:
		v.bits = uint64(int64(int32(f.uint(4, undefined32))))
	case typeUint64, typeInt64, typeLocation:
		v.bits = f.uint64()
	case typeFloat:
		v.bits = math.Float64bits(float64(math.Float32frombits(uint32(f.full(4)))))
	case typeDouble:
		v.bits = f.full(8)
	default:
		if kind > typeLocationGroup {
			f.bad, f.b = true, nil
			return v
		}
		v.bits = f.uint(4, undefined32)
	}
	return v
}
