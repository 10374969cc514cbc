package chrometrace

import "bytes"

// damage counts errors in the text.
type damage struct {
	broken      int64 // stretches that are no records
	brokenAt    int64 // offset of the first
	brokenBytes int64
	commas      int64 // records without a comma before them
	oversized   int64
	cut         bool  // the file ends inside a record or member
	unclosed    bool  // … or before its last bracket
	trailing    int64 // bytes after the end
}

// cutOff deals with a record that the end of the file cuts: it may be cut, or
// have lost a quote long before; then the rest is searched.
func (s *scanner) cutOff(r *record, at int64) {
	s.damage.cut = true
	s.recover()
	if s.state == atEnd && s.damage.brokenAt == at {
		s.damage.broken-- // the cut record is not counted twice
		s.damage.brokenBytes = 0
	}
}

// recover moves from a place that is no record to the next record, and counts the bytes between.
func (s *scanner) recover() {
	begin := s.offset()
	if s.damage.broken == 0 {
		s.damage.brokenAt = begin
	}
	s.damage.broken++
	s.listed = false // whether there is a comma after it is unknown
	var try record
	for s.pos++; s.toBrace(); s.pos++ {
		if s.tryRecord(&try) {
			s.damage.brokenBytes += s.offset() - begin
			return
		}
		if s.retried > retryBudget+retryFactor*s.offset() {
			break
		}
	}
	s.damage.brokenBytes += s.offset() - begin
	s.damage.cut = true
	s.state = atEnd
}

// toBrace moves to the next opening brace.
func (s *scanner) toBrace() bool {
	for {
		if i := bytes.IndexByte(s.buf[s.pos:], '{'); i >= 0 {
			s.pos += i
			return true
		}
		s.pos = len(s.buf)
		if !s.fill() {
			return false
		}
	}
}

// tryRecord reports whether a whole record with a phase begins at pos.
func (s *scanner) tryRecord(r *record) bool {
	for {
		r.reset()
		end, status := s.template.parseRecord(s.buf, s.pos, r)
		s.retried += int64(end - s.pos)
		switch {
		case status == complete:
			return (r.phase != 0 || s.sampled && r.ts.present()) && bytes.IndexByte(s.buf[s.pos:end], 0) < 0
		case status == broken || len(s.buf)-s.pos > longestRetry || !s.fill():
			return false
		}
	}
}
