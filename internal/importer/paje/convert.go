package paje

import (
	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A converter gives records their meaning, in the order of the file.
type converter struct {
	tree

	unit unit

	variables map[variableKey]*variable
	pending   pendings
	unknown   map[string]int64 // events that are not Paje's, by name
}

func newConverter(w trace.Writer, u unit) *converter {
	c := &converter{unit: u, variables: map[variableKey]*variable{}, pending: newPendings(), unknown: map[string]int64{}}
	c.vocabulary = vocabulary{w: w, symbols: newSymbols(), values: map[valueKey]*meaning{}, attributes: importer.NewAttributes(w)}
	c.tracks, c.rows, c.moreTracks = make([]track, 1), make([]stateRow, 1), map[trackKey]uint32{}
	c.frames = make([]frame, 1)
	zero := c.symbols.keep([]byte("0"))
	rootType := &typ{op: opContainerType, name: "0", kind: trace.KindGroup}
	c.typeList = append(c.typeList, rootType)
	c.types.set(zero, rootType)
	root := c.containers.add(container{location: trace.NoLocation, rank: trace.NoRank, ended: endless})
	c.byAlias.set(zero, root)
	return c
}

// convert takes the records of a block.
func (c *converter) convert(b *block) {
	c.data = b.data
	for i := range b.records {
		r := &b.records[i]
		switch r.layout.op {
		case opSetState, opPushState, opPopState, opResetState:
			c.state(r)
		case opSetVariable, opAddVariable, opSubVariable:
			c.variable(r)
		case opEvent:
			c.event(r)
		case opStartLink, opEndLink:
			c.link(r, b)
		default:
			c.rare(r)
		}
	}
	c.tally.Take(&b.tally, c.base)
	c.base += b.lines
}

// rare takes the events whose fields the parser leaves alone.
func (c *converter) rare(r *record) {
	line := c.base + int64(r.line)
	if r.layout.op == opUnknown {
		c.unknown[r.layout.name]++
		return
	}
	f := c.again(r)
	if f.few {
		c.tally.Add(fewFields, line)
		return
	}
	if f.unclosed {
		c.tally.Add(unclosedQuote, line)
	}
	if f.more {
		c.tally.Add(moreFields, line)
	}
	switch r.layout.op {
	case opEntityValue:
		c.defineValue(r.layout, f, line)
	case opTraceFile:
		c.include(f)
	case opCreate, opDestroy:
		t, _, ok := parseTime(f.of[fieldTime], c.unit)
		if !ok {
			c.tally.Add(badTime, line)
			if r.layout.op == opDestroy {
				return
			}
			t = c.first
		}
		f.time = t
		c.see(t)
		if r.layout.op == opCreate {
			c.create(f, line)
		} else {
			c.destroy(f, line)
		}
	default:
		c.defineType(r.layout, f, line)
	}
}

// see follows the span of time.
func (c *vocabulary) see(t trace.Time) {
	if !c.any {
		c.first, c.last, c.any = t, t, true
		return
	}
	c.first, c.last = min(c.first, t), max(c.last, t)
}

func (c *vocabulary) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// include keeps the name of a file that belongs to the trace.
func (c *tree) include(f *fields) {
	const most = 1 << 16
	if name := f.of[fieldFilename]; len(name) > 0 && len(c.parts) < most {
		c.parts = append(c.parts, string(name))
	}
}

// fields are the words of one line by what they are.
type fields struct {
	of       [fieldCount][]byte
	own      []ownField
	time     trace.Time
	line     uint32
	few      bool // fewer than the event needs
	more     bool
	unclosed bool
}

// An ownField is one of the writer's own.
type ownField struct {
	name   string
	word   []byte
	number bool
}

// word gives a word of a record, also one that the parser did not number.
func (c *vocabulary) word(r *record, i int, f field) symbol {
	if s := r.words[i]; s != bare {
		return s
	}
	return c.wordAgain(r, f)
}

func (c *vocabulary) wordAgain(r *record, f field) symbol {
	if s := c.symbols.lookup(c.again(r).of[f]); s != noSymbol {
		return s
	}
	return bare
}

// again cuts a line into its words once more, for what is not needed of every line.
func (c *vocabulary) again(r *record) *fields {
	f := &c.fields
	*f = fields{own: f.own[:0], line: r.line}
	f.cut(r.layout, c.data[r.at:r.end])
	return f
}

func (f *fields) cut(l *layout, text []byte) {
	_, i, _ := word(text, 0)
	for k, what := range l.fields {
		w, next, quoted := word(text, i)
		f.unclosed = f.unclosed || quoted == 2
		if len(w) == 0 && quoted == 0 {
			for _, missing := range l.fields[k:] {
				f.few = f.few || missing != fieldOwn && missing != fieldColour && missing != fieldFilename
			}
			return
		}
		i = next
		if what == fieldOwn || what == fieldSize || what == fieldTag {
			f.own = append(f.own, ownField{l.names[k], w, l.number[k]})
		} else {
			f.of[what] = w
		}
	}
	w, _, _ := word(text, i)
	f.more = len(w) > 0
}

// finish ends what is open, and says what the whole trace told.
func (c *converter) finish() error {
	for n := uint32(rootNumber); n <= c.containers.count; n++ {
		k := c.containers.at(n)
		end := c.last
		if k.ended != endless {
			end = max(k.ended, k.last)
		} else {
			c.tally.AddN(unpopped, c.unpopped(k), nowhere)
		}
		c.endStates(k, end)
		c.close(k)
		if n != rootNumber {
			c.describe(k)
		}
	}
	if c.any { // containers live though nothing happens in them
		trace.Cover(c.w, c.first, c.last)
	}
	c.pending.left(&c.tally)
	return c.err
}

// describe keeps when a container lived, where that is not the whole trace.
func (c *converter) describe(k *container) {
	l := trace.Location{Rank: trace.NoRank}
	if k.created > c.first {
		l.Attributes = append(l.Attributes, trace.Attribute{Key: "created (s)", Value: trace.Number(float64(k.created) / 1e9)})
	}
	switch {
	case k.ended < c.last:
		l.Attributes = append(l.Attributes, trace.Attribute{Key: "destroyed (s)", Value: trace.Number(float64(k.ended) / 1e9)})
	case k.ended == endless && c.typeList[k.typ].destroys:
		c.tally.Add(undestroyed, nowhere)
	}
	if len(l.Attributes) > 0 {
		c.w.Describe(k.location, l)
	}
}
