package match

import "github.com/parallax-hpc/parallax/internal/trace"

// A Queue holds ends of messages in the order in which they are read: all sends of a
// location, or all receives of a location on one channel. Records are words of 64
// bits, mostly one, with the channel and the size of a send in another; the first is
//
//	form (2 bits) | calls since the record before (24 bits) | time since then (38 bits)
//
// One goroutine at a time uses a queue.
type Queue struct {
	words []uint64 // of the slot that is being filled
	slot  address
	first address

	time  trace.Time // of the record before
	call  Call
	order trace.Time // the latest of those before
	count int64
}

// Forms of records.
const (
	formShort  = iota
	formPosted // a receive that was posted before its time; by how much is in a further word
	formLong   // with the number of the call; then time, region and channel, size or order
	formEnd    // of the slot, with the address of the next
)

const (
	formBits  = 2
	callBits  = 24
	timeShift = formBits + callBits
	timeBits  = 64 - timeShift
	numberAt  = 32 // where a long record has the number
	channelAt = 32 // where a long record has the channel, and above it the region
	sizeAt    = 16 // where a short one has the size, above the channel
	sizeBits  = 64 - sizeAt
	mostWords = 4 + 1 // of a record, and the end of the slot
)

// Receive appends the end of a message. It reports whether receives are still in the
// order in which they were posted.
func (q *Queue) Receive(s *slots, t, posted trace.Time, c Call) bool {
	if cap(q.words)-len(q.words) < mostWords {
		q.room(s)
	}
	switch word, short := q.word(t, c); {
	case short && posted == t:
		q.words = append(q.words, word)
	case short:
		q.words = append(q.words, word|formPosted, uint64(t-posted))
	default:
		q.words = append(q.words, formLong|uint64(c.Number)<<numberAt, uint64(t), uint64(c.Region), uint64(posted))
	}
	return q.move(t, posted, c)
}

// Send appends the begin of a message, and reports whether it is no earlier than those
// before.
func (q *Queue) Send(s *slots, t trace.Time, c Call, channel uint16, size int64) bool {
	if cap(q.words)-len(q.words) < mostWords {
		q.room(s)
	}
	if word, short := q.word(t, c); short && uint64(size) < 1<<sizeBits {
		q.words = append(q.words, word, uint64(channel)|uint64(size)<<sizeAt)
	} else {
		q.words = append(q.words, formLong|uint64(c.Number)<<numberAt, uint64(t),
			uint64(c.Region)|uint64(channel)<<channelAt, uint64(size))
	}
	return q.move(t, t, c)
}

// move makes the record that was appended the one before.
func (q *Queue) move(t, order trace.Time, c Call) (inOrder bool) {
	q.time, q.call = t, c
	if inOrder = q.count == 0 || order >= q.order; inOrder {
		q.order = order
	}
	q.count++
	return inOrder
}

// word is a record in short, where it can be.
func (q *Queue) word(t trace.Time, c Call) (word uint64, short bool) {
	later, calls := uint64(t-q.time), c.Number-q.call.Number
	return uint64(calls)<<formBits | later<<timeShift, c.Region == q.call.Region && later < 1<<timeBits &&
		calls < 1<<callBits
}

// room turns to another slot, up to twice as large.
func (q *Queue) room(s *slots) {
	next, words := s.reserve(min(max(2*cap(q.words), leastSlot), mostSlot), q.first == 0)
	if q.first == 0 {
		q.first = next
	} else {
		q.end(s, next)
	}
	if next.inFile() {
		words = q.words[:0]
		if !q.slot.inFile() || cap(words) != next.size() {
			words = make([]uint64, 0, next.size())
		}
	}
	q.slot, q.words = next, words
}

// end ends the slot and says where the next one is.
func (q *Queue) end(s *slots, next address) {
	q.words = append(q.words, formEnd|uint64(next)<<formBits)
	if q.slot.inFile() {
		s.write(q.slot, q.words)
	}
}

// seal ends the queue.
func (q *Queue) seal(s *slots) {
	if q.words != nil {
		q.end(s, 0)
		q.words = nil
	}
}
