package gotrace

import (
	"strconv"

	xtrace "golang.org/x/exp/trace"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// mostStacks bounds how many texts of stacks are kept at hand. Handles of stacks
// are of a generation, so the texts of an old one are of no more use.
const mostStacks = 1 << 14

// A stackMemo is the text of a stack that was asked for.
type stackMemo struct {
	of   xtrace.Stack
	text *trace.Value
}

// stackOf is stackText for one where a goroutine stops: most stop at the same one
// or two places all the time, which the goroutine remembers.
func (c *converter) stackOf(g *goroutine, s xtrace.Stack) (trace.Value, bool) {
	if s == xtrace.NoStack {
		return trace.Value{}, false
	}
	if g.memo[0].of != s {
		g.memo[0], g.memo[1] = g.memo[1], g.memo[0]
		if g.memo[0].of != s {
			g.memo[0] = stackMemo{s, c.stackText(s)}
		}
	}
	v := *g.memo[0].text
	return v, v.String() != ""
}

// stackText is a stack as text, innermost frame first, a line a frame. Texts are
// made once for each stack of a generation.
func (c *converter) stackText(s xtrace.Stack) *trace.Value {
	if v := c.stacks[s]; v != nil {
		return v
	}
	if len(c.stacks) >= mostStacks {
		clear(c.stacks)
	}
	b := c.text[:0]
	if !frames(s, func(f xtrace.StackFrame) bool {
		if len(b) > 0 {
			b = append(b, '\n')
		}
		b = append(append(b, f.Func...), ' ')
		b = append(append(b, f.File...), ':')
		b = strconv.AppendUint(b, f.Line, 10)
		return true
	}) {
		c.skip("stacks whose frames refer to names that the trace does not hold")
	}
	c.text = b
	v := trace.Text(string(b))
	c.stacks[s] = &v
	return &v
}

// frames hands the frames of a stack to f, innermost first, until it returns false.
// The library looks their names up only now, and panics where one is missing: then
// frames is false.
func frames(s xtrace.Stack, f func(xtrace.StackFrame) bool) (sound bool) {
	defer func() {
		if recover() != nil {
			sound = false
		}
	}()
	if s != xtrace.NoStack {
		for frame := range s.Frames() {
			if !f(frame) {
				break
			}
		}
	}
	return true
}

// outermost is the function that a goroutine with this stack started in.
func outermost(s xtrace.Stack) (name string) {
	frames(s, func(f xtrace.StackFrame) bool {
		name = f.Func
		return true
	})
	return name
}

// innermost is the function at the top of a stack.
func innermost(s xtrace.Stack) (name string) {
	frames(s, func(f xtrace.StackFrame) bool {
		name = f.Func
		return false
	})
	return name
}
