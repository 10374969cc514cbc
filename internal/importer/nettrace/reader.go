package nettrace

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

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
	in        io.Reader
	to        *converter
	at        int64
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

func (r *reader) Read(b []byte) (int, error) {
	n, err := r.in.Read(b)
	r.at += int64(n)
	return n, err
}

// largestBlock bounds the bytes in memory.
const largestBlock = 256 << 20

func (r *reader) bytes(n int64) ([]byte, error) {
	if n < 0 || n > largestBlock {
		return nil, fmt.Errorf("byte %d: a block of %d bytes", r.at, n)
	}
	var b bytes.Buffer
	if _, err := io.CopyN(&b, r, n); err != nil {
		return nil, errors.New("breaks off")
	}
	return b.Bytes(), nil
}

func (r *reader) number() (uint32, error) {
	b, err := r.bytes(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

// file reads all blocks.
func (r *reader) file(ctx context.Context) error {
	head, err := r.bytes(int64(len(magic)))
	if err != nil || string(head) != magic {
		return errors.New("does not begin as a .nettrace file")
	}
	length, err := r.number()
	if err != nil {
		return err
	}
	next := r.object
	if length == 0 {
		if r.version, err = r.number(); err != nil {
			return err
		}
		if r.version != 6 {
			return fmt.Errorf("is of version %d: up to 6 is read", r.version)
		}
		if _, err := r.number(); err != nil {
			return err
		}
		next = r.block
	} else if name, err := r.bytes(int64(length)); err != nil || string(name) != object {
		return errors.New("does not go on as a .nettrace file")
	}
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		begin := r.at
		kind, b, err := next()
		if err != nil || kind == blockEnd {
			return err
		}
		if !r.take(kind, b, begin) {
			r.to.tally.Add(brokenBlock, begin)
		}
	}
}

// block reads one of version 6.
func (r *reader) block() (int, []byte, error) {
	head, err := r.number()
	if err != nil {
		return 0, nil, err
	}
	b, err := r.bytes(int64(head & 0xffffff))
	return int(head >> 24), b, err
}

// Tags of versions 4 and 5.
const (
	tagNull  = 1
	tagBegin = 5
	tagEnd   = 6
)

// object reads one of versions 4 and 5: tags, version, name, length, zeros up to a multiple of four, content.
func (r *reader) object() (int, []byte, error) {
	tag, err := r.bytes(1)
	if err != nil || tag[0] == tagNull {
		return blockEnd, nil, err
	}
	head, err := r.bytes(14)
	if err != nil {
		return 0, nil, err
	}
	if tag[0] != tagBegin || head[0] != tagBegin || head[1] != tagNull {
		return 0, nil, fmt.Errorf("byte %d: no object begins here", r.at)
	}
	version := binary.LittleEndian.Uint32(head[2:])
	name, err := r.bytes(int64(min(binary.LittleEndian.Uint32(head[10:]), 256)))
	if err != nil {
		return 0, nil, err
	}
	if tag, err = r.bytes(1); err != nil {
		return 0, nil, err
	}
	kind, length := blockNames[string(name)], uint32(48)
	if kind == 0 {
		kind = -1
	}
	if kind == blockTrace {
		if r.version = version; version < 4 || version > 5 {
			return 0, nil, fmt.Errorf("is of version %d: 4 to 6 are read", version)
		}
	} else {
		if length, err = r.number(); err != nil {
			return 0, nil, err
		}
		if _, err := r.bytes(-r.at & 3); err != nil {
			return 0, nil, err
		}
	}
	b, err := r.bytes(int64(length))
	if err != nil {
		return 0, nil, err
	}
	if tag, err = r.bytes(1); err == nil && tag[0] != tagEnd {
		err = fmt.Errorf("byte %d: the object %q does not end here", r.at, name)
	}
	return kind, b, err
}

// take reads the content of a block; false if it does not fit.
func (r *reader) take(kind int, b []byte, at int64) bool {
	c := &cursor{b: b}
	switch kind {
	case blockTrace:
		r.trace(c)
	case blockEvents:
		r.events(c, at, r.event)
	case blockMetadata:
		if r.version >= 6 {
			r.rows(c)
		} else {
			r.events(c, at, func(h *header, payload []byte, _ int64) { r.define(&cursor{b: payload}) })
		}
	case blockStacks:
		r.stackBlock(c)
	case blockSequence:
		clear(r.stacks)
	case blockThreads:
		r.threadBlock(c)
	}
	return !c.bad
}

// trace reads the header of the whole trace.
func (r *reader) trace(c *cursor) {
	var date [8]int
	for i := range date {
		date[i] = int(c.u16())
	}
	when := time.Date(date[0], time.Month(date[1]), date[3], date[4], date[5], date[6], date[7]*1e6, time.UTC)
	r.sync, r.frequency, r.pointer = c.u64(), c.u64(), int(c.u32())
	if date[0] > 1970 && date[0] < 2200 {
		r.begin = trace.Time(when.UnixNano())
	}
	if r.version < 6 {
		r.to.process(uint64(c.u32()))
		return
	}
	for n := c.u32(); n > 0 && !c.bad; n-- {
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
func (r *reader) events(c *cursor, at int64, take func(*header, []byte, int64)) {
	size, flags := int(c.u16()), c.u16()
	c.next(size - 4)
	h := &header{}
	for len(c.b) > 0 && !c.bad {
		if flags&1 != 0 {
			r.packed(c, h)
		} else {
			r.plain(c, h)
		}
		payload := c.next(int(min(h.size, 1<<30)))
		if flags&1 == 0 && r.version < 6 { // zeros up to a multiple of four
			c.next(min(-int(h.size)&3, len(c.b)))
		}
		if !c.bad {
			take(h, payload, at)
		}
	}
}

func (r *reader) plain(c *cursor, h *header) {
	c.u32()
	h.metadata, h.sequence = c.u32()&math.MaxInt32, c.u32()
	h.thread, h.capture, h.processor = c.u64(), c.u64(), c.u32()
	h.stack, h.ticks = c.u32(), c.u64()
	if r.version < 6 {
		c.next(32) // activities
	} else {
		c.u32() // labels
	}
	h.size = c.u32()
}

func (r *reader) packed(c *cursor, h *header) {
	flags := c.u8()
	if flags&1 != 0 {
		h.metadata = uint32(c.varint())
	}
	if flags&2 != 0 {
		h.sequence += uint32(c.varint())
		h.capture, h.processor = c.varint(), uint32(c.varint())
	}
	if h.metadata != 0 || r.version >= 6 {
		h.sequence++
	}
	if flags&4 != 0 {
		h.thread = c.varint()
	}
	if flags&8 != 0 {
		h.stack = uint32(c.varint())
	}
	h.ticks += c.varint()
	switch {
	case r.version >= 6 && flags&16 != 0:
		c.varint() // labels
	case r.version < 6 && flags&16 != 0:
		c.next(16)
	}
	if r.version < 6 && flags&32 != 0 {
		c.next(16)
	}
	if flags&128 != 0 {
		h.size = uint32(c.varint())
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
func (r *reader) define(c *cursor) {
	number := c.u32()
	k := &kind{provider: c.wide(), id: c.u32(), name: c.wide()}
	c.next(16) // keywords, version, level
	k.fields = c.fields(0)
	for len(c.b) >= 5 && !c.bad { // tags
		length, tag := c.u32(), c.u8()
		t := &cursor{b: c.next(int(min(length, 1<<30)))}
		if tag == 2 {
			k.fields = t.fieldsWithLists()
		}
	}
	r.metadata[number] = k
}

// rows reads metadata of version 6.
func (r *reader) rows(c *cursor) {
	c.next(int(c.u16()))
	for len(c.b) > 0 && !c.bad {
		row := &cursor{b: c.next(int(c.u16()))}
		number := uint32(row.varint())
		k := &kind{provider: row.text()}
		k.id, k.name = uint32(row.varint()), row.text()
		k.fields = row.described(0)
		if k.name == "" && row.bad {
			c.bad = true
		}
		r.metadata[number] = k
	}
}

// threadBlock reads threads of version 6.
func (r *reader) threadBlock(c *cursor) {
	for len(c.b) > 0 && !c.bad {
		row := &cursor{b: c.next(int(c.u16()))}
		index := row.varint()
		t := thread{id: index}
		for len(row.b) > 0 && !row.bad {
			switch row.u8() {
			case 1:
				t.name = row.text()
			case 2:
				t.process = row.varint()
			case 3:
				t.id = row.varint()
			case 4:
				row.text()
				row.text()
			default:
				row.b = nil
			}
		}
		r.threads[index] = t
	}
}

// mostFrames bounds a stack.
const mostFrames = 1 << 14

func (r *reader) stackBlock(c *cursor) {
	first, count := c.u32(), c.u32()
	for i := uint32(0); i < count && !c.bad; i++ {
		raw := c.next(int(min(c.u32(), 1<<30)))
		number, ok := r.known[string(raw)]
		if !ok && len(raw) <= 8*mostFrames {
			stack := &cursor{b: raw}
			var list []uint64
			for len(stack.b) > 0 && !stack.bad {
				list = append(list, stack.address(r.pointer))
			}
			number = int32(len(r.addresses))
			r.addresses = append(r.addresses, list)
			r.known[string(raw)] = number
		}
		r.stacks[first+i] = number
	}
}

// A cursor walks bytes; bad is set where they end too early, and all after is zero.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) next(n int) []byte {
	if n < 0 || n > len(c.b) {
		c.b, c.bad = nil, true
		return nil
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *cursor) u8() byte {
	if b := c.next(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) u16() uint16 {
	if b := c.next(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.next(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.next(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (c *cursor) address(size int) uint64 {
	if size == 4 {
		return uint64(c.u32())
	}
	return c.u64()
}

func (c *cursor) varint() uint64 {
	v, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.b, c.bad = nil, true
		return 0
	}
	c.b = c.b[n:]
	return v
}

// text is a length and UTF-8.
func (c *cursor) text() string { return string(c.next(int(min(c.varint(), 1<<30)))) }

// wide is UTF-16 up to a zero.
func (c *cursor) wide() string {
	var units []uint16
	for {
		u := c.u16()
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
func (c *cursor) fields(depth int) (list []field) {
	for n := c.u32(); n > 0 && !c.bad && len(list) < mostFields && depth < deepest; n-- {
		f := field{code: c.u32()}
		if f.code == codeObject {
			f.children = c.fields(depth + 1)
		}
		f.name = c.wide()
		list = append(list, f)
	}
	return list
}

// fieldsWithLists reads the descriptions that version 5 added.
func (c *cursor) fieldsWithLists() (list []field) {
	for n := c.u32(); n > 0 && !c.bad && len(list) < mostFields; n-- {
		one := &cursor{b: c.next(int(min(c.u32(), 1<<30)) - 4)}
		f := field{name: one.wide(), code: one.u32()}
		switch f.code {
		case codeList:
			f.element = &field{code: one.u32()}
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
func (c *cursor) described(depth int) (list []field) {
	for n := c.u16(); n > 0 && !c.bad && len(list) < mostFields && depth < deepest; n-- {
		one := &cursor{b: c.next(int(c.u16()))}
		f := field{name: one.text()}
		one.kindOf(&f, depth)
		list = append(list, f)
	}
	return list
}

func (c *cursor) kindOf(f *field, depth int) {
	f.code = uint32(c.u8())
	switch f.code {
	case codeList, codeFixed, codeRelative, codeAbsolute:
		if f.element = new(field); depth < deepest {
			c.kindOf(f.element, depth+1)
		}
		if f.code == codeFixed {
			f.count = int(c.u16())
		}
	case codeObject:
		f.children = c.described(depth + 1)
	}
}

// each yields the values of fields, those of objects one by one; it ends at a value that is not known.
func (c *cursor) each(list []field, take func(name, value string)) {
	for i := range list {
		f := &list[i]
		switch f.code {
		case codeObject:
			c.each(f.children, take)
		case codeList, codeFixed:
			n := f.count
			if f.code == codeList {
				n = int(c.u16())
			}
			var values []string
			for ; n > 0 && !c.bad; n-- {
				c.each([]field{*f.element}, func(_, v string) { values = append(values, v) })
			}
			take(f.name, "["+strings.Join(values, " ")+"]")
		default:
			value, ok := c.value(f.code)
			if !ok || c.bad {
				c.bad = true
				return
			}
			take(f.name, value)
		}
		if c.bad {
			return
		}
	}
}

func (c *cursor) value(code uint32) (string, bool) {
	integer := func(v int64) (string, bool) { return strconv.FormatInt(v, 10), true }
	switch code {
	case codeBool:
		return strconv.FormatBool(c.u32() != 0), true
	case codeShortBit:
		return strconv.FormatBool(c.u8() != 0), true
	case codeChar:
		return string(rune(c.u16())), true
	case codeSByte:
		return integer(int64(int8(c.u8())))
	case codeByte:
		return integer(int64(c.u8()))
	case codeInt16:
		return integer(int64(int16(c.u16())))
	case codeUint16:
		return integer(int64(c.u16()))
	case codeInt32:
		return integer(int64(int32(c.u32())))
	case codeUint32:
		return integer(int64(c.u32()))
	case codeInt64:
		return integer(int64(c.u64()))
	case codeUint64:
		return strconv.FormatUint(c.u64(), 10), true
	case codeFloat:
		return strconv.FormatFloat(float64(math.Float32frombits(c.u32())), 'g', -1, 32), true
	case codeDouble:
		return strconv.FormatFloat(math.Float64frombits(c.u64()), 'g', -1, 64), true
	case codeDate, codeGUID:
		return fmt.Sprintf("%x", c.next(16)), true
	case codeText:
		return c.wide(), true
	case codeVarint:
		v := c.varint()
		return integer(int64(v>>1) ^ -int64(v&1))
	case codeVaruint:
		return strconv.FormatUint(c.varint(), 10), true
	case codeRelative, codeAbsolute:
		c.u32()
		return "", true
	}
	return "", false
}
