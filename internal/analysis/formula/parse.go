package formula

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A node is an expression: a number, a name, or a function of others.
type node struct {
	op    string // "num", "name", "key", or a function's name
	value float64
	name  string
	args  []node
	at    token
}

type parser struct {
	tokens []token
	i      int
	depth  int
	lines  []string // of the file, for messages
}

func (p *parser) peek(k int) token {
	if p.i+k < len(p.tokens) {
		return p.tokens[p.i+k]
	}
	t := token{kind: endToken, line: len(p.lines), column: 1}
	if len(p.tokens) > 0 {
		last := p.tokens[len(p.tokens)-1]
		t.line, t.column = last.line, last.column+len(last.text)
	}
	return t
}

func (p *parser) fail(kind string, at token, hint, format string, args ...any) *Error {
	e := &Error{Kind: kind, Line: at.line, Column: at.column, Text: fmt.Sprintf(format, args...), Hint: hint}
	if at.line >= 1 && at.line <= len(p.lines) {
		e.source = p.lines[at.line-1]
	}
	return e
}

func (t token) named() string {
	if t.kind == endToken {
		return "the end of the block"
	}
	return "\"" + t.text + "\""
}

// parseStatements reads the assignments of a block.
func (p *parser) parseStatements() (out []statement, err *Error) {
	for p.peek(0).kind != endToken {
		if len(out) > 0 && p.peek(0).text == "," {
			p.i++
		}
		name := p.peek(0)
		if name.kind != nameToken || p.peek(1).text != "=" {
			return nil,
				p.fail(Syntax, name, "an assignment is name=expression", "a name and \"=\" are wanted, not %s",
					name.named())
		}
		p.i += 2
		e, err := p.either()
		if err != nil {
			return nil, err
		}
		out = append(out, statement{strings.ToLower(name.text), e, name})
	}
	return out, nil
}

// either reads a whole expression.
func (p *parser) either() (node, *Error) {
	return p.chain([2]string{"||", "||"}, func() (node, *Error) {
		return p.chain([2]string{"&&", "&&"}, p.comparison)
	})
}

// comparison reads sums, or two of them compared. Two comparisons in a row are an error: nearly everyone
// would misread 1 < x < 3.
func (p *parser) comparison() (node, *Error) {
	a, err := p.sum()
	for n := 0; err == nil && p.peek(0).kind == signToken && slices.Contains(comparisons, p.peek(0).text); n++ {
		op := p.peek(0)
		if n > 0 {
			return a, p.fail(Syntax, op, "join comparisons by && or ||", "a comparison cannot be compared")
		}
		p.i++
		var b node
		if b, err = p.sum(); err == nil {
			a = node{op: op.text, args: []node{a, b}, at: op}
		}
	}
	return a, err
}

var comparisons = []string{"<", "<=", ">", ">=", "==", "!="}

func (p *parser) sum() (node, *Error) {
	return p.chain([2]string{"+", "-"}, func() (node, *Error) {
		return p.chain([2]string{"*", "/"}, p.unary)
	})
}

// chain reads operands joined by either of two signs, from the left.
func (p *parser) chain(signs [2]string, operand func() (node, *Error)) (node, *Error) {
	a, err := operand()
	for err == nil && (p.peek(0).text == signs[0] || p.peek(0).text == signs[1]) && p.peek(0).kind == signToken {
		op := p.peek(0)
		p.i++
		var b node
		if b, err = operand(); err == nil {
			a = node{op: op.text, args: []node{a, b}, at: op}
		}
	}
	return a, err
}

func (p *parser) unary() (node, *Error) {
	if p.depth++; p.depth > mostDepth {
		return node{}, p.fail(TooLarge, p.peek(0), "", "the expression is nested too deeply")
	}
	defer func() { p.depth-- }()
	if t := p.peek(0); t.kind == signToken && (t.text == "-" || t.text == "+" || t.text == "!") {
		p.i++
		a, err := p.unary()
		if name := map[string]string{"-": "neg", "!": "not"}[t.text]; err == nil && name != "" {
			a = node{op: name, args: []node{a}, at: t}
		}
		return a, err
	}
	a, err := p.primary()
	if t := p.peek(0); err == nil && t.text == "^" {
		p.i++
		var b node
		if b, err = p.unary(); err == nil {
			a = node{op: "^", args: []node{a, b}, at: t}
		}
	}
	return a, err
}

func (p *parser) primary() (node, *Error) {
	t := p.peek(0)
	p.i++
	switch {
	case t.kind == numberToken:
		v, err := strconv.ParseFloat(t.text, 64)
		if err != nil && v == 0 {
			return node{}, p.fail(Syntax, t, "", "%s is no number", t.named())
		}
		return node{op: "num", value: v, at: t}, nil
	case t.kind == nameToken && p.peek(0).text != "(":
		return node{op: "name", name: strings.ToLower(t.text), at: t}, nil
	case t.kind == nameToken:
		return p.call(t)
	case t.text == "(":
		a, err := p.either()
		if err == nil {
			err = p.want(")")
		}
		return a, err
	}
	return node{}, p.fail(Syntax, t, "", "an expression is wanted, not %s", t.named())
}

func (p *parser) want(text string) *Error {
	if t := p.peek(0); t.text != text {
		return p.fail(Syntax, t, "", "\"%s\" is wanted, not %s", text, t.named())
	}
	p.i++
	return nil
}

func (p *parser) call(name token) (node, *Error) {
	p.i++ // the parenthesis
	n := node{op: strings.ToLower(name.text), at: name}
	if t := p.peek(0); t.kind == keyToken {
		p.i++
		n.op, n.name = "key", t.text
		return n, p.want(")")
	}
	if p.peek(0).text != ")" {
		for {
			a, err := p.either()
			if err != nil {
				return n, err
			}
			n.args = append(n.args, a)
			if p.peek(0).text != "," {
				break
			}
			p.i++
		}
	}
	if err := p.want(")"); err != nil {
		return n, err
	}
	f, ok := functions[n.op]
	if !ok {
		return n, p.fail(UnknownFunction, name, hintForFunction(name.text), "no function %s", name.named())
	}
	if f.arity >= 0 && len(n.args) != f.arity || f.arity < 0 && len(n.args) == 0 {
		return n,
			p.fail(Arity, name, fmt.Sprintf("it takes %s", f.takes()), "%s has %d arguments", name.named(), len(n.args))
	}
	return n, nil
}
