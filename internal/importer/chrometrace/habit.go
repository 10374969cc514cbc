package chrometrace

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
)

// A habit is how the writer of a file puts its records: the same keys in the same order, with the same blanks. What
// stood between a value and the next is kept by the key before it, so that the next time it is compared, eight bytes in
// one step, and not read. Values that come again and again (a phase, a category, a thread) are kept with what stands
// around them, and compared as one. What was never seen, and what does not come again, is read as JSON.
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
	probe      uint64 // eight more, those that tell it best from others
	where      int32  // they are
	hits       int32  // lately, at most mostHits
	field      field
	text       string
	key        value // the last one in it
	word       *keyWord
	next       *junction

	goesOver bool // values, which are these:
	phrase   phrase
	seen     [8]seenValue // that came behind it
}

// A phrase is what values that come often tell of a record, with the words of a lexicon for them.
type phrase struct {
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
	longestGap   = 96
	longestValue = 32   // in a gap
	mostGaps     = 1024 // of a habit
	mostAfter    = 16   // of a key
	oftenEnough  = 4    // a value is taken into a gap
	alwaysEnough = 16   // so is a name, if there was no other
	mostHits     = 8
)

// record reads the object that begins at b[i], which is "{". It gives where it ends, or where it is broken. No memory
// is allocated but for r.args, and for what is seen for the first time.
func (h *habit) record(b []byte, i int, r *record) (int, status) {
	i++
	at, args := &h.begin, false
	for {
		g := at.match(b, i)
		begin := i
		if g != nil {
			if g.goesOver {
				g.phrase.tell(r)
			}
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
				if joins(g.field, v) {
					h.join(b, at, g, begin, i, v)
				}
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
			if binary.LittleEndian.Uint64(b[g.where:]) != g.probe || n > 16 && string(b[8:n]) != g.text[8:] {
				continue
			}
		}
		g.hits = min(g.hits+1, mostHits)
		if k > 0 {
			j.forward(k)
		}
		return g
	}
	return nil
}

// forward lets a gap that came be found sooner than the one before it, if that one came seldom lately. Where the two
// take turns they stay.
func (j *junction) forward(k int) {
	before, g := j.gaps[k-1], j.gaps[k]
	before.hits = max(before.hits-1, 0)
	if g.hits > before.hits+mostHits/2 && !strings.HasPrefix(before.text, g.text) {
		j.gaps[k-1], j.gaps[k] = g, before
	}
}

// join makes one gap of the gap g from b[begin] on, the value v behind it, which ends at b[end], and the gap that
// follows, if the value comes often.
func (h *habit) join(b []byte, at *junction, g *gap, begin, end int, v value) {
	size := int(v.size)
	if v.kind == text {
		size += 2
	}
	if g.text == "" {
		return
	}
	seen := g.see(b[end-size : end])
	if seen == nil || h.kept >= mostGaps {
		return
	}
	next := g.next.match(b, end)
	if next == nil || end-begin+len(next.text) > longestGap {
		return
	}
	j := &gap{text: string(b[begin : end+len(next.text)]), field: next.field, key: next.key, word: next.word,
		next: next.next, goesOver: true, phrase: g.phrase}
	j.phrase.add(g.field, v.own())
	j.phrase.join(&next.phrase, h.lexicon)
	j.aim(end - begin)
	h.add(at, j)
	seen.times = 0
}

// joins reports whether a value may become part of a gap.
func joins(f field, v value) bool {
	switch f {
	case fieldPhase, fieldBind, fieldScope:
		return letter(v) != 0
	case fieldName, fieldCategory, fieldPid, fieldTid:
		return v.kind != composite && v.size <= longestValue-2 && !v.escaped
	}
	return false
}

// add takes a value.
func (p *phrase) add(f field, v value) {
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

// join takes what the next phrase tells, and finds the words for all.
func (p *phrase) join(next *phrase, l *lexicon) {
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

// tell sets it in a record.
func (p *phrase) tell(r *record) {
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

// see counts a value behind the gap, and gives it where it came often enough.
func (g *gap) see(value []byte) *seenValue {
	x, enough := &g.seen[0], int8(alwaysEnough)
	if g.field != fieldName {
		x, enough = &g.seen[shortHash(value)%uint64(len(g.seen))], oftenEnough
	}
	if x.times < 0 {
		return nil
	}
	if string(x.text[:x.size]) != string(value) {
		if g.field == fieldName && x.times > 0 { // one of many, which are looked up
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

// aim sets what a gap is compared by; best is where the bytes end that tell it best from others.
func (g *gap) aim(best int) {
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

// add keeps a gap, before all that it begins with. Where there are many, one that goes over values which came seldom
// lately is forgotten for it.
func (h *habit) add(at *junction, g *gap) {
	if len(at.gaps) == mostAfter {
		last := len(at.gaps) - 1
		for last >= 0 && !at.gaps[last].goesOver {
			last--
		}
		if last < 0 {
			return
		}
		at.gaps = slices.Delete(at.gaps, last, last+1)
		h.kept--
	}
	where := len(at.gaps)
	if g.goesOver { // which comes now, and so is tried first, but for those that begin with all of it
		where = 0
		for k, x := range at.gaps {
			if strings.HasPrefix(x.text, g.text) {
				where = k + 1
			}
		}
	}
	at.gaps = slices.Insert(at.gaps, where, g)
	h.kept++
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
			return h.keep(b[begin:i+1], value{}, at, args), i + 1, complete
		default:
			return nil, i, broken
		}
	}
	key, i, s := parseKey(b, i)
	if s != complete {
		return nil, i, s
	}
	return h.keep(b[begin:i], key, at, args), i, complete
}

// keep makes a gap of what stands between two values.
func (h *habit) keep(stands []byte, key value, at *junction, args bool) *gap {
	g := &h.spare
	for _, x := range at.gaps { // near the end of a buffer, where none is compared
		if x.text == string(stands) {
			return x
		}
	}
	again := at != &h.lost && len(stands) <= longestGap && h.kept < mostGaps
	if again {
		g = &gap{}
	}
	*g = gap{key: key, next: &h.lost}
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
	g.text, g.key = string(stands), key.own()
	g.aim(len(g.text))
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
	h.add(at, g)
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
