package chrometrace

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
)

// A recordTemplate is the layout of the records of a file. A writer puts the same keys in the same order with the same
// blanks, so the bytes between two values repeat. They are cached by the key before them, and compared eight bytes at a
// time instead of parsed. Values that repeat (a phase, a category, a thread) are cached together with the bytes around
// them, and skipped by one comparison. Bytes that are not cached are parsed as JSON.
type recordTemplate struct {
	lexicon *lexicon // has the words of keys of arguments; nil: they have none
	begin   keyEnd   // after the brace of a record
	inside  keyEnd   // after that of args
	lost    keyEnd   // after a key that is not cached
	fields  map[string]*keyEnd
	keys    map[string]*keyEnd // of arguments
	cached  int                // separators
	spare   separator
}

// A keyEnd has the separators that were read after the value of a key, the likeliest first.
type keyEnd struct{ separators []*separator }

// A separator is the text from the end of a value to the next value, or to the end of the object.
type separator struct {
	head, mask uint64 // its first eight bytes
	probe      uint64 // eight more bytes, which differ most from those of other separators
	where      int32  // offset of probe
	hits       int32  // recent matches, at most mostHits
	field      field
	text       string
	key        value // the last one in it
	word       *keyWord
	next       *keyEnd

	hasValues bool // the text contains values:
	values    cachedValues
	seen      [8]seenValue // values that followed it
}

// cachedValues are values within a separator, with their words in the lexicon.
type cachedValues struct {
	phase, bind, scope       byte
	category, name, pid, tid value
	where                    *placeWord
	sort                     *categoryWord
	what                     *nameWord
}

type seenValue struct {
	text  [longestValue]byte // with its quotes
	size  int8
	times int8
}

const (
	longestSeparator = 96
	longestValue     = 32   // in a separator
	mostSeparators   = 1024 // of a template
	mostPerKey       = 16
	oftenEnough      = 4  // occurrences after which a value is cached
	alwaysEnough     = 16 // the same for a name, if there was no other
	mostHits         = 8
)

// parseRecord reads the object that begins at b[i], which is "{". It returns its end, or the offset at which it is
// broken. It allocates only for r.args and for new separators.
func (t *recordTemplate) parseRecord(b []byte, i int, r *record) (int, status) {
	i++
	at, args := &t.begin, false
	for {
		g := at.match(b, i)
		begin := i
		if g != nil {
			if g.hasValues {
				g.values.setIn(r)
			}
			i += len(g.text)
		} else {
			var s status
			if g, i, s = t.parseSeparator(b, i, at, args); s != complete {
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
				args, at = true, &t.inside
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
			*a = argument{key: g.key, word: g.word}
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
				if isCacheable(g.field, v) {
					t.cacheValue(b, at, g, begin, i, v)
				}
			}
		}
		if s != complete {
			return i, s
		}
		at = g.next
	}
}

// match returns the separator at b[i]; nil if none is cached.
func (j *keyEnd) match(b []byte, i int) *separator {
	if len(b)-i <= longestSeparator {
		return nil
	}
	b = b[i : i+longestSeparator]
	x := binary.LittleEndian.Uint64(b)
	for k, g := range j.separators {
		if x&g.mask != g.head {
			continue
		}
		if n := len(g.text); n > 8 {
			if binary.LittleEndian.Uint64(b[g.where:]) != g.probe || n > 16 && string(b[8:n]) != g.text[8:] {
				continue
			}
		}
		g.hits = min(g.hits+1, mostHits)
		if k > 0 {
			j.moveForward(k)
		}
		return g
	}
	return nil
}

// moveForward swaps a separator with the one before it, if that one matched less often recently. Two that alternate
// keep their places.
func (j *keyEnd) moveForward(k int) {
	before, g := j.separators[k-1], j.separators[k]
	before.hits = max(before.hits-1, 0)
	if g.hits > before.hits+mostHits/2 && !strings.HasPrefix(before.text, g.text) {
		j.separators[k-1], j.separators[k] = g, before
	}
}

// cacheValue caches, if the value repeats, the separator g at b[begin], its value v, which ends at b[end], and the
// separator after it as one.
func (t *recordTemplate) cacheValue(b []byte, at *keyEnd, g *separator, begin, end int, v value) {
	size := int(v.size)
	if v.kind == text {
		size += 2
	}
	if g.text == "" {
		return
	}
	seen := g.countValue(b[end-size : end])
	if seen == nil || t.cached >= mostSeparators {
		return
	}
	next := g.next.match(b, end)
	if next == nil || end-begin+len(next.text) > longestSeparator {
		return
	}
	j := &separator{text: string(b[begin : end+len(next.text)]), field: next.field, key: next.key, word: next.word,
		next: next.next, hasValues: true, values: g.values}
	j.values.setField(g.field, v.own())
	j.values.merge(&next.values, t.lexicon)
	j.setProbe(end - begin)
	t.addSeparator(at, j)
	seen.times = 0
}

// isCacheable reports whether a value may be cached within a separator.
func isCacheable(f field, v value) bool {
	switch f {
	case fieldPhase, fieldBind, fieldScope:
		return letter(v) != 0
	case fieldName, fieldCategory, fieldPid, fieldTid:
		return v.kind != composite && v.size <= longestValue-2 && !v.escaped
	}
	return false
}

func (p *cachedValues) setField(f field, v value) {
	switch f {
	case fieldPhase:
		p.phase = letter(v)
	case fieldBind:
		p.bind = letter(v)
	case fieldScope:
		p.scope = letter(v)
	case fieldName:
		p.name = v
	case fieldCategory:
		p.category = v
	case fieldPid:
		p.pid = v
	case fieldTid:
		p.tid = v
	}
}

// merge adds the values of the next separator, and finds the words for all.
func (p *cachedValues) merge(next *cachedValues, l *lexicon) {
	p.phase, p.bind, p.scope = cmp.Or(next.phase, p.phase), cmp.Or(next.bind, p.bind), cmp.Or(next.scope, p.scope)
	p.category, p.name = cmp.Or(next.category, p.category), cmp.Or(next.name, p.name)
	p.pid, p.tid = cmp.Or(next.pid, p.pid), cmp.Or(next.tid, p.tid)
	if l == nil {
		return
	}
	if p.pid.present() && p.tid.present() {
		p.where = l.placeOf(p.pid, p.tid)
	}
	if p.category.present() {
		p.sort = l.categoryOf(p.category)
		if p.name.present() {
			p.what = l.nameOf(p.sort, p.name)
		}
	}
}

// setIn sets the values in a record.
func (p *cachedValues) setIn(r *record) {
	if p.phase != 0 {
		r.phase = p.phase
	}
	if p.bind != 0 {
		r.bind = p.bind
	}
	if p.scope != 0 {
		r.scope = p.scope
	}
	if p.category.present() {
		r.category, r.sort, r.what = p.category, p.sort, nil
	}
	if p.name.present() {
		r.name, r.what = p.name, p.what
	}
	if p.pid.present() {
		r.pid, r.where = p.pid, p.where
	}
	if p.tid.present() {
		r.tid, r.where = p.tid, p.where
	}
}

// countValue counts a value that follows, and returns it if it was seen often enough to be cached.
func (g *separator) countValue(value []byte) *seenValue {
	x, enough := &g.seen[0], int8(alwaysEnough)
	if g.field != fieldName {
		x, enough = &g.seen[shortHash(value)%uint64(len(g.seen))], oftenEnough
	}
	if x.times < 0 {
		return nil
	}
	if string(x.text[:x.size]) != string(value) {
		if g.field == fieldName && x.times > 0 { // one of many: these are looked up
			x.times = -1
			return nil
		}
		x.size, x.times = int8(copy(x.text[:], value)), 0
	}
	if x.times < enough {
		x.times++
	}
	if x.times < enough {
		return nil
	}
	return x
}

// setProbe sets the bytes that match compares; best is the end of those that differ most between separators.
func (g *separator) setProbe(best int) {
	var first, some [8]byte
	g.mask = 1<<(8*copy(first[:], g.text)) - 1 // of eight: all
	g.head = binary.LittleEndian.Uint64(first[:])
	if len(g.text) <= 16 {
		best = len(g.text)
	}
	g.where = int32(max(best-8, 0))
	copy(some[:], g.text[g.where:])
	g.probe = binary.LittleEndian.Uint64(some[:])
}

// addSeparator caches a separator, before all of its prefixes. If a key has too many, it evicts the last one that has
// values.
func (t *recordTemplate) addSeparator(at *keyEnd, g *separator) {
	if len(at.separators) == mostPerKey {
		last := len(at.separators) - 1
		for last >= 0 && !at.separators[last].hasValues {
			last--
		}
		if last < 0 {
			return
		}
		at.separators = slices.Delete(at.separators, last, last+1)
		t.cached--
	}
	where := len(at.separators)
	if g.hasValues { // it is tried first, but for longer ones that begin with it
		where = 0
		for k, x := range at.separators {
			if strings.HasPrefix(x.text, g.text) {
				where = k + 1
			}
		}
	}
	at.separators = slices.Insert(at.separators, where, g)
	t.cached++
}

// parseSeparator parses the bytes from b[i] to the next value as JSON, and caches them.
func (t *recordTemplate) parseSeparator(b []byte, i int, at *keyEnd, args bool) (*separator, int, status) {
	begin := i
	if at != &t.begin && at != &t.inside {
		if i = skipSpace(b, i); i == len(b) {
			return nil, i, short
		}
		switch b[i] {
		case ',':
			i++
		case '}':
			return t.cacheSeparator(b[begin:i+1], value{}, at, args), i + 1, complete
		default:
			return nil, i, broken
		}
	}
	key, i, s := parseKey(b, i)
	if s != complete {
		return nil, i, s
	}
	return t.cacheSeparator(b[begin:i], key, at, args), i, complete
}

// cacheSeparator makes a separator of the bytes between two values.
func (t *recordTemplate) cacheSeparator(between []byte, key value, at *keyEnd, args bool) *separator {
	g := &t.spare
	for _, x := range at.separators { // near the end of a buffer match compares none
		if x.text == string(between) {
			return x
		}
	}
	again := at != &t.lost && len(between) <= longestSeparator && t.cached < mostSeparators
	if again {
		g = &separator{}
	}
	*g = separator{key: key, next: &t.lost}
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
	g.text, g.key = string(between), key.own()
	g.setProbe(len(g.text))
	switch {
	case g.field == fieldArgument:
		g.next = keyEndOf(&t.keys, key.raw())
		if t.lexicon != nil {
			g.word = t.lexicon.word(key)
		}
	case g.field == endOfObject && args:
		g.next = keyEndOf(&t.fields, []byte("args"))
	case g.field != endOfObject:
		g.next = keyEndOf(&t.fields, key.raw())
	}
	t.addSeparator(at, g)
	return g
}

func keyEndOf(by *map[string]*keyEnd, key []byte) *keyEnd {
	j := (*by)[string(key)]
	if j == nil {
		if *by == nil {
			*by = map[string]*keyEnd{}
		}
		j = &keyEnd{}
		(*by)[string(key)] = j
	}
	return j
}
