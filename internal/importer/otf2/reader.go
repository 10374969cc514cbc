package otf2

import (
	"bytes"
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
	floor uint64 // the time before
	timed bool   // a timestamp was read
	jump  uint64 // a step of so many ticks is looked at twice
	list  []byte
}

// open begins a file. A step in time longer than jump is believed only if the
// time after it does not fall back.
func (r *eventReader) open(src io.Reader, jump uint64) {
	r.chunks.open(src, true)
	r.ticks, r.floor, r.timed, r.jump = 0, 0, false, jump
}

// next reads an event. It is false at the end; missing or damaged records on the way are counted in damage.
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
			if t > r.ticks && t-r.ticks > r.jump {
				switch r.leap(t) {
				case leapOdd:
					r.damage.times++
					continue
				case leapBroken:
					r.in.pos = max(r.in.pos-1, 0) // the next bytes may be sound
					r.broken()
					continue
				}
			}
			r.floor, r.ticks, r.timed = r.ticks, t, true
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
			more, sound := r.mark(id)
			if !sound {
				r.broken()
			} else if !more {
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

// broken goes on where events begin again: behind the damage in the same chunk, or
// in the next one.
func (r *eventReader) broken() {
	r.damage.at(r.in.offset())
	from := r.in.offset()
	r.in.pos = min(r.in.pos+1, r.limit)
	for r.have(timestampBytes) {
		b := r.in.buf[r.in.pos:r.limit]
		i := bytes.IndexByte(b, timestamp)
		if i < 0 {
			r.in.pos = r.limit
			continue
		}
		r.in.pos += i
		if r.have(soundBytes); r.sound(r.in.buf[r.in.pos:r.limit]) {
			r.damage.places++
			r.damage.resync += r.in.offset() - from
			return
		}
		r.in.pos++
	}
	r.chunks.broken()
}

const (
	// soundBytes are looked at to believe that events begin again.
	soundBytes = 512
	// soundTimes is how many timestamps in order are enough.
	soundTimes = 4
)

// sound reports whether b begins a row of records whose times go on from here;
// the time read last may be part of the damage.
func (r *eventReader) sound(b []byte) bool {
	last, times := r.floor, 0
	for times < soundTimes {
		if len(b) == 0 || b[0] == endOfFile || b[0] == endOfChunk {
			return times > 1 // the end is sound too
		}
		n := r.recordBytes(b)
		if n == 0 {
			return false
		}
		if b[0] == timestamp {
			t := number(b[1:timestampBytes], r.big)
			if t < last || r.timed && t-last > 60*r.jump {
				return false
			}
			last = t
			times++
		}
		b = b[n:]
	}
	return true
}

// recordBytes is how long the record is that b begins with; 0 if it cannot be,
// or does not end in b.
func (r *eventReader) recordBytes(b []byte) int {
	n := 0
	switch id := b[0]; {
	case id == timestamp:
		n = timestampBytes
	case single[id]:
		_, size, ok := short(b[1:], r.big)
		if !ok {
			return 0
		}
		n = 1 + size
	case len(b) < 2 || id < evBufferFlush && id != attributeList || id >= eventIDs || b[1] == longRecord:
		return 0
	default:
		n = 2 + int(b[1])
	}
	if n > len(b) {
		return 0
	}
	return n
}

// A leap classifies a time that is far from the one before.
type leap uint8

const (
	leapTrue   leap = iota // nothing happened for long
	leapOdd                // the time itself is damaged, the next records are not
	leapBroken             // the next records are damaged too
)

// leap looks at the time after t, as far as it can be seen: where that falls back,
// t is damaged. The first time of a file that is damaged takes the second instead.
func (r *eventReader) leap(t uint64) leap {
	r.have(soundBytes)
	next, ok, end := r.peekTime()
	switch {
	case !ok && !end && r.timed && t-r.ticks > 86400*r.jump:
		return leapBroken
	case !ok || int64(next-t) >= 0:
		return leapTrue
	case !r.timed:
		r.ticks, r.timed = next, true
		return leapOdd
	case int64(next-r.ticks) >= 0:
		return leapOdd
	}
	return leapTrue
}

// peekTime finds the next timestamp behind the current place, without moving,
// among the bytes at hand; end says that the chunk ends before.
func (r *eventReader) peekTime() (t uint64, ok, end bool) {
	b := r.in.buf[r.in.pos:r.limit]
	for len(b) >= timestampBytes && b[0] > endOfFile {
		if b[0] == timestamp {
			return number(b[1:timestampBytes], r.big), true, false
		}
		n := r.recordBytes(b)
		if n == 0 {
			return 0, false, false
		}
		b = b[n:]
	}
	return 0, false, true
}
