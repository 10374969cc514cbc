package nettrace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/parallax-hpc/parallax/internal/importer/wire"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	magic  = "Nettrace"
	object = "!FastSerialization.1" // of versions 4 and 5
)

// Kinds of blocks, by version 6.
const (
	blockEnd       = 0
	blockTrace     = 1
	blockEvents    = 2
	blockMetadata  = 3
	blockSequence  = 4
	blockStacks    = 5
	blockThreads   = 6
	blockNoThreads = 7
)

var blockNames = map[string]int{"Trace": blockTrace, "EventBlock": blockEvents, "MetadataBlock": blockMetadata,
	"SPBlock": blockSequence, "StackBlock": blockStacks}

// A kind is metadata: a type of event.
type kind struct {
	provider, name string
	id             uint32
	fields         []field
}

// A field is one of an event's payload.
type field struct {
	name     string
	code     uint32
	element  *field  // of a list
	count    int     // of a list of fixed length
	children []field // of an object
}

// A thread is who an event is of.
type thread struct {
	id, process uint64
	name        string
}

// An event is a record.
type event struct {
	*kind
	thread  thread
	time    trace.Time
	stack   int32 // in addresses; -1: none
	payload []byte
}

// A reader follows the blocks of a file.
type reader struct {
	in        *wire.Cursor
	to        *converter
	version   uint32
	pointer   int // bytes
	sync      uint64
	frequency uint64
	begin     trace.Time // of the ticks sync
	metadata  map[uint32]*kind
	threads   map[uint64]thread
	last      map[uint64]uint32 // number of the last event of a thread
	stacks    map[uint32]int32  // by their number, up to the next sequence point
	known     map[string]int32
	addresses [][]uint64 // all stacks, innermost first
}

// largestBlock bounds the bytes in memory.
const largestBlock = 256 << 20

var errCut = errors.New("breaks off")

// file reads all blocks.
func (r *reader) file(ctx context.Context) error {
	if r.in.Text(len(magic)) != magic {
		return errors.New("does not begin as a .nettrace file")
	}
	length := r.in.Uint32()
	next := r.object
	switch {
	case r.in.Failed():
		return errCut
	case length == 0:
		if r.version = r.in.Uint32(); !r.in.Failed() && r.version != 6 {
			return fmt.Errorf("is of version %d: up to 6 is read", r.version)
		}
		r.in.Uint32()
		next = r.block
	case int(length) != len(object) || r.in.Text(len(object)) != object:
		return errors.New("does not go on as a .nettrace file")
	}
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		begin := r.in.Offset()
		b, err := next()
		if r.in.Failed() {
			err = errCut
		}
		if err != nil || b.kind == blockEnd {
			return err
		}
		if !r.take(b, begin) {
			r.to.tally.Add(brokenBlock, begin)
		}
	}
}

// A block is a part of a file.
type block struct {
	kind    int
	content []byte
}

// bytes reads n bytes of a block's content, and more after them.
func (r *reader) bytes(n uint32, more int) ([]byte, error) {
	if n > largestBlock {
		return nil, fmt.Errorf("byte %d: a block of %d bytes", r.in.Offset(), n)
	}
	return r.in.Take(int(n) + more), nil
}

// block reads one of version 6.
func (r *reader) block() (block, error) {
	head := r.in.Uint32()
	b, err := r.bytes(head&0xffffff, 0)
	return block{int(head >> 24), b}, err
}

// Tags of versions 4 and 5.
const (
	tagNull  = 1
	tagBegin = 5
	tagEnd   = 6
)

// object reads one of versions 4 and 5: tags, version, name, length, zeros up to a multiple of four, content, tag.
func (r *reader) object() (block, error) {
	tag := r.in.Byte()
	if r.in.Failed() || tag == tagNull {
		return block{}, nil
	}
	tags := [3]byte{tag, r.in.Byte(), r.in.Byte()}
	version := r.in.Uint32()
	r.in.Uint32() // the least version of readers
	length := r.in.Uint32()
	if r.in.Failed() {
		return block{}, nil
	}
	if tags != [3]byte{tagBegin, tagBegin, tagNull} {
		return block{}, fmt.Errorf("byte %d: no object begins here", r.in.Offset())
	}
	name := r.in.Text(int(min(length, 256)))
	r.in.Byte()
	if r.in.Failed() {
		return block{}, nil
	}
	kind, size := cmp.Or(blockNames[name], -1), uint32(48)
	if kind == blockTrace {
		if r.version = version; version < 4 || version > 5 {
			return block{}, fmt.Errorf("is of version %d: 4 to 6 are read", version)
		}
	} else {
		size = r.in.Uint32()
		r.in.Skip(-r.in.Offset() & 3)
	}
	b, err := r.bytes(size, 1)
	if err != nil || r.in.Failed() {
		return block{}, err
	}
	if b[size] != tagEnd {
		return block{}, fmt.Errorf("byte %d: the object %q does not end here", r.in.Offset(), name)
	}
	return block{kind, b[:size]}, nil
}

// take reads the content of a block; false if it does not fit.
func (r *reader) take(b block, at int64) bool {
	c := cursorOf(b.content)
	switch b.kind {
	case blockTrace:
		r.trace(c)
	case blockEvents:
		r.events(c, at, r.event)
	case blockMetadata:
		if r.version >= 6 {
			r.rows(c)
		} else {
			r.events(c, at, func(h *header, payload []byte, _ int64) { r.define(cursorOf(payload)) })
		}
	case blockStacks:
		r.stackBlock(c)
	case blockSequence:
		clear(r.stacks)
	case blockThreads:
		r.threadBlock(c)
	}
	return !c.Failed()
}

// trace reads the header of the whole trace.
func (r *reader) trace(c cursor) {
	var date [8]int
	for i := range date {
		date[i] = int(c.Uint16())
	}
	when := time.Date(date[0], time.Month(date[1]), date[3], date[4], date[5], date[6], date[7]*1e6, time.UTC)
	r.sync, r.frequency, r.pointer = c.Uint64(), c.Uint64(), int(c.Uint32())
	if date[0] > 1970 && date[0] < 2200 {
		r.begin = trace.Time(when.UnixNano())
	}
	if r.version < 6 {
		r.to.process(uint64(c.Uint32()))
		return
	}
	for n := c.Uint32(); n > 0 && !c.Failed(); n-- {
		key, value := c.text(), c.text()
		r.to.w.Property(key, value)
		if id, err := strconv.ParseUint(value, 10, 64); err == nil && key == "ProcessId" {
			r.to.process(id)
		}
	}
}

// time is that of a number of ticks.
func (r *reader) time(ticks uint64) trace.Time {
	if r.frequency == 0 {
		return r.begin
	}
	ns := float64(int64(ticks-r.sync)) * (1e9 / float64(r.frequency))
	if since := int64(ticks - r.sync); since >= 0 && since < math.MaxInt64/1_000_000_000 {
		return r.begin + trace.Time(since*1e9/int64(r.frequency))
	}
	return r.begin + trace.Time(min(max(ns, -1<<61), 1<<61))
}

// A header is that of an event.
type header struct {
	metadata, sequence, processor, stack, size uint32
	thread, capture, ticks                     uint64
}

// events reads rows of events, whose headers are packed or not.
func (r *reader) events(c cursor, at int64, take func(*header, []byte, int64)) {
	size, flags := int(c.Uint16()), c.Uint16()
	c.Take(size - 4)
	h := &header{}
	for c.Left() > 0 {
		if flags&1 != 0 {
			r.packed(c, h)
		} else {
			r.plain(c, h)
		}
		payload := c.Take(int(min(h.size, 1<<30)))
		if flags&1 == 0 && r.version < 6 { // zeros up to a multiple of four
			c.Take(min(-int(h.size)&3, c.Left()))
		}
		if !c.Failed() {
			take(h, payload, at)
		}
	}
}

func (r *reader) plain(c cursor, h *header) {
	c.Uint32()
	h.metadata, h.sequence = c.Uint32()&math.MaxInt32, c.Uint32()
	h.thread, h.capture, h.processor = c.Uint64(), c.Uint64(), c.Uint32()
	h.stack, h.ticks = c.Uint32(), c.Uint64()
	if r.version < 6 {
		c.Take(32) // activities
	} else {
		c.Uint32() // labels
	}
	h.size = c.Uint32()
}

func (r *reader) packed(c cursor, h *header) {
	flags := c.Byte()
	if flags&1 != 0 {
		h.metadata = uint32(c.Uvarint())
	}
	if flags&2 != 0 {
		h.sequence += uint32(c.Uvarint())
		h.capture, h.processor = c.Uvarint(), uint32(c.Uvarint())
	}
	if h.metadata != 0 || r.version >= 6 {
		h.sequence++
	}
	if flags&4 != 0 {
		h.thread = c.Uvarint()
	}
	if flags&8 != 0 {
		h.stack = uint32(c.Uvarint())
	}
	h.ticks += c.Uvarint()
	switch {
	case r.version >= 6 && flags&16 != 0:
		c.Uvarint() // labels
	case r.version < 6 && flags&16 != 0:
		c.Take(16)
	}
	if r.version < 6 && flags&32 != 0 {
		c.Take(16)
	}
	if flags&128 != 0 {
		h.size = uint32(c.Uvarint())
	}
}

// event passes on one.
func (r *reader) event(h *header, payload []byte, at int64) {
	k := r.metadata[h.metadata]
	if k == nil {
		r.to.tally.Add(unknownEvent, at)
		return
	}
	before, any := r.last[h.capture]
	if gap := h.sequence - before - 1; any && h.sequence > before+1 && gap < 1<<24 {
		r.to.tally.AddN(droppedEvents, int64(gap), at)
	}
	r.last[h.capture] = h.sequence
	e := event{kind: k, thread: thread{id: h.thread}, time: r.time(h.ticks), stack: -1, payload: payload}
	if t, ok := r.threads[h.thread]; ok {
		e.thread = t
	}
	if stack, ok := r.stacks[h.stack]; ok && h.stack != 0 {
		e.stack = stack
	}
	r.to.event(&e, r.pointer)
}

// define reads metadata of versions 4 and 5.
func (r *reader) define(c cursor) {
	number := c.Uint32()
	k := &kind{provider: c.wide(), id: c.Uint32(), name: c.wide()}
	c.Take(16) // keywords, version, level
	k.fields = c.fields(0)
	for c.Left() >= 5 { // tags
		length, tag := c.Uint32(), c.Byte()
		t := c.part(uint64(length))
		if tag == 2 {
			k.fields = t.fieldsWithLists()
		}
	}
	r.metadata[number] = k
}

// rows reads metadata of version 6.
func (r *reader) rows(c cursor) {
	c.Take(int(c.Uint16()))
	for c.Left() > 0 {
		row := c.part(uint64(c.Uint16()))
		number := uint32(row.Uvarint())
		k := &kind{provider: row.text()}
		k.id, k.name = uint32(row.Uvarint()), row.text()
		k.fields = row.described(0)
		if k.name == "" && row.Failed() {
			c.Fail(io.ErrUnexpectedEOF)
		}
		r.metadata[number] = k
	}
}

// threadBlock reads threads of version 6.
func (r *reader) threadBlock(c cursor) {
	for c.Left() > 0 {
		row := c.part(uint64(c.Uint16()))
		index := row.Uvarint()
		t := thread{id: index}
		for row.Left() > 0 {
			switch row.Byte() {
			case 1:
				t.name = row.text()
			case 2:
				t.process = row.Uvarint()
			case 3:
				t.id = row.Uvarint()
			case 4:
				row.text()
				row.text()
			default:
				row.Skip(int64(row.Left()))
			}
		}
		r.threads[index] = t
	}
}

// mostFrames bounds a stack.
const mostFrames = 1 << 14

func (r *reader) stackBlock(c cursor) {
	first, count := c.Uint32(), c.Uint32()
	for i := uint32(0); i < count && !c.Failed(); i++ {
		raw := c.Take(int(min(c.Uint32(), 1<<30)))
		number, ok := r.known[string(raw)]
		if !ok && len(raw) <= 8*mostFrames {
			stack := cursorOf(raw)
			var list []uint64
			for stack.Left() > 0 {
				list = append(list, stack.address(r.pointer))
			}
			number = int32(len(r.addresses))
			r.addresses = append(r.addresses, list)
			r.known[string(raw)] = number
		}
		r.stacks[first+i] = number
	}
}

// A cursor reads a block.
type cursor struct{ *wire.Cursor }

func cursorOf(b []byte) cursor { return cursor{wire.Of(b)} }

// part is a cursor over the next bytes, of which there are at most a gigabyte.
func (c cursor) part(n uint64) cursor { return cursor{c.Sub(int(min(n, 1<<30)))} }

func (c cursor) address(size int) uint64 {
	if size == 4 {
		return uint64(c.Uint32())
	}
	return c.Uint64()
}

// text is a length and UTF-8.
func (c cursor) text() string { return c.Text(int(min(c.Uvarint(), 1<<30))) }

// wide is UTF-16 up to a zero.
func (c cursor) wide() string {
	var units []uint16
	for {
		u := c.Uint16()
		if u == 0 {
			return string(utf16.Decode(units))
		}
		units = append(units, u)
	}
}

// Codes of types of fields.
const (
	codeObject   = 1
	codeBool     = 3
	codeChar     = 4
	codeSByte    = 5
	codeByte     = 6
	codeInt16    = 7
	codeUint16   = 8
	codeInt32    = 9
	codeUint32   = 10
	codeInt64    = 11
	codeUint64   = 12
	codeFloat    = 13
	codeDouble   = 14
	codeDate     = 16
	codeGUID     = 17
	codeText     = 18
	codeList     = 19
	codeVarint   = 20
	codeVaruint  = 21
	codeFixed    = 22
	codeRelative = 24
	codeAbsolute = 25
	codeShortBit = 26
)

const (
	mostFields = 256
	deepest    = 8
)

// fields reads descriptions of versions 4 and 5.
func (c cursor) fields(depth int) (list []field) {
	for n := c.Uint32(); n > 0 && !c.Failed() && len(list) < mostFields && depth < deepest; n-- {
		f := field{code: c.Uint32()}
		if f.code == codeObject {
			f.children = c.fields(depth + 1)
		}
		f.name = c.wide()
		list = append(list, f)
	}
	return list
}

// fieldsWithLists reads the descriptions that version 5 added.
func (c cursor) fieldsWithLists() (list []field) {
	for n := c.Uint32(); n > 0 && !c.Failed() && len(list) < mostFields; n-- {
		one := cursor{c.Sub(int(min(c.Uint32(), 1<<30)) - 4)}
		f := field{name: one.wide(), code: one.Uint32()}
		switch f.code {
		case codeList:
			f.element = &field{code: one.Uint32()}
			if f.element.code == codeObject {
				f.element.children = one.fields(0)
			}
		case codeObject:
			f.children = one.fields(0)
		}
		list = append(list, f)
	}
	return list
}

// described reads descriptions of version 6.
func (c cursor) described(depth int) (list []field) {
	for n := c.Uint16(); n > 0 && !c.Failed() && len(list) < mostFields && depth < deepest; n-- {
		one := c.part(uint64(c.Uint16()))
		f := field{name: one.text()}
		one.kindOf(&f, depth)
		list = append(list, f)
	}
	return list
}

func (c cursor) kindOf(f *field, depth int) {
	f.code = uint32(c.Byte())
	switch f.code {
	case codeList, codeFixed, codeRelative, codeAbsolute:
		if f.element = new(field); depth < deepest {
			c.kindOf(f.element, depth+1)
		}
		if f.code == codeFixed {
			f.count = int(c.Uint16())
		}
	case codeObject:
		f.children = c.described(depth + 1)
	}
}

// each yields the values of fields, those of objects one by one; it ends at a value that is not known.
func (c cursor) each(list []field, take func(name, value string)) {
	for i := range list {
		f := &list[i]
		switch f.code {
		case codeObject:
			c.each(f.children, take)
		case codeList, codeFixed:
			n := f.count
			if f.code == codeList {
				n = int(c.Uint16())
			}
			var values []string
			for ; n > 0 && !c.Failed(); n-- {
				c.each([]field{*f.element}, func(_, v string) { values = append(values, v) })
			}
			take(f.name, "["+strings.Join(values, " ")+"]")
		default:
			value, ok := c.value(f.code)
			if !ok || c.Failed() {
				c.Fail(io.ErrUnexpectedEOF)
				return
			}
			take(f.name, value)
		}
		if c.Failed() {
			return
		}
	}
}

func (c cursor) value(code uint32) (string, bool) {
	integer := func(v int64) (string, bool) { return strconv.FormatInt(v, 10), true }
	switch code {
	case codeBool:
		return strconv.FormatBool(c.Uint32() != 0), true
	case codeShortBit:
		return strconv.FormatBool(c.Byte() != 0), true
	case codeChar:
		return string(rune(c.Uint16())), true
	case codeSByte:
		return integer(int64(int8(c.Byte())))
	case codeByte:
		return integer(int64(c.Byte()))
	case codeInt16:
		return integer(int64(int16(c.Uint16())))
	case codeUint16:
		return integer(int64(c.Uint16()))
	case codeInt32:
		return integer(int64(int32(c.Uint32())))
	case codeUint32:
		return integer(int64(c.Uint32()))
	case codeInt64:
		return integer(int64(c.Uint64()))
	case codeUint64:
		return strconv.FormatUint(c.Uint64(), 10), true
	case codeFloat:
		return strconv.FormatFloat(float64(math.Float32frombits(c.Uint32())), 'g', -1, 32), true
	case codeDouble:
		return strconv.FormatFloat(math.Float64frombits(c.Uint64()), 'g', -1, 64), true
	case codeDate, codeGUID:
		return fmt.Sprintf("%x", c.Take(16)), true
	case codeText:
		return c.wide(), true
	case codeVarint:
		v := c.Uvarint()
		return integer(int64(v>>1) ^ -int64(v&1))
	case codeVaruint:
		return strconv.FormatUint(c.Uvarint(), 10), true
	case codeRelative, codeAbsolute:
		c.Uint32()
		return "", true
	}
	return "", false
}
