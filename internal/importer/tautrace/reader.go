package tautrace

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// A layout is how the records of a file lie.
type layout struct {
	order binary.ByteOrder
	wide  bool // numbers of events have 64 bits
}

const (
	narrowSize, wideSize = 24, 32

	initEvent     = 60000 // the first record of every trace
	initParameter = 3
)

// size is the length of a record in bytes.
func (l *layout) size() int {
	if l.wide {
		return wideSize
	}
	return narrowSize
}

// A record is one line of the trace. Nodes are unsigned, as TAU writes them.
type record struct {
	event        int64
	node, thread uint16
	parameter    int64
	time         uint64 // microseconds
}

// take reads a record from its bytes.
func (l *layout) take(b []byte, r *record) {
	if l.wide {
		r.event = int64(l.order.Uint64(b))
		b = b[4:]
	} else {
		r.event = int64(int32(l.order.Uint32(b)))
	}
	r.node, r.thread = l.order.Uint16(b[4:]), l.order.Uint16(b[6:])
	if l.wide {
		b = b[4:]
	}
	r.parameter, r.time = int64(l.order.Uint64(b[8:])), l.order.Uint64(b[16:])
}

// layoutOf returns the layout from the first record; nil if it is none of a trace. A wide record of node 3 also
// reads as a narrow one whose time is 3, so wide ones are asked first.
func layoutOf(head []byte) *layout {
	for _, l := range []*layout{{binary.LittleEndian, true}, {binary.BigEndian, true}, {binary.LittleEndian, false},
		{binary.BigEndian, false}} {
		if len(head) < l.size() {
			continue
		}
		var r record
		l.take(head, &r)
		if r.event == initEvent && r.parameter == initParameter {
			return l
		}
	}
	return nil
}

// readRecords gives every whole record of a file; cut says that bytes are left over.
func readRecords(ctx context.Context, in io.Reader, label string, each func(*record)) (cut bool, err error) {
	b := bufio.NewReaderSize(in, 1<<18)
	head, _ := b.Peek(wideSize)
	l := layoutOf(head)
	if l == nil {
		return false,
			&importer.Error{File: label, Place: "byte 0",
				Cause: "the first record is not EV_INIT, so the layout of records is unknown",
				Hint:  "give a .trc file of TAU, with its .edf file next to it", Kind: importer.ErrMalformed}
	}
	size := l.size()
	var r record
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		buf, err := b.Peek(b.Size() / size * size)
		n := len(buf) / size * size
		for i := 0; i < n; i += size {
			l.take(buf[i:i+size], &r)
			each(&r)
		}
		cut = len(buf) > n
		b.Discard(n)
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return cut, nil
		default:
			return cut, err
		}
	}
}

// A meaning is the meaning of the parameter of an event's records.
type meaning uint8

const (
	meansNothing meaning = iota // the tracer's own
	meansCall
	meansValue
	meansSend
	meansReceive
	meansPutSize // of a one-sided message, at its origin
	meansGetSize // at its other end
	meansIDHigh
	meansIDLow
	meansClock // seconds since 1970
)

// An event is a line of an event file.
type event struct {
	group, name string
	means       meaning
	monotone    bool
}

// oneSided are names that TAU gives to the records of a one-sided message.
var oneSided = map[string]meaning{
	"ONESIDED_MESSAGE_SEND": meansPutSize, "ONESIDED_MESSAGE_RECV": meansGetSize,
	"ONESIDED_MESSAGE_RECIPROCAL_SEND": meansPutSize, "ONESIDED_MESSAGE_RECIPROCAL_RECV": meansGetSize,
	"ONESIDED_MESSAGE_ID_TriggerValueT1": meansIDHigh, "ONESIDED_MESSAGE_ID_TriggerValueT2": meansIDLow,
}

// mostLine bounds a line of an event file: names with templates are long, but not that long.
const mostLine = 1 << 20

// readEvents reads an event file. bad counts lines that are no event, missing those that the first line promises.
func readEvents(in io.Reader, label string) (events map[int64]event, bad, missing int64, err error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 1<<16), mostLine)
	events = map[int64]event{}
	promised := int64(0)
	for n := int64(0); lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		switch {
		case n == 0:
			if !isEvents(lines.Bytes()) {
				return nil, 0, 0, importer.Malformed(label, "line 1", "this is no event file of TAU")
			}
			count, _, _ := strings.Cut(string(line), " ")
			promised, _ = strconv.ParseInt(count, 10, 64)
		case len(line) == 0 || line[0] == '#':
		default:
			id, e, ok := eventOf(string(line))
			if !ok {
				bad++
				continue
			}
			promised--
			events[id] = e
		}
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			return nil, 0, 0, importer.Malformed(label, "", "a line of more than %d bytes", mostLine)
		}
		return nil, 0, 0, err
	}
	// TAU's own files promise one event more than they hold.
	return events, bad, max(promised-1, 0), nil
}

// eventOf reads `17 MPI 0 "MPI_Send()  " EntryExit`.
func eventOf(line string) (id int64, e event, ok bool) {
	from, to := strings.IndexByte(line, '"'), strings.LastIndexByte(line, '"')
	if from < 0 || from == to {
		return 0, event{}, false
	}
	fields := strings.Fields(line[:from])
	if len(fields) != 3 {
		return 0, event{}, false
	}
	id, err := strconv.ParseInt(fields[0], 10, 64)
	tag, tagErr := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || tagErr != nil {
		return 0, event{}, false
	}
	e = event{group: fields[1], name: strings.TrimSpace(strings.ToValidUTF8(line[from+1:to], "\ufffd")),
		monotone: tag == 1}
	switch param := strings.TrimSpace(line[to+1:]); {
	case tag == -7:
		e.means = meansSend
	case tag == -8:
		e.means = meansReceive
	case param == "EntryExit":
		e.means = meansCall
	case param == "TriggerValue":
		e.means = meansValue
		if m, ok := oneSided[e.name]; ok {
			e.means = m
		}
	case e.name == "WALL_CLOCK":
		e.means = meansClock
	}
	return id, e, true
}
