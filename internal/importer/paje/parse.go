package paje

import "bytes"

// A parser turns the lines of blocks into records: the grammar, no meaning. Every
// parser works on its own.
type parser struct {
	words wordCache
	unit  unit
}

func newParser(all *symbols, u unit) *parser { return &parser{words: wordCache{all: all}, unit: u} }

// parse takes the lines of a block, O(bytes).
func (p *parser) parse(b *block) {
	for at := 0; at < len(b.data); {
		end := bytes.IndexByte(b.data[at:], '\n')
		next := at + end + 1
		if end < 0 {
			end, next = len(b.data)-at, len(b.data)
		}
		b.lines++
		p.line(b, at, at+end)
		at = next
	}
}

func (p *parser) line(b *block, at, end int) {
	text := b.data[at:end]
	id, i, _ := word(text, 0)
	if len(id) == 0 {
		return
	}
	l := b.layouts.find(id)
	if l == nil {
		b.tally.add(unknownNumber, b.lines)
		return
	}
	if !l.whole && l.op != opUnknown {
		b.tally.add(lackingLine, b.lines)
		return
	}
	b.records = append(b.records, record{layout: l, at: uint32(at), end: uint32(end), line: uint32(b.lines)})
	if l.hot && !p.fields(b, text, i) {
		b.records = b.records[:len(b.records)-1]
	}
}

// fields reads the fields of the last record, from i on in its line.
func (p *parser) fields(b *block, text []byte, i int) bool {
	r := &b.records[len(b.records)-1]
	l := r.layout
	variable := l.op >= opSetVariable && l.op <= opSubVariable
	for k, f := range l.fields {
		w, next, quoted := word(text, i)
		if quoted == 2 {
			b.tally.add(unclosedQuote, b.lines)
		} else if len(w) == 0 && quoted == 0 {
			return p.few(b, l, k)
		}
		i = next
		switch f {
		case fieldTime:
			t, rounded, ok := parseTime(w, p.unit)
			if !ok {
				b.tally.add(badTime, b.lines)
				return false
			}
			if rounded {
				b.tally.add(roundedTime, b.lines)
			}
			r.time = t
		case fieldType:
			r.kind = p.words.find(w)
		case fieldContainer:
			r.container = p.words.find(w)
		case fieldValue:
			if variable {
				n, ok := parseNumber(w)
				if !ok {
					b.tally.add(badNumber, b.lines)
					return false
				}
				r.number = n
				continue
			}
			r.value = p.words.find(w)
		case fieldStart, fieldEnd:
			r.other = p.words.find(w)
		case fieldKey:
			at := uint32(i-len(w)) - uint32(quoted&1)
			r.key = span{r.at + at, r.at + at + uint32(len(w))}
		}
	}
	if w, _, _ := word(text, i); len(w) > 0 {
		b.tally.add(moreFields, b.lines)
	}
	return true
}

// few decides about a line that ends before field k: only the writer's own fields
// may be missing.
func (p *parser) few(b *block, l *layout, k int) bool {
	for _, f := range l.fields[k:] {
		if f != fieldOwn && f != fieldColour {
			b.tally.add(fewFields, b.lines)
			return false
		}
	}
	return true
}
