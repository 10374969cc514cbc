package chrometrace

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A span is one half of an asynchronous interval that waits for the other.
type span struct {
	at     trace.Time
	region trace.RegionID
	row    *row
	end    bool
	attrs  []attributeValue
}

type attributeValue struct {
	id    trace.AttributeID
	value trace.Value
}

// async takes records of intervals that belong to an id, not to a thread: they
// may begin on one thread and end on another, and overlap others of their kind.
// Begin and end are paired by category, id and region; files are in no order, so
// an end may come first.
func (c *reader) async(r *record, at trace.Time) {
	cat := c.categoryOf(r)
	p := c.process(c.place(r).pid)
	region := c.asyncRegion(cat, r)
	key := c.asyncKey(r)
	switch r.phase {
	case 'n', 'T', 'p':
		row := c.asyncRow(p, cat.name)
		row.stream.Instant(at, region)
		c.attributes(row.stream, r)
	case 'b', 'S', 'N':
		c.begin(key, span{at: at, region: region, row: c.asyncRow(p, cat.name), attrs: c.keepAttributes(r)})
	default:
		c.end(key, span{at: at, region: region, end: true}, r)
	}
	c.bindID(r, at)
}

// asyncRegion is the region of a record; steps of the old kind have a name of their own.
func (c *reader) asyncRegion(cat *category, r *record) trace.RegionID {
	step := r.argument("step")
	if (r.phase == 'T' || r.phase == 'p') && step.kind == text {
		full := append(append(append([]byte(nil), r.name.plain(nil)...), ": "...), step.plain(nil)...)
		return c.region(cat, rawValue(full, text))
	}
	return c.regionOf(r)
}

// asyncKey is the key that begin and end share. The old kind (S, F) and objects
// (N, D) are joined by their name too.
func (c *reader) asyncKey(r *record) uint64 {
	h := newHash().add(r.category.raw()).add(r.idScope.raw())
	switch {
	case r.localID.present():
		h = h.add(r.localID.raw()).add(r.pid.raw())
	case r.globalID.present():
		h = h.add(r.globalID.raw())
	default:
		h = h.add(r.id.raw())
	}
	switch r.phase {
	case 'S', 'F':
		h = h.add([]byte("S")).add(r.name.raw())
	case 'N', 'D':
		h = h.add([]byte("N")).add(r.name.raw())
	}
	return uint64(h)
}

// begin pairs a begin with the earliest end that waits for it, else lets it wait.
func (c *reader) begin(key uint64, s span) {
	waiting := c.open[key]
	best := -1
	for i, e := range waiting {
		if e.end && e.region == s.region && e.at >= s.at && (best < 0 || e.at < waiting[best].at) {
			best = i
		}
	}
	if best < 0 {
		c.open[key] = append(waiting, s)
		return
	}
	e := waiting[best]
	s.attrs = append(s.attrs, e.attrs...)
	s.write(e.at)
	c.drop(key, waiting, best)
}

// end pairs an end with the latest begin before it, else lets it wait. An end
// without a name takes any.
func (c *reader) end(key uint64, s span, r *record) {
	waiting := c.open[key]
	best := -1
	for i, b := range waiting {
		fits := !b.end && b.at <= s.at && (b.region == s.region || !r.name.present())
		if fits && (best < 0 || b.at >= waiting[best].at) {
			best = i
		}
	}
	if best < 0 {
		s.attrs = c.keepAttributes(r)
		c.open[key] = append(waiting, s)
		return
	}
	b := waiting[best]
	b.write(s.at)
	c.attributes(b.row.stream, r)
	c.drop(key, waiting, best)
}

func (c *reader) drop(key uint64, waiting []span, i int) {
	if len(waiting) == 1 {
		delete(c.open, key)
		return
	}
	c.open[key] = slices.Delete(waiting, i, i+1)
}

// write puts the interval of a begin on its row.
func (s *span) write(end trace.Time) {
	s.row.stream.Interval(s.at, end, s.region)
	for _, a := range s.attrs {
		s.row.stream.Attribute(a.id, a.value)
	}
}

// keepAttributes copies the scalar arguments of a record that has to wait.
func (c *reader) keepAttributes(r *record) []attributeValue {
	var kept []attributeValue
	for i := range r.args {
		at := c.attribute(&r.args[i])
		if at.drop {
			continue
		}
		if v, ok := c.attributeValue(at, &r.args[i], r.offset); ok {
			kept = append(kept, attributeValue{at.id, v})
		}
	}
	c.oddParts(r)
	return kept
}

// finishAsync writes intervals without an end, in order of time, and counts ends without a begin.
func (c *reader) finishAsync() {
	var begins []span
	for _, waiting := range c.open {
		for _, s := range waiting {
			if s.end {
				c.tally.Add(asyncEnds, nowhere)
				continue
			}
			begins = append(begins, s)
		}
	}
	slices.SortFunc(begins, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.row.location, b.row.location), cmp.Compare(a.at, b.at),
			cmp.Compare(a.region, b.region))
	})
	for i := range begins { // the store ends them with the trace, and knows that it did
		s := &begins[i]
		s.row.stream.Enter(s.at, s.region)
		for _, a := range s.attrs {
			s.row.stream.Attribute(a.id, a.value)
		}
	}
	c.open = nil
}

// A hash joins the parts of a key into 64 bits (FNV-1a): among ten million keys
// two meet by chance once in 370,000 files.
type hash uint64

func newHash() hash { return 14695981039346656037 }

func (h hash) add(part []byte) hash {
	for _, b := range part {
		h = (h ^ hash(b)) * 1099511628211
	}
	return (h ^ 0xff) * 1099511628211 // ends the part
}
