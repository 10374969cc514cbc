package perfetto

import (
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer/protobuf"
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

// A nestedValue is the older form of a dictionary, list or value: one of its fields.
type nestedValue struct {
	keys     [][]byte         `pb:"2"`
	members  [][]byte         `pb:"3"`
	elements [][]byte         `pb:"4"`
	integer  protobuf.Integer `pb:"5"`
	number   protobuf.Value   `pb:"6"`
	truth    protobuf.Integer `pb:"7"`
	text     []byte           `pb:"8"`
}

// A task and a log message refer to interned places and strings.
type (
	taskExecution struct {
		source protobuf.Integer `pb:"1"`
	}
	logMessage struct {
		source protobuf.Integer `pb:"1"`
		body   protobuf.Integer `pb:"2"`
	}
)

var (
	nestedValues   = protobuf.TableOf[nestedValue]()
	taskExecutions = protobuf.TableOf[taskExecution]()
	logMessages    = protobuf.TableOf[logMessage]()
)

// facts returns the data of an event next to its name, as attributes. They are valid until the next event.
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

// maxNesting and mostFacts bound the facts of one event.
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
	m := protobuf.Open(b)
	for m.Next() { // the key may come after the value
		switch m.Number {
		case noteKeyID:
			name, ok := s.keys.get(m.Value)
			if !ok {
				c.tally.Add(lostNames, nowhere)
				name = "(name lost " + strconv.FormatUint(m.Value, 10) + ")"
			}
			key = append(key, name...)
		case noteKey:
			key = append(key, m.Bytes...)
		case noteBool:
			v = trace.Text(strconv.FormatBool(m.Value != 0))
		case noteUint, noteInt:
			v = trace.Integer(int64(m.Value))
		case noteDouble:
			v = trace.Number(m.Double())
		case notePointer:
			v = trace.Text("0x" + strconv.FormatUint(m.Value, 16))
		case noteText, noteJSON:
			v = trace.Text(c.text(m.Bytes))
		case noteTextID:
			text, ok := s.texts.get(m.Value)
			if !ok {
				c.tally.Add(lostNames, nowhere)
			}
			v = trace.Text(text)
		case noteDict, noteList:
			inner = true
		case noteNested:
			c.nested(m.Bytes, key, depth)
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
	m := protobuf.Open(b)
	for m.Next() {
		switch m.Number {
		case noteDict:
			c.note(s, m.Bytes, append(key[:n:n], '.'), depth-1)
		case noteList:
			c.note(s, m.Bytes, appendIndex(key, index), depth-1)
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
	v, _ := nestedValues.Of(b)
	n := len(key)
	for i, member := range v.members[:min(len(v.members), len(v.keys))] {
		c.nested(member, append(append(key[:n:n], '.'), v.keys[i]...), depth-1)
	}
	for i, element := range v.elements {
		c.nested(element, appendIndex(key, i), depth-1)
	}
	if v.integer.Set {
		c.fact(c.text(key), trace.Integer(v.integer.Value))
	}
	if v.number.Number != 0 {
		c.fact(c.text(key), trace.Number(v.number.Double()))
	}
	if v.truth.Set {
		c.fact(c.text(key), trace.Text(strconv.FormatBool(v.truth.Value != 0)))
	}
	if v.text != nil {
		c.fact(c.text(key), trace.Text(c.text(v.text)))
	}
}

// appendIndex returns "key[i]" in memory of its own.
func appendIndex(key []byte, i int) []byte {
	return append(strconv.AppendInt(append(key[:len(key):len(key)], '['), int64(i), 10), ']')
}

// rare takes the fields of events that become attributes of a fixed name.
func (c *dictionary) rare(s *sequence, f *protobuf.Value) {
	switch f.Number {
	case eventSource:
		if p, _ := sourcePlaces.Of(f.Bytes); p.text() != "" {
			c.fact("source", trace.Text(p.text()))
		}
	case eventSourceID:
		c.interned(&s.sources, "source", f.Bits)
	case eventCorrelation:
		c.fact("correlation", trace.Integer(int64(f.Bits)))
	case eventCorrelationStr:
		c.fact("correlation", trace.Text(c.text(f.Bytes)))
	case eventCorrelationID:
		c.interned(&s.correlation, "correlation", f.Bits)
	case eventWeight:
		c.fact("weight", trace.Number(f.Double()))
	case eventStack:
		if text := inlineStackText(f.Bytes); text != "" {
			c.fact("stack", trace.Text(text))
		}
	case eventStackID:
		if text, ok := s.stackText(f.Bits); ok {
			c.fact("stack", trace.Text(c.text([]byte(text))))
		} else {
			c.tally.Add(lostNames, nowhere)
		}
	case eventTask:
		if t, _ := taskExecutions.Of(f.Bytes); t.source.Set {
			c.interned(&s.sources, "posted from", uint64(t.source.Value))
		}
	case eventLog:
		l, _ := logMessages.Of(f.Bytes)
		if l.source.Set {
			c.interned(&s.sources, "source", uint64(l.source.Value))
		}
		if l.body.Set {
			c.interned(&s.bodies, "message", uint64(l.body.Value))
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
