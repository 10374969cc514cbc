package chrometrace

import "encoding/binary"

// A habit is how the writer of a file puts its records: the same keys in the same order, with the same blanks. What stood between a value and the
// next is kept by the key before it, so that the next time it is compared, eight bytes in one step, and not read. What was never seen, and what does not come
// again, is read as JSON.
type habit struct {
	lexicon *lexicon // gives the keys of arguments their words; nil: they get none
	begin   junction // after the brace of a record
	inside  junction // after that of args
	lost    junction // after what is not kept
	fields  map[string]*junction
	keys    map[string]*junction // of arguments
	kept    int
	spare   gap
}

// A junction is the end of the value of a key.
type junction struct{ gaps []*gap }

// A gap is what stands from there to the next value, or to the end of the object.
type gap struct {
	head, mask uint64 // its first eight bytes
	tail       uint64 // its last eight, of more than eight
	text       string
	key        int32 // where the key begins in it
	size       int32
	escaped    bool
	field      field
	word       *keyWord
	next       *junction
}

const (
	longestGap = 64
	mostGaps   = 1024 // of a habit
	mostAfter  = 16   // of a key
)

// record reads the object that begins at b[i], which is "{". It gives where it ends, or where it is broken. No memory is allocated but for r.args,
// and for what is seen for the first time.
func (h *habit) record(b []byte, i int, r *record) (int, status) {
	i++
	at, args := &h.begin, false
	for {
		g := at.match(b, i)
		begin := i
		if g != nil {
			i += len(g.text)
		} else {
			var s status
			if g, i, s = h.read(b, i, at, args); s != complete {
				return i, s
			}
		}
		switch g.field {
		case endOfObject:
			if !args {
				return i, complete
			}
			args, at = false, g.next
			continue
		case fieldArgs:
			i = skipSpace(b, i)
			if i < len(b) && b[i] == '{' {
				args, at = true, &h.inside
				i++
				continue
			}
		case fieldID2:
			i = skipSpace(b, i)
			if i < len(b) && b[i] == '{' {
				var s status
				if i, s = parseID2(b, i, r); s != complete {
					return i, s
				}
				at = g.next
				continue
			}
		}
		if i < len(b) && b[i] <= ' ' { // more blanks than before
			i = skipSpace(b, i)
		}
		var s status
		switch g.field {
		case fieldArgument:
			n := len(r.args)
			if n < cap(r.args) {
				r.args = r.args[:n+1]
			} else {
				r.args = append(r.args, argument{})
			}
			a := &r.args[n]
			*a = argument{key: rawValue(b[begin+int(g.key):begin+int(g.key+g.size)], text), word: g.word}
			a.key.escaped = g.escaped
			if d, ok := parseDigits(b, i); ok {
				a.value = rawValue(b[i:d.end], number)
				if !d.point {
					a.form, a.bits = formInteger, d.mantissa
				}
				i = d.end
				break
			}
			if a.value, i, s = parseValue(b, i); s != complete {
				r.args = r.args[:n]
			}
		case fieldTime:
			if d, ok := parseDigits(b, i); ok {
				r.ts, i = rawValue(b[i:d.end], number), d.end
				r.at, r.timed = d.micros()
				r.digits.whole, r.digits.after = int32(d.whole), int32(d.after)
				break
			}
			r.timed = false
			r.ts, i, s = parseValue(b, i)
		case fieldDuration:
			if d, ok := parseDigits(b, i); ok {
				r.dur, i = rawValue(b[i:d.end], number), d.end
				r.length, r.lasts = d.micros()
				r.digits.length = int32(d.after)
				break
			}
			r.lasts = false
			r.dur, i, s = parseValue(b, i)
		default:
			var v value
			if i < len(b) && b[i] == '"' {
				v, i, s = parseText(b, i+1)
			} else {
				v, i, s = parseValue(b, i)
			}
			if s == complete {
				r.set(g.field, v)
			}
		}
		if s != complete {
			return i, s
		}
		at = g.next
	}
}

// match finds the gap that stands at b[i].
func (j *junction) match(b []byte, i int) *gap {
	if len(b)-i <= longestGap {
		return nil
	}
	b = b[i : i+longestGap]
	x := binary.LittleEndian.Uint64(b)
	for k, g := range j.gaps {
		if x&g.mask != g.head {
			continue
		}
		if n := len(g.text); n > 8 {
			if binary.LittleEndian.Uint64(b[n-8:]) != g.tail || n > 16 && string(b[8:n-8]) != g.text[8:n-8] {
				continue
			}
		}
		if k > 0 { // what comes often is found soon
			j.gaps[k-1], j.gaps[k] = g, j.gaps[k-1]
		}
		return g
	}
	return nil
}

// read reads what stands from b[i] to the next value as JSON, and keeps it for the next time.
func (h *habit) read(b []byte, i int, at *junction, args bool) (*gap, int, status) {
	begin := i
	if at != &h.begin && at != &h.inside {
		if i = skipSpace(b, i); i == len(b) {
			return nil, i, short
		}
		switch b[i] {
		case ',':
			i++
		case '}':
			return h.keep(b[begin:i+1], value{}, 0, at, args), i + 1, complete
		default:
			return nil, i, broken
		}
	}
	quote := skipSpace(b, i)
	key, i, s := parseKey(b, quote)
	if s != complete {
		return nil, i, s
	}
	return h.keep(b[begin:i], key, quote+1-begin, at, args), i, complete
}

// keep makes a gap of what stands between two values; where is the place of the key in it.
func (h *habit) keep(stands []byte, key value, where int, at *junction, args bool) *gap {
	g := &h.spare
	again := at != &h.lost && len(stands) <= longestGap && len(at.gaps) < mostAfter && h.kept < mostGaps
	if again {
		g = &gap{}
	}
	*g = gap{key: int32(where), size: int32(key.size), escaped: key.escaped, next: &h.lost}
	switch {
	case key.kind == missing:
		g.field = endOfObject
	case args:
		g.field = fieldArgument
	default:
		g.field = fieldOf(key.raw())
	}
	if !again {
		return g
	}
	g.text = string(stands)
	var first, last [8]byte
	g.mask = 1<<(8*copy(first[:], g.text)) - 1 // of eight: all
	g.head = binary.LittleEndian.Uint64(first[:])
	copy(last[:], g.text[max(len(g.text)-8, 0):])
	g.tail = binary.LittleEndian.Uint64(last[:])
	switch {
	case g.field == fieldArgument:
		g.next = junctionOf(&h.keys, key.raw())
		if h.lexicon != nil {
			g.word = h.lexicon.word(key)
		}
	case g.field == endOfObject && args:
		g.next = junctionOf(&h.fields, []byte("args"))
	case g.field != endOfObject:
		g.next = junctionOf(&h.fields, key.raw())
	}
	at.gaps = append(at.gaps, g)
	h.kept++
	return g
}

func junctionOf(by *map[string]*junction, key []byte) *junction {
	j := (*by)[string(key)]
	if j == nil {
		if *by == nil {
			*by = map[string]*junction{}
		}
		j = &junction{}
		(*by)[string(key)] = j
	}
	return j
}
