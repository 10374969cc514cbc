package match

import (
	"cmp"
	"fmt"
	"io"
	"math/bits"
	"os"
	"sync"

	"github.com/parallax-hpc/parallax/internal/spool"
)

// Slots are stretches of words that queues fill one after the other. The first are in memory; once that is full, they
// are in a temporary file, and a queue holds one of them at a time. Each says at its end where the next of its queue
// lies.
type slots struct {
	memory  uint64 // words of slots in memory
	buffers uint64 // words of slots that queues may hold, once in the file

	mu       sync.Mutex
	segments [][]uint64
	used     uint64 // words in memory, up to the end of the last slot
	taken    uint64 // words that are not for slots
	queues   uint64
	file     *os.File
	end      uint64 // of the file, words
	err      error
}

// Sizes of slots, words; powers of two. A queue begins with a small one, since most
// hold little where there are many.
const (
	leastSlot    = 16
	mostSlot     = 512
	segmentWords = 16 * mostSlot
)

// An address says where a slot lies: its first word, whether that is counted in the
// file (1 bit), the size as a power of two (4 bits). 0 is none.
type address uint64

func newAddress(word uint64, inFile bool, size int) address {
	a := address(word<<5 | uint64(bits.Len(uint(size))-1))
	if inFile {
		a |= 1 << 4
	}
	return a
}

func (a address) inFile() bool { return a&(1<<4) != 0 }
func (a address) size() int    { return 1 << (a & 15) }
func (a address) word() uint64 { return uint64(a >> 5) }

// newSlots makes slots that take about memory bytes.
func newSlots(memory int64) *slots {
	words := uint64(max(memory, 0)) / 8
	return &slots{memory: words * 4 / 5 / segmentWords * segmentWords, buffers: words / 5}
}

// take takes memory for something else.
func (s *slots) take(bytes uint64) {
	s.mu.Lock()
	s.taken += bytes / 8
	s.mu.Unlock()
}

// reserve returns a slot of at most size words; those in the file have no memory.
func (s *slots) reserve(size int, first bool) (address, []uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first {
		s.queues++
	}
	at := s.used
	if at%segmentWords+uint64(size) > segmentWords {
		at += segmentWords - at%segmentWords
	}
	if at+uint64(size)+s.taken <= s.memory {
		s.used = at + uint64(size)
		if at/segmentWords == uint64(len(s.segments)) {
			s.segments = append(s.segments, make([]uint64, segmentWords))
		}
		from := at % segmentWords
		return newAddress(at, false, size), s.segments[at/segmentWords][from : from : from+uint64(size)]
	}
	for size > leastSlot && uint64(size)*s.queues > s.buffers {
		size /= 2
	}
	at = s.end
	s.end += uint64(size)
	if s.file == nil && s.err == nil {
		if s.file, s.err = os.CreateTemp("", "parallax-otf2-"); s.err != nil {
			s.err = fmt.Errorf("match messages: %w", s.err)
		} else {
			os.Remove(s.file.Name()) // where the system allows; close removes it elsewhere
		}
	}
	return newAddress(at, true, size), nil
}

// write puts a slot into the file.
func (s *slots) write(at address, words []uint64) {
	if s.failed() != nil {
		return
	}
	if _, err := s.file.WriteAt(spool.BytesOf(words), int64(at.word())*8); err != nil {
		s.fail(fmt.Errorf("match messages: write temporary file: %w", err))
	}
}

// load returns the words of a slot, from the file into buf where they lie there.
func (s *slots) load(at address, buf []uint64) (words, into []uint64, ok bool) {
	if !at.inFile() {
		return s.segments[at.word()/segmentWords][at.word()%segmentWords:], buf, true
	}
	if cap(buf) < at.size() {
		buf = make([]uint64, at.size())
	}
	buf = buf[:at.size()]
	// The last slot of the file may be shorter than its size.
	if _, err := s.file.ReadAt(spool.BytesOf(buf), int64(at.word())*8); err != nil && err != io.EOF {
		s.fail(fmt.Errorf("match messages: read temporary file: %w", err))
		return nil, buf, false
	}
	return buf, buf, true
}

func (s *slots) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = cmp.Or(s.err, err)
}

// failed returns the first error.
func (s *slots) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// close gives memory and file back.
func (s *slots) close() {
	s.segments = nil
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name())
		s.file = nil
	}
}
