package gotrace

import (
	"strconv"

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
		b := c.text[:0]
		for f := range s.Frames() {
			if len(b) > 0 {
				b = append(b, '\n')
			}
			b = append(append(b, f.Func...), ' ')
			b = append(append(b, f.File...), ':')
			b = strconv.AppendUint(b, f.Line, 10)
		}
		c.text = b
		v = trace.Text(string(b))
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
