package gotrace

import (
	"strconv"

	xtrace "golang.org/x/exp/trace"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// mostStacks bounds how many stacks are kept at hand. Handles of stacks are of a
// generation: when it ends, the entries for them and the library's data go too.
const mostStacks = 1 << 14

// A stack holds the facts about a call stack.
type stack struct {
	of    xtrace.Stack
	start *function // nil until first used
	text  trace.Value
	told  bool // the text is made
	halt  *halt
}

// stack returns the facts about a stack that is not NoStack.
func (c *dictionary) stack(s xtrace.Stack) *stack {
	known := c.stacks[s]
	if known == nil {
		if len(c.stacks) >= mostStacks {
			c.forgetStacks()
		}
		known = &stack{of: s}
		c.stacks[s] = known
	}
	return known
}

// forgetStacks ends the use of all handles of stacks.
func (c *dictionary) forgetStacks() {
	clear(c.stacks)
	c.lastStart = lastStart{}
	for _, f := range c.functions {
		f.memo = [len(f.memo)]*stack{}
	}
}

// stackOf is textOf for one where a goroutine stops: those of one function stop at
// the same few places all the time, which the function remembers.
func (c *dictionary) stackOf(g *goroutine, s xtrace.Stack) *stack {
	if s == xtrace.NoStack {
		return nil
	}
	memo := &g.start.memo
	for i, known := range memo {
		if known != nil && known.of == s {
			if i > 0 {
				memo[i-1], memo[i] = known, memo[i-1]
			}
			return known.orNone()
		}
	}
	known := c.textOf(s)
	copy(memo[2:], memo[1:])
	memo[1] = known
	return known.orNone()
}

// orNone is nil for a stack without frames.
func (s *stack) orNone() *stack {
	if s.text.String() == "" {
		return nil
	}
	return s
}

// textOf finds a stack that has its text: innermost frame first, a line a frame.
func (c *dictionary) textOf(s xtrace.Stack) *stack {
	known := c.stack(s)
	if known.told {
		return known
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
		c.skip(trace.MissingFrames, "stacks whose frames refer to names that the trace does not hold")
	}
	c.text = b
	known.text, known.told = trace.Text(string(b)), true
	return known
}

// frames passes the frames of a stack to f, innermost first, until it returns false.
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
func outermost(s xtrace.Stack) (name, file string) {
	frames(s, func(f xtrace.StackFrame) bool {
		name, file = f.Func, f.File
		return true
	})
	return name, file
}

// innermost is the function at the top of a stack.
func innermost(s xtrace.Stack) (name string) {
	frames(s, func(f xtrace.StackFrame) bool {
		name = f.Func
		return false
	})
	return name
}
