package otf2

import (
	"encoding/binary"
	"io"
)

const (
	// Ids that only event files have.
	timestamp     = 5 // holds for the records that follow
	attributeList = 6 // belongs to the next event

	timestampBytes = 9
	// hotBytes is more than a record of one integer and a timestamp take.
	hotBytes = 32
)

// An event is one record of an event file. body and attributes are valid until
// the next one.
type event struct {
	id         uint8
	ticks      uint64
	value      uint64 // of records that are a single integer
	body       []byte // of the others
	attributes []byte // of the attribute list before it; nil for none
}

// An eventReader reads the events of one location.
type eventReader struct {
	chunks
	ticks uint64
	timed bool   // a timestamp was read
	jump  uint64 // a step of so many ticks is looked at twice
	list  []byte
}

// open begins a file. A step in time longer than jump is believed only if the
// time after it does not fall back.
func (r *eventReader) open(src io.Reader, size int64, jump uint64) {
	r.chunks.open(src, size, true)
	r.ticks, r.timed, r.jump = 0, false, jump
}

// next reads an event. It is false at the end; what was missing or damaged on
// the way is counted in damage.
func (r *eventReader) next(e *event) bool {
	e.attributes = nil
	for {
		b := r.in.buf[r.in.pos:r.limit]
		if len(b) < hotBytes {
			if b = r.rest(hotBytes); len(b) == 0 {
				return false
			}
		}
		id := b[0]
		switch {
		case id == timestamp:
			if len(b) < timestampBytes {
				r.broken()
				continue
			}
			t := binary.LittleEndian.Uint64(b[1:timestampBytes])
			if r.big {
				t = binary.BigEndian.Uint64(b[1:timestampBytes])
			}
			r.in.pos += timestampBytes
			if t-r.ticks > r.jump && r.outlier(t) {
				r.damage.times++
				continue
			}
			r.ticks, r.timed = t, true
		case single[id]:
			v, n, ok := short(b[1:], r.big)
			if !ok {
				r.broken()
				continue
			}
			r.in.pos += 1 + n
			e.id, e.ticks, e.value, e.body = id, r.ticks, v, nil
			r.count++
			return true
		case id <= endOfFile:
			if !r.mark(id) {
				return false
			}
		default:
			body, ok := r.body(b)
			switch {
			case !ok || id < evBufferFlush && id != attributeList:
				r.broken()
			case id == attributeList:
				r.list = append(r.list[:0], body...)
				e.attributes = r.list
			default:
				e.id, e.ticks, e.value, e.body = id, r.ticks, 0, body
				r.count++
				return true
			}
		}
	}
}

// outlier reports whether a time that is far from the one before is damage: the
// next one, as far as it can be seen, falls back behind it. The first time of a
// file that is damaged takes the second instead.
func (r *eventReader) outlier(t uint64) bool {
	next, ok := r.peekTime()
	if !ok || int64(next-t) >= 0 {
		return false
	}
	if !r.timed {
		r.ticks, r.timed = next, true
		return true
	}
	return int64(next-r.ticks) >= 0
}

// peekTime finds the next timestamp behind the current place, without moving,
// among the bytes at hand.
func (r *eventReader) peekTime() (uint64, bool) {
	b := r.in.buf[r.in.pos:r.limit]
	for len(b) >= timestampBytes {
		switch id := b[0]; {
		case id == timestamp:
			return number(b[1:timestampBytes], r.big), true
		case id <= endOfFile:
			return 0, false
		case single[id]:
			_, n, ok := short(b[1:], r.big)
			if !ok {
				return 0, false
			}
			b = b[1+n:]
		default:
			if b[1] == longRecord || int(b[1])+2 > len(b) {
				return 0, false
			}
			b = b[2+int(b[1]):]
		}
	}
	return 0, false
}
