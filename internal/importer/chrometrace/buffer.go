package chrometrace

import (
	"io"
	"sync"
)

// offset is the place in the file of the next byte.
func (s *scanner) offset() int64 { return s.base + int64(s.pos) }

// fill reads more behind the bytes in the buffer, from pos on. It says false at the end.
func (s *scanner) fill() bool {
	if s.err != nil {
		return false
	}
	if s.pos > 0 && (s.pos >= len(s.buf) || len(s.buf) == cap(s.buf)) {
		n := copy(s.buf[:cap(s.buf)], s.buf[s.pos:])
		s.base += int64(s.pos)
		s.buf, s.pos = s.buf[:n], 0
	}
	if len(s.buf) == cap(s.buf) || s.base > 0 && cap(s.buf) < bufferSize {
		s.grow()
	}
	for tries := 0; ; tries++ {
		n, err := s.r.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+n]
		s.err = err
		if n > 0 {
			return true
		}
		if err != nil || tries == 100 {
			if err == nil {
				s.err = io.ErrNoProgress
			}
			return false
		}
	}
}

// grow makes the buffer larger. Buffers of the usual size are used again: a run
// may have ten thousand files.
func (s *scanner) grow() {
	old := s.buf
	if cap(old) < bufferSize {
		b := buffers.Get().(*[]byte)
		s.buf = append((*b)[:0], old...)
		return
	}
	s.buf = append(make([]byte, 0, 2*cap(old)), old...)
	s.release(old)
}

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, bufferSize); return &b }}

// release gives a buffer back. Records that were read are not valid after it.
func (s *scanner) release(b []byte) {
	if cap(b) == bufferSize {
		buffers.Put(&b)
	}
}

// close ends the use of the scanner.
func (s *scanner) close() {
	s.release(s.buf)
	s.buf, s.pos, s.state = nil, 0, atEnd
}

// peek returns the next byte that is no space, or 0 at the end.
func (s *scanner) peek() byte {
	for {
		s.pos = skipSpace(s.buf, s.pos)
		if s.pos < len(s.buf) {
			return s.buf[s.pos]
		}
		if !s.fill() {
			return 0
		}
	}
}

// zerosToTheEnd passes over zeros: a file that was made longer than it was filled ends
// with them. False: something follows.
func (s *scanner) zerosToTheEnd() bool {
	for {
		for s.pos < len(s.buf) && s.buf[s.pos] == 0 {
			s.pos++
		}
		if s.pos < len(s.buf) {
			return false
		}
		if !s.fill() {
			return true
		}
	}
}

// more makes sure that n bytes from pos on are in the buffer.
func (s *scanner) more(n int) bool {
	for len(s.buf)-s.pos < n {
		if !s.fill() {
			return false
		}
	}
	return true
}

// readFailure returns why reading ended before the end of the file, or nil.
func (s *scanner) readFailure() error {
	if s.err == io.EOF {
		return nil
	}
	return s.err
}
