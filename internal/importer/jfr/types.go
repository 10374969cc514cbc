package jfr

import "strconv"

// A class is a type of the recording: of events, of structures, of constants.
type class struct {
	id     int64
	name   string
	fields []field
}

// A field of a class.
type field struct {
	name     string
	class    *class
	list     bool
	constant bool // the value is a number of the pool of its class
	ticks    bool // a time or a time span
}

// An element is part of the tree that describes types.
type element struct {
	name     string
	values   map[string]string
	children []element
}

const deepest = 16

// metadata reads the description of types that an event holds.
func metadata(c *cursor) map[int64]*class {
	c.number() // begin
	c.number() // duration
	c.number() // its number
	n := c.count()
	texts := make([]string, 0, n)
	for range n {
		s, _, _ := c.text()
		texts = append(texts, s)
	}
	var root element
	readElement(c, texts, &root, 0)
	if c.Failed() {
		return nil
	}
	classes := map[int64]*class{}
	find := func(id string) *class {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return nil
		}
		if classes[n] == nil {
			classes[n] = &class{id: n}
		}
		return classes[n]
	}
	for _, group := range root.children {
		if group.name != "metadata" {
			continue
		}
		for _, e := range group.children {
			k := find(e.values["id"])
			if e.name != "class" || k == nil {
				continue
			}
			k.name = e.values["name"]
			for _, f := range e.children {
				if f.name == "field" {
					k.fields = append(k.fields, fieldOf(f, find))
				}
			}
		}
	}
	// Whether a field is a time in ticks is told by an annotation, which is a class itself.
	for _, group := range root.children {
		for _, e := range group.children {
			k := find(e.values["id"])
			if e.name != "class" || k == nil {
				continue
			}
			i := 0
			for _, f := range e.children {
				if f.name != "field" {
					continue
				}
				for _, a := range f.children {
					if kind := find(a.values["class"]); a.name == "annotation" && kind != nil &&
						a.values["value"] == "TICKS" && i < len(k.fields) {
						k.fields[i].ticks = kind.name == "jdk.jfr.Timestamp" || kind.name == "jdk.jfr.Timespan"
					}
				}
				i++
			}
		}
	}
	return classes
}

func fieldOf(e element, find func(string) *class) field {
	f := field{name: e.values["name"], class: find(e.values["class"]), constant: e.values["constantPool"] == "true"}
	f.list = e.values["dimension"] != "" && e.values["dimension"] != "0"
	if f.class == nil {
		f.class = &class{}
	}
	return f
}

func readElement(c *cursor, texts []string, e *element, depth int) {
	text := func() string {
		if i := c.number(); i >= 0 && i < int64(len(texts)) {
			return texts[i]
		}
		c.fail()
		return ""
	}
	if depth > deepest {
		c.fail()
		return
	}
	e.name = text()
	n := c.count()
	e.values = make(map[string]string, min(n, 16))
	for range n {
		if c.Failed() {
			return
		}
		key := text()
		e.values[key] = text()
	}
	n = c.count()
	for range n {
		if c.Failed() {
			return
		}
		e.children = append(e.children, element{})
		readElement(c, texts, &e.children[len(e.children)-1], depth+1)
	}
}

// A value is the value of a field.
type value struct {
	kind kind
	n    int64
	f    float64
	s    string
	list []value // of a list or a structure
}

type kind uint8

const (
	none kind = iota
	whole
	real
	text
	list
	structure
	constant
)

// value reads the value of a field.
func (f *field) value(c *cursor, depth int) value {
	if !f.list {
		return f.one(c, depth)
	}
	n := c.count()
	v := value{kind: list, list: make([]value, 0, min(n, 1<<10))}
	for range n {
		if c.Failed() {
			break
		}
		v.list = append(v.list, f.one(c, depth))
	}
	return v
}

func (f *field) one(c *cursor, depth int) value {
	if f.constant {
		return value{kind: constant, n: c.number()}
	}
	return f.class.value(c, depth)
}

// value reads a value of a class.
func (k *class) value(c *cursor, depth int) value {
	switch k.name {
	case "boolean", "byte":
		return value{kind: whole, n: int64(int8(c.Byte()))}
	case "char", "short", "int", "long":
		return value{kind: whole, n: c.number()}
	case "float":
		return value{kind: real, f: float64(c.Float32())}
	case "double":
		return value{kind: real, f: c.Float64()}
	case "java.lang.String":
		s, ref, isRef := c.text()
		if isRef {
			return value{kind: constant, n: ref}
		}
		return value{kind: text, s: s}
	}
	if depth > deepest {
		c.fail()
		return value{}
	}
	v := value{kind: structure, list: make([]value, 0, len(k.fields))}
	for i := range k.fields {
		v.list = append(v.list, k.fields[i].value(c, depth+1))
	}
	return v
}

// field finds a field by its name, -1 for none.
func (k *class) field(name string) int {
	for i := range k.fields {
		if k.fields[i].name == name {
			return i
		}
	}
	return -1
}
