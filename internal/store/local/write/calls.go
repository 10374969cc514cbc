package write

import (
	"encoding/binary"

	"github.com/parallax-hpc/parallax/internal/trace"
)

var _ trace.CallTaker = (*Stream)(nil)

// Calls implements trace.CallTaker: it does the same as Enter and Leave one by one, with its state in local variables.
// Records that do not fit a word, or the chunk, are left to those two.
func (s *Stream) Calls(list []trace.StackRecord) {
	for len(list) > 0 {
		if n := s.words(list); n > 0 {
			list = list[n:]
			continue
		}
		if r := &list[0]; r.Leave {
			s.Leave(r.Time, r.Region)
		} else {
			s.Enter(r.Time, r.Region)
		}
		list = list[1:]
	}
}

// words writes calls until one that does not fit, and gives how many.
func (s *Stream) words(list []trace.StackRecord) int {
	buf, at, base, order, low := s.buf, int(s.used), s.base, max(s.order, s.First), uint32(s.low)
	rows, k := uint32(0), 0
	for ; k < len(list) && at+maxRecord <= len(buf); k++ {
		r := &list[k]
		d := uint64(r.Time - base)
		if uint32(r.Region) >= low || r.Time < order || d >= 1<<(TimeBits-1) {
			break
		}
		leave := uint32(0)
		if r.Leave {
			leave = 1
		}
		if d < 1<<HalfTime {
			binary.LittleEndian.PutUint32(buf[at:], 1|leave<<1|uint32(r.Region)<<HalfShift|uint32(d)<<HalfTimeAt)
			at += HalfBytes
		} else {
			binary.LittleEndian.PutUint64(buf[at:], uint64(leave)<<1|uint64(r.Region)<<IdShift|d<<TimeShift)
			at += WordBytes
		}
		base, order = r.Time, r.Time
		rows += 1 - leave
	}
	if k == 0 {
		return 0
	}
	s.used, s.base, s.order = uint32(at), base, order
	s.Last = max(s.Last, order)
	if rows > 0 {
		s.Rows += rows
		s.lastIsInstant = false
	}
	return k
}
