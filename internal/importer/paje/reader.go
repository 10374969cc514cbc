package paje

import (
	"bytes"
	"encoding/binary"
)

// A parser turns the lines of blocks into records: the grammar, no meaning. Every
// parser works on its own. The meaning of a record is looked up while it is at hand.
type parser struct {
	words   wordCache
	unit    unit
	unknown map[string]int64 // events that are not Paje's, by name
	meaning resolver
}

func newParser(c *converter) *parser {
	return &parser{words: wordCache{all: c.symbols}, unit: c.unit, unknown: map[string]int64{},
		meaning: resolver{converter: c}}
}

// take reads a block.
func (p *parser) take(b *block) {
	p.meaning.begin(b)
	defer p.meaning.release()
	p.parse(b)
}

// parse takes the lines of a block, O(bytes). The data ends with a line end, so that
// no loop over a line asks for the end of the data.
func (p *parser) parse(b *block) {
	data := b.data
	for at := 0; at < len(data); {
		b.lines++
		i := at
		for isBlank[data[i]] {
			i++
		}
		begin := i
		for !endsWord[data[i]] {
			i++
		}
		if c := data[begin]; begin == i || c == '#' || c == '"' {
			at = p.odd(b, begin)
			continue
		}
		l := b.layouts.find(data[begin:i])
		if l == nil || !l.whole && l.op != opUnknown {
			at = p.unusable(b, l, i)
			continue
		}
		if !l.hot {
			end := i + bytes.IndexByte(data[i:], '\n')
			if l.op == opUnknown {
				p.unknown[l.name]++
				at = end + 1
				continue
			}
			b.add(l, at).end = uint32(end)
			b.leave()
			p.meaning.release() // later records may mean something else
			at = end + 1
			continue
		}
		r := b.add(l, at)
		end, ok := p.fields(b, r, i)
		r.end = uint32(end)
		if !ok {
			b.records = b.records[:len(b.records)-1]
		} else if p.meaning.looks {
			p.meaning.lookUp()
		} else {
			b.leave()
		}
		at = end + 1
	}
}

// odd takes a line that does not begin with a plain word: blank, a comment, or with
// the number of its event in quotes, which no writer does. It returns the next line.
func (p *parser) odd(b *block, begin int) int {
	end := begin + bytes.IndexByte(b.data[begin:], '\n')
	if b.data[begin] == '"' {
		b.tally.Add(unknownNumber, b.lines)
	}
	return end + 1
}

// unusable counts a line that no definition gives a meaning.
func (p *parser) unusable(b *block, l *layout, i int) int {
	if l == nil {
		b.tally.Add(unknownNumber, b.lines)
	} else {
		b.tally.Add(lackingLine, b.lines)
	}
	return i + bytes.IndexByte(b.data[i:], '\n') + 1
}

// fields reads the fields of a record, from i on, and returns the end of the
// line. Plain times and short words that were met before are read eight bytes at a
// time; everything else goes through field.
func (p *parser) fields(b *block, r *record, i int) (end int, ok bool) {
	data := b.data[:len(b.data)+slack]
	for k, step := range r.layout.steps {
		for isBlank[data[i]] {
			i++
		}
		if step >= 0 {
			bits, word := shortWord(binary.LittleEndian.Uint64(data[i:]))
			if s := p.words.slot(word); s.word == word && s.bits == bits && bits > 0 {
				r.words[step&3] = s.id
				i += int(bits / 8)
				continue
			}
		} else if step == stepTime {
			if t, size := plainTime(data, i, p.unit); size > 0 {
				r.time = t
				i += size
				continue
			}
		}
		next, more, good := p.field(b, r, k, i)
		if !more {
			return next, good
		}
		i = next
	}
	if data[i] == '\n' {
		return i, true
	}
	end = lineFrom(b.data, i)
	if w, _, _ := word(b.data[:end], i); len(w) > 0 {
		b.tally.Add(moreFields, b.lines)
	}
	return end, true
}

// field reads the k-th field of a record, whatever it looks like. If the line has no
// more to read, more is false, next its end, and ok whether it is a record.
func (p *parser) field(b *block, r *record, k, i int) (next int, more, ok bool) {
	data, f := b.data, r.layout.fields[k]
	begin := i
	for !endsWord[data[i]] {
		i++
	}
	w := data[begin:i]
	if c := data[begin]; c == '"' {
		quoted := uint8(0)
		if w, i, quoted = p.quoted(data, begin); quoted == 2 {
			b.tally.Add(unclosedQuote, b.lines)
		}
		begin++
	} else if begin == i || c == '#' {
		return lineFrom(data, begin), false, p.few(b, r.layout, k)
	}
	switch f {
	case fieldTime:
		t, rounded, ok := parseTime(w, p.unit)
		if !ok {
			b.tally.Add(badTime, b.lines)
			return lineFrom(data, i), false, false
		}
		if rounded {
			b.tally.Add(roundedTime, b.lines)
		}
		r.time = t
	case fieldType, fieldContainer, fieldStart, fieldEnd:
		r.words[r.layout.steps[k]&3] = p.words.find(w)
	case fieldValue:
		if !r.layout.numeric {
			r.words[wordValue] = p.words.find(w)
			break
		}
		n, ok := parseNumber(w)
		if !ok {
			b.tally.Add(badNumber, b.lines)
			return lineFrom(data, i), false, false
		}
		r.number = n
	case fieldKey:
		r.key = span{uint32(begin), uint32(begin + len(w))}
	case fieldSize, fieldTag:
		p.extra(b, r, f, w)
	}
	return i, true, true
}

// extra reads the size or tag of a link; a word that is no number is left out.
func (p *parser) extra(b *block, r *record, f field, w []byte) {
	n, ok := parseInteger(w)
	if !ok {
		if len(w) > 0 {
			b.tally.Add(linkFields, b.lines)
		}
		return
	}
	if r.extra == 0 {
		b.extras = append(b.extras, extra{size: -1})
		r.extra = uint32(len(b.extras))
	}
	x := &b.extras[r.extra-1]
	if f == fieldTag {
		x.tag = n
	} else if n >= 0 {
		x.size = n
	}
}

// lineFrom is the end of the line that i is in.
func lineFrom(data []byte, i int) int { return i + bytes.IndexByte(data[i:], '\n') }

// quoted reads a word in quotes, which end with the line at the latest.
func (p *parser) quoted(data []byte, begin int) (w []byte, next int, quoted uint8) {
	end := lineFrom(data, begin)
	return word(data[:end], begin)
}

// few decides about a line that ends before field k: only the writer's own fields
// may be missing.
func (p *parser) few(b *block, l *layout, k int) bool {
	for _, f := range l.fields[k:] {
		if f != fieldOwn && f != fieldColour && f != fieldSize && f != fieldTag {
			b.tally.Add(fewFields, b.lines)
			return false
		}
	}
	return true
}
