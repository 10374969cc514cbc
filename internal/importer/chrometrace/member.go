package chrometrace

import (
	"bytes"
	"strings"
)

// A section is a top-level member next to the records.
type section struct {
	key   string
	raw   []byte // the value; cut at longestSection
	items int    // of a list or object
	inner int    // objects in lists of an object
	lines int    // ends of lines in a text
}

// member reads one member of the top-level object. Records are left to record.
func (s *scanner) member() {
	c := s.peek()
	for ; c == ','; c = s.peek() {
		s.pos++
	}
	switch c {
	case '}':
		s.pos++
		s.state = atEnd
		return
	case 0:
		s.damage.unclosed = true
		s.state = atEnd
		return
	}
	key, ok := s.key()
	if !ok {
		s.brokenMember()
		return
	}
	if (key == "traceEvents" || key == "samples") && s.peek() == '[' {
		s.pos++
		s.state, s.listed, s.sampled = inRecords, false, key == "samples"
		if !s.sampled {
			s.lists++
		}
		return
	}
	sec := section{key: key}
	if !s.skipValue(&sec) {
		s.brokenMember()
	}
	if len(s.sections) < mostSections {
		s.sections = append(s.sections, sec)
	}
}

// brokenMember ends the top-level object if it cannot be read on, or if the
// file is cut; records before that are kept.
func (s *scanner) brokenMember() {
	s.damage.cut = true
	if s.damage.broken == 0 {
		s.damage.brokenAt = s.offset()
	}
	if s.peek() != 0 {
		s.damage.broken++
	}
	s.state = atEnd
}

// key reads a key and its colon.
func (s *scanner) key() (string, bool) {
	for {
		key, i, status := parseKey(s.buf, s.pos)
		if status == complete && key.kind == text {
			s.pos = i
			return string(key.plain(nil)), true
		}
		if status != short || len(s.buf)-s.pos > longestSection || !s.fill() {
			return "", false
		}
	}
}

// skipValue passes over a value of any length in bounded memory. With sec, its
// beginning is kept and its items are counted. False: the file ends within it,
// or there is no value.
func (s *scanner) skipValue(sec *section) bool {
	depth, quoted, escape, something := 0, false, false, false
	s.peek()
	for {
		begin := s.pos
		for ; s.pos < len(s.buf); s.pos++ {
			c := s.buf[s.pos]
			switch {
			case escape:
				escape = false
				if c == 'n' && sec != nil {
					sec.lines++
				}
			case quoted:
				escape = c == '\\'
				quoted = c != '"'
			case c == '"':
				quoted = true
			case class[c]&opens != 0:
				if depth == 2 && c == '{' && sec != nil {
					sec.inner++
				}
				depth++
			case depth == 0 && (c == ',' || class[c]&(closes|space) != 0):
				sec.keep(s.buf[begin:s.pos])
				return something
			case class[c]&closes != 0:
				depth--
			case c == ',' && depth == 1 && sec != nil:
				sec.items++
			}
			if sec != nil && depth == 1 && sec.items == 0 && something && class[c]&(space|opens) == 0 {
				sec.items = 1
			}
			something = true
			if depth == 0 && !quoted && (class[c]&closes != 0 || c == '"') && !escape {
				s.pos++
				sec.keep(s.buf[begin:s.pos])
				return true
			}
		}
		sec.keep(s.buf[begin:s.pos])
		if !s.fill() {
			return false
		}
	}
}

// keep adds to the kept bytes of a value.
func (sec *section) keep(b []byte) {
	if sec != nil {
		most := longestSection
		if sec.key == "stackFrames" { // samples refer to it, so it is needed whole
			most = longestRecord
		}
		sec.raw = append(sec.raw, b[:min(len(b), most-len(sec.raw))]...)
	}
}

// section returns the kept text of a top-level member.
func (s *scanner) section(key string) []byte {
	for i := range s.sections {
		if s.sections[i].key == key {
			return bytes.TrimSpace(s.sections[i].raw)
		}
	}
	return nil
}

// textOf returns the text of a section that is a scalar, without quotes.
func textOf(raw []byte) string {
	t := strings.TrimSpace(string(raw))
	if len(t) >= 2 && t[0] == '"' && t[len(t)-1] == '"' {
		return string(unescape(nil, []byte(t[1:len(t)-1])))
	}
	return t
}
