package paje

import "github.com/parallax-hpc/parallax/internal/trace"

// target finds the container and type of a record, and checks that they fit. Without a container there is nothing
// more to do, if that is known.
func (c *resolver) target(r *record, wants op) (k *container, t *typ, known bool) {
	k, t = c.container(r.words[wordContainer]), c.types.get(r.words[wordType])
	if k == nil || t == nil {
		f := c.again(r)
		if t = c.typeOf(f.of[fieldType]); t == nil {
			return nil, nil, c.defines
		}
		if k = c.containerOf(f.of[fieldContainer]); k == nil {
			return nil, nil, c.defines
		}
	}
	if t.op != wants {
		c.note(wrongNature)
		return nil, nil, true
	}
	if t.parent.index != k.typ {
		c.note(foreignState)
	}
	if (k.shard == 0 || r.time > k.ended) && !c.ready(k, r.time) {
		return nil, nil, false
	}
	return k, t, true
}

// state takes the four events of states.
func (c *resolver) state(r *record) bool {
	k, t, known := c.target(r, opStateType)
	if k == nil {
		return known
	}
	var row *stateRow
	if k.states.kind != t.index {
		if row = c.rowOf(k, t); row == nil {
			if !c.defines {
				return false
			}
			row = c.addRow(k, t)
		}
	}
	what := act{op: r.layout.op}
	if what.op == opSetState || what.op == opPushState {
		if what, known = c.valueOf(t, r); !known {
			return false
		}
	} else if r.layout.own {
		c.note(endFields)
	}
	c.b.seen.see(r.time)
	d := c.add(k, r.line)
	d.time, d.row, d.act = r.time, row, what
	return true
}

// valueOf finds the region of a record's value, and whether the value or the record's own fields become attributes.
func (c *resolver) valueOf(t *typ, r *record) (what act, known bool) {
	m := c.value(t, r.words[wordValue])
	if m == nil {
		word := c.word(r, wordValue, fieldValue)
		if m = c.value(t, word); m == nil {
			if !c.defines {
				return what, false
			}
			m = c.meaningOf(t, word, c.again(r).of[fieldValue])
		}
	}
	if m.region == trace.NoRegion {
		if !c.defines {
			return what, false
		}
		c.defineRegion(m)
	}
	c.needs = m.keep || r.layout.own
	return act{m.region, r.layout.op, m.keep, r.layout.own}, !r.layout.own || c.named(r)
}

// named sees to it that the attributes have their numbers that fields of the writer's own become.
func (c *resolver) named(r *record) bool {
	l := r.layout
	missing := false
	for i, f := range l.fields {
		missing = missing || f == fieldOwn && l.ids[i].Load() == 0
	}
	if !missing {
		return true
	}
	for _, own := range c.again(r).own {
		if len(own.word) == 0 || l.ids[own.at].Load() != 0 {
			continue
		}
		if !c.defines {
			return false
		}
		l.ids[own.at].Store(uint32(c.attributes.ID(own.name)) + 1)
	}
	return true
}

// event takes PajeNewEvent.
func (c *resolver) event(r *record) bool {
	k, t, known := c.target(r, opEventType)
	if k == nil {
		return known
	}
	what, known := c.valueOf(t, r)
	if !known {
		return false
	}
	c.b.seen.see(r.time)
	d := c.add(k, r.line)
	d.time, d.act = r.time, what
	return true
}

// A variable is one series, with the value that additions go on from, which only the shard of its container knows.
type variable struct {
	counter trace.CounterID
	value   float64
	set     bool
}

type variableKey struct {
	location trace.LocationID
	kind     uint32
}

// sample takes the three events of variables.
func (c *resolver) sample(r *record) bool {
	k, t, known := c.target(r, opVariableType)
	if k == nil {
		return known
	}
	key := variableKey{k.location, t.index}
	v := c.variables[key]
	if v == nil {
		if !c.defines {
			return false
		}
		v = &variable{counter: c.w.Counter(trace.Counter{Location: k.location, Name: t.name, Unit: t.unit})}
		c.variables[key] = v
	}
	if r.layout.own {
		c.note(variableFields)
	}
	c.needs = true
	c.b.seen.see(r.time)
	d := c.add(k, r.line)
	d.time, d.variable, d.act = r.time, v, act{op: r.layout.op}
	return true
}
