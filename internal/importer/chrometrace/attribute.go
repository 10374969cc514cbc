package chrometrace

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A dictionary knows categories, regions, attributes and texts.
type dictionary struct {
	w       trace.Writer
	dialect dialect

	categories   map[string]*category
	lastCategory *category
	keys         map[string]*attribute
	recent       [32]*attribute
	texts        map[string]string
	hashes       map[string]string
	scratch      [4][]byte

	// Of the file being read:
	tally tally
}

// An attribute is a key of arguments, looked up once.
type attribute struct {
	key  string
	id   trace.AttributeID
	drop bool // of no use outside the recorder
	hash bool // stands for a name, see dftracer.go
}

// dropped are arguments with which recorders number their own records.
var dropped = map[dialect][]string{
	kineto:   {"Ev Idx", "Record function id", "Trace name", "Trace iteration", "Profiler Event Index", "cbid", "cid", "external ts"},
	dftracer: {"p_idx", "level", "hhash"},
}

const (
	mostInterned    = 1 << 16
	longestInterned = 512
)

// attributes hands the arguments of a record to what was written last: scalars, and lists as texts.
func (c *dictionary) attributes(to trace.Stream, r *record) {
	for i := range r.args {
		arg := &r.args[i]
		at := c.attribute(i, arg.key)
		if at.drop {
			c.tally.add(bookkeeping, r.offset)
			continue
		}
		if v, ok := c.attributeValue(at, arg.value, r.offset); ok {
			to.Attribute(at.id, v)
		}
	}
	c.oddParts(r)
}

// oddParts counts what a record has beside its fields and arguments.
func (c *dictionary) oddParts(r *record) {
	if r.argsValue.present() && r.argsValue.kind != word {
		c.tally.add(oddArguments, r.offset)
	}
	if r.threadClock {
		c.tally.add(threadClocks, r.offset)
	}
	if r.stack {
		c.tally.add(stackTraces, r.offset)
	}
}

// attribute finds the attribute of a key. Records of a kind have the same keys in
// the same order, so the one at this position last time is tried first.
func (c *dictionary) attribute(position int, key value) *attribute {
	if position < len(c.recent) {
		if a := c.recent[position]; a != nil && a.key == string(key.raw) {
			return a
		}
	}
	text := key.plain(c.scratch[1])
	a, ok := c.keys[string(text)]
	if !ok {
		a = &attribute{key: string(text)}
		for _, d := range dropped[c.dialect] {
			a.drop = a.drop || d == a.key
		}
		name := a.key
		if c.dialect == dftracer && strings.HasSuffix(name, "hash") {
			a.hash = true
			name = hashedName(name)
		}
		if !a.drop {
			a.id = c.w.Attribute(name)
		}
		c.keys[a.key] = a
	}
	if position < len(c.recent) {
		c.recent[position] = a
	}
	return a
}

// attributeValue is the value of an argument; false: there is none to keep.
func (c *dictionary) attributeValue(at *attribute, v value, offset int64) (trace.Value, bool) {
	if at.hash {
		if name, ok := c.hashes[string(v.raw)]; ok {
			return trace.Text(name), true
		}
		c.tally.add(unknownHashes, offset)
	}
	switch v.kind {
	case number:
		if n, ok := smallInteger(v.raw); ok {
			return trace.Integer(n), true
		}
		if bytes.IndexAny(v.raw, ".eE") < 0 {
			if n, ok := v.integer(); ok {
				return trace.Integer(n), true
			}
		}
		if f, ok := v.float(); ok {
			return trace.Number(f), true
		}
		return trace.Text(string(v.raw)), true
	case text:
		return trace.Text(c.intern(v.plain(c.scratch[1]))), true
	case word:
		switch s := string(v.raw); s {
		case "null", "None":
			return trace.Value{}, false
		default:
			if f, err := strconv.ParseFloat(s, 64); err == nil {
				return trace.Number(f), true // NaN, Infinity
			}
			return trace.Text(c.intern(v.raw)), true
		}
	}
	if len(v.raw) > 0 && v.raw[0] == '[' && len(v.raw) <= longestList {
		return trace.Text(c.intern(compact(c.scratch[1][:0], v.raw))), true
	}
	c.tally.add(nestedArguments, offset)
	return trace.Value{}, false
}

// longestList is how long a list is kept as an attribute: shapes, types and strides of the inputs of an
// operator, the grid of a kernel. Those with a thousand members and more tell nothing that people read.
const longestList = 2048

// compact appends a list without the blanks between its members, so that equal ones are equal texts.
func compact(dst, list []byte) []byte {
	quoted := false
	for i := 0; i < len(list); i++ {
		c := list[i]
		switch {
		case quoted && c == '\\' && i+1 < len(list):
			dst = append(dst, c)
			i++
			c = list[i]
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ' ' || c == '\n' || c == '\t' || c == '\r'):
			continue
		}
		dst = append(dst, c)
	}
	return dst
}

// intern gives one string for equal texts, as most are the same few.
func (c *dictionary) intern(text []byte) string {
	if s, ok := c.texts[string(text)]; ok {
		return s
	}
	s := string(text)
	if len(s) <= longestInterned && len(c.texts) < mostInterned {
		c.texts[s] = s
	}
	return s
}
