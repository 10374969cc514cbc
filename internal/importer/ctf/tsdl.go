package ctf

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A parser reads TSDL, the metadata language of CTF 1.8. It stops at the first fault, by a panic with
// a *fault that parseTSDL takes.
type parser struct {
	t     *traceClass
	list  []token
	at    int
	depth int
	types []map[string]*class // scopes, innermost last; keys are "struct x", "enum x", "variant x" or names
	later []*eventClass
}

type fault struct {
	line int
	what string
}

func (t *traceClass) parseTSDL(b []byte) (place string, err error) {
	list, err := lex(b)
	if err != nil {
		return "", err
	}
	p := &parser{t: t, list: list, types: []map[string]*class{{}}}
	defer func() {
		switch f := recover().(type) {
		case nil:
		case *fault:
			place, err = fmt.Sprintf("line %d", f.line), errors.New(f.what)
		default:
			panic(f)
		}
	}()
	for p.peek().kind != tokenEnd {
		p.top()
	}
	for _, e := range p.later {
		s := t.streams[e.stream]
		if s == nil {
			if len(t.streams) > 0 || e.stream != 0 {
				return "", fmt.Errorf("event %s is of stream %d, which there is not", e.name, e.stream)
			}
			s = &streamClass{events: map[uint64]*eventClass{}}
			t.streams[0] = s
		}
		if s.events[e.id] != nil {
			return "", fmt.Errorf("two events of stream %d have the number %d", e.stream, e.id)
		}
		s.events[e.id] = e
	}
	return "", nil
}

func (p *parser) fail(format string, args ...any) {
	panic(&fault{p.peek().line, fmt.Sprintf(format, args...)})
}

func (p *parser) peek() token { return p.list[p.at] }

func (p *parser) next() token {
	t := p.list[p.at]
	if t.kind != tokenEnd {
		p.at++
	}
	return t
}

// is reports whether a sign or word comes next, and takes it.
func (p *parser) is(text string) bool {
	if t := p.peek(); (t.kind == tokenSign || t.kind == tokenWord) && t.text == text {
		p.at++
		return true
	}
	return false
}

func (p *parser) want(text string) {
	if !p.is(text) {
		p.fail("%q where %q must be", p.peek().text, text)
	}
}

func (p *parser) word() string {
	if t := p.peek(); t.kind != tokenWord {
		p.fail("%q where a name must be", t.text)
	}
	return p.next().text
}

// deeper bounds nesting.
func (p *parser) deeper() func() {
	if p.depth++; p.depth > deepest {
		p.fail("types nest deeper than %d", deepest)
	}
	return func() { p.depth-- }
}

func (p *parser) lookup(name string) *class {
	for i := len(p.types) - 1; i >= 0; i-- {
		if c := p.types[i][name]; c != nil {
			return c
		}
	}
	return nil
}

func (p *parser) define(name string, c *class) { p.types[len(p.types)-1][name] = c }

// top reads one declaration of the outermost level.
func (p *parser) top() {
	switch t := p.peek(); {
	case t.kind == tokenSign && t.text == ";":
		p.next()
	case t.text == "trace":
		p.next()
		b := p.block()
		p.t.header = setRoles(b.types["packet.header"], rolesByName["packet.header"], 0)
		p.t.uuid = b.values["uuid"]
		switch b.values["byte_order"] {
		case "le":
			p.t.order = little
		case "be", "network":
			p.t.order = big
		}
		if _, ok := b.values["major"]; ok && b.number(p, "major") != 1 {
			p.fail("version %d.%d of the format is not known; 1.8 and 2 are read", b.number(p, "major"),
				b.number(p, "minor"))
		}
	case t.text == "env":
		p.next()
		for k, v := range p.block().values {
			p.t.env[k] = v
		}
	case t.text == "clock":
		p.next()
		p.clock(p.block())
	case t.text == "stream":
		p.next()
		b := p.block()
		s := &streamClass{id: b.number(p, "id"), events: map[uint64]*eventClass{}}
		s.context = setRoles(b.types["packet.context"], rolesByName["packet.context"], 0)
		s.header = setRoles(b.types["event.header"], rolesByName["event.header"], 0)
		s.common = b.types["event.context"]
		if p.t.streams[s.id] != nil {
			p.fail("two streams have the number %d", s.id)
		}
		p.t.streams[s.id] = s
	case t.text == "event":
		p.next()
		b := p.block()
		e := &eventClass{id: b.number(p, "id"), stream: b.number(p, "stream_id"), name: b.values["name"],
			context: b.types["context"], payload: b.types["fields"]}
		if e.name == "" {
			e.name = "event " + strconv.FormatUint(e.id, 10)
		}
		p.later = append(p.later, e)
	case t.text == "callsite":
		p.next()
		p.block()
	default:
		p.declaration()
		p.want(";")
	}
}

func (p *parser) clock(b block) {
	c := &clock{name: b.values["name"], uuid: b.values["uuid"], frequency: 1e9, cycles: b.number(p, "offset")}
	if _, ok := b.values["freq"]; ok {
		if c.frequency = b.number(p, "freq"); c.frequency == 0 {
			p.fail("clock %s has no frequency", c.name)
		}
	}
	c.seconds = int64(b.number(p, "offset_s"))
	p.t.clocks[c.name] = c
}

// declaration reads a typealias, a typedef, or a named type.
func (p *parser) declaration() {
	switch {
	case p.is("typealias"):
		c, _ := p.specifier(false)
		c, _ = p.declarator(c)
		p.want(":=")
		var words []string
		for p.peek().kind == tokenWord || p.peek().text == "*" {
			words = append(words, p.next().text)
		}
		if len(words) == 0 {
			p.fail("%q where the name of a type must be", p.peek().text)
		}
		p.define(strings.Join(words, " "), c)
	case p.is("typedef"):
		c, _ := p.specifier(true)
		for {
			k, name := p.declarator(c)
			if name == "" {
				p.fail("%q where the name of a type must be", p.peek().text)
			}
			p.define(name, k)
			if !p.is(",") {
				return
			}
		}
	default:
		if t := p.peek().text; t != "struct" && t != "enum" && t != "variant" {
			p.fail("%q where a declaration must be", t)
		}
		p.specifier(false)
	}
}

// A block is the content of braces: values and types by name.
type block struct {
	values map[string]string
	types  map[string]*class
}

func (b block) number(p *parser, key string) uint64 {
	text, ok := b.values[key]
	if !ok {
		return 0
	}
	v, _, ok := number(text)
	if !ok {
		p.fail("%s is %q and must be a number of 64 bits", key, text[:min(len(text), 40)])
	}
	return uint64(v)
}

// block reads `{ key = value; key := type; … };`.
func (p *parser) block() block {
	defer p.deeper()()
	b := block{map[string]string{}, map[string]*class{}}
	p.types = append(p.types, map[string]*class{})
	p.want("{")
	for !p.is("}") {
		if p.is(";") {
			continue
		}
		if t := p.peek().text; p.peek().kind == tokenWord &&
			slices.Contains([]string{"typealias", "typedef", "struct", "enum", "variant"}, t) {
			p.declaration()
			p.want(";")
			continue
		}
		key := p.path()
		switch {
		case p.is("="):
			b.values[key] = p.value()
		case p.is(":="):
			c, _ := p.specifier(false)
			if c.kind != kindStruct {
				p.fail("%s is no structure", key)
			}
			b.types[key] = c
		default:
			p.fail("%q where = or := must be", p.peek().text)
		}
		p.want(";")
	}
	p.types = p.types[:len(p.types)-1]
	p.is(";")
	return b
}

// path reads names with dots between.
func (p *parser) path() string {
	if p.peek().kind == tokenText {
		return p.next().text
	}
	name := p.word()
	for p.is(".") || p.is("->") {
		name += "." + p.word()
	}
	return name
}

func (p *parser) value() string {
	switch t := p.peek(); {
	case t.kind == tokenText || t.kind == tokenNumber:
		return p.next().text
	case p.is("-"):
		return "-" + p.value()
	case p.is("+"):
		return p.value()
	default:
		return p.path()
	}
}

// attributes reads `{ key = value; … }` of a basic type.
func (p *parser) attributes() map[string]string {
	out := map[string]string{}
	p.want("{")
	for !p.is("}") {
		if p.is(";") {
			continue
		}
		key := p.path()
		p.want("=")
		out[key] = p.value()
		p.is(";")
	}
	return out
}

// specifier reads a type. In a declaration with a name behind it (named), the last of several words
// is that name and stays.
func (p *parser) specifier(named bool) (*class, bool) {
	defer p.deeper()()
	for p.is("const") {
	}
	switch t := p.peek(); {
	case t.kind != tokenWord:
		p.fail("%q where a type must be", t.text)
	case p.is("integer"):
		return p.integer(p.attributes()), true
	case p.is("floating_point"):
		return p.float(p.attributes()), true
	case p.is("string"):
		if p.peek().text == "{" {
			p.attributes()
		}
		return &class{kind: kindString, align: 8}, true
	case p.is("struct"):
		return p.structure(), true
	case p.is("variant"):
		return p.variant(), true
	case p.is("enum"):
		return p.enumeration(), true
	}
	var words []string
	for p.peek().kind == tokenWord {
		if named && len(words) > 0 {
			if after := p.list[min(p.at+1, len(p.list)-1)]; after.kind != tokenWord {
				break
			}
		}
		words = append(words, p.next().text)
	}
	for p.peek().text == "*" {
		words = append(words, p.next().text)
	}
	name := strings.Join(words, " ")
	c := p.lookup(name)
	if c == nil {
		p.fail("type %q is not declared", name)
	}
	return c, true
}

func yes(s string) bool { return s == "1" || strings.EqualFold(s, "true") }

func orderBy(s string) byteOrder {
	switch s {
	case "le":
		return little
	case "be", "network":
		return big
	}
	return native
}

// bitsOf reads a number of bits.
func (p *parser) bitsOf(text, what string, most int64) int64 {
	v, _, ok := number(text)
	if !ok || v < 1 || v > most {
		p.fail("%s %q is not from 1 to %d", what, text, most)
	}
	return v
}

func (p *parser) alignOf(text string) int64 {
	v := p.bitsOf(text, "alignment", 1<<20)
	if v&(v-1) != 0 {
		p.fail("alignment %d is no power of two", v)
	}
	return v
}

func (p *parser) integer(a map[string]string) *class {
	c := &class{kind: kindInteger, signed: yes(a["signed"]), order: orderBy(a["byte_order"])}
	if a["size"] == "" {
		p.fail("an integer has no size")
	}
	c.size = p.bitsOf(a["size"], "size", 64)
	c.align = 1
	if c.size%8 == 0 {
		c.align = 8
	}
	if a["align"] != "" {
		c.align = p.alignOf(a["align"])
	}
	switch strings.ToUpper(a["encoding"]) {
	case "UTF8", "ASCII":
		c.text = true
	}
	if m, ok := strings.CutPrefix(a["map"], "clock."); ok {
		c.mapped, c.clock = true, strings.TrimSuffix(m, ".value")
	}
	return c
}

func (p *parser) float(a map[string]string) *class {
	size := p.bitsOf(a["exp_dig"], "exp_dig", 64) + p.bitsOf(a["mant_dig"], "mant_dig", 64)
	if size != 16 && size != 32 && size != 64 {
		p.fail("numbers of %d bits are not read", size)
	}
	c := &class{kind: kindFloat, size: size, align: 8, order: orderBy(a["byte_order"])}
	if a["align"] != "" {
		c.align = p.alignOf(a["align"])
	}
	return c
}

// named finds or defines a type that may have a name, and a body.
func (p *parser) named(word string, body func() *class) *class {
	name := ""
	if p.peek().kind == tokenWord && p.peek().text != "align" {
		name = word + " " + p.next().text
	}
	var c *class
	if c = body(); c == nil {
		if c = p.lookup(name); c == nil {
			p.fail("%q is not declared", name)
		}
		return c
	}
	if name != "" {
		p.define(name, c)
	}
	return c
}

func (p *parser) structure() *class {
	c := p.named("struct", func() *class {
		if p.peek().text != "{" {
			return nil
		}
		return &class{kind: kindStruct, align: 1, fields: p.members()}
	})
	if p.is("align") {
		p.want("(")
		again := *c
		again.align = max(c.align, p.alignOf(p.value()))
		p.want(")")
		*c = again
	}
	return c
}

// members reads the fields of a structure, or the options of a variant.
func (p *parser) members() (out []field) {
	p.types = append(p.types, map[string]*class{})
	p.want("{")
	for !p.is("}") {
		if p.is(";") {
			continue
		}
		if t := p.peek().text; t == "typealias" || t == "typedef" {
			p.declaration()
			p.want(";")
			continue
		}
		base, _ := p.specifier(true)
		for p.peek().text != ";" {
			c, name := p.declarator(base)
			if name == "" {
				p.fail("%q where the name of a field must be", p.peek().text)
			}
			out = append(out, field{name, c})
			if !p.is(",") {
				break
			}
		}
		p.want(";")
	}
	p.types = p.types[:len(p.types)-1]
	return out
}

// declarator reads a name with its array or sequence lengths.
func (p *parser) declarator(c *class) (*class, string) {
	for p.is("*") {
	}
	name := ""
	if p.peek().kind == tokenWord {
		name = p.next().text
	}
	var sizes []string
	for p.is("[") {
		sizes = append(sizes, p.value())
		p.want("]")
	}
	for i := len(sizes) - 1; i >= 0; i-- {
		if n, _, ok := number(sizes[i]); ok {
			if n < 0 || n > 1<<32 {
				p.fail("an array has %d elements", n)
			}
			c = &class{kind: kindArray, elem: c, count: n}
		} else {
			c = &class{kind: kindSequence, elem: c, ref: refer(sizes[i])}
		}
	}
	return c, name
}

// refer reads a path that may begin with the name of a part.
func refer(path string) reference {
	for _, part := range []struct{ words, name string }{
		{"trace.packet.header.", "packet.header"}, {"stream.packet.context.", "packet.context"},
		{"stream.event.header.", "event.header"},
		{"stream.event.context.", "event.context"}, {"event.context.", "context"}, {"event.fields.", "fields"},
	} {
		if rest, ok := strings.CutPrefix(path, part.words); ok {
			return reference{part.name, strings.Split(rest, ".")}
		}
	}
	return reference{"", strings.Split(path, ".")}
}

func (p *parser) variant() *class {
	var tag string
	name := ""
	if p.peek().kind == tokenWord {
		name = "variant " + p.next().text
	}
	if p.is("<") {
		tag = p.path()
		p.want(">")
	}
	var c *class
	if p.peek().text == "{" {
		c = &class{kind: kindVariant, align: 1, fields: p.members()}
		if name != "" {
			p.define(name, c)
		}
	} else if c = p.lookup(name); c == nil {
		p.fail("%q is not declared", name)
	}
	if tag != "" {
		again := *c
		again.ref = refer(tag)
		c = &again
	}
	return c
}

func (p *parser) enumeration() *class {
	return p.named("enum", func() *class {
		base := p.lookup("int")
		if p.is(":") {
			base, _ = p.specifier(false)
		}
		if p.peek().text != "{" {
			return nil
		}
		if base == nil {
			base = &class{kind: kindInteger, size: 32, align: 8, signed: true}
		}
		if base.kind != kindInteger {
			p.fail("an enumeration is no integer")
		}
		c := *base
		c.labels = nil
		p.want("{")
		next := int64(0)
		for !p.is("}") {
			label := ""
			if t := p.peek(); t.kind == tokenText || t.kind == tokenWord {
				label = p.next().text
			} else {
				p.fail("%q where a label must be", t.text)
			}
			r := labelRange{low: next, high: next, wide: !c.signed, label: label}
			if p.is("=") {
				r.low = p.label()
				r.high = r.low
				if p.is("...") {
					r.high = p.label()
				}
			}
			next = r.high + 1
			c.labels = append(c.labels, r)
			if !p.is(",") && p.peek().text != "}" {
				p.fail("%q within an enumeration", p.peek().text)
			}
		}
		return &c
	})
}

func (p *parser) label() int64 {
	v, _, ok := number(p.value())
	if !ok {
		p.fail("a label's value is no number")
	}
	return v
}
