package finish

import (
	"cmp"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// placedColumns write the tables instant, sample and both of facts, each from the
// row where a job's part begins.
type placedColumns struct {
	instantLocation disk.Cursor[trace.LocationID]
	instantTime     disk.Cursor[trace.Time]
	instantRegion   disk.Cursor[trace.RegionID]
	sampleTime      disk.Cursor[trace.Time]
	sampleValue     disk.Cursor[float64]
	series          []seriesCursor
	facts           factCursor
	instantFacts    factCursor
	base            counts // before the first location whose rows are made; rows of table interval have their place
	err             error
}

// A factCursor writes a table of facts.
type factCursor struct {
	row       disk.Cursor[uint64]
	attribute disk.Cursor[uint32]
	kind      disk.Cursor[uint8]
	bits      disk.Cursor[uint64]
	keys      *jobFacts // takes rows and attributes where they are packed
}

func (c *factCursor) seek(at int64) {
	if c.keys != nil {
		c.keys.start(at)
	}
	c.row.MoveTo(at)
	c.attribute.MoveTo(at)
	c.kind.MoveTo(at)
	c.bits.MoveTo(at)
}

func (c *factCursor) add(r *factRecord) {
	if c.keys != nil {
		c.keys.add(r.key, r.attribute)
	} else {
		c.row.Add(r.key)
		c.attribute.Add(r.attribute)
	}
	c.kind.Add(r.kind)
	c.bits.Add(r.bits)
}

func (c *factCursor) finish() error {
	if c.keys != nil {
		if err := c.keys.finish(); err != nil {
			return err
		}
	}
	return cmp.Or(c.row.Finish(), c.attribute.Finish(), c.kind.Finish(), c.bits.Finish())
}

func (p *placedColumns) init(f *finisher) {
	p.instantLocation.To, p.instantTime.To, p.instantRegion.To = f.files.instantLocation, f.files.instantTime,
		f.files.instantRegion
	p.sampleTime.To, p.sampleValue.To = f.files.sampleTime, f.files.sampleValue
	if f.own != nil {
		p.base = f.own.base
		p.facts.row.To, p.facts.attribute.To = f.files.fact.row, f.files.fact.attribute
	}
	p.facts.kind.To, p.facts.bits.To = f.files.fact.kind, f.files.fact.bits
	q := &f.files.instantFact
	p.instantFacts.row.To, p.instantFacts.attribute.To, p.instantFacts.kind.To, p.instantFacts.bits.To = q.row,
		q.attribute, q.kind, q.bits
}

func (p *placedColumns) start(at counts) {
	at = at.minus(&p.base)
	p.instantLocation.MoveTo(at.instants)
	p.instantTime.MoveTo(at.instants)
	p.instantRegion.MoveTo(at.instants)
	p.sampleTime.MoveTo(at.samples)
	p.sampleValue.MoveTo(at.samples)
	p.facts.seek(at.facts)
	p.instantFacts.seek(at.instantFacts)
}

func (p *placedColumns) finish() error {
	p.fail(cmp.Or(p.instantLocation.Finish(), p.instantTime.Finish(), p.instantRegion.Finish(),
		p.sampleTime.Finish(), p.sampleValue.Finish(), p.facts.finish(), p.instantFacts.finish()))
	return p.err
}

func (p *placedColumns) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// place writes the data of a location besides its rows.
func (w *rowWorker) place(id trace.LocationID) error {
	if w.instants.Len() > 0 {
		w.placeInstants(id)
	}
	w.placeSamples()
	if w.facts.Len() == 0 {
		return w.out.err
	}
	prepare := func(r *factRecord) { r.key = w.rows.row(r.key) }
	w.fail(w.facts.Sorted(prepare, factOrder, func(r *factRecord) error {
		w.out.facts.add(r)
		return nil
	}))
	w.fail(w.rows.places.drop())
	return w.out.err
}

var factOrder = spool.Order[factRecord]{Key: func(r *factRecord) int64 { return int64(r.key) }}

func (w *rowWorker) placeInstants(id trace.LocationID) {
	next := uint64(w.out.instantTime.Position() + w.out.base.instants)
	facts := w.instantFacts.Len() > 0
	if facts {
		w.fail(w.places.make(w.instants.Len()))
	}
	byTime := spool.Order[instantRecord]{Key: func(r *instantRecord) int64 { return int64(r.time) }}
	w.fail(w.instants.Sorted(nil, byTime, func(r *instantRecord) error {
		w.out.instantLocation.Add(id)
		w.out.instantTime.Add(r.time)
		w.out.instantRegion.Add(renumbered(w.f.regionNumber, r.region))
		if facts {
			w.places.at[r.seq] = next
		}
		next++
		return nil
	}))
	w.fail(w.instantFacts.Sorted(func(r *factRecord) { r.key = w.places.at[r.key] }, factOrder,
		func(r *factRecord) error {
			w.out.instantFacts.add(r)
			return nil
		}))
	w.fail(w.places.drop())
}
