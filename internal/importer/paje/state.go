package paje

import "github.com/parallax-hpc/parallax/internal/trace"

// maxStack bounds how many states may be open on one container and type.
const maxStack = 1 << 20

// target finds the container and type of a record, and checks that they fit.
func (c *tree) target(r *record, wants op) (*container, *typ) {
	line := c.base + int64(r.line)
	k, t := c.container(r.words[wordContainer]), c.types.get(r.words[wordType])
	if k == nil || t == nil {
		f := c.again(r)
		if t = c.typeOf(f.of[fieldType], line); t == nil {
			return nil, nil
		}
		if k = c.containerOf(f.of[fieldContainer], line); k == nil {
			return nil, nil
		}
	}
	if t.op != wants {
		c.tally.Add(wrongNature, line)
		return nil, nil
	}
	if t.parent.index != k.typ {
		c.tally.Add(foreignState, line)
	}
	if r.time > k.ended {
		c.tally.Add(afterDestroy, line)
	}
	c.see(r.time)
	return k, t
}

// state takes the four events of states.
func (c *converter) state(r *record) {
	k, t := c.target(r, opStateType)
	if k == nil {
		return
	}
	line := c.base + int64(r.line)
	if r.time < k.last {
		c.tally.Add(disorder, line)
	} else {
		k.last = r.time
	}
	track := c.track(k, t)
	if track == nil {
		track = c.addTrack(k, t)
	}
	s := c.streamOf(k, track)
	switch r.layout.op {
	case opPopState:
		c.pop(s, track, r.time, line)
	case opSetState, opResetState:
		c.clear(track, s, r.time)
	}
	if r.layout.own && (r.layout.op == opPopState || r.layout.op == opResetState) {
		c.tally.Add(endFields, line)
	}
	if r.layout.op == opSetState || r.layout.op == opPushState {
		c.enter(s, track, t, r)
	}
}

func (c *converter) pop(s trace.Stream, track *track, t trace.Time, line int64) {
	if track.depth == 0 {
		c.tally.Add(strayPop, line)
		return
	}
	s.Leave(t, c.drop(track))
}

// enter opens a state, and keeps the writer's own fields with it.
func (c *converter) enter(s trace.Stream, track *track, t *typ, r *record) {
	m, text := c.valueOf(t, r)
	region := c.regionOf(m)
	s.Enter(r.time, region)
	if track.depth < maxStack {
		track.set = track.set || r.layout.op == opSetState
		c.push(track, region)
	} else {
		s.Leave(r.time, region)
	}
	c.facts(s, m, text, r)
}

// valueOf gives the meaning of a record's value; its text where that is needed.
func (c *converter) valueOf(t *typ, r *record) (*meaning, []byte) {
	m := c.value(t, r.words[wordValue])
	if m == nil {
		word := c.word(r, wordValue, fieldValue)
		if m = c.value(t, word); m == nil {
			text := c.again(r).of[fieldValue]
			return c.meaningOf(t, word, text, c.base+int64(r.line)), text
		}
	}
	if m.keep {
		return m, c.again(r).of[fieldValue]
	}
	return m, nil
}

// facts adds attributes to the record given to the stream last.
func (c *converter) facts(s trace.Stream, m *meaning, text []byte, r *record) {
	if m.keep {
		s.Attribute(c.attributes.ID("value"), value(text, true))
	}
	if !r.layout.own {
		return
	}
	for _, own := range c.again(r).own {
		if len(own.word) > 0 {
			s.Attribute(c.attributes.ID(own.name), value(own.word, true))
		}
	}
}

// event takes PajeNewEvent.
func (c *converter) event(r *record) {
	k, t := c.target(r, opEventType)
	if k == nil {
		return
	}
	m, text := c.valueOf(t, r)
	s := c.open(k)
	s.Instant(r.time, c.regionOf(m))
	c.facts(s, m, text, r)
}

// A variable is one series, with the value that additions go on from.
type variable struct {
	counter trace.CounterID
	value   float64
	set     bool
}

type variableKey struct {
	location trace.LocationID
	kind     uint32
}

// variable takes the three events of variables.
func (c *converter) variable(r *record) {
	k, t := c.target(r, opVariableType)
	if k == nil {
		return
	}
	line := c.base + int64(r.line)
	s := c.open(k)
	key := variableKey{k.location, t.index}
	v := c.variables[key]
	if v == nil {
		v = &variable{counter: c.w.Counter(trace.Counter{Location: k.location, Name: t.name, Unit: t.unit})}
		c.variables[key] = v
	}
	if r.layout.op != opSetVariable && !v.set {
		c.tally.Add(unsetVariable, line)
	}
	switch v.set = true; r.layout.op {
	case opSetVariable:
		v.value = r.number
	case opAddVariable:
		v.value += r.number
	case opSubVariable:
		v.value -= r.number
	}
	s.Sample(v.counter, r.time, v.value)
	if r.layout.own {
		c.tally.Add(variableFields, line)
	}
}
