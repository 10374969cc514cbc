package cube

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// An expression is the arithmetic of a derived metric: numbers, metric::NAME(),
// + - * / and brackets. CubePL can do more; such expressions are not evaluated.
type expression struct {
	op   byte // one of "+-*/", 'n' a number, 'm' a metric, '~' a sign
	a, b *expression
	n    float64
	m    *definition
	uses []*definition // of the whole expression, at its top
}

type expressionParser struct {
	text   string
	lookup func(string) (*definition, bool)
	uses   []*definition
	depth  int
}

// mostNesting bounds the depth of brackets.
const mostNesting = 200

func parseExpression(text string, lookup func(string) (*definition, bool)) (*expression, error) {
	p := &expressionParser{text: strings.TrimSpace(text), lookup: lookup}
	if p.text == "" {
		return nil, errors.New("has no expression")
	}
	e, err := p.sum()
	if err != nil {
		return nil, err
	}
	if p.skip(); p.text != "" {
		return nil, fmt.Errorf("%q is more than arithmetic", p.text[:min(len(p.text), 20)])
	}
	e.uses = p.uses
	return e, nil
}

func (p *expressionParser) skip() { p.text = strings.TrimLeft(p.text, " \t\r\n") }

func (p *expressionParser) take(set string) (byte, bool) {
	p.skip()
	if p.text == "" || strings.IndexByte(set, p.text[0]) < 0 {
		return 0, false
	}
	c := p.text[0]
	p.text = p.text[1:]
	return c, true
}

func (p *expressionParser) sum() (*expression, error) { return p.chain("+-", p.product) }

func (p *expressionParser) product() (*expression, error) { return p.chain("*/", p.factor) }

func (p *expressionParser) chain(ops string, next func() (*expression, error)) (*expression, error) {
	if p.depth++; p.depth > mostNesting {
		return nil, errors.New("is nested too deep")
	}
	defer func() { p.depth-- }()
	e, err := next()
	for err == nil {
		op, ok := p.take(ops)
		if !ok {
			return e, nil
		}
		var b *expression
		b, err = next()
		e = &expression{op: op, a: e, b: b}
	}
	return nil, err
}

func (p *expressionParser) factor() (*expression, error) {
	if _, ok := p.take("("); ok {
		e, err := p.sum()
		if err != nil {
			return nil, err
		}
		if _, ok := p.take(")"); !ok {
			return nil, errors.New("lacks a bracket")
		}
		return e, nil
	}
	if _, ok := p.take("-"); ok {
		if p.depth++; p.depth > mostNesting {
			return nil, errors.New("is nested too deep")
		}
		a, err := p.factor()
		return &expression{op: '~', a: a}, err
	}
	p.skip()
	if rest, ok := strings.CutPrefix(p.text, "metric::"); ok {
		return p.metric(rest)
	}
	end := 0
	for end < len(p.text) && strings.IndexByte("0123456789.eE", p.text[end]) >= 0 {
		end++
	}
	n, err := strconv.ParseFloat(p.text[:end], 64)
	if err != nil {
		return nil, fmt.Errorf("%q is more than arithmetic", p.text[:min(len(p.text), 20)])
	}
	p.text = p.text[end:]
	return &expression{op: 'n', n: n}, nil
}

func (p *expressionParser) metric(rest string) (*expression, error) {
	name, rest, ok := strings.Cut(rest, "(")
	arguments, rest, closed := strings.Cut(rest, ")")
	if !ok || !closed || strings.TrimSpace(arguments) != "" {
		return nil, errors.New("asks a metric with arguments")
	}
	m, ok := p.lookup(strings.TrimSpace(name))
	if !ok {
		return nil, fmt.Errorf("uses metric %q, which is not defined", strings.TrimSpace(name))
	}
	p.text = rest
	p.uses = append(p.uses, m)
	return &expression{op: 'm', m: m}, nil
}

// value computes the expression from the values of metrics; 0 if it divides by 0.
func (e *expression) value(of func(*definition) float64) float64 {
	switch e.op {
	case 'n':
		return e.n
	case 'm':
		return of(e.m)
	case '~':
		return -e.a.value(of)
	}
	a, b := e.a.value(of), e.b.value(of)
	switch e.op {
	case '+':
		return a + b
	case '-':
		return a - b
	case '*':
		return a * b
	}
	if b == 0 {
		return 0
	}
	return a / b
}

// linear reports whether the value of sums is the sum of values: metrics are only
// added up, or multiplied and divided by numbers.
func (e *expression) linear() bool {
	switch e.op {
	case 'm':
		return true
	case 'n':
		return e.n == 0
	case '~':
		return e.a.linear()
	case '+', '-':
		return e.a.linear() && e.b.linear()
	case '*':
		return e.a.constant() && e.b.linear() || e.a.linear() && e.b.constant()
	}
	return e.a.linear() && e.b.constant()
}

// constant reports whether no metric is in it.
func (e *expression) constant() bool {
	return e.op == 'n' || e.op != 'm' && e.a.constant() && (e.b == nil || e.b.constant())
}
