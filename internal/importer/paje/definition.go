package paje

import (
	"bytes"
	"strconv"
	"sync/atomic"
)

// An op is the meaning of an event.
type op uint8

const (
	opUnknown op = iota // an event of the writer's own
	opContainerType
	opStateType
	opEventType
	opVariableType
	opLinkType
	opEntityValue
	opCreate
	opDestroy
	opTraceFile
	// From here on events that come by the million.
	opSetState
	opPushState
	opPopState
	opResetState
	opSetVariable
	opAddVariable
	opSubVariable
	opEvent
	opStartLink
	opEndLink
)

var opNames = map[string]op{
	"PajeDefineContainerType": opContainerType,
	"PajeDefineStateType":     opStateType,
	"PajeDefineEventType":     opEventType,
	"PajeDefineVariableType":  opVariableType,
	"PajeDefineLinkType":      opLinkType,
	"PajeDefineEntityValue":   opEntityValue,
	"PajeCreateContainer":     opCreate,
	"PajeDestroyContainer":    opDestroy,
	"PajeTraceFile":           opTraceFile,
	"PajeSetState":            opSetState,
	"PajePushState":           opPushState,
	"PajePopState":            opPopState,
	"PajeResetState":          opResetState,
	"PajeSetVariable":         opSetVariable,
	"PajeAddVariable":         opAddVariable,
	"PajeSubVariable":         opSubVariable,
	"PajeNewEvent":            opEvent,
	"PajeStartLink":           opStartLink,
	"PajeEndLink":             opEndLink,
}

// A field is the meaning of one place of a line.
type field uint8

const (
	fieldOwn field = iota // the writer's own
	fieldTime
	fieldName
	fieldAlias
	fieldType
	fieldContainer
	fieldStartType
	fieldEndType
	fieldStart
	fieldEnd
	fieldValue
	fieldKey
	fieldColour
	fieldFilename
	fieldSize // of a link
	fieldTag
	fieldCount
)

// fieldNames has the names of today and those of Paje's first years. Source files
// and lines of events are kept like the writer's own fields.
var fieldNames = map[string]field{
	"Time": fieldTime, "Name": fieldName, "Alias": fieldAlias, "Type": fieldType, "Container": fieldContainer,
	"StartContainerType": fieldStartType, "EndContainerType": fieldEndType, "StartContainer": fieldStart,
	"EndContainer": fieldEnd,
	"Value":        fieldValue, "Key": fieldKey, "Color": fieldColour, "Filename": fieldFilename,
	"FileName":      fieldFilename,
	"ContainerType": fieldType, "EntityType": fieldType,
	"SourceContainerType": fieldStartType, "DestContainerType": fieldEndType, "SourceContainer": fieldStart,
	"DestContainer": fieldEnd,
}

// needs are the fields without which an event of a kind has no meaning.
var needs = map[op][]field{
	opContainerType: {fieldType}, opStateType: {fieldType}, opEventType: {fieldType}, opVariableType: {fieldType},
	opLinkType:    {fieldType},
	opEntityValue: {fieldType}, opCreate: {fieldTime, fieldType}, opDestroy: {fieldTime}, opTraceFile: {fieldFilename},
	opSetState:  {fieldTime, fieldType, fieldContainer, fieldValue},
	opPushState: {fieldTime, fieldType, fieldContainer, fieldValue},
	opPopState:  {fieldTime, fieldType, fieldContainer}, opResetState: {fieldTime, fieldType, fieldContainer},
	opSetVariable: {fieldTime, fieldType, fieldContainer, fieldValue},
	opAddVariable: {fieldTime, fieldType, fieldContainer, fieldValue},
	opSubVariable: {fieldTime, fieldType, fieldContainer, fieldValue},
	opEvent:       {fieldTime, fieldType, fieldContainer, fieldValue},
	opStartLink:   {fieldTime, fieldType, fieldStart, fieldKey}, opEndLink: {fieldTime, fieldType, fieldEnd, fieldKey},
}

// A layout is one definition of an event: its fields by place.
type layout struct {
	name    string
	op      op
	fields  []field
	names   []string // of the fields
	number  []bool   // fields declared int, double or float
	file    int      // where it was defined
	whole   bool     // ended, and with all that it needs
	own     bool     // has fields that are kept as attributes
	hot     bool     // states, variables, events and links
	numeric bool     // the value is a number
	steps   []step   // how to read a line of a hot event
	// ids are one more than the attributes that fields of the writer's own are kept as; 0 where none came yet.
	ids []atomic.Uint32
}

// complete checks a definition when it ends.
func (l *layout) complete() {
	var has [fieldCount]bool
	for i, f := range l.fields {
		if f == fieldFilename && l.op != opCreate && l.op != opTraceFile {
			l.fields[i], f = fieldOwn, fieldOwn // the source file
		}
		if l.op == opStartLink || l.op == opEndLink {
			f = linkField(f, l.names[i])
			l.fields[i] = f
		}
		has[f] = true
	}
	l.whole = l.op != opUnknown
	for _, f := range needs[l.op] {
		l.whole = l.whole && has[f]
	}
	switch l.op {
	case opContainerType, opStateType, opEventType, opVariableType, opLinkType, opEntityValue, opCreate:
		l.whole = l.whole && (has[fieldName] || has[fieldAlias])
	case opDestroy:
		l.whole = l.whole && (has[fieldName] || has[fieldAlias] || has[fieldContainer])
	}
	l.own, l.hot = has[fieldOwn], l.op >= opSetState
	l.numeric = l.op >= opSetVariable && l.op <= opSubVariable
	for _, f := range l.fields {
		l.steps = append(l.steps, l.stepOf(f))
	}
	if l.hot && l.own {
		l.ids = make([]atomic.Uint32, len(l.fields))
	}
}

// A step is how a field is read: as a time, as one of the words of a record, or in
// the way that knows all.
type step int8

const (
	stepTime step = -1
	stepAny  step = -2
)

// stepOf returns the step of a field.
func (l *layout) stepOf(f field) step {
	switch {
	case f == fieldTime:
		return stepTime
	case f == fieldContainer:
		return wordContainer
	case f == fieldType:
		return wordType
	case f == fieldValue && !l.numeric:
		return wordValue
	case f == fieldStart || f == fieldEnd:
		return wordEnd
	}
	return stepAny
}

// linkField recognises the size and tag of a link among the writer's own fields.
func linkField(f field, name string) field {
	switch {
	case f == fieldOwn && name == "Size":
		return fieldSize
	case f == fieldOwn && (name == "Tag" || name == "MPITAG"):
		return fieldTag
	}
	return f
}

// layouts are the definitions that hold for some lines, by number. Parsers read
// them, so they are never changed once handed out: clone first.
type layouts struct {
	small [64]*layout
	other map[string]*layout
	list  []*layout
}

func (s *layouts) clone() *layouts {
	c := &layouts{small: s.small, other: make(map[string]*layout, len(s.other)),
		list: append([]*layout(nil), s.list...)}
	for id, l := range s.other {
		c.other[id] = l
	}
	return c
}

// find returns the layout of an event's number, which is a word for all we know.
func (s *layouts) find(id []byte) *layout {
	switch {
	case len(id) == 1 && id[0] >= '0' && id[0] <= '9':
		return s.small[id[0]-'0']
	case len(id) == 2 && id[0] >= '1' && id[0] <= '6' && id[1] >= '0' && id[1] <= '9':
		if n := int(id[0]-'0')*10 + int(id[1]-'0'); n < len(s.small) {
			return s.small[n]
		}
	}
	return s.other[string(id)]
}

func (s *layouts) set(id string, l *layout) {
	s.list = append(s.list, l)
	if n, err := strconv.Atoi(id); err == nil && n >= 0 && n < len(s.small) && strconv.Itoa(n) == id {
		s.small[n] = l
		return
	}
	if s.other == nil {
		s.other = map[string]*layout{}
	}
	s.other[id] = l
}

// maxLayouts and maxFields bound the definitions.
const (
	maxLayouts = 4096
	maxFields  = 256
)

// A header reads definitions, line by line.
type header struct {
	now    *layouts
	shared bool // now was handed out
	file   int  // of those that a trace is made of
	id     string
	open   *layout // being defined
}

// line takes one line that begins with a percent sign.
func (h *header) line(line []byte) (why reason, bad bool) {
	line = bytes.TrimLeft(line, " \t\r%")
	word, rest := nextWord(line)
	switch string(word) {
	case "":
		return 0, false
	case "EventDef":
		lost := h.open != nil
		name, rest := nextWord(rest)
		id, _ := nextWord(rest)
		if len(name) == 0 || len(id) == 0 || len(h.now.list) >= maxLayouts {
			h.open = nil
			return badDefinition, true
		}
		h.id, h.open = string(id), &layout{name: string(name), op: opNames[string(name)], file: h.file}
		return openDefinition, lost
	case "EndEventDef":
		if h.open == nil {
			return badDefinition, true
		}
		return h.end()
	}
	if h.open == nil || len(h.open.fields) >= maxFields {
		return badDefinition, true
	}
	kind, _ := nextWord(rest)
	l := h.open
	l.fields = append(l.fields, fieldNames[string(word)])
	l.names = append(l.names, string(word))
	l.number = append(l.number, string(kind) == "int" || string(kind) == "double" || string(kind) == "float")
	return missingType, len(kind) == 0
}

// end puts the definition in force.
func (h *header) end() (why reason, bad bool) {
	h.open.complete()
	if h.shared {
		h.now, h.shared = h.now.clone(), false
	}
	old := h.now.find([]byte(h.id))
	h.now.set(h.id, h.open)
	bad = old != nil && old.file == h.file && !old.equal(h.open)
	why = redefined
	if !h.open.whole && h.open.op != opUnknown {
		why, bad = lackingDefinition, true
	}
	h.open = nil
	return why, bad
}

func (l *layout) equal(m *layout) bool {
	if l.name != m.name || len(l.fields) != len(m.fields) {
		return false
	}
	for i := range l.fields {
		if l.names[i] != m.names[i] {
			return false
		}
	}
	return true
}

// nextWord cuts the first word off a line of a definition.
func nextWord(line []byte) (word, rest []byte) {
	line = bytes.TrimLeft(line, " \t\r")
	i := bytes.IndexAny(line, " \t\r")
	if i < 0 {
		return line, nil
	}
	return line[:i], line[i:]
}
