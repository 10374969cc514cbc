package chrometrace

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A lexicon prepares records for the reader: it reads their numbers, and finds the words that come again and again by
// their bytes. A word is the reader's result for these bytes, or nothing yet. So records can be prepared on several
// cores, each with a lexicon of its own, and one reader still decides their meaning, in the order of the file.
type lexicon struct {
	dialect      dialect
	categories   map[string]*categoryWord
	category     *categoryWord // the one before
	places       map[string]*placeWord
	keys         map[string]*keyWord
	recent       [32]*keyWord
	texts        map[string]*textWord
	names        [256]recentName
	recentPlaces [16]*placeWord
	lists        [64]recentList
	words        int // in all maps
	key          []byte
	scratch      []byte
	template     *recordTemplate
}

// mostWords bounds a lexicon: past it all is forgotten and found anew.
const mostWords = 1 << 16

type categoryWord struct {
	text  string // as it is written
	names map[string]*nameWord
	known *category
}

// recentName and recentList are words that were asked for lately, so that most are found without looking at all of
// their bytes twice.
type recentName struct {
	category *categoryWord
	word     *nameWord
}

type recentList struct {
	text []byte // as it is written
	word *textWord
}

// shortHash distinguishes strings by their length, their ends and their middle.
func shortHash(b []byte) uint64 {
	x := uint64(len(b))
	if n := len(b); n >= 8 {
		x += binary.LittleEndian.Uint64(b) ^ bits.RotateLeft64(binary.LittleEndian.Uint64(b[n-8:]),
			20) ^ bits.RotateLeft64(binary.LittleEndian.Uint64(b[n/2-4:]), 40)
	} else {
		for _, c := range b {
			x = x<<8 + uint64(c)
		}
	}
	return x * 0x9E3779B97F4A7C15 >> 40
}

type nameWord struct {
	text   string // as it is written
	region trace.RegionID
	known  bool
}

type placeWord struct {
	pid, tid         string
	pidKind, tidKind valueKind
	known            *place
}

type keyWord struct {
	text  string
	is    knownKey
	drop  bool // see attribute.drop
	known *attribute
}

// A knownKey is a key that is asked for by name.
type knownKey uint8

const (
	keyOther knownKey = iota
	keyCorrelation
	keyExternal
	keyExternalSmall
	keyCorrelationXLA
)

var knownKeys = map[string]knownKey{"correlation": keyCorrelation, "External id": keyExternal,
	"external id": keyExternalSmall, "correlation_id": keyCorrelationXLA}

type textWord struct {
	text  string
	known bool // is the reader's own copy
}

// A form is the type that the value of an argument was prepared as.
type form uint8

const (
	formUnread form = iota
	formNested      // an object, or a list too long to be kept
	formNone        // null: no value
	formInteger
	formNumber
	formText
)

func newLexicon(d dialect) *lexicon {
	l := &lexicon{dialect: d, key: make([]byte, 0, 64), scratch: make([]byte, 0, 4<<10)}
	l.forget()
	return l
}

func (l *lexicon) forget() {
	l.categories, l.places = map[string]*categoryWord{}, map[string]*placeWord{}
	l.keys, l.texts = map[string]*keyWord{}, map[string]*textWord{}
	l.category, l.recent, l.words = nil, [32]*keyWord{}, 0
	l.names, l.lists, l.recentPlaces = [256]recentName{}, [64]recentList{}, [16]*placeWord{}
	l.template = &recordTemplate{lexicon: l}
}

// prepare fills in the fields that the reader needs of a record.
func (l *lexicon) prepare(r *record) {
	switch r.phase {
	case 0, 'M', 'P', 'O', 'V', 'v', 'c', '(', ')': // rare, and read by their own rules
		return
	}
	if l.words > mostWords {
		l.forget()
	}
	if !r.timed {
		r.at, r.timed = r.ts.nanoseconds()
		r.digits.whole, r.digits.after = digitsOf(r.ts.raw())
	}
	if r.where == nil {
		r.where = l.placeOf(r.pid, r.tid)
	}
	if r.sort == nil {
		r.sort = l.categoryOf(r.category)
	}
	if r.what == nil {
		r.what = l.nameOf(r.sort, r.name)
	}
	switch r.phase {
	case 'X':
		if !r.lasts {
			r.length, r.lasts = r.dur.nanoseconds()
			_, r.digits.length = digitsOf(r.dur.raw())
		}
	case 'E', 'C', 's', 't', 'f': // no arguments are needed, or only numbers
		return
	}
	for i := range r.args {
		a := &r.args[i]
		if a.word == nil {
			a.word = l.keyOf(i, a.key)
		}
		if a.form == formUnread && !a.word.drop {
			l.valueOf(a)
		}
	}
}

func (l *lexicon) categoryOf(v value) *categoryWord {
	if v.kind != text {
		v = value{}
	}
	if c := l.category; c != nil && c.text == string(v.raw()) {
		return c
	}
	c, ok := l.categories[string(v.raw())]
	if !ok {
		c = &categoryWord{text: string(v.raw()), names: map[string]*nameWord{}}
		l.categories[c.text] = c
		l.words++
	}
	l.category = c
	return c
}

// nameOf is nil for names that are neither a text nor missing.
func (l *lexicon) nameOf(c *categoryWord, v value) *nameWord {
	if v.kind != text && v.kind != missing {
		return nil
	}
	raw := v.raw()
	recent := &l.names[shortHash(raw)%uint64(len(l.names))]
	if recent.category == c && recent.word.text == string(raw) {
		return recent.word
	}
	n, ok := c.names[string(raw)]
	if !ok {
		n = &nameWord{text: string(raw)}
		c.names[n.text] = n
		l.words++
	}
	*recent = recentName{c, n}
	return n
}

func (l *lexicon) placeOf(pid, tid value) *placeWord {
	recent := &l.recentPlaces[(shortHash(pid.raw())+3*shortHash(tid.raw()))%uint64(len(l.recentPlaces))]
	p := *recent
	if p != nil && p.pidKind == pid.kind && p.tidKind == tid.kind && p.tid == string(tid.raw()) &&
		p.pid == string(pid.raw()) {
		return p
	}
	k := append(l.key[:0], byte(pid.kind), byte(tid.kind))
	k = append(k, pid.raw()...)
	k = append(k, 0) // which no record holds
	k = append(k, tid.raw()...)
	l.key = k
	p, ok := l.places[string(k)]
	if !ok {
		p = &placeWord{pid: string(pid.raw()), tid: string(tid.raw()), pidKind: pid.kind, tidKind: tid.kind}
		l.places[string(k)] = p
		l.words++
	}
	*recent = p
	return p
}

// keyOf finds the key of an argument. Records of a kind have the same keys in the same order, so the one at this
// position last time is tried first.
func (l *lexicon) keyOf(position int, v value) *keyWord {
	if position < len(l.recent) {
		if k := l.recent[position]; k != nil && k.text == string(v.raw()) {
			return k
		}
	}
	k := l.word(v)
	if position < len(l.recent) {
		l.recent[position] = k
	}
	return k
}

// word finds the word of a key.
func (l *lexicon) word(v value) *keyWord {
	k, ok := l.keys[string(v.raw())]
	if !ok {
		k = &keyWord{text: string(v.raw())}
		k.is = knownKeys[k.text]
		plain := string(v.plain(nil))
		for _, d := range dropped[l.dialect] {
			k.drop = k.drop || d == plain
		}
		l.keys[k.text] = k
		l.words++
	}
	return k
}

// valueOf reads the value of an argument: scalars, and lists as strings.
func (l *lexicon) valueOf(a *argument) {
	v := a.value
	raw := v.raw()
	switch v.kind {
	case number:
		if n, ok := smallInteger(raw); ok {
			a.form, a.bits = formInteger, uint64(n)
			return
		}
		if bytes.IndexAny(raw, ".eE") < 0 {
			if n, ok := v.integer(); ok {
				a.form, a.bits = formInteger, uint64(n)
				return
			}
		}
		if f, ok := v.float(); ok {
			a.form, a.bits = formNumber, math.Float64bits(f)
			return
		}
		a.form, a.text = formText, &textWord{text: string(raw), known: true}
	case text:
		a.form, a.text = formText, l.textOf(v.plain(l.scratch))
	case word:
		switch s := string(raw); s {
		case "null", "None":
			a.form = formNone
		default:
			if f, err := strconv.ParseFloat(s, 64); err == nil {
				a.form, a.bits = formNumber, math.Float64bits(f) // NaN, Infinity
				return
			}
			a.form, a.text = formText, l.textOf(raw)
		}
	default:
		a.form = formNested
		if len(raw) > 0 && raw[0] == '[' && len(raw) <= longestList {
			recent := &l.lists[shortHash(raw)%uint64(len(l.lists))]
			if !bytes.Equal(recent.text, raw) {
				recent.text, recent.word = append(recent.text[:0], raw...), l.textOf(compact(l.scratch[:0], raw))
			}
			a.form, a.text = formText, recent.word
		}
	}
}

// textOf returns one word for equal strings, as most are the same few.
func (l *lexicon) textOf(text []byte) *textWord {
	if w, ok := l.texts[string(text)]; ok {
		return w
	}
	w := &textWord{text: string(text)}
	if len(text) <= longestInterned {
		l.texts[w.text] = w
		l.words++
	}
	return w
}
