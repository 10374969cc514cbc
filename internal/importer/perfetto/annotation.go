package perfetto

import (
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Numbers of the fields of an annotation.
const (
	noteKeyID   = 1
	noteBool    = 2
	noteUint    = 3
	noteInt     = 4
	noteDouble  = 5
	noteText    = 6
	notePointer = 7
	noteNested  = 8
	noteJSON    = 9
	noteKey     = 10
	noteDict    = 11
	noteList    = 12
	noteProto   = 14
	noteTextID  = 17
)

// facts gives what an event says beside its name, as attributes. They are valid
// until the next event.
func (c *dictionary) facts(s *sequence, e *event) []fact {
	if len(e.notes) == 0 && len(e.rest) == 0 {
		return nil
	}
	c.scratch = c.scratch[:0]
	for _, b := range e.notes {
		c.note(s, b, c.key[:0], maxNesting)
	}
	for i := range e.rest {
		c.rare(s, &e.rest[i])
	}
	return c.scratch
}

// maxNesting and mostFacts bound what one event may say.
const (
	maxNesting = 8
	mostFacts  = 1000
)

func (c *dictionary) fact(name string, v trace.Value) {
	if len(c.scratch) >= mostFacts {
		c.tally.Add(manyFacts, nowhere)
		return
	}
	c.scratch = append(c.scratch, fact{c.attributes.ID(name), v})
}

// note takes an annotation whose key follows prefix. Entries of a dictionary
// become attributes of their own, "key.entry"; those of a list "key[0]".
func (c *dictionary) note(s *sequence, b, prefix []byte, depth int) {
	key := prefix
	var v trace.Value
	inner := false
	m := open(b)
	for m.next() { // the key may come after the value
		switch m.number {
		case noteKeyID:
			name, ok := s.keys.get(m.value)
			if !ok {
				c.tally.Add(lostNames, nowhere)
				name = "(name lost " + strconv.FormatUint(m.value, 10) + ")"
			}
			key = append(key, name...)
		case noteKey:
			key = append(key, m.bytes...)
		case noteBool:
			v = trace.Text(strconv.FormatBool(m.value != 0))
		case noteUint, noteInt:
			v = trace.Integer(int64(m.value))
		case noteDouble:
			v = trace.Number(m.double())
		case notePointer:
			v = trace.Text("0x" + strconv.FormatUint(m.value, 16))
		case noteText, noteJSON:
			v = trace.Text(c.text(m.bytes))
		case noteTextID:
			text, ok := s.texts.get(m.value)
			if !ok {
				c.tally.Add(lostNames, nowhere)
			}
			v = trace.Text(text)
		case noteDict, noteList:
			inner = true
		case noteNested:
			c.nested(m.bytes, key, depth)
		case noteProto:
			c.tally.Add(typedArguments, nowhere)
		}
	}
	if cap(key) > cap(c.key) {
		c.key = key[:0]
	}
	if v.Kind != 0 {
		name := key
		if len(name) == 0 {
			name = []byte("(no name)")
		}
		c.fact(c.text(name), v)
	}
	if inner && depth > 0 {
		c.entries(s, b, key, depth)
	}
}

// entries takes the entries of a dictionary or list.
func (c *dictionary) entries(s *sequence, b, key []byte, depth int) {
	n := len(key)
	index := 0
	m := open(b)
	for m.next() {
		switch m.number {
		case noteDict:
			c.note(s, m.bytes, append(key[:n:n], '.'), depth-1)
		case noteList:
			c.note(s, m.bytes, append(strconv.AppendInt(append(key[:n:n], '['), int64(index), 10), ']'), depth-1)
			index++
		}
	}
}

// nested takes a value of the older form of dictionaries and lists.
func (c *dictionary) nested(b, key []byte, depth int) {
	if depth == 0 {
		c.tally.Add(manyFacts, nowhere)
		return
	}
	n := len(key)
	var keys [][]byte
	values, index := 0, 0
	m := open(b)
	for m.next() {
		switch m.number {
		case annotationKey:
			keys = append(keys, m.bytes)
		case annotationMember:
			if values < len(keys) {
				c.nested(m.bytes, append(append(key[:n:n], '.'), keys[values]...), depth-1)
			}
			values++
		case annotationElement:
			c.nested(m.bytes, append(strconv.AppendInt(append(key[:n:n], '['), int64(index), 10), ']'), depth-1)
			index++
		case annotationInteger:
			c.fact(c.text(key), trace.Integer(int64(m.value)))
		case annotationDouble:
			c.fact(c.text(key), trace.Number(m.double()))
		case annotationBool:
			c.fact(c.text(key), trace.Text(strconv.FormatBool(m.value != 0)))
		case annotationText:
			c.fact(c.text(key), trace.Text(c.text(m.bytes)))
		}
	}
}

// rare takes the fields of events that become attributes of a fixed name.
func (c *dictionary) rare(s *sequence, f *keptField) {
	switch f.number {
	case eventSource:
		if _, place := sourceOf(f.bytes); place != "" {
			c.fact("source", trace.Text(place))
		}
	case eventSourceID:
		c.interned(&s.sources, "source", f.value)
	case eventCorrelation:
		c.fact("correlation", trace.Integer(int64(f.value)))
	case eventCorrelationStr:
		c.fact("correlation", trace.Text(c.text(f.bytes)))
	case eventCorrelationID:
		c.interned(&s.correlation, "correlation", f.value)
	case eventWeight:
		c.fact("weight", trace.Number(math.Float64frombits(f.value)))
	case eventStack:
		if text := inlineStack(f.bytes); text != "" {
			c.fact("stack", trace.Text(text))
		}
	case eventStackID:
		if text, ok := s.stackText(f.value); ok {
			c.fact("stack", trace.Text(c.text([]byte(text))))
		} else {
			c.tally.Add(lostNames, nowhere)
		}
	case eventTask:
		m := open(f.bytes)
		for m.next() {
			if m.number == taskSource && m.kind == protowire.VarintType {
				c.interned(&s.sources, "posted from", m.value)
			}
		}
	case eventLog:
		m := open(f.bytes)
		for m.next() {
			switch m.number {
			case logSource:
				c.interned(&s.sources, "source", m.value)
			case logBody:
				c.interned(&s.bodies, "message", m.value)
			}
		}
	}
}

// interned adds an attribute whose text is given by number.
func (c *dictionary) interned(t *table[string], name string, id uint64) {
	text, ok := t.get(id)
	if !ok {
		c.tally.Add(lostNames, nowhere)
		return
	}
	c.fact(name, trace.Text(text))
}
