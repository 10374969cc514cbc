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

	// Prepared, see lexicon:
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

// argument gives the argument of that name.
func (r *record) argument(key string) value {
	for i := range r.args {
		if string(r.args[i].key.raw()) == key {
			return r.args[i].value
		}
	}
	return value{}
}

// reset empties a record and keeps its memory.
func (r *record) reset() {
	args := r.args[:0]
	*r = record{args: args}
}

// parseRecord reads the object that begins at b[i], which is "{". It gives where
// it ends, or where it is broken. No memory is allocated but for r.args.
func parseRecord(b []byte, i int, r *record) (int, status) {
	for {
		var key, v value
		var s status
		if key, i, s = parseKey(b, i+1); s != complete {
			return i, s
		}
		if key.kind == missing {
			return i, complete
		}
		if len(key.raw()) == 4 && string(key.raw()) == "args" && i < len(b) && b[i] == '{' {
			i, s = parseArgs(b, i, r)
		} else if len(key.raw()) == 3 && string(key.raw()) == "id2" && i < len(b) && b[i] == '{' {
			i, s = parseID2(b, i, r)
		} else {
			v, i, s = parseValue(b, i)
			r.set(key.raw(), v)
		}
		if s != complete {
			return i, s
		}
		if i = skipSpace(b, i); i == len(b) {
			return i, short
		}
		switch b[i] {
		case ',':
		case '}':
			return i + 1, complete
		default:
			return i, broken
		}
	}
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

// set stores one field. Fields of no use here are passed over.
func (r *record) set(key []byte, v value) {
	switch string(key) {
	case "ph":
		if v.kind == text && len(v.raw()) == 1 {
			r.phase = v.raw()[0]
		}
	case "name":
		r.name = v
	case "cat":
		r.category = v
	case "pid":
		r.pid = v
	case "tid":
		r.tid = v
	case "ts":
		r.ts = v
	case "dur":
		r.dur = v
	case "tts":
		r.threadClock = true
	case "tdur":
		r.threadClock = true
		r.threadDur = v
	case "id":
		r.id = v
	case "scope":
		r.idScope = v
	case "bind_id":
		r.bindID = v
	case "flow_in":
		r.flowIn = isTrue(v)
	case "flow_out":
		r.flowOut = isTrue(v)
	case "bp":
		r.bind = letter(v)
	case "s":
		r.scope = letter(v)
	case "sf":
		r.stack = true
		r.frame = v
	case "esf", "stack", "estack":
		r.stack = true
	case "weight":
		r.weight = v
	case "args":
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
