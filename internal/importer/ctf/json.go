package ctf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// separator is before every fragment of CTF 2 metadata.
const separator = 0x1e

func isJSON(b []byte) bool {
	b = bytes.TrimLeft(b, " \t\r\n\x1e")
	return len(b) > 0 && b[0] == '{' && bytes.Contains(b[:min(len(b), 512)], []byte(`"preamble"`))
}

// A fragment is one object of CTF 2 metadata, of any type.
type fragment struct {
	Type        string          `json:"type"`
	Version     int             `json:"version"`
	Name        string          `json:"name"`
	ID          json.RawMessage `json:"id"`
	Environment map[string]any  `json:"environment"`

	PacketHeader *jsonClass `json:"packet-header-field-class"`

	Frequency uint64 `json:"frequency"`
	Offset    struct {
		Seconds int64  `json:"seconds"`
		Cycles  uint64 `json:"cycles"`
	} `json:"offset-from-origin"`

	ClockID       string     `json:"default-clock-class-id"`
	ClockName     string     `json:"default-clock-class-name"`
	PacketContext *jsonClass `json:"packet-context-field-class"`
	EventHeader   *jsonClass `json:"event-record-header-field-class"`
	CommonContext *jsonClass `json:"event-record-common-context-field-class"`

	Stream   uint64     `json:"data-stream-class-id"`
	Specific *jsonClass `json:"specific-context-field-class"`
	Payload  *jsonClass `json:"payload-field-class"`

	Class *jsonClass `json:"field-class"`
}

// A jsonClass is a field class: an object, or the name of an alias.
type jsonClass struct {
	alias string
	classObject
}

type classObject struct {
	Type      string                   `json:"type"`
	Length    int64                    `json:"length"`
	ByteOrder string                   `json:"byte-order"`
	Alignment int64                    `json:"alignment"`
	Minimum   int64                    `json:"minimum-alignment"`
	Mappings  map[string][][2]number64 `json:"mappings"`
	Roles     []string                 `json:"roles"`
	Members   []struct {
		Name  string     `json:"name"`
		Class *jsonClass `json:"field-class"`
	} `json:"member-classes"`
	Element  *jsonClass    `json:"element-field-class"`
	Field    *jsonClass    `json:"field-class"`
	LengthAt *location     `json:"length-field-location"`
	SelectAt *location     `json:"selector-field-location"`
	Ranges   [][2]number64 `json:"selector-field-ranges"`
	Options  []struct {
		Name   string        `json:"name"`
		Class  *jsonClass    `json:"field-class"`
		Ranges [][2]number64 `json:"selector-field-ranges"`
	} `json:"options"`
}

// A number64 is an integer with or without a sign.
type number64 int64

func (n *number64) UnmarshalJSON(b []byte) error {
	v, _, ok := number(string(b))
	if !ok {
		return fmt.Errorf("%s is no integer of 64 bits", b)
	}
	*n = number64(v)
	return nil
}

func (c *jsonClass) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &c.alias)
	}
	err := json.Unmarshal(b, &c.classObject)
	// In draft 7.0 integers whose values have names are types of their own.
	c.Type = strings.Replace(c.Type, "signed-enumeration", "signed-integer", 1)
	return err
}

// A location says where a length or a selector is.
type location struct {
	Origin string    `json:"origin"`
	Path   []*string `json:"path"`
}

// UnmarshalJSON takes an object, or the list of draft 7.0, whose first name is the origin.
func (l *location) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		var list []*string
		if err := json.Unmarshal(b, &list); err != nil {
			return err
		}
		if len(list) > 0 && list[0] != nil {
			l.Origin, list = *list[0], list[1:]
		}
		l.Path = list
		return nil
	}
	type plain location
	return json.Unmarshal(b, (*plain)(l))
}

var origins = map[string]string{
	"": "", "packet-header": "packet.header", "packet-context": "packet.context", "event-record-header": "event.header",
	"event-record-common-context": "event.context", "event-record-specific-context": "context",
	"event-record-payload": "fields",
}

var rolesOfJSON = map[string]role{
	"packet-magic-number": roleMagic, "data-stream-class-id": roleStream, "data-stream-id": roleInstance,
	"packet-total-length":   rolePacketSize,
	"packet-content-length": roleContentSize, "packet-end-default-clock-timestamp": roleEnd,
	"discarded-event-record-counter-snapshot": roleDiscarded,
	"packet-sequence-number":                  roleSequence, "event-record-class-id": roleEvent,
	"default-clock-timestamp": roleTime,
}

// parseJSON reads CTF 2 metadata.
func (t *traceClass) parseJSON(b []byte) (place string, err error) {
	aliases := map[string]*jsonClass{}
	for i, part := range fragments(b) {
		var f fragment
		place = fmt.Sprintf("fragment %d", i+1)
		if err := json.Unmarshal(part, &f); err != nil {
			return place, err
		}
		if err := t.fragment(&f, aliases); err != nil {
			return place, err
		}
	}
	return "", nil
}

// fragments cuts metadata at its separators; without any, at the ends of objects.
func fragments(b []byte) (out [][]byte) {
	for _, part := range bytes.Split(b, []byte{separator}) {
		d := json.NewDecoder(bytes.NewReader(part))
		for {
			var raw json.RawMessage
			if err := d.Decode(&raw); err != nil {
				if rest := bytes.TrimSpace(part[min(int64(len(part)), d.InputOffset()):]); len(rest) > 0 {
					out = append(out, rest) // its reader reports the error
				}
				break
			}
			out = append(out, raw)
		}
	}
	return out
}

func (t *traceClass) fragment(f *fragment, aliases map[string]*jsonClass) (err error) {
	convert := func(c *jsonClass, in string) *class {
		if c == nil || err != nil {
			return nil
		}
		k, e := c.class(aliases, in, 0)
		if err = e; k != nil && k.kind != kindStruct {
			err = errors.New("a part of packets or events is no structure")
		}
		return k
	}
	number := uint64(0)
	if len(f.ID) > 0 && f.ID[0] != '"' {
		if err := json.Unmarshal(f.ID, &number); err != nil {
			return err
		}
	}
	switch f.Type {
	case "preamble":
		if f.Version != 2 {
			return fmt.Errorf("version %d of the format is not known; 1.8 and 2 are read", f.Version)
		}
	case "field-class-alias":
		aliases[f.Name] = f.Class
	case "trace-class":
		for k, v := range f.Environment {
			t.env[k] = fmt.Sprint(v)
		}
		t.header = convert(f.PacketHeader, "packet.header")
	case "clock-class":
		name := f.Name
		if len(f.ID) > 0 {
			if json.Unmarshal(f.ID, &name) != nil {
				name = f.Name
			}
		}
		if f.Frequency == 0 {
			return fmt.Errorf("clock %s has no frequency", name)
		}
		t.clocks[name] = &clock{name: name, frequency: f.Frequency, seconds: f.Offset.Seconds, cycles: f.Offset.Cycles}
	case "data-stream-class":
		s := &streamClass{id: number, name: f.Name, events: map[uint64]*eventClass{}, clockID: f.ClockID + f.ClockName}
		s.context = convert(f.PacketContext, "packet.context")
		s.header = convert(f.EventHeader, "event.header")
		s.common = convert(f.CommonContext, "event.context")
		if t.streams[number] != nil {
			return fmt.Errorf("two streams have the number %d", number)
		}
		t.streams[number] = s
	case "event-record-class":
		s := t.streams[f.Stream]
		if s == nil {
			return fmt.Errorf("event %s is of stream %d, which there is not", f.Name, f.Stream)
		}
		e := &eventClass{id: number, stream: f.Stream, name: f.Name, context: convert(f.Specific, "context"),
			payload: convert(f.Payload, "fields")}
		if e.name == "" {
			e.name = fmt.Sprintf("event %d", number)
		}
		if s.events[number] != nil {
			return fmt.Errorf("two events of stream %d have the number %d", f.Stream, number)
		}
		s.events[number] = e
	}
	return err
}

// class turns a field class into a type.
func (c *jsonClass) class(aliases map[string]*jsonClass, in string, depth int) (*class, error) {
	if c == nil {
		return nil, errors.New("a field has no class")
	}
	if depth > deepest {
		return nil, fmt.Errorf("types nest deeper than %d", deepest)
	}
	if c.alias != "" {
		return aliases[c.alias].class(aliases, in, depth+1)
	}
	out := &class{align: max(1, c.Alignment)}
	if out.align&(out.align-1) != 0 || out.align > 1<<20 || c.Minimum&(c.Minimum-1) != 0 || c.Minimum > 1<<20 {
		return nil, fmt.Errorf("alignment %d is no power of two", max(out.align, c.Minimum))
	}
	for _, r := range c.Roles {
		if out.role = rolesOfJSON[r]; out.role == roleTime && in == "packet.context" {
			out.role = roleBegin
		}
	}
	switch c.ByteOrder {
	case "little-endian":
		out.order = little
	case "big-endian":
		out.order = big
	}
	ranges := func(list [][2]number64, option int) (out []optionRange) {
		for _, r := range list {
			out = append(out, optionRange{int64(r[0]), int64(r[1]), r[0] >= 0 && (r[1] < 0 || r[1] >= r[0]), option})
		}
		return out
	}
	var err error
	switch c.Type {
	case "fixed-length-unsigned-integer", "fixed-length-signed-integer", "fixed-length-boolean",
		"fixed-length-bit-array", "fixed-length-bit-map":
		out.kind, out.size, out.signed = kindInteger, c.Length, c.Type == "fixed-length-signed-integer"
		if c.Length < 1 || c.Length > 64 {
			return nil, fmt.Errorf("an integer has %d bits", c.Length)
		}
	case "fixed-length-floating-point-number":
		if out.kind, out.size = kindFloat, c.Length; c.Length != 16 && c.Length != 32 && c.Length != 64 {
			return nil, fmt.Errorf("numbers of %d bits are not read", c.Length)
		}
	case "variable-length-unsigned-integer", "variable-length-signed-integer":
		out.kind, out.align, out.size, out.signed = kindVarInteger, 8, 64, c.Type == "variable-length-signed-integer"
	case "null-terminated-string":
		out.kind, out.align = kindString, 8
	case "static-length-string", "static-length-blob", "dynamic-length-string", "dynamic-length-blob":
		out.kind, out.count, out.align = kindArray, c.Length, 8
		out.elem = &class{kind: kindInteger, size: 8, align: 8, order: little, text: c.Type == "static-length-string" ||
			c.Type == "dynamic-length-string"}
		if c.Type[0] == 'd' {
			out.kind = kindSequence
			out.ref, err = c.LengthAt.reference()
		}
	case "structure":
		out.kind, out.align = kindStruct, max(1, c.Minimum)
		for _, m := range c.Members {
			k, err := m.Class.class(aliases, in, depth+1)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.Name, err)
			}
			out.fields = append(out.fields, field{m.Name, k})
			if in == "packet.context" && m.Name == "cpu_id" && k.role == roleNone {
				k.role = roleCPU
			}
		}
	case "static-length-array", "dynamic-length-array":
		out.kind, out.count, out.align = kindArray, c.Length, max(1, c.Minimum)
		if out.elem, err = c.Element.class(aliases, in, depth+1); err == nil && c.Type[0] == 'd' {
			out.kind = kindSequence
			out.ref, err = c.LengthAt.reference()
		}
	case "optional":
		out.kind, out.options = kindOptional, ranges(c.Ranges, 0)
		if out.elem, err = c.Field.class(aliases, in, depth+1); err == nil {
			out.ref, err = c.SelectAt.reference()
		}
	case "variant":
		out.kind = kindVariant
		for i, o := range c.Options {
			k, err := o.Class.class(aliases, in, depth+1)
			if err != nil {
				return nil, err
			}
			out.fields = append(out.fields, field{o.Name, k})
			out.options = append(out.options, ranges(o.Ranges, i)...)
		}
		out.ref, err = c.SelectAt.reference()
	default:
		return nil, fmt.Errorf("field class %q is not known", c.Type)
	}
	if c.Length < 0 || c.Length > 1<<32 {
		return nil, fmt.Errorf("a field has the length %d", c.Length)
	}
	for label, list := range c.Mappings {
		for _, r := range ranges(list, 0) {
			out.labels = append(out.labels, labelRange{r.low, r.high, r.wide, label})
		}
	}
	return out, err
}

func (l *location) reference() (reference, error) {
	if l == nil || len(l.Path) == 0 {
		return reference{}, errors.New("no field has the length or selector")
	}
	origin, ok := origins[l.Origin]
	if !ok {
		return reference{}, fmt.Errorf("origin %q is not known", l.Origin)
	}
	r := reference{origin: origin}
	for _, p := range l.Path {
		if p == nil {
			r.path = append(r.path, "")
		} else {
			r.path = append(r.path, *p)
		}
	}
	return r, nil
}
