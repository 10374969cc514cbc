package xplane

import (
	"errors"
	"fmt"
	"io"

	"github.com/parallax-hpc/parallax/internal/importer/protobuf"
	"github.com/parallax-hpc/parallax/internal/importer/wire"
	"google.golang.org/protobuf/encoding/protowire"
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

// mostBytes bounds one text, and one event with its stats.
const mostBytes = 64 << 20

var errMalformed = errors.New("not what the format allows")

// A decoder reads protobuf as a stream: a message is a range of bytes, never held whole.
type decoder struct{ *wire.Cursor }

func newDecoder(r io.Reader) decoder { return decoder{wire.From(r, 256<<10)} }

// damaged reports whether the bytes are none that the format allows, from here on.
func (d decoder) damaged() bool {
	return errors.Is(d.Err(), errMalformed) || errors.Is(d.Err(), wire.ErrNumber)
}

// ended reports whether the failure is one of the bytes, and not of reading them.
func (d decoder) ended() bool { return d.damaged() || errors.Is(d.Err(), io.ErrUnexpectedEOF) }

// more reports whether a message goes on that ends there.
func (d decoder) more(end int64) bool { return !d.Failed() && d.Offset() < end }

// tag reads which field comes next.
func (d decoder) tag() (field int, kind protowire.Type) {
	n := d.Uvarint()
	if n>>3 == 0 || n>>3 > 1<<29 {
		d.Fail(errMalformed)
		return 0, 0
	}
	return int(n >> 3), protowire.Type(n & 7)
}

// message enters a message and returns its end; it cannot end after the message that holds it.
func (d decoder) message(outer int64) (end int64) {
	n := d.Uvarint()
	if n > uint64(outer-d.Offset()) {
		d.Fail(errMalformed)
		return d.Offset()
	}
	return d.Offset() + int64(n)
}

// bytes reads a field of bytes, valid until the next call.
func (d decoder) bytes(outer int64) []byte {
	n := d.message(outer) - d.Offset()
	if n > mostBytes {
		d.Fail(fmt.Errorf("%w: a text of %d bytes", errMalformed, n))
	}
	return d.Take(int(n))
}

// skip passes over a field.
func (d decoder) skip(kind protowire.Type, outer int64) {
	switch kind {
	case protowire.VarintType:
		d.Uvarint()
	case protowire.Fixed64Type:
		d.Skip(8)
	case protowire.Fixed32Type:
		d.Skip(4)
	case protowire.BytesType:
		d.Skip(d.message(outer) - d.Offset())
	default:
		d.Fail(errMalformed)
	}
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
