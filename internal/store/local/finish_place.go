package local

import (
	"cmp"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// placedColumns write the tables instant, sample and both of facts, each from the
// row where a job's part begins.
type placedColumns struct {
	instantLocation cursor[trace.LocationID]
	instantTime     cursor[trace.Time]
	instantRegion   cursor[trace.RegionID]
	sampleTime      cursor[trace.Time]
	sampleValue     cursor[float64]
	facts           factCursor
	instantFacts    factCursor
	err             error
}

// A factCursor writes a table of facts.
type factCursor struct {
	row       cursor[uint64]
	attribute cursor[uint32]
	kind      cursor[uint8]
	bits      cursor[uint64]
}

func (c *factCursor) seek(at int64) {
	c.row.seek(at)
	c.attribute.seek(at)
	c.kind.seek(at)
	c.bits.seek(at)
}

func (c *factCursor) add(r *factRecord) {
	c.row.add(r.key)
	c.attribute.add(r.attribute)
	c.kind.add(r.kind)
	c.bits.add(r.bits)
}

func (c *factCursor) finish() error {
	return cmp.Or(c.row.finish(), c.attribute.finish(), c.kind.finish(), c.bits.finish())
}

func (p *placedColumns) init(f *finisher) {
	p.instantLocation.to, p.instantTime.to, p.instantRegion.to = f.files.instantLocation, f.files.instantTime, f.files.instantRegion
	p.sampleTime.to, p.sampleValue.to = f.files.sampleTime, f.files.sampleValue
	p.facts.row.to, p.facts.attribute.to, p.facts.kind.to, p.facts.bits.to = f.files.fact.row, f.files.fact.attribute, f.files.fact.kind, f.files.fact.bits
	q := &f.files.instantFact
	p.instantFacts.row.to, p.instantFacts.attribute.to, p.instantFacts.kind.to, p.instantFacts.bits.to = q.row, q.attribute, q.kind, q.bits
}

func (p *placedColumns) start(at counts) {
	p.instantLocation.seek(at.instants)
	p.instantTime.seek(at.instants)
	p.instantRegion.seek(at.instants)
	p.sampleTime.seek(at.samples)
	p.sampleValue.seek(at.samples)
	p.facts.seek(at.facts)
	p.instantFacts.seek(at.instantFacts)
}

func (p *placedColumns) finish() error {
	p.fail(cmp.Or(p.instantLocation.finish(), p.instantTime.finish(), p.instantRegion.finish(),
		p.sampleTime.finish(), p.sampleValue.finish(), p.facts.finish(), p.instantFacts.finish()))
	return p.err
}

func (p *placedColumns) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// place writes what a location has besides its rows.
func (w *rowWorker) place(id trace.LocationID) error {
	w.placeInstants(id)
	w.placeSamples()
	prepare := func(r *factRecord) { r.key = w.rows.row(r.key) }
	w.fail(w.facts.sorted(prepare, factOrder, func(r *factRecord) error {
		w.out.facts.add(r)
		return nil
	}))
	w.fail(w.rows.places.drop())
	return w.out.err
}

var factOrder = order[factRecord]{key: func(r *factRecord) int64 { return int64(r.key) }}

func (w *rowWorker) placeInstants(id trace.LocationID) {
	next := uint64(w.out.instantTime.position())
	facts := w.instantFacts.Len() > 0
	if facts {
		w.fail(w.places.make(w.instants.Len()))
	}
	byTime := order[instantRecord]{key: func(r *instantRecord) int64 { return int64(r.time) }}
	w.fail(w.instants.sorted(nil, byTime, func(r *instantRecord) error {
		w.out.instantLocation.add(id)
		w.out.instantTime.add(r.time)
		w.out.instantRegion.add(renumbered(w.f.regionNumber, r.region))
		if facts {
			w.places.at[r.seq] = next
		}
		next++
		return nil
	}))
	w.fail(w.instantFacts.sorted(func(r *factRecord) { r.key = w.places.at[r.key] }, factOrder, func(r *factRecord) error {
		w.out.instantFacts.add(r)
		return nil
	}))
	w.fail(w.places.drop())
}

func (w *rowWorker) placeSamples() {
	by := order[sampleRecord]{
		func(r *sampleRecord) int64 { return int64(r.counter) }, func(a, b *sampleRecord) int { return cmp.Compare(a.time, b.time) },
	}
	w.fail(w.samples.sorted(nil, by, func(r *sampleRecord) error {
		c := &w.f.counters[r.counter]
		if c.count == 0 {
			c.first = uint64(w.out.sampleTime.position())
		}
		c.count++
		c.growth.Add(r.value)
		w.out.sampleTime.add(r.time)
		w.out.sampleValue.add(r.value)
		return nil
	}))
}
