package paje

import (
	"regexp"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A vocabulary is types, values and words.
type vocabulary struct {
	w trace.Writer

	symbols    *symbols
	types      table[*typ]
	typeNames  table[*typ]          // of types that have an alias
	typeList   []*typ               // by index
	rowTypes   map[[2]string]uint32 // index of the first type by alias and name
	values     map[valueKey]*meaning
	attributes importer.Attributes
	valueID    uint32 // one more than the attribute for values that are kept as they are; 0 before the first
	// rebound counts how often a known word changed its meaning, so that earlier results are looked up
	// again. Words that are new change nothing that was found.
	rebound uint32
}

// A typ is a type of containers, states, events, variables or links.
type typ struct {
	index      uint32
	op         op // of its definition: opContainerType … opLinkType
	name       string
	word       symbol // the name
	alias      string
	parent     *typ
	start, end *typ // of a link
	// undeclared is how many values were met that the file does not declare.
	undeclared int
	others     *meaning   // of the values past maxUndeclared
	near       []*meaning // values by symbol, where both type and symbol are early ones
	row        uint32     // index of the first type with this alias and name: states of these share their rows
	kind       trace.Kind // of containers
	destroys   bool       // a container of it was destroyed
	link       trace.LinkKind
	unit       string // of a variable
}

// maxUndeclared bounds the regions that the values of one type may make.
const maxUndeclared = 1 << 16

// A meaning is the meaning of a value of a state or event type.
type meaning struct {
	text     string
	colour   string
	category string // the writer's own, else the type's name
	role     trace.Role
	declared bool
	region   trace.RegionID // NoRegion until it is used
	keep     bool           // the value becomes an attribute
}

// earlyTypes and earlyWords bound the tables that make finding a value cheap.
const (
	earlyTypes = 64
	earlyWords = 1 << 14
)

// value finds a value that was met before.
func (c *vocabulary) value(t *typ, s symbol) *meaning {
	if int(s) < len(t.near) {
		return t.near[s]
	}
	if s == bare {
		return nil
	}
	return c.values[valueKey{t.index, s}]
}

func (c *vocabulary) keepValue(t *typ, s symbol, m *meaning) {
	switch {
	case s == bare:
	case t.index < earlyTypes && s < earlyWords:
		for int(s) >= len(t.near) {
			t.near = append(t.near, make([]*meaning, int(s)+1-len(t.near))...)
		}
		t.near[s] = m
	default:
		c.values[valueKey{t.index, s}] = m
	}
}

// A valueKey is a value within its type.
type valueKey struct {
	kind uint32
	word symbol
}

// A table maps symbols to the meaning of words; else the zero value.
type table[T any] struct{ items []T }

func (t *table[T]) get(s symbol) (item T) {
	if int(s) < len(t.items) {
		return t.items[s]
	}
	return item
}

func (t *table[T]) set(s symbol, item T) {
	if s == bare {
		return
	}
	if int(s) >= len(t.items) {
		t.items = append(t.items, make([]T, int(s)+1-len(t.items))...)
	}
	t.items[s] = item
}

// typeOf finds the type that a word means: by alias, else by name.
func (c *resolver) typeOf(text []byte) *typ {
	s := c.symbols.lookup(text)
	if t := c.types.get(s); t != nil {
		return t
	}
	t := c.typeNames.get(s)
	if t == nil {
		c.note(unknownType)
		return nil
	}
	c.note(typeByName)
	return t
}

// defineType takes a definition of a type. The same again, as the files of a trace
// in parts have it, changes nothing.
func (c *resolver) defineType(l *layout, f *fields) {
	parent := c.typeOf(f.of[fieldType])
	if parent == nil {
		return
	}
	if parent.op != opContainerType {
		c.note(wrongNature)
		return
	}
	t := &typ{op: l.op, name: string(f.of[fieldName]), alias: string(f.of[fieldAlias]), parent: parent}
	id := f.of[fieldAlias]
	if len(id) == 0 {
		id = f.of[fieldName]
	}
	if t.name == "" {
		t.name = string(id)
	}
	switch l.op {
	case opContainerType:
		t.kind = kindOf(t.name)
	case opVariableType:
		t.unit = unitOf(t.name)
		for _, own := range f.own {
			if own.name == "Unit" {
				t.unit = string(own.word)
			}
		}
	case opLinkType:
		t.link = linkKindOf(t.name)
		t.start, t.end = c.linkSide(f.of[fieldStartType]), c.linkSide(f.of[fieldEndType])
	}
	word := c.symbols.keep(id)
	if old := c.types.get(word); old != nil {
		if old.op == t.op && old.name == t.name && old.parent == t.parent && old.start == t.start && old.end == t.end {
			return
		}
		c.note(retyped)
	}
	if c.types.get(word) != nil || c.typeNames.get(word) != nil {
		c.rebound++
	}
	t.index = uint32(len(c.typeList))
	t.row = t.index
	if l.op == opStateType {
		key := [2]string{t.alias, t.name}
		if first, ok := c.rowTypes[key]; ok {
			t.row = first
		} else {
			c.rowTypes[key] = t.index
		}
	}
	c.typeList = append(c.typeList, t)
	c.types.set(word, t)
	t.word = c.symbols.keep([]byte(t.name))
	if t.alias != "" && c.typeNames.get(t.word) == nil {
		c.typeNames.set(t.word, t)
	}
}

// linkSide is a type that a link's type declares for one of its ends; an unknown one is not checked.
func (c *vocabulary) linkSide(w []byte) *typ {
	return c.types.get(c.symbols.lookup(w))
}

// defineValue takes a declared value.
func (c *resolver) defineValue(f *fields) {
	t := c.typeOf(f.of[fieldType])
	if t == nil {
		return
	}
	if t.op == opContainerType || t.op == opVariableType {
		c.note(wrongNature)
		return
	}
	name, alias := f.of[fieldName], f.of[fieldAlias]
	if len(name) == 0 {
		name = alias
	}
	m := &meaning{text: string(name), colour: colourOf(string(f.of[fieldColour])), category: t.name, declared: true,
		region: trace.NoRegion}
	for _, own := range f.own {
		switch own.name {
		case "Category":
			m.category = string(own.word)
		case "Role":
			m.role, _ = trace.ParseRole(string(own.word))
		}
	}
	if len(alias) > 0 {
		c.setValue(t, alias, m)
	}
	// By name too, unless that is the alias of another value.
	if old := c.value(t, c.symbols.lookup(name)); old == nil || len(alias) == 0 {
		c.setValue(t, name, m)
	}
}

func (c *resolver) setValue(t *typ, w []byte, m *meaning) {
	word := c.symbols.keep(w)
	old := c.value(t, word)
	if old != nil && old.declared {
		if old.text == m.text && old.colour == m.colour && old.category == m.category {
			return
		}
		c.note(revalued)
	}
	if old != nil {
		c.rebound++
	}
	c.keepValue(t, word, m)
}

// meaningOf makes a meaning for a value that the file does not declare.
func (c *resolver) meaningOf(t *typ, s symbol, text []byte) *meaning {
	if t.undeclared >= maxUndeclared || s == bare {
		c.note(manyValues)
		if t.others == nil {
			t.others = &meaning{text: t.name + " (other values)", category: t.name, region: trace.NoRegion, keep: true}
		}
		return t.others
	}
	m := &meaning{text: string(text), category: t.name, region: trace.NoRegion}
	if t.op == opEventType && isNumeral(text) {
		m.text, m.keep = t.name, true
	}
	t.undeclared++
	c.keepValue(t, s, m)
	return m
}

// defineRegion defines the region of a meaning, when it is first used.
func (c *vocabulary) defineRegion(m *meaning) {
	if m.role == trace.RoleByName && actorStates[m.category] {
		m.role = actorRoles[m.text]
	}
	r := trace.Region{Name: m.text, Category: m.category, Role: m.role}
	if m.colour != "" {
		r.Attributes = []trace.Attribute{{Key: "colour", Value: trace.Text(m.colour)}}
	}
	m.region = c.w.Region(r)
	if m.keep && c.valueID == 0 {
		c.valueID = uint32(c.attributes.ID("value")) + 1
	}
}

// actorStates are SimGrid's types for the states of its actors, whose values are
// words that mean more in other traces.
var actorStates = map[string]bool{"ACTOR_STATE": true, "MSG_PROCESS_STATE": true}

var actorRoles = map[string]trace.Role{
	"send": trace.RoleCommunication, "receive": trace.RoleCommunication, "execute": trace.RoleCompute,
	"suspend": trace.RoleIdle, "sleep": trace.RoleIdle,
}

// kinds are words for types of containers, with the kind of location.
var kinds = map[string]trace.Kind{
	"site": trace.KindSite, "cluster": trace.KindCluster, "host": trace.KindMachine, "machine": trace.KindMachine,
	"node":    trace.KindMachine,
	"process": trace.KindProcess, "mpi": trace.KindProcess, "mpi process": trace.KindProcess,
	"mpi_process": trace.KindProcess,
	"program":     trace.KindProcess, "p": trace.KindProcess, "rank": trace.KindProcess, "mpi rank": trace.KindProcess,
	"mpi_rank":   trace.KindProcess,
	"ct_process": trace.KindProcess, "thread": trace.KindThread, "ct_thread": trace.KindThread,
	"worker": trace.KindThread, "user thread": trace.KindThread,
	"mpi communication thread": trace.KindThread, "gpu": trace.KindDevice, "device": trace.KindDevice,
	"stream": trace.KindStream,
	"group":  trace.KindGroup,
}

// kindOf returns the kind for a type of containers: a word that views know, else the
// type's own.
func kindOf(name string) trace.Kind {
	word := strings.ToLower(strings.TrimSpace(name))
	if k, ok := kinds[word]; ok {
		return k
	}
	if word == "" {
		return trace.KindGroup
	}
	return trace.Kind(word)
}

// linkWords are words for types of links, with their kind. Most are messages, as
// the language's own description has it.
var linkWords = []struct {
	word string
	kind trace.LinkKind
}{
	{"message", trace.LinkMessage}, {"spawn", trace.LinkSpawn}, {"fork", trace.LinkSpawn}, {"creat", trace.LinkSpawn},
	{"steal", trace.LinkSteal},
	{"migrat", trace.LinkSteal}, {"wake", trace.LinkWake}, {"depend", trace.LinkFlow}, {"flow", trace.LinkFlow},
	{"task", trace.LinkFlow},
	{"intra-node", trace.LinkFlow}, {"fetch", trace.LinkFlow},
}

// topologyLink is how SimGrid names the edges of its platform, which carry nothing.
var topologyLink = regexp.MustCompile(`^.+-[A-Z]+\d+-[A-Z]+\d+$`)

func linkKindOf(name string) trace.LinkKind {
	if topologyLink.MatchString(name) {
		return trace.LinkFlow
	}
	name = strings.ToLower(name)
	for _, l := range linkWords {
		if strings.Contains(name, l.word) {
			return l.kind
		}
	}
	return trace.LinkMessage
}

// unitOf takes the unit out of names such as "Used (MB)".
func unitOf(name string) string {
	if i := strings.LastIndexByte(name, '('); i >= 0 && strings.HasSuffix(name, ")") {
		return name[i+1 : len(name)-1]
	}
	return ""
}
