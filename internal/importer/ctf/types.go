package ctf

import (
	"math/bits"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A kind is how a field is laid out.
type kind uint8

const (
	kindInteger kind = iota + 1
	kindVarInteger
	kindFloat
	kindString
	kindStruct
	kindArray    // of a length that the metadata tells
	kindSequence // of a length that another field tells
	kindVariant
	kindOptional
)

// A byteOrder of a field; native is that of the trace.
type byteOrder uint8

const (
	native byteOrder = iota
	little
	big
)

// A role is the use of a field in finding packets, events and times.
type role uint8

const (
	roleNone role = iota
	roleMagic
	roleStream
	roleInstance
	rolePacketSize
	roleContentSize
	roleBegin
	roleEnd
	roleDiscarded
	roleSequence
	roleEvent
	roleCPU
	roleTime
	roles
)

// A class is the type of a field.
type class struct {
	kind   kind
	size   int64 // bits
	align  int64 // bits, at least 1
	signed bool
	order  byteOrder
	text   bool // an integer that is a character
	mapped bool // a value of a clock
	clock  string
	role   role
	labels []labelRange // of an enumeration

	fields []field // of a structure
	// A variant has a field for each option, and which values choose it.
	options []optionRange
	elem    *class
	count   int64
	ref     reference // of a sequence, variant or optional

	slot int   // where the value is kept for those that refer to it; -1: nowhere
	from int   // slot of the value this one refers to
	leaf *leaf // where the value goes; nil: nowhere
}

type field struct {
	name  string
	class *class
}

type labelRange struct {
	low, high int64
	wide      bool // as unsigned numbers
	label     string
}

type optionRange struct {
	low, high int64
	wide      bool
	option    int
}

// holds reports whether a value is in a range.
func holds(low, high int64, wide bool, v int64) bool {
	if wide {
		return uint64(low) <= uint64(v) && uint64(v) <= uint64(high)
	}
	return low <= v && v <= high
}

// A reference names a field.
type reference struct {
	origin string   // a scope, or empty: looked for from here outwards
	path   []string // names; an empty one goes one structure up
}

func (r reference) String() string { return strings.Join(append([]string{r.origin}, r.path...), ".") }

// A leaf is a field that is kept with its event.
type leaf struct {
	name string
	attr trace.AttributeID
}

// A clock turns its values into nanoseconds.
type clock struct {
	name      string
	uuid      string
	frequency uint64
	seconds   int64
	cycles    uint64 // of the offset, beside seconds
}

// time returns a value of the clock as nanoseconds since its origin.
func (c *clock) time(v uint64) trace.Time {
	if c == nil {
		return trace.Time(v)
	}
	if c.frequency == 1e9 {
		return trace.Time(c.seconds*1e9 + int64(c.cycles) + int64(v))
	}
	return trace.Time(c.seconds*1e9 + scale(c.cycles, c.frequency) + scale(v, c.frequency))
}

// scale is v·10⁹/f, exact however large v is.
func scale(v, f uint64) int64 {
	hi, lo := bits.Mul64(v, 1e9)
	if f == 0 || hi >= f {
		return 0
	}
	q, _ := bits.Div64(hi, lo, f)
	return int64(q)
}

// A traceClass is the metadata of a trace.
type traceClass struct {
	order   byteOrder
	uuid    string
	env     map[string]string
	clocks  map[string]*clock
	header  *class // of packets
	streams map[uint64]*streamClass
	slots   int
	leaves  map[string]*leaf
}

type streamClass struct {
	id      uint64
	name    string
	clock   *clock
	context *class // of packets
	header  *class // of events
	common  *class // context of every event
	events  map[uint64]*eventClass
	quick   []*eventClass // those with small numbers, by number
	clockID string        // of CTF 2
}

// mostQuick bounds the numbers of events that are looked up in a list.
const mostQuick = 1 << 12

// event finds an event by its number.
func (s *streamClass) event(id uint64) *eventClass {
	if id < uint64(len(s.quick)) {
		return s.quick[id]
	}
	return s.events[id]
}

type eventClass struct {
	id      uint64
	name    string
	context *class
	payload *class
	stream  uint64
	meaning *meaning // set by the converter
}
