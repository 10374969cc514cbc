package perfetto

import (
	"slices"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer/protobuf"
)

// A stackFrame is one of the frames that call stacks refer to.
type stackFrame struct {
	id       uint64 `pb:"1"`
	function uint64 `pb:"2"`
	address  uint64 `pb:"4"`
	path     uint64 `pb:"5"`
	line     uint64 `pb:"6"`
}

// A callStack has the numbers of its frames, outermost first.
type callStack struct {
	id     uint64   `pb:"1"`
	frames []uint64 `pb:"2"`
}

// An inlineFrame is a frame of a call stack that an event holds itself.
type inlineFrame struct {
	name string `pb:"1"`
	path string `pb:"2"`
	line uint64 `pb:"3"`
}

type inlineStack struct {
	frames [][]byte `pb:"1"` // outermost first
}

// A sourcePlace is a place in source code.
type sourcePlace struct {
	id       uint64 `pb:"1"`
	file     string `pb:"2"`
	function string `pb:"3"`
	line     uint64 `pb:"4"`
}

var (
	stackFrames  = protobuf.TableOf[stackFrame]()
	callStacks   = protobuf.TableOf[callStack]()
	inlineFrames = protobuf.TableOf[inlineFrame]()
	inlineStacks = protobuf.TableOf[inlineStack]()
	sourcePlaces = protobuf.TableOf[sourcePlace]()
)

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

// inlineStackText is the text of a call stack that an event holds itself, innermost
// frame first.
func inlineStackText(b []byte) string {
	stack, _ := inlineStacks.Of(b)
	var text []byte
	for _, b := range slices.Backward(stack.frames) {
		f, _ := inlineFrames.Of(b)
		text = appendFrame(text, f.name, f.path, f.line)
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

// text is "function file:line".
func (p sourcePlace) text() string { return string(appendFrame(nil, p.function, p.file, p.line)) }
