package write

import (
	"encoding/binary"
	"math"
	"os"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Numbers of records. The documentation of the OTF2 library, version 3.0, describes their contents.
const (
	otf2DefClock          = 5
	otf2DefString         = 10
	otf2DefAttribute      = 11
	otf2DefNode           = 12
	otf2DefGroup          = 13
	otf2DefLocation       = 14
	otf2DefRegion         = 15
	otf2DefMembers        = 18
	otf2DefMetricMember   = 19
	otf2DefMetricClass    = 20
	otf2DefMetricInstance = 21
	otf2DefComm           = 22
	otf2DefNodeDomain     = 27
	otf2DefDimension      = 30
	otf2DefTopology       = 31
	otf2DefCoordinate     = 32
	otf2DefMapping        = 5 // of local files
	otf2DefMarker         = 5 // of marker files
	otf2MarkerRecord      = 6

	otf2EvTime       = 5
	otf2EvAttributes = 6
	otf2EvEnter      = 12
	otf2EvLeave      = 13
	otf2EvSend       = 14
	otf2EvRecv       = 18
	otf2EvMetric     = 31
	otf2EvCreate     = 62
	otf2EvBegin      = 63
)

// An otf2File writes the chunks of a file of the archive. No record crosses from
// one chunk to the next; the rest of a chunk is filled with zeros.
type otf2File struct {
	file   *os.File
	chunk  []byte
	record []byte // the body being put together
	timed  bool   // an event file
	time   trace.Time
	first  uint64 // number of the chunk's first event
	events uint64
	last   trace.Time
	err    error
}

func createOTF2File(path string, timed bool) (*otf2File, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	o := &otf2File{file: f, chunk: make([]byte, 0, otf2Chunk), timed: timed, time: -1}
	o.header()
	return o, nil
}

const otf2Little = 0x42

func (o *otf2File) header() {
	o.first = o.events
	o.chunk = append(o.chunk[:0], 3, otf2Little)
	o.chunk = binary.LittleEndian.AppendUint64(o.chunk, o.events+1)
	o.chunk = binary.LittleEndian.AppendUint64(o.chunk, 0)
	o.time = -1
}

// room makes sure that n bytes fit, and one more that ends the chunk.
func (o *otf2File) room(n int) {
	if len(o.chunk)+n < otf2Chunk {
		return
	}
	o.count()
	for len(o.chunk) < otf2Chunk {
		o.chunk = append(o.chunk, 0)
	}
	o.write()
	o.header()
}

// count puts the number of the last event into the header.
func (o *otf2File) count() {
	if o.timed {
		binary.LittleEndian.PutUint64(o.chunk[10:], o.events)
	}
}

func (o *otf2File) write() {
	if o.err == nil {
		_, o.err = o.file.Write(o.chunk)
	}
}

// at writes the time if it differs from the record before; n bytes follow.
func (o *otf2File) at(t trace.Time, n int) {
	o.room(9 + n)
	if t != o.time {
		o.chunk = append(o.chunk, otf2EvTime)
		o.chunk = binary.LittleEndian.AppendUint64(o.chunk, uint64(t))
		o.time = t
	}
	o.last = max(o.last, t)
}

// single writes an event of one number, which has no length.
func (o *otf2File) single(t trace.Time, id byte, v uint64, list []byte) {
	o.at(t, 20+len(list))
	o.chunk = append(o.chunk, list...)
	o.chunk = appendShort(append(o.chunk, id), v)
	o.events++
}

// event writes an event with the body in record.
func (o *otf2File) event(t trace.Time, id byte) {
	o.at(t, 10+len(o.record))
	o.chunk = appendRecord(o.chunk, id, o.record)
	o.record = o.record[:0]
	o.events++
}

// define writes a definition with the body in record.
func (o *otf2File) define(id byte) {
	o.room(10 + len(o.record))
	o.chunk = appendRecord(o.chunk, id, o.record)
	o.record = o.record[:0]
	o.events++
}

// appendRecord writes id, length and body.
func appendRecord(b []byte, id byte, body []byte) []byte {
	b = append(b, id)
	if len(body) < 0xff {
		b = append(b, byte(len(body)))
	} else {
		b = binary.LittleEndian.AppendUint64(append(b, 0xff), uint64(len(body)))
	}
	return append(b, body...)
}

// close ends the file with its mark.
func (o *otf2File) close() error {
	if !o.timed {
		o.events = o.first
	}
	o.count()
	o.chunk = append(o.chunk, 2, 1)
	o.write()
	if err := o.file.Close(); o.err == nil {
		o.err = err
	}
	return o.err
}

// The body of a record is put together from these.
func (o *otf2File) u8(v uint8) *otf2File { o.record = append(o.record, v); return o }

// id is a number of a definition, or of anything of 32 bits.
func (o *otf2File) id(v uint32) *otf2File {
	if v == math.MaxUint32 {
		o.record = append(o.record, 0xff)
		return o
	}
	o.record = appendShort(o.record, uint64(v))
	return o
}

func (o *otf2File) u64(v uint64) *otf2File { o.record = appendShort(o.record, v); return o }

func (o *otf2File) text(s string) *otf2File {
	for i := range len(s) {
		if s[i] == 0 {
			s = s[:i]
			break
		}
	}
	o.record = append(append(o.record, s...), 0)
	return o
}

// appendShort writes an integer as the number of its bytes and the bytes.
func appendShort(b []byte, v uint64) []byte {
	if v == math.MaxUint64 {
		return append(b, 0xff)
	}
	at := len(b)
	b = append(b, 0)
	for ; v > 0; v >>= 8 {
		b = append(b, byte(v))
	}
	b[at] = byte(len(b) - at - 1)
	return b
}
