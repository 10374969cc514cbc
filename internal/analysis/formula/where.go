package formula

import (
	"slices"
	"strings"
)

// Place is where the fault lies, and the line with a mark under it, for those who
// show errors next to the text.
func (e *Error) Place() (line, column int, caret string) {
	if e.source == "" {
		return e.Line, e.Column, ""
	}
	return e.Line, e.Column, e.Caret()
}

// In gives the error the text that it is about, where it does not know it yet.
func (e *Error) In(text string) *Error {
	if lines := strings.Split(text, "\n"); e.source == "" && e.Line >= 1 && e.Line <= len(lines) {
		e.source = lines[e.Line-1]
	}
	return e
}

// Uses reports whether any expression of the layout reads a name.
func (l *Layout) Uses(name string) bool {
	name = strings.ToLower(name)
	var look func(n *node) bool
	look = func(n *node) bool {
		return n.op == "name" && n.name == name || slices.ContainsFunc(n.args, func(a node) bool { return look(&a) })
	}
	return slices.ContainsFunc(l.statements, func(s statement) bool { return look(&s.expr) })
}

// Events returns the bits of the events event0 … event3 that the layout uses; with
// the name of an assignment, those that this one uses by itself.
func (l *Layout) Events(assignment string) (bits uint) {
	var look func(n *node)
	look = func(n *node) {
		if rest, ok := strings.CutPrefix(n.name, "event"); ok && n.op == "name" && rest != "" && rest[0] >= '0' &&
			rest[0] <= '3' {
			bits |= 1 << (rest[0] - '0')
		}
		for i := range n.args {
			look(&n.args[i])
		}
	}
	for i := range l.statements {
		if s := &l.statements[i]; assignment == "" || s.name == assignment {
			look(&s.expr)
		}
	}
	return bits
}
