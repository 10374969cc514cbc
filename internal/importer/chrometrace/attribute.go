package chrometrace

import (
	"math"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A dictionary holds categories, regions, attributes and strings.
type dictionary struct {
	w       trace.Writer
	dialect dialect

	categories map[string]*category
	keys       map[string]*attribute
	texts      map[string]string
	hashes     map[string]string
	scratch    [4][]byte

	// For the file being read:
	tally tally
}

// An attribute is a key of arguments, looked up once.
type attribute struct {
	id   trace.AttributeID
	drop bool // of no use outside the recorder
	hash bool // stands for a name, see dftracer.go
}

// dropped are arguments with which recorders number their own records.
var dropped = map[dialect][]string{
	kineto: {"Ev Idx", "Record function id", "Trace name", "Trace iteration", "Profiler Event Index", "cbid", "cid",
		"external ts"},
	dftracer: {"p_idx", "level", "hhash"},
}

const (
	mostInterned    = 1 << 16
	longestInterned = 512
)

// attributes passes the arguments of a record to the row written last: scalars, and lists as strings.
func (c *dictionary) attributes(to trace.Stream, r *record) {
	for i := range r.args {
		arg := &r.args[i]
		at := c.attribute(arg)
		if at.drop {
			c.tally.Add(bookkeeping, r.offset)
			continue
		}
		if v, ok := c.attributeValue(at, arg, r.offset); ok {
			to.Attribute(at.id, v)
		}
	}
	c.oddParts(r)
}

// oddParts counts parts of a record next to its fields and arguments.
func (c *dictionary) oddParts(r *record) {
	if r.argsValue.present() && r.argsValue.kind != word {
		c.tally.Add(oddArguments, r.offset)
	}
	if r.threadClock {
		c.tally.Add(threadClocks, r.offset)
	}
	if r.stack {
		c.tally.Add(stackTraces, r.offset)
	}
}

// attribute finds the attribute of an argument's key.
func (c *dictionary) attribute(arg *argument) *attribute {
	if arg.word.known == nil {
		arg.word.known = c.key(string(arg.key.plain(nil)), arg.word.drop)
	}
	return arg.word.known
}

// key finds the attribute of a key, and names it the first time.
func (c *dictionary) key(key string, drop bool) *attribute {
	a, ok := c.keys[key]
	if !ok {
		a = &attribute{drop: drop}
		name := key
		if c.dialect == dftracer && strings.HasSuffix(name, "hash") {
			a.hash = true
			name = hashedName(name)
		}
		if !a.drop {
			a.id = c.w.Attribute(name)
		}
		c.keys[key] = a
	}
	return a
}

// attributeValue is the value of an argument; false: there is none to keep.
func (c *dictionary) attributeValue(at *attribute, arg *argument, offset int64) (trace.Value, bool) {
	if at.hash {
		if name, ok := c.hashes[string(arg.value.raw())]; ok {
			return trace.Text(name), true
		}
		c.tally.Add(unknownHashes, offset)
	}
	switch arg.form {
	case formInteger:
		return trace.Integer(int64(arg.bits)), true
	case formNumber:
		return trace.Number(math.Float64frombits(arg.bits)), true
	case formText:
		if w := arg.text; !w.known {
			w.text, w.known = c.intern(w.text), true
		}
		return trace.Text(arg.text.text), true
	case formNested:
		c.tally.Add(nestedArguments, offset)
	}
	return trace.Value{}, false
}

// longestList is how long a list is kept as an attribute: shapes, types and strides of the inputs of an
// operator, the grid of a kernel. Those with a thousand members and more tell nothing that people read.
const longestList = 2048

// compact appends a list without the blanks between its members, so that equal ones are equal strings.
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

// intern returns one string for equal strings, as most are the same few.
func (c *dictionary) intern(text string) string {
	if s, ok := c.texts[text]; ok {
		return s
	}
	if len(text) <= longestInterned && len(c.texts) < mostInterned {
		c.texts[text] = text
	}
	return text
}
