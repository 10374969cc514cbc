package perfetto

import "strconv"

// A stackFrame is one of the frames that call stacks refer to.
type stackFrame struct {
	function, path uint64
	address        uint64
	line           uint64
}

func (s *sequence) internFrame(b []byte) {
	var id uint64
	var f stackFrame
	m := open(b)
	for m.next() {
		switch m.number {
		case frameID:
			id = m.value
		case frameFunction:
			f.function = m.value
		case frameAddress:
			f.address = m.value
		case framePath:
			f.path = m.value
		case frameLine:
			f.line = m.value
		}
	}
	s.frames.put(id, f)
}

func (s *sequence) internStack(b []byte) {
	var id uint64
	var frames []uint64
	m := open(b)
	for m.next() {
		switch m.number {
		case stackID:
			id = m.value
		case stackFrames:
			frames = m.list(frames)
		}
	}
	s.stacks.put(id, frames)
}

// stackText is an interned call stack as text, innermost frame first.
func (s *sequence) stackText(id uint64) (string, bool) {
	frames, ok := s.stacks.get(id)
	if !ok {
		return "", false
	}
	var b []byte
	for i := len(frames) - 1; i >= 0; i-- {
		f, ok := s.frames.get(frames[i])
		if !ok {
			continue
		}
		path, _ := s.paths.get(f.path)
		b = appendFrame(b, s.function(f), path, f.line)
	}
	return string(b), len(b) > 0
}

// function is the name of a frame's function, or its address.
func (s *sequence) function(f stackFrame) string {
	if name, _ := s.functions.get(f.function); name != "" {
		return name
	}
	return "0x" + strconv.FormatUint(f.address, 16)
}

// innermost is the function on top of an interned call stack that has any.
func (s *sequence) innermost(id uint64) string {
	frames, _ := s.stacks.get(id)
	for i := len(frames) - 1; i >= 0; i-- {
		if f, ok := s.frames.get(frames[i]); ok {
			return s.function(f)
		}
	}
	return ""
}

// inlineStack is the text of a call stack that an event holds itself, outermost
// frame first.
func inlineStack(b []byte) string {
	var frames [][]byte
	m := open(b)
	for m.next() {
		if m.number == inlineFrame {
			frames = append(frames, m.bytes)
		}
	}
	var text []byte
	for i := len(frames) - 1; i >= 0; i-- {
		var name, path string
		var line uint64
		m := open(frames[i])
		for m.next() {
			switch m.number {
			case inlineName:
				name = string(m.bytes)
			case inlinePath:
				path = string(m.bytes)
			case inlineLine:
				line = m.value
			}
		}
		text = appendFrame(text, name, path, line)
	}
	return string(text)
}

func appendFrame(b []byte, name, path string, line uint64) []byte {
	if len(b) > 0 {
		b = append(b, '\n')
	}
	b = append(b, name...)
	if path == "" {
		return b
	}
	b = append(append(b, ' '), path...)
	if line > 0 {
		b = strconv.AppendUint(append(b, ':'), line, 10)
	}
	return b
}

// sourceOf reads a place in source code: its number, and "function file:line".
func sourceOf(b []byte) (id uint64, place string) {
	var file, function string
	var line uint64
	m := open(b)
	for m.next() {
		switch m.number {
		case sourceID:
			id = m.value
		case sourceFile:
			file = string(m.bytes)
		case sourceFunction:
			function = string(m.bytes)
		case sourceLine:
			line = m.value
		}
	}
	return id, string(appendFrame(nil, function, file, line))
}
