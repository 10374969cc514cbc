// Package protobuf decodes messages of Protocol Buffers for the formats written in
// them. It has no generated code: a format declares the fields it reads as a struct,
// and a Table made from the struct's tags decodes into it.
//
//	type stackFrame struct {
//		id       uint64 `pb:"1"`
//		function uint64 `pb:"2"`
//		line     uint64 `pb:"6"`
//	}
//
//	var stackFrames = protobuf.TableOf[stackFrame]()
//
//	var f stackFrame
//	ok := stackFrames.Decode(b, &f)
//
// Fields that a struct does not name are skipped, and so are those of another wire
// type. Messages that need more (counts of unknown fields, order of fields) are
// walked with a Message.
package protobuf

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

// An Integer is a number that may be absent.
type Integer struct {
	Value int64
	Set   bool
}

// A Value is one of several fields: the last that the message has.
type Value struct {
	Number int32 // of the field; 0: absent
	Bits   uint64
	Bytes  []byte
}

// Double returns the value of a field of type double.
func (v Value) Double() float64 { return math.Float64frombits(v.Bits) }

// Fixed64s are the values of a repeated field of type fixed64 or double.
type Fixed64s []uint64

// Others counts the messages and strings of a message whose numbers no tag has.
type Others int

// A Table decodes messages into values of T. It is made once, with reflection;
// decoding uses it for repeated messages only.
type Table[T any] struct{ fields fieldTable }

// TableOf makes the table of a struct. The tag pb has the number of a field; with
// several numbers, the last of these fields counts. Types of fields are:
//
//	bool, int32, int64, uint32, uint64, Integer   varints and numbers of fixed size
//	float64                                       double
//	string                                        text
//	[]byte                                        text, bytes or message: not copied
//	Value                                         any
//	a struct                                      message
//	[]uint64, Fixed64s                            repeated numbers, packed or not; numbers that are []int64
//	                                              and packed in 8 bytes have "fixed" in the tag
//	[]string, [][]byte, []Value                   repeated
//	a slice of structs                            repeated messages
//	Others                                        has no tag
//
// It panics on others.
func TableOf[T any]() *Table[T] {
	return &Table[T]{tableOf(reflect.TypeFor[T]())}
}

// Decode sets the fields of to that the message has, and appends to those that are
// repeated. It returns false if the bytes are no message: fields before that are set.
func (t *Table[T]) Decode(b []byte, to *T) bool { return t.fields.decode(b, unsafe.Pointer(to)) }

// Set sets the field at which a message is, for loops that read frequent fields
// themselves. It returns false if the field is a message and broken.
func (t *Table[T]) Set(m *Message, to *T) bool { return t.fields.set(m, unsafe.Pointer(to)) }

// Of returns the decoded message, and false if the bytes are none.
func (t *Table[T]) Of(b []byte) (v T, ok bool) {
	ok = t.Decode(b, &v)
	return v, ok
}

// A fieldTable has the fields of a message by number. Field 0, which no message has,
// counts the others.
type fieldTable []field

type field struct {
	kind   fieldKind
	offset uintptr
	inner  fieldTable   // of a message
	list   reflect.Type // of repeated messages
}

type fieldKind uint8

const (
	absent fieldKind = iota
	boolField
	word32Field
	word64Field
	integerField
	doubleField
	lastNumber // the fields above are numbers, those below bytes
	stringField
	bytesField
	stringsField
	bytesListField
	messageField
	messagesField
	lastBytes // the fields below may be both
	valueField
	valuesField
	varintsField
	fixedField
	othersField
)

var kinds = map[reflect.Type]fieldKind{
	reflect.TypeFor[bool]():     boolField,
	reflect.TypeFor[int32]():    word32Field,
	reflect.TypeFor[uint32]():   word32Field,
	reflect.TypeFor[int64]():    word64Field,
	reflect.TypeFor[uint64]():   word64Field,
	reflect.TypeFor[Integer]():  integerField,
	reflect.TypeFor[float64]():  doubleField,
	reflect.TypeFor[string]():   stringField,
	reflect.TypeFor[[]byte]():   bytesField,
	reflect.TypeFor[[]string](): stringsField,
	reflect.TypeFor[[][]byte](): bytesListField,
	reflect.TypeFor[Value]():    valueField,
	reflect.TypeFor[[]Value]():  valuesField,
	reflect.TypeFor[[]uint64](): varintsField,
	reflect.TypeFor[Fixed64s](): fixedField,
	reflect.TypeFor[Others]():   othersField,
}

// kindOf finds the kind of a field; numbers of 64 bits may be of a type of their own.
func kindOf(t reflect.Type) fieldKind {
	kind := kinds[t]
	switch {
	case kind != absent:
	case t.Kind() == reflect.Int64:
		kind = word64Field
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Int64:
		kind = varintsField
	}
	return kind
}

func tableOf(t reflect.Type) fieldTable {
	fields := make(fieldTable, 1)
	for i := range t.NumField() {
		member := t.Field(i)
		tag, ok := member.Tag.Lookup("pb")
		f := field{kind: kindOf(member.Type), offset: member.Offset}
		switch {
		case f.kind == othersField:
			fields[0] = f
			continue
		case !ok:
			continue
		case f.kind == absent && member.Type.Kind() == reflect.Struct:
			f.kind, f.inner = messageField, tableOf(member.Type)
		case f.kind == absent && member.Type.Kind() == reflect.Slice && member.Type.Elem().Kind() == reflect.Struct:
			f.kind, f.inner, f.list = messagesField, tableOf(member.Type.Elem()), member.Type
		case f.kind == absent:
			panic(fmt.Sprintf("protobuf: %v.%s: no field is a %v", t, member.Name, member.Type))
		}
		tag, fixed := strings.CutSuffix(tag, ",fixed")
		if fixed && f.kind == varintsField {
			f.kind = fixedField
		}
		for number := range strings.SplitSeq(tag, ",") {
			n, err := strconv.Atoi(number)
			if err != nil || n < 1 {
				panic(fmt.Sprintf("protobuf: %v.%s: tag %q", t, member.Name, tag))
			}
			fields = append(fields, make(fieldTable, max(n+1-len(fields), 0))...)
			fields[n] = f
		}
	}
	return fields
}

func (fields fieldTable) decode(b []byte, to unsafe.Pointer) bool {
	m := Open(b)
	sound := true
	for m.Small() || m.Next() {
		sound = fields.set(&m, to) && sound
	}
	return sound && !m.Broken
}

// set sets the field at which the message is. It returns false if the field is a
// message and broken.
func (fields fieldTable) set(m *Message, to unsafe.Pointer) bool {
	isBytes := m.Kind == protowire.BytesType
	f := &fields[0]
	if int(m.Number) < len(fields) && fields[m.Number].kind != absent {
		f = &fields[m.Number]
	}
	if isBytes && f.kind < lastNumber || !isBytes && f.kind > lastNumber && f.kind < lastBytes {
		return true
	}
	at := unsafe.Add(to, f.offset)
	switch f.kind {
	case boolField:
		*(*bool)(at) = m.Value != 0
	case word32Field:
		*(*uint32)(at) = uint32(m.Value)
	case word64Field, doubleField:
		*(*uint64)(at) = m.Value
	case integerField:
		*(*Integer)(at) = Integer{int64(m.Value), true}
	case stringField:
		*(*string)(at) = string(m.Bytes)
	case bytesField:
		*(*[]byte)(at) = m.Bytes
	case stringsField:
		list := (*[]string)(at)
		*list = append(*list, string(m.Bytes))
	case bytesListField:
		list := (*[][]byte)(at)
		*list = append(*list, m.Bytes)
	case messageField:
		return f.inner.decode(m.Bytes, at)
	case messagesField:
		list := reflect.NewAt(f.list, at).Elem()
		n := list.Len()
		list.Grow(1)
		list.SetLen(n + 1)
		list.Index(n).SetZero()
		return f.inner.decode(m.Bytes, list.Index(n).Addr().UnsafePointer())
	case valueField:
		*(*Value)(at) = m.field()
	case valuesField:
		list := (*[]Value)(at)
		*list = append(*list, m.field())
	case varintsField:
		list := (*[]uint64)(at)
		*list = m.AppendVarints(*list)
	case fixedField:
		list := (*Fixed64s)(at)
		*list = m.AppendFixed(*list)
	case othersField:
		if isBytes {
			*(*Others)(at)++
		}
	}
	return true
}

// field returns the field at which the message is.
func (m *Message) field() Value {
	if m.Kind == protowire.BytesType {
		return Value{Number: m.Number, Bytes: m.Bytes}
	}
	return Value{Number: m.Number, Bits: m.Value}
}
