package xplane

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/parallax-hpc/parallax/internal/importer/protobuf"
)

// Numbers of the fields of messages that are read as a stream.
const (
	spacePlanes = 1
	spaceHosts  = 4

	planeID            = 1
	planeName          = 2
	planeLines         = 3
	planeEventMetadata = 4
	planeStatMetadata  = 5
	planeStats         = 6

	lineID          = 1
	lineName        = 2
	lineTimestampNS = 3
	lineEvents      = 4
	lineDisplayName = 11
)

// An event is one record of a line.
type event struct {
	metadata int64    `pb:"1"`
	offset   int64    `pb:"2"` // ps
	duration int64    `pb:"3"` // ps
	encoded  [][]byte `pb:"4"` // stats
	times    int64    `pb:"5"` // number of occurrences, if the event is a total
	stats    []stat
}

// A stat is an attribute of an event or a plane.
type stat struct {
	name  int64          `pb:"1"`
	value protobuf.Value `pb:"2,3,4,5,6,7"`
}

// Numbers of the fields that hold the value of a stat.
const (
	statDouble = 2
	statUint   = 3
	statInt    = 4
	statText   = 5
	statBytes  = 6
	statRef    = 7
)

// A metadataEntry is an entry of the map of names of events or stats.
type metadataEntry struct {
	id    int64    `pb:"1"`
	value metadata `pb:"2"`
}

type metadata struct {
	name    string `pb:"2"`
	display string `pb:"4"`
}

var (
	eventTable      = protobuf.TableOf[event]()
	statTable       = protobuf.TableOf[stat]()
	metadataEntries = protobuf.TableOf[metadataEntry]()
)

// decode reads an event into the memory of the one before.
func (e *event) decode(b []byte) bool {
	*e = event{encoded: e.encoded[:0], stats: e.stats[:0]}
	ok := eventTable.Decode(b, e)
	for _, b := range e.encoded {
		s, sound := statTable.Of(b)
		e.stats, ok = append(e.stats, s), sound && ok
	}
	return ok
}

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

// message enters a message and returns its end; it cannot end after the message that holds it.
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

// bytes reads a field of bytes, valid until the next call.
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
	for int64(len(d.buf)) < n { // memory grows with the bytes read, not with the claimed size
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

// number is a stat's value where it is one.
func (s *stat) number() (float64, bool) {
	switch s.value.Number {
	case statDouble:
		return s.value.Double(), true
	case statUint:
		return float64(s.value.Bits), true
	case statInt:
		return float64(int64(s.value.Bits)), true
	}
	return 0, false
}

// integer is a stat's value where it is a whole number.
func (s *stat) integer() (int64, bool) {
	if s.value.Number == statUint || s.value.Number == statInt {
		return int64(s.value.Bits), true
	}
	return 0, false
}
