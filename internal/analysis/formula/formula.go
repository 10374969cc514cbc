// Package formula places and colours locations by the user's own expressions.
//
// After Spear, Malony, Lee, Biersdorff, Shende: "An Approach to Creating
// Performance Visualizations in a Parallel Profile Analysis Tool", and as TAU
// ships it. A layout file has blocks:
//
//	BEGIN_VIZ=sphere
//	rootRanks=sqrt(maxRank)
//	theta=2*pi()/rootRanks*mod(rank, rootRanks)
//	…
//	x=cos(theta)*sin(phi)*100
//	END_VIZ
//
// A block is a list of assignments, read in order; line ends are white space, so
// an expression goes on until the next token cannot continue it; commas may stand
// between assignments, # begins a comment; letter case does not matter. x, y and z
// are needed, or x0, y0, z0 and so on for several points a location; color and
// restrictDim may be set.
//
//	file      = { block | ui }, see UI
//	block     = "BEGIN_VIZ" "=" name EOL { [ "," ] statement } "END_VIZ"
//	statement = name "=" expr
//	expr      = both { "||" both }
//	both      = truth { "&&" truth }
//	truth     = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//	sum       = term { ("+" | "-") term }
//	term      = unary { ("*" | "/") unary }
//	unary     = ("+" | "-" | "!") unary | power
//	power     = primary [ "^" unary ]
//	primary   = number | name [ "(" [ expr { "," expr } ] ")" ] | "(" expr ")"
//
// All arithmetic is IEEE float64 without traps. A comparison yields 1 or 0; if(condition, yes, no) takes the
// second where the first is neither 0 nor NaN. A block is compiled once and applied to all locations at
// once, column by column. There are no loops, and size and depth are bounded, so a formula always ends.
package formula

import (
	"fmt"
	"strings"
)

// The kinds of errors.
const (
	Syntax          = "syntax"
	Unterminated    = "unterminated"
	Duplicate       = "duplicate"
	Missing         = "missing"
	ReadOnly        = "readonly"
	UnknownName     = "unknown-name"
	UnknownFunction = "unknown-function"
	Arity           = "arity"
	TooLarge        = "too-large"
)

// An Error is a mistake in a layout, with its place.
type Error struct {
	Kind         string
	Line, Column int // from 1
	Text         string
	Hint         string
	source       string // the line
}

func (e *Error) Error() string {
	s := fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Text)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Caret shows the line with a mark under the place.
func (e *Error) Caret() string {
	pad := strings.Map(func(r rune) rune {
		if r == '\t' {
			return '\t'
		}
		return ' '
	}, e.source[:min(max(e.Column-1, 0), len(e.source))])
	return e.source + "\n" + pad + "^"
}

// Bounds on the size of a layout.
const (
	mostBytes  = 1 << 20
	mostTokens = 20000
	mostDepth  = 200
)

// A Layout is one compiled block.
type Layout struct {
	Name       string
	Line       int
	statements []statement
	// Points is the number of points that a location has.
	Points int
	// UI says how the picture is controlled; nil where the file does not.
	UI *UI
	// numbered is set where they are x0, y0, z0 … instead of x, y, z.
	numbered bool
}

type statement struct {
	name string
	expr node
	at   token
}

// Sets reports whether the layout assigns a name.
func (l *Layout) Sets(name string) bool {
	for _, s := range l.statements {
		if s.name == strings.ToLower(name) {
			return true
		}
	}
	return false
}
