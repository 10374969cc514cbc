package gotrace

import (
	"strconv"
	"strings"

	xtrace "golang.org/x/exp/trace"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// mostStacks bounds how many texts of stacks are kept at hand. Handles of stacks
// are of a generation, so the texts of an old one are of no more use.
const mostStacks = 1 << 14

// stackText is a stack as text, innermost frame first, a line a frame. Texts are
// made once for each stack of a generation.
func (c *converter) stackText(s xtrace.Stack) (trace.Value, bool) {
	if s == xtrace.NoStack {
		return trace.Value{}, false
	}
	v, ok := c.stacks[s]
	if !ok {
		if len(c.stacks) >= mostStacks {
			clear(c.stacks)
		}
		var b strings.Builder
		for f := range s.Frames() {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(f.Func)
			b.WriteByte(' ')
			b.WriteString(f.File)
			b.WriteByte(':')
			b.WriteString(strconv.FormatUint(f.Line, 10))
		}
		v = trace.Text(b.String())
		c.stacks[s] = v
	}
	return v, v.String() != ""
}

// outermost is the function that a goroutine with this stack started in.
func outermost(s xtrace.Stack) string {
	name := ""
	if s != xtrace.NoStack {
		for f := range s.Frames() {
			name = f.Func
		}
	}
	return name
}

// innermost is the function at the top of a stack.
func innermost(s xtrace.Stack) string {
	if s != xtrace.NoStack {
		for f := range s.Frames() {
			return f.Func
		}
	}
	return ""
}
