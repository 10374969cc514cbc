package xplane

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// Field numbers of xplane.proto.
const (
	spacePlanes = 1
	spaceHosts  = 4

	planeID            = 1
	planeName          = 2
	planeLines         = 3
	planeEventMetadata = 4
	planeStatMetadata  = 5
	planeStats         = 6

	mapKey   = 1
	mapValue = 2

	metadataName        = 2
	metadataDisplayName = 4
	metadataStats       = 5

	lineID          = 1
	lineName        = 2
	lineTimestampNS = 3
	lineEvents      = 4
	lineDisplayName = 11

	eventMetadata   = 1
	eventOffsetPS   = 2
	eventDurationPS = 3
	eventStats      = 4
	eventTimes      = 5

	statMetadata = 1
	statDouble   = 2
	statUint     = 3
	statInt      = 4
	statText     = 5
	statBytes    = 6
	statRef      = 7
)

// Wire types of protobuf.
const (
	wireVarint = 0
	wireFixed8 = 1
	wireBytes  = 2
	wireFixed4 = 5
)

// mostBytes bounds one text, and one event with its stats.
const mostBytes = 64 << 20

var errMalformed = errors.New("not what the format allows")

// A decoder reads protobuf as a stream: a message is a range of bytes, never held whole.
type decoder struct {
	r   *bufio.Reader
	at  int64
	buf []byte
}

func newBuffer(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, 256<<10) }

// eof turns an end within a message into one error.
func eof(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (d *decoder) varint() (uint64, error) {
	var n uint64
	for shift := 0; shift < 64; shift += 7 {
		b, err := d.r.ReadByte()
		if err != nil {
			return 0, eof(err)
		}
		d.at++
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n, nil
		}
	}
	return 0, errMalformed
}

// tag reads which field comes next.
func (d *decoder) tag() (field, wire int, err error) {
	n, err := d.varint()
	if err == nil && (n>>3 == 0 || n>>3 > 1<<29) {
		err = errMalformed
	}
	return int(n >> 3), int(n & 7), err
}

// message enters a message and gives where it ends; it cannot end after what holds it.
func (d *decoder) message(outer int64) (end int64, err error) {
	n, err := d.varint()
	if err != nil {
		return 0, err
	}
	if n > uint64(outer-d.at) {
		return 0, errMalformed
	}
	return d.at + int64(n), nil
}

// bytes reads a field of bytes; what it gives is valid until the next call.
func (d *decoder) bytes(outer int64) ([]byte, error) {
	end, err := d.message(outer)
	if err != nil {
		return nil, err
	}
	n := end - d.at
	if n > mostBytes {
		return nil, fmt.Errorf("%w: a text of %d bytes", errMalformed, n)
	}
	d.buf = d.buf[:0]
	for int64(len(d.buf)) < n { // memory grows with what is there, not with what is claimed
		have := len(d.buf)
		d.buf = append(d.buf, make([]byte, min(n-int64(have), 64<<10))...)
		k, err := io.ReadFull(d.r, d.buf[have:])
		d.at += int64(k)
		if err != nil {
			return nil, eof(err)
		}
	}
	return d.buf, nil
}

// skip passes over a field.
func (d *decoder) skip(wire int, outer int64) error {
	switch wire {
	case wireVarint:
		_, err := d.varint()
		return err
	case wireFixed8:
		return d.discard(8)
	case wireFixed4:
		return d.discard(4)
	case wireBytes:
		end, err := d.message(outer)
		if err != nil {
			return err
		}
		return d.discard(end - d.at)
	}
	return errMalformed
}

func (d *decoder) discard(n int64) error {
	for n > 0 {
		k, err := d.r.Discard(int(min(n, 1<<30)))
		d.at += int64(k)
		n -= int64(k)
		if err != nil {
			return eof(err)
		}
	}
	return nil
}

// A stat is a fact of an event or a plane.
type stat struct {
	name  int64
	kind  int // the field that holds the value; 0: none
	bits  uint64
	bytes []byte
}

// An event is one record of a line.
type event struct {
	metadata         int64
	offset, duration int64 // ps
	times            int64 // where it is a total of many: how many
	stats            []stat
}

// parseEvent reads an event from its bytes.
func parseEvent(b []byte, e *event) error {
	*e = event{stats: e.stats[:0]}
	return fields(b, func(field int, n uint64, data []byte) error {
		switch field {
		case eventMetadata:
			e.metadata = int64(n)
		case eventOffsetPS:
			e.offset = int64(n)
		case eventDurationPS:
			e.duration = int64(n)
		case eventTimes:
			e.times = int64(n)
		case eventStats:
			s, err := parseStat(data)
			if err != nil {
				return err
			}
			e.stats = append(e.stats, s)
		}
		return nil
	})
}

func parseStat(b []byte) (s stat, err error) {
	err = fields(b, func(field int, n uint64, data []byte) error {
		switch field {
		case statMetadata:
			s.name = int64(n)
		case statDouble, statUint, statInt, statRef:
			s.kind, s.bits = field, n
		case statText, statBytes:
			s.kind, s.bytes = field, data
		}
		return nil
	})
	return s, err
}

// fields gives the fields of a message that is in memory.
func fields(b []byte, fn func(field int, n uint64, data []byte) error) error {
	for len(b) > 0 {
		key, k := binary.Uvarint(b)
		if k <= 0 || key>>3 == 0 {
			return errMalformed
		}
		b = b[k:]
		var n uint64
		var data []byte
		switch key & 7 {
		case wireVarint:
			if n, k = binary.Uvarint(b); k <= 0 {
				return errMalformed
			}
			b = b[k:]
		case wireFixed8:
			if len(b) < 8 {
				return errMalformed
			}
			n, b = binary.LittleEndian.Uint64(b), b[8:]
		case wireFixed4:
			if len(b) < 4 {
				return errMalformed
			}
			n, b = uint64(binary.LittleEndian.Uint32(b)), b[4:]
		case wireBytes:
			size, k := binary.Uvarint(b)
			if k <= 0 || size > uint64(len(b)-k) {
				return errMalformed
			}
			data, b = b[k:k+int(size)], b[k+int(size):]
		default:
			return errMalformed
		}
		if err := fn(int(key>>3), n, data); err != nil {
			return err
		}
	}
	return nil
}

// number is a stat's value where it is one.
func (s *stat) number() (float64, bool) {
	switch s.kind {
	case statDouble:
		return math.Float64frombits(s.bits), true
	case statUint:
		return float64(s.bits), true
	case statInt:
		return float64(int64(s.bits)), true
	}
	return 0, false
}

// integer is a stat's value where it is a whole number.
func (s *stat) integer() (int64, bool) {
	if s.kind == statUint || s.kind == statInt {
		return int64(s.bits), true
	}
	return 0, false
}
