package mpe

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// A kind is a type of record, in the numbers of CLOG-2.
type kind int32

const (
	endLog kind = iota
	endBlock
	stateDef
	eventDef
	constDef
	bareEvent
	cargoEvent
	messageEvent
	collective
	communicator
	sourcePlace
	timeShift
	kinds
)

// bodies are how many bytes follow the header of each kind of record in CLOG-2.
var bodies = [kinds]int{stateDef: 112, eventDef: 104, constDef: 40, bareEvent: 8, cargoEvent: 40, messageEvent: 24,
	collective: 16, communicator: 48, sourcePlace: 48, timeShift: 8}

// oldKinds are those of CLOG, from its first number on, with the bytes after the header.
var oldKinds = [...]struct {
	kind kind
	body int
}{
	{endLog, 0}, {endBlock, 0}, {-1, 0}, {bareEvent, 32}, {messageEvent, 24}, {collective, 24}, {communicator, 16},
	{eventDef, 24}, {stateDef, 56}, {sourcePlace, 48}, {timeShift, 8},
}

const (
	firstOldKind  = -2
	headerSize    = 24
	preambleSize  = 1024
	oldBlockSize  = 64 << 10
	mostBlockSize = 64 << 20

	sendEvent, receiveEvent = -101, -102
)

// A log is how the records of a file lie.
type log struct {
	label string
	old   bool // CLOG without a number
	order binary.ByteOrder
	block int
	preamble
}

// A preamble is the first kilobyte of CLOG-2.
type preamble struct {
	finalized             bool
	threads               int
	knownStart, userStart int32
	known, user           int32 // how many states have their two events from there on
	soloStart, soloCount  int32
}

// oldPreamble holds the fixed values of every CLOG.
var oldPreamble = preamble{finalized: true, threads: 1, knownStart: 1, known: 180, userStart: 500, user: 30}

// A record is one event or definition. Numbers that its kind does not have are zero.
type record struct {
	kind               kind
	time               float64
	comm, rank, thread int32
	event              int32 // number of the event, or of the one that begins a state
	end                int32 // number of the event that ends a state
	name, colour       []byte
	format             []byte
	cargo              []byte
	peerComm, peer     int32
	tag, size          int32
	value              int32
	newComm, newRank   int32
	world              int32
	offset             int64 // in the file
}

// isCLOG recognises a log without a mark of its own: the first records all have the length of their type.
func isCLOG(head []byte) bool {
	n := 0
	for len(head) >= headerSize {
		t := math.Float64frombits(binary.BigEndian.Uint64(head))
		i := int(int32(binary.BigEndian.Uint32(head[8:]))) - firstOldKind
		if i < 0 || i >= len(oldKinds) || oldKinds[i].kind < 0 || !(math.Abs(t) < 1e10) {
			return false
		}
		size := headerSize + oldKinds[i].body
		if int(binary.BigEndian.Uint32(head[12:])) != size/8 || binary.BigEndian.Uint32(head[16:]) > 1<<24 {
			return false
		}
		if n++; n >= 8 || oldKinds[i].kind <= endBlock {
			return n >= 4
		}
		head = head[min(size, len(head)):]
	}
	return false
}

// openLog reads the file up to the blocks.
func openLog(in io.Reader, head []byte, label string) (*log, error) {
	if !isCLOG2(head) {
		if !isCLOG(head) {
			return nil,
				&importer.Error{File: label, Cause: "this is no log of MPE",
					Hint: "give a .clog, .clog2 or .slog2 file", Kind: importer.ErrMalformed}
		}
		return &log{label: label, old: true, order: binary.BigEndian, block: oldBlockSize, preamble: oldPreamble}, nil
	}
	buf := make([]byte, preambleSize)
	if _, err := io.ReadFull(in, buf); err != nil {
		return nil, importer.Malformed(label, "byte 0", "the preamble of %d bytes is cut", preambleSize)
	}
	words := strings.Split(string(buf), "\x00")
	if version := strings.TrimSpace(words[0]); version != "CLOG-02.44" {
		return nil,
			&importer.Error{File: label, Cause: "version " + strconv.Quote(version) + " of the format",
				Hint: "02.44 is read, which MPE writes since 1.0.6", Kind: importer.ErrUnsupported}
	}
	l := &log{label: label, order: binary.LittleEndian}
	values := map[string]string{}
	for i := 1; i+1 < len(words); i += 2 {
		values[words[i]] = strings.TrimSpace(words[i+1])
	}
	if values["is_big_endian="] == "TRUE" {
		l.order = binary.BigEndian
	}
	l.finalized = values["is_finalzed="] == "TRUE" // spelled so by MPE
	for name, to := range map[string]*int32{
		"known_eventID_start=": &l.knownStart, "user_eventID_start=": &l.userStart, "known_stateID_count=": &l.known,
		"user_stateID_count=":       &l.user,
		"known_solo_eventID_start=": &l.soloStart, "known_solo_eventID_count=": &l.soloCount,
	} {
		n, err := strconv.ParseInt(values[name], 10, 32)
		if err != nil {
			return nil, importer.Malformed(label, "byte 0", "the preamble says %s%q", name, values[name])
		}
		*to = int32(n)
	}
	for name, to := range map[string]*int{"block_size=": &l.block, "max_thread_count=": &l.threads} {
		n, err := strconv.ParseUint(values[name], 10, 31)
		if err != nil {
			return nil, importer.Malformed(label, "byte 0", "the preamble says %s%q", name, values[name])
		}
		*to = int(n)
	}
	if l.block < 2*headerSize || l.block > mostBlockSize {
		return nil, importer.Malformed(label, "byte 0", "blocks of %d bytes", l.block)
	}
	return l, nil
}

// errNoEnd says that a log breaks off.
var errNoEnd = errors.New("no end of the log")

// read gives every record. A record of no known kind ends its block, since nothing states where the next begins:
// skipped counts these.
func (l *log) read(ctx context.Context, in io.Reader, each func(*record)) (skipped int64, err error) {
	b := bufio.NewReaderSize(in, 1<<16)
	block := make([]byte, 0, min(l.block, 1<<20))
	at := int64(0)
	if !l.old {
		at = preambleSize
	}
	for {
		if err := ctx.Err(); err != nil {
			return skipped, err
		}
		block = block[:0]
		for len(block) < l.block { // grows with the bytes read, whatever the preamble says
			n := min(l.block-len(block), 1<<20)
			have := len(block)
			block = append(block, make([]byte, n)...)
			got, err := io.ReadFull(b, block[have:])
			block = block[:have+got]
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				break
			} else if err != nil {
				return skipped, err
			}
		}
		if len(block) == 0 {
			return skipped, errNoEnd
		}
		end, ok := l.records(block, at, each)
		switch {
		case end && ok:
			return skipped, nil
		case !ok:
			skipped++
		}
		if len(block) < l.block {
			return skipped, errNoEnd
		}
		at += int64(len(block))
	}
}

// records walks a block; end says that the log is over, ok that the block had its end.
func (l *log) records(b []byte, at int64, each func(*record)) (end, ok bool) {
	for i := 0; i+headerSize <= len(b); {
		var r record
		r.offset = at + int64(i)
		body := l.header(b[i:], &r)
		if body < 0 || i+headerSize+body > len(b) {
			return false, false
		}
		if r.kind <= endBlock {
			return r.kind == endLog, true
		}
		l.body(b[i+headerSize:i+headerSize+body], &r)
		each(&r)
		i += headerSize + body
	}
	return false, false
}

// header reads the process, thread and time, and returns the size of the body, -1 if the kind is not known.
func (l *log) header(b []byte, r *record) (body int) {
	number := func(i int) int32 { return int32(l.order.Uint32(b[i:])) }
	r.time = math.Float64frombits(l.order.Uint64(b))
	if l.old {
		i := int(number(8)) - firstOldKind
		if i < 0 || i >= len(oldKinds) || oldKinds[i].kind < 0 ||
			int(number(12)) != (headerSize+oldKinds[i].body)/8 && oldKinds[i].kind > endBlock {
			return -1
		}
		r.kind, r.rank = oldKinds[i].kind, number(16)
		return oldKinds[i].body
	}
	r.comm, r.rank, r.thread, r.kind = number(8), number(12), number(16), kind(number(20))
	if r.kind < 0 || r.kind >= kinds {
		return -1
	}
	return bodies[r.kind]
}

func (l *log) body(b []byte, r *record) {
	number := func(i int) int32 { return int32(l.order.Uint32(b[i:])) }
	r.event = number(0)
	switch {
	case r.kind == stateDef && l.old:
		r.event, r.end, r.colour, r.name = number(4), number(8), text(b[16:40]), text(b[40:56])
	case r.kind == stateDef:
		r.event, r.end, r.colour, r.name, r.format = number(4), number(8), text(b[16:40]), text(b[40:72]),
			text(b[72:112])
	case r.kind == eventDef && l.old:
		r.name = text(b[8:24])
	case r.kind == eventDef:
		r.colour, r.name, r.format = text(b[8:32]), text(b[32:64]), text(b[64:104])
	case r.kind == constDef:
		r.value, r.name = number(4), text(b[8:40])
	case r.kind == bareEvent && l.old:
		r.value, r.cargo = number(4), text(b[16:32])
		if r.event == sendEvent || r.event == receiveEvent { // partner, then "tag size" as text
			r.kind, r.peer = messageEvent, r.value
			r.tag, r.size = tagAndSize(r.cargo)
		} else if r.event == constEvent {
			r.kind, r.name = constDef, r.cargo
		}
	case r.kind == cargoEvent:
		r.cargo = b[8:40]
	case r.kind == messageEvent && l.old:
		r.tag, r.peer, r.comm, r.size = number(4), number(8), number(12), number(16)
		r.peerComm = r.comm
	case r.kind == messageEvent:
		r.peerComm, r.peer, r.tag, r.size = number(4), number(8), number(12), number(16)
	case r.kind == communicator && !l.old:
		r.newComm, r.newRank, r.world = number(4), number(8), number(12)
	}
}

// constEvent is the number of raw events that define a constant in CLOG.
const constEvent = -201

// tagAndSize reads the tag and size of a CLOG message; missing ones are 0 and -1.
func tagAndSize(b []byte) (tag, size int32) {
	size = -1
	fields := strings.Fields(string(b))
	if len(fields) > 0 {
		n, _ := strconv.ParseInt(fields[0], 10, 32)
		tag = int32(n)
	}
	if len(fields) > 1 {
		if n, err := strconv.ParseInt(fields[1], 10, 32); err == nil {
			size = int32(n)
		}
	}
	return tag, size
}

// text is a string of C in a field of fixed size.
func text(b []byte) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return bytes.TrimSpace(b)
}
