package finish

import (
	"cmp"

	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// rowFiles are the columns that the first pass writes.
type rowFiles struct {
	begin, duration, exclusive *disk.ColumnFile[trace.Time]
	region                     *disk.ColumnFile[trace.RegionID]
	parent                     *disk.ColumnFile[int32]
	depth                      *disk.ColumnFile[uint16]
	instantLocation            *disk.ColumnFile[trace.LocationID]
	instantTime                *disk.ColumnFile[trace.Time]
	instantRegion              *disk.ColumnFile[trace.RegionID]
	sampleTime                 *disk.ColumnFile[trace.Time]
	sampleValue                *disk.ColumnFile[float64]
	fact, instantFact          factFiles
}

type factFiles struct {
	row       *disk.ColumnFile[uint64]
	attribute *disk.ColumnFile[uint32]
	kind      *disk.ColumnFile[uint8]
	bits      *disk.ColumnFile[uint64]
}

func (f *finisher) createRowFiles() error {
	r := &f.files
	r.instantLocation, r.instantTime = disk.NewColumn[trace.LocationID](f.Dir, "instant.location.u32"),
		disk.NewColumn[trace.Time](f.Dir, "instant.time.i64")
	r.instantRegion = disk.NewColumn[trace.RegionID](f.Dir, "instant.region.u32")
	r.sampleTime, r.sampleValue = disk.NewColumn[trace.Time](f.Dir, "sample.time.i64"),
		disk.NewColumn[float64](f.Dir, "sample.value.f64")
	r.fact, r.instantFact = newFactFiles(f.Dir, "interval_fact"), newFactFiles(f.Dir, "instant_fact")
	if f.own == nil {
		r.fact.row, r.fact.attribute = nil, nil // they are packed as they come
	}
	defer func() { r.passes(f.described.passing) }()
	return cmp.Or(
		create(f.Dir, "interval.begin.i64", &r.begin),
		create(f.Dir, "interval.duration.i64", &r.duration),
		create(f.Dir, "interval.exclusive.i64", &r.exclusive),
		create(f.Dir, "interval.region.u32", &r.region),
		create(f.Dir, "interval.parent.i32", &r.parent),
		create(f.Dir, "interval.depth.u16", &r.depth),
	)
}

func (r *rowFiles) passes(passing bool) {
	r.begin.Passes(passing)
	r.duration.Passes(passing)
	r.exclusive.Passes(passing)
	r.region.Passes(passing)
	r.parent.Passes(passing)
	r.depth.Passes(passing)
	r.instantLocation.Passes(passing)
	r.instantTime.Passes(passing)
	r.instantRegion.Passes(passing)
	r.sampleTime.Passes(passing)
	r.sampleValue.Passes(passing)
	for _, facts := range []*factFiles{&r.fact, &r.instantFact} {
		facts.row.Passes(passing)
		facts.attribute.Passes(passing)
		facts.kind.Passes(passing)
		facts.bits.Passes(passing)
	}
}

func newFactFiles(dir, table string) factFiles {
	return factFiles{
		disk.NewColumn[uint64](dir, table+".row.u64"), disk.NewColumn[uint32](dir, table+".attribute.u32"),
		disk.NewColumn[uint8](dir, table+".kind.u8"), disk.NewColumn[uint64](dir, table+".bits.u64"),
	}
}

func create[T any](dir, name string, to **disk.ColumnFile[T]) (err error) {
	*to, err = disk.CreateColumn[T](dir, name)
	return err
}

func (f *finisher) closeRowFiles() error {
	r := &f.files
	return cmp.Or(
		r.begin.Close(), r.duration.Close(), r.exclusive.Close(), r.region.Close(), r.parent.Close(), r.depth.Close(),
		r.instantLocation.Close(), r.instantTime.Close(), r.instantRegion.Close(), r.sampleTime.Close(),
		r.sampleValue.Close(),
		r.fact.close(), r.instantFact.close(),
	)
}

func (r *factFiles) close() error {
	return cmp.Or(r.row.Close(), r.attribute.Close(), r.kind.Close(), r.bits.Close())
}
