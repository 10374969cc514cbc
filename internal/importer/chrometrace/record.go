package chrometrace

import (
	"encoding/binary"
	"math/bits"
)

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
	stack             bool // has sf, esf, stack or estack
	args              []argument
	argsValue         value // args that are not an object
}

// An argument is one member of "args".
type argument struct {
	key   value
	value value
}

// argument gives the argument of that name.
func (r *record) argument(key string) value {
	for i := range r.args {
		if string(r.args[i].key.raw) == key {
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

// A status says how parsing ended.
type status uint8

const (
	complete status = iota
	short           // the buffer ends within the value
	broken          // this is not JSON
)

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
		if len(key.raw) == 4 && string(key.raw) == "args" && i < len(b) && b[i] == '{' {
			i, s = parseArgs(b, i, r)
		} else if len(key.raw) == 3 && string(key.raw) == "id2" && i < len(b) && b[i] == '{' {
			i, s = parseID2(b, i, r)
		} else {
			v, i, s = parseValue(b, i)
			r.set(key.raw, v)
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
		r.args = append(r.args, argument{key, v})
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
		if v.kind == text && len(v.raw) == 1 {
			r.phase = v.raw[0]
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
	case "sf", "esf", "stack", "estack":
		r.stack = true
	case "args":
		r.argsValue = v
	}
}

func letter(v value) byte {
	if v.kind == text && len(v.raw) == 1 {
		return v.raw[0]
	}
	return 0
}

func isTrue(v value) bool {
	s := string(v.raw)
	return v.kind != missing && s != "false" && s != "0" && s != "null" && s != ""
}

// parseValue reads any value.
func parseValue(b []byte, i int) (value, int, status) {
	if i >= len(b) {
		return value{}, i, short
	}
	c := b[i]
	switch {
	case c == '"':
		return parseText(b, i+1)
	case c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.':
		return parseBare(b, i, number)
	case c == '{' || c == '[':
		end, s := skipComposite(b, i)
		return value{raw: b[i:end], kind: composite}, end, s
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		return parseBare(b, i, word)
	}
	return value{}, i, broken
}

// parseBare reads a number or a word: all up to a separator. "-Infinity" is a word.
func parseBare(b []byte, begin int, kind valueKind) (value, int, status) {
	i := begin
	for i < len(b) && class[b[i]]&bare != 0 {
		i++
	}
	if i == len(b) {
		return value{}, i, short
	}
	if kind == number && (b[begin] == '-' || b[begin] == '+') && i > begin+1 && b[begin+1] >= 'A' {
		kind = word
	}
	return value{raw: b[begin:i], kind: kind}, i, complete
}

// parseText reads a text whose opening quote is before b[begin]. Eight bytes are
// looked at in one step: a byte is a quote or a backslash exactly where the
// difference to it is zero, and the lowest such byte is found without fail.
func parseText(b []byte, begin int) (value, int, status) {
	const (
		ones      = 0x0101010101010101
		highs     = 0x8080808080808080
		quote     = '"' * ones
		backslash = '\\' * ones
	)
	escaped := false
	i := begin
	for i+8 <= len(b) {
		x := binary.LittleEndian.Uint64(b[i:])
		q, s := x^quote, x^backslash
		found := ((q-ones)&^q | (s-ones)&^s) & highs
		if found == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(found) / 8
		if b[i] == '"' {
			return value{raw: b[begin:i], kind: text, escaped: escaped}, i + 1, complete
		}
		escaped = true
		i += 2
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			return value{raw: b[begin:i], kind: text, escaped: escaped}, i + 1, complete
		case '\\':
			escaped = true
			i++
		}
	}
	return value{}, len(b), short
}

// skipComposite passes over an object or list that begins at b[i]. Brackets are
// only counted: a wrong kind of bracket inside does no harm here.
func skipComposite(b []byte, i int) (int, status) {
	depth := 0
	for {
		for i < len(b) && class[b[i]]&(opens|closes|quotes) == 0 {
			i++
		}
		if i >= len(b) {
			return len(b), short
		}
		switch c := class[b[i]]; {
		case c&quotes != 0:
			_, end, s := parseText(b, i+1)
			if s != complete {
				return end, s
			}
			i = end
		case c&opens != 0:
			depth++
			i++
		default:
			i++
			if depth--; depth == 0 {
				return i, complete
			}
		}
	}
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && class[b[i]]&space != 0 {
		i++
	}
	return i
}

// class says what a byte can be in JSON outside of texts.
var class = func() (t [256]uint8) {
	for _, c := range " \t\r\n" {
		t[c] = space
	}
	for c := '0'; c <= '9'; c++ {
		t[c] = bare
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c] = bare
	}
	for c := 'A'; c <= 'Z'; c++ {
		t[c] = bare
	}
	for _, c := range "+-._#" { // "1.#INF", "-nan(ind)" of old C libraries
		t[c] = bare
	}
	t['('], t[')'] = bare, bare
	t['{'], t['['] = opens, opens
	t['}'], t[']'] = closes, closes
	t['"'] = quotes
	return t
}()

const (
	space uint8 = 1 << iota
	bare
	opens
	closes
	quotes
)
