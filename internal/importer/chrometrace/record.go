package chrometrace

// A record is one trace event, its fields as they stand in the buffer.
type record struct {
	offset int64 // of its "{" in the unpacked file

	phase             byte // 0: none, or not a single letter
	bind              byte // of "bp": 'e' enclosing interval
	scope             byte // of "s": 't'hread, 'p'rocess, 'g'lobal
	threadClock       bool // has tts or tdur
	flowIn, flowOut   bool
	name, category    value
	pid, tid          value
	ts, dur           value
	threadDur         value // of the thread's own clock
	id, idScope       value
	localID, globalID value // of "id2"
	bindID            value
	stack             bool  // has sf, esf, stack or estack
	frame, weight     value // of a sample
	args              []argument
	argsValue         value // args that are not an object

	// Prepared, see lexicon; times already as they are read, where they are plain numbers, and words where a template
	// knows them:
	at, length   int64 // ts and dur in nanoseconds
	timed, lasts bool  // they are such
	digits       timeDigits
	where        *placeWord
	sort         *categoryWord
	what         *nameWord
}

// An argument is one member of "args".
type argument struct {
	key   value
	value value

	// Prepared, see lexicon:
	word *keyWord
	text *textWord
	bits uint64
	form form
}

// argument returns the argument of that name.
func (r *record) argument(key string) value {
	for i := range r.args {
		if string(r.args[i].key.raw()) == key {
			return r.args[i].value
		}
	}
	return value{}
}

// number returns the number of the argument of a key.
func (r *record) number(k knownKey) (int64, bool) {
	for i := range r.args {
		if a := &r.args[i]; a.word != nil && a.word.is == k {
			if a.form == formInteger {
				return int64(a.bits), true
			}
			return a.value.integer()
		}
	}
	return 0, false
}

// reset empties a record and keeps its memory.
func (r *record) reset() {
	args := r.args[:0]
	*r = record{args: args}
}

// parseKey reads a member's key and the colon after it; at the closing brace it
// gives no key and the place after the brace.
func parseKey(b []byte, i int) (value, int, status) {
	if i = skipSpace(b, i); i == len(b) {
		return value{}, i, short
	}
	if b[i] == '}' {
		return value{}, i + 1, complete
	}
	if b[i] != '"' {
		return value{}, i, broken
	}
	key, i, s := parseText(b, i+1)
	if s != complete {
		return value{}, i, s
	}
	if i = skipSpace(b, i); i == len(b) {
		return value{}, i, short
	}
	if b[i] != ':' {
		return value{}, i, broken
	}
	if i = skipSpace(b, i+1); i == len(b) {
		return value{}, i, short
	}
	return key, i, complete
}

// parseArgs reads the members of args; those that are objects or lists are
// passed over.
func parseArgs(b []byte, i int, r *record) (int, status) {
	for {
		key, at, s := parseKey(b, i+1)
		if s != complete || key.kind == missing {
			return at, s
		}
		v, at, s := parseValue(b, at)
		if s != complete {
			return at, s
		}
		r.args = append(r.args, argument{key: key, value: v})
		if at = skipSpace(b, at); at == len(b) {
			return at, short
		}
		switch b[at] {
		case ',':
			i = at
		case '}':
			return at + 1, complete
		default:
			return at, broken
		}
	}
}

// parseID2 reads {"local": …} or {"global": …}.
func parseID2(b []byte, i int, r *record) (int, status) {
	var inner record
	inner.args = make([]argument, 0, 2)
	i, s := parseArgs(b, i, &inner)
	if s == complete {
		r.localID, r.globalID = inner.argument("local"), inner.argument("global")
	}
	return i, s
}

// A field is the meaning of a key of a record.
type field uint8

const (
	fieldOther field = iota // of no use here
	fieldPhase
	fieldName
	fieldCategory
	fieldPid
	fieldTid
	fieldTime
	fieldDuration
	fieldThreadTime
	fieldThreadDuration
	fieldID
	fieldID2
	fieldScopeOfID
	fieldBindID
	fieldFlowIn
	fieldFlowOut
	fieldBind
	fieldScope
	fieldFrame
	fieldStack
	fieldWeight
	fieldArgs
	fieldArgument // a member of args
	endOfObject   // of the record, or of args
)

func fieldOf(key []byte) field {
	switch string(key) {
	case "ph":
		return fieldPhase
	case "name":
		return fieldName
	case "cat":
		return fieldCategory
	case "pid":
		return fieldPid
	case "tid":
		return fieldTid
	case "ts":
		return fieldTime
	case "dur":
		return fieldDuration
	case "tts":
		return fieldThreadTime
	case "tdur":
		return fieldThreadDuration
	case "id":
		return fieldID
	case "id2":
		return fieldID2
	case "scope":
		return fieldScopeOfID
	case "bind_id":
		return fieldBindID
	case "flow_in":
		return fieldFlowIn
	case "flow_out":
		return fieldFlowOut
	case "bp":
		return fieldBind
	case "s":
		return fieldScope
	case "sf":
		return fieldFrame
	case "esf", "stack", "estack":
		return fieldStack
	case "weight":
		return fieldWeight
	case "args":
		return fieldArgs
	}
	return fieldOther
}

// set stores one field, but for times, see recordTemplate.parseRecord.
func (r *record) set(f field, v value) {
	switch f {
	case fieldPhase:
		if v.kind == text && v.size == 1 {
			r.phase = *v.first
		}
	case fieldName:
		r.name, r.what = v, nil
	case fieldCategory:
		r.category, r.sort, r.what = v, nil, nil
	case fieldPid:
		r.pid, r.where = v, nil
	case fieldTid:
		r.tid, r.where = v, nil
	case fieldThreadTime:
		r.threadClock = true
	case fieldThreadDuration:
		r.threadClock = true
		r.threadDur = v
	case fieldID:
		r.id = v
	case fieldScopeOfID:
		r.idScope = v
	case fieldBindID:
		r.bindID = v
	case fieldFlowIn:
		r.flowIn = isTrue(v)
	case fieldFlowOut:
		r.flowOut = isTrue(v)
	case fieldBind:
		r.bind = letter(v)
	case fieldScope:
		r.scope = letter(v)
	case fieldFrame:
		r.stack = true
		r.frame = v
	case fieldStack:
		r.stack = true
	case fieldWeight:
		r.weight = v
	case fieldArgs:
		r.argsValue = v
	}
}

func letter(v value) byte {
	if v.kind == text && len(v.raw()) == 1 {
		return v.raw()[0]
	}
	return 0
}

func isTrue(v value) bool {
	s := string(v.raw())
	return v.kind != missing && s != "false" && s != "0" && s != "null" && s != ""
}
