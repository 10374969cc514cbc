package paje

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A resolver finds the meaning of records, and the work to be done for them. Parsers have one each, which may
// only look up, and leaves records where something is not there. The converter has one that defines.
type resolver struct {
	*converter
	defines bool
	looks   bool // holds the lock to look up
	since   int  // records since it got it

	b      *block
	at     uint32 // index of the record
	needs  bool   // it is needed later
	noted  []reason
	fields fields
}

// A deed is the work of a shard for a record. Only the fields are set that its op has.
type deed struct {
	time     trace.Time
	k        *container
	row      *stateRow // of states; nil for those on the container itself
	variable *variable // of a sample
	act
	line   uint32 // within the block
	record uint32 // index, where the record is needed
}

// An act is an operation and its region.
type act struct {
	region trace.RegionID
	op     op   // opDestroy: the states end, and the stream
	keep   bool // the value becomes an attribute
	facts  bool // fields of the writer's own become attributes
}

// begin makes ready to look up the records of a block as they come.
func (c *resolver) begin(b *block) {
	b.spread(len(c.shards))
	c.b = b
	c.mu.RLock()
	c.looks, c.since = true, 0
	b.rebound, b.destroyed = c.rebound, c.destroyed
}

// release ends the looking up.
func (c *resolver) release() {
	if c.looks {
		c.looks = false
		c.mu.RUnlock()
	}
}

// longLook is the number of records that are looked up before the converter may define something in between.
const longLook = 256

// lookUp resolves the last record of the block. Most are not needed any more then.
func (c *resolver) lookUp() {
	if c.since++; c.since == longLook {
		c.release()
		c.mu.RLock()
		c.looks, c.since = true, 0
	}
	b := c.b
	n := len(b.records) - 1
	c.at = uint32(n)
	if c.rebound != b.rebound || !c.resolve(&b.records[n]) {
		// If more is left than found, such as before anything is defined, nothing is gained.
		if b.leave(); c.rebound != b.rebound || len(b.rest) > len(b.deeds)+len(b.links)+longLook {
			c.release()
		}
	} else if !c.needs {
		b.records = b.records[:n]
	}
}

// settle resolves the records of a block that are left.
func (c *resolver) settle(b *block) {
	c.b = b
	for _, i := range b.rest {
		c.at = i
		c.resolve(&b.records[i])
	}
}

// resolve takes one record; it is false if that is left to the converter.
func (c *resolver) resolve(r *record) (ok bool) {
	c.needs = false
	switch r.layout.op {
	case opSetState, opPushState, opPopState, opResetState:
		ok = c.state(r)
	case opSetVariable, opAddVariable, opSubVariable:
		ok = c.sample(r)
	case opEvent:
		ok = c.event(r)
	case opStartLink, opEndLink:
		ok = c.link(r)
	default:
		c.rare(r)
		ok = true
	}
	if len(c.noted) > 0 {
		c.count(r, ok)
	}
	return ok
}

// note keeps a reason until the record is resolved.
func (c *resolver) note(why reason) { c.noted = append(c.noted, why) }

// count counts the notes of a record; if it is left to the converter, that will.
func (c *resolver) count(r *record, ok bool) {
	if ok {
		for _, why := range c.noted {
			c.b.meant.Add(why, int64(r.line))
		}
	}
	c.noted = c.noted[:0]
}

// add puts a deed on the list of its shard, to be filled in. A value made first and copied then waits for its own
// stores.
func (c *resolver) add(k *container, line uint32) *deed {
	b, n := c.b, len(c.b.deeds)
	b.deedsOf[k.shard-1].add(uint32(n), c.defines)
	if n == cap(b.deeds) {
		b.deeds = slices.Grow(b.deeds, n+64)
	}
	b.deeds = b.deeds[:n+1]
	d := &b.deeds[n]
	d.k, d.line, d.record = k, line, c.at
	return d
}

// rare takes the events whose fields the parser leaves alone.
func (c *resolver) rare(r *record) {
	f := c.again(r)
	if f.few {
		c.note(fewFields)
		return
	}
	if f.unclosed {
		c.note(unclosedQuote)
	}
	if f.more {
		c.note(moreFields)
	}
	switch r.layout.op {
	case opEntityValue:
		c.defineValue(f)
	case opTraceFile:
		c.include(f)
	case opCreate, opDestroy:
		t, _, ok := parseTime(f.of[fieldTime], c.unit)
		if !ok {
			c.note(badTime)
			if r.layout.op == opDestroy {
				return
			}
			seen := c.seen
			seen.add(c.b.seen)
			t = seen.first
		}
		f.time = t
		c.b.seen.see(t)
		if r.layout.op == opCreate {
			c.create(f)
		} else {
			c.destroy(f)
		}
	default:
		c.defineType(r.layout, f)
	}
}

// include keeps the name of a file that belongs to the trace.
func (c *tree) include(f *fields) {
	const most = 1 << 16
	if name := f.of[fieldFilename]; len(name) > 0 && len(c.parts) < most {
		c.parts = append(c.parts, string(name))
	}
}

// end ends the open states of a container.
func (c *resolver) end(k *container) {
	if k.shard == 0 {
		return
	}
	for r := range c.eachRow(k) {
		d := c.add(k, c.b.records[c.at].line)
		d.time, d.row, d.act = k.ended, r, act{op: opDestroy}
	}
}

// fields are the words of one line by their field.
type fields struct {
	of       [fieldCount][]byte
	own      []ownField
	time     trace.Time
	few      bool // fewer than the event needs
	more     bool
	unclosed bool
}

// An ownField is one of the writer's own.
type ownField struct {
	name   string
	word   []byte
	at     int // among the fields of the event
	number bool
}

// word returns a word of a record, also one that the parser did not number.
func (c *resolver) word(r *record, i int, f field) symbol {
	if s := r.words[i]; s != bare {
		return s
	}
	if s := c.symbols.lookup(c.again(r).of[f]); s != noSymbol {
		return s
	}
	return bare
}

// again splits a line into its words once more, for fields that are not needed of every line.
func (c *resolver) again(r *record) *fields {
	c.fields.again(r, c.b.data)
	return &c.fields
}

func (f *fields) again(r *record, data []byte) {
	*f = fields{own: f.own[:0]}
	f.cut(r.layout, data[r.at:r.end])
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
			f.own = append(f.own, ownField{l.names[k], w, k, l.number[k]})
		} else {
			f.of[what] = w
		}
	}
	w, _, _ := word(text, i)
	f.more = len(w) > 0
}
