package perfetto

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A pairer joins begins and ends to intervals, and holds back records that come before their track is described.
type pairer struct {
	rowTree

	held int
}

// A lane holds the open begins of one sequence on one track. Ends close the
// innermost begin of their own sequence, in the order of the file, which is the
// order in which the program said them. Begins and ends that find no partner so
// (they are from different threads) are matched at the end of the file, by time.
type lane struct {
	*track
	open []openSlice
	used int // of open; slots beyond keep their memory
}

// An openSlice is an interval whose end has not come.
type openSlice struct {
	begin  trace.Time
	region trace.RegionID
	facts  []fact
	// inner are whole intervals that began at the same time: they are written
	// after this one, so that they are within it even if they end together.
	inner []held
}

// A fact is an attribute of a record.
type fact struct {
	id    trace.AttributeID
	value trace.Value
}

// A stray is an end that found no begin in its own sequence.
type stray struct {
	time  trace.Time
	facts []fact
}

// A held record waits for the description of its track.
type held struct {
	begin, end trace.Time
	region     trace.RegionID
	kind       heldKind
	value      float64
	facts      []fact
}

type heldKind uint8

const (
	heldInterval heldKind = iota
	heldInstant
	heldSample
	heldOpen
)

// mostHeld bounds the records that wait for descriptions of tracks.
const mostHeld = 1 << 16

// push opens an interval and returns it, to be filled in.
func (l *lane) push() *openSlice {
	if l.used == len(l.open) {
		l.open = append(l.open, openSlice{})
	}
	s := &l.open[l.used]
	s.facts, s.inner = s.facts[:0], s.inner[:0]
	l.used++
	return s
}

// find looks for the innermost open interval that an end may mean: one of the same
// name and category, where the end gives them. -1 for none.
func (c *pairer) find(l *lane, name, category string) int {
	for i := l.used - 1; i >= 0; i-- {
		s := c.names[l.open[i].region]
		if (name == "" || s.name == "" || s.name == name) &&
			(category == "" || s.category == "" || s.category == category) {
			return i
		}
	}
	return -1
}

// remove takes out an open interval; its memory is kept for another.
func (l *lane) remove(i int) {
	if l.used--; i < l.used {
		s := l.open[i]
		copy(l.open[i:], l.open[i+1:l.used+1])
		l.open[l.used] = s
	}
}

// close ends the open interval i. One that began together with the interval
// around it waits for that one's end.
func (c *pairer) close(l *lane, i int, end trace.Time) {
	o := &l.open[i]
	if i == 0 || i < l.used-1 || l.open[i-1].begin != o.begin {
		c.interval(l.track, o.begin, end, o.region, o.facts)
		c.writeInner(l.track, o.inner)
	} else {
		around := &l.open[i-1]
		around.inner = append(around.inner,
			held{begin: o.begin, end: end, region: o.region, facts: slices.Clone(o.facts)})
		around.inner = append(around.inner, o.inner...)
	}
	l.remove(i)
}

func (c *pairer) writeInner(t *track, inner []held) {
	for i := range inner {
		c.interval(t, inner[i].begin, inner[i].end, inner[i].region, inner[i].facts)
	}
}

// interval writes a whole interval.
func (c *pairer) interval(t *track, begin, end trace.Time, region trace.RegionID, facts []fact) {
	r := c.rowFor(t, region)
	if r == nil {
		c.hold(t, held{begin: begin, end: end, region: region, kind: heldInterval, facts: facts})
		return
	}
	r.Stream.Interval(begin, end, region)
	tell(r.Stream, facts)
}

func (c *pairer) instant(t *track, at trace.Time, region trace.RegionID, facts []fact) {
	r := c.place(t)
	if r == nil {
		c.hold(t, held{begin: at, region: region, kind: heldInstant, facts: facts})
		return
	}
	r.Stream.Instant(at, region)
	tell(r.Stream, facts)
}

// sample writes a value of a counter, which may be on a track of its own.
func (c *pairer) sample(t *track, at trace.Time, value float64) {
	r := c.place(t)
	if r == nil {
		c.hold(t, held{begin: at, value: value, kind: heldSample})
		return
	}
	c.write(t, r, &held{begin: at, value: value, kind: heldSample})
}

func tell(s trace.Stream, facts []fact) {
	for _, f := range facts {
		s.Attribute(f.id, f.value)
	}
}

// hold keeps a record until its track is described, within bounds.
func (c *pairer) hold(t *track, h held) {
	h.facts = slices.Clone(h.facts)
	t.held = append(t.held, h)
	if c.held++; c.held > mostHeld {
		c.settle()
	}
}

// settle writes all records that wait. Tracks that nothing describes get a row of
// their own at the top.
func (c *pairer) settle() {
	for _, t := range c.order {
		if len(t.held) == 0 {
			continue
		}
		r := c.rowFor(t, t.held[0].region)
		if r == nil {
			c.tally.AddN(unknownTracks, int64(len(t.held)), nowhere)
			if t.kind == undescribed {
				t.kind = ofProgram
			}
			t.parent = 0
		}
		for i := range t.held {
			h := &t.held[i]
			if h.kind == heldSample {
				r = c.place(t)
			} else {
				r = c.rowFor(t, h.region)
			}
			c.write(t, r, h)
		}
		t.held = nil
	}
	c.held = 0
}

func (c *pairer) write(t *track, r *row, h *held) {
	switch h.kind {
	case heldInterval:
		r.Stream.Interval(h.begin, h.end, h.region)
	case heldInstant:
		r.Stream.Instant(h.begin, h.region)
	case heldOpen:
		r.Stream.Enter(h.begin, h.region)
	case heldSample:
		if !t.counts {
			name := cmp.Or(t.name, "(no name)")
			t.counter, t.counts = c.w.Counter(trace.Counter{Location: r.At, Name: name, Unit: t.unit}), true
		}
		r.Stream.Sample(t.counter, h.begin, h.value)
		return
	}
	tell(r.Stream, h.facts)
}

// pairLeftovers matches the begins and ends of a track that found no partner in
// their own sequence, by time. Begins that stay are left open: the writer closes
// them at the end of the trace and counts them.
func (c *pairer) pairLeftovers(t *track) {
	var begins []openSlice
	for _, l := range t.lanes {
		begins = append(begins, l.open[:l.used]...)
	}
	if len(begins) == 0 && len(t.strays) == 0 {
		return
	}
	slices.SortStableFunc(begins, func(a, b openSlice) int { return cmp.Compare(a.begin, b.begin) })
	slices.SortStableFunc(t.strays, func(a, b stray) int { return cmp.Compare(a.time, b.time) })
	var stack []openSlice
	next := 0
	for i := range t.strays {
		e := &t.strays[i]
		for ; next < len(begins) && begins[next].begin <= e.time; next++ {
			stack = append(stack, begins[next])
		}
		if len(stack) == 0 {
			c.tally.Add(strayEnds, nowhere)
			continue
		}
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		c.interval(t, s.begin, e.time, s.region, append(s.facts, e.facts...))
		c.writeInner(t, s.inner)
	}
	for _, s := range append(stack, begins[next:]...) {
		if r := c.rowFor(t, s.region); r != nil {
			c.write(t, r, &held{begin: s.begin, region: s.region, kind: heldOpen, facts: s.facts})
		} else {
			c.hold(t, held{begin: s.begin, region: s.region, kind: heldOpen, facts: s.facts})
		}
		c.writeInner(t, s.inner)
	}
	t.strays, t.lanes = nil, nil
}
