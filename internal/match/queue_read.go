package match

import "github.com/parallax-hpc/parallax/internal/trace"

// A queueReader goes through the records of a sealed queue. The current record is in its fields.
type queueReader struct {
	words []uint64 // from the next record on, to the end of the slot or farther
	time  trace.Time
	call  Call

	posted  trace.Time // of a receive
	channel uint16     // of a send
	size    int64

	slots *slots
	buf   []uint64 // for slots of the file
}

var noWords = []uint64{formEnd}

func (q *Queue) read(s *slots) queueReader {
	r := queueReader{slots: s, words: noWords}
	if q.first != 0 {
		r.words = []uint64{formEnd | uint64(q.first)<<formBits}
	}
	return r
}

// nextReceive goes to the next record of a queue of receives; false at the end, or
// where the slots have failed.
func (r *queueReader) nextReceive() bool {
	for {
		w := r.words[0]
		switch w % (1 << formBits) {
		case formShort:
			r.move(w)
			r.posted, r.words = r.time, r.words[1:]
			return true
		case formPosted:
			r.move(w)
			r.posted, r.words = r.time-trace.Time(r.words[1]), r.words[2:]
			return true
		case formLong:
			r.time, r.call = trace.Time(r.words[1]), Call{trace.RegionID(r.words[2]), uint32(w >> numberAt)}
			r.posted, r.words = trace.Time(r.words[3]), r.words[4:]
			return true
		}
		if !r.turn(w) {
			return false
		}
	}
}

// nextSend does for a queue of sends.
func (r *queueReader) nextSend() bool {
	for {
		w := r.words[0]
		switch w % (1 << formBits) {
		case formShort:
			r.move(w)
			r.channel, r.size, r.words = uint16(r.words[1]), int64(r.words[1]>>sizeAt), r.words[2:]
			return true
		case formLong:
			r.time, r.call = trace.Time(r.words[1]), Call{trace.RegionID(r.words[2]), uint32(w >> numberAt)}
			r.channel, r.size, r.words = uint16(r.words[2]>>channelAt), int64(r.words[3]), r.words[4:]
			return true
		}
		if !r.turn(w) {
			return false
		}
	}
}

func (r *queueReader) move(w uint64) {
	r.time += trace.Time(w >> timeShift)
	r.call.Number += uint32(w>>formBits) % (1 << callBits)
}

// turn goes to the slot that an end names.
func (r *queueReader) turn(end uint64) bool {
	next := address(end >> formBits)
	if next == 0 {
		return false
	}
	words, buf, ok := r.slots.load(next, r.buf)
	if !ok {
		r.words = noWords
		return false
	}
	r.words, r.buf = words, buf
	return true
}
