package local

import (
	"cmp"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// rowFiles are the columns that the first pass writes.
type rowFiles struct {
	begin, duration, exclusive *columnFile[trace.Time]
	region                     *columnFile[trace.RegionID]
	parent                     *columnFile[int32]
	depth                      *columnFile[uint16]
	instantLocation            *columnFile[trace.LocationID]
	instantTime                *columnFile[trace.Time]
	instantRegion              *columnFile[trace.RegionID]
	sampleTime                 *columnFile[trace.Time]
	sampleValue                *columnFile[float64]
	fact, instantFact          factFiles
}

type factFiles struct {
	row       *columnFile[uint64]
	attribute *columnFile[uint32]
	kind      *columnFile[uint8]
	bits      *columnFile[uint64]
}

func (f *finisher) createRowFiles() error {
	r := &f.files
	return cmp.Or(
		create(f.dir, "interval.begin.i64", &r.begin),
		create(f.dir, "interval.duration.i64", &r.duration),
		create(f.dir, "interval.exclusive.i64", &r.exclusive),
		create(f.dir, "interval.region.u32", &r.region),
		create(f.dir, "interval.parent.i32", &r.parent),
		create(f.dir, "interval.depth.u16", &r.depth),
		create(f.dir, "instant.location.u32", &r.instantLocation),
		create(f.dir, "instant.time.i64", &r.instantTime),
		create(f.dir, "instant.region.u32", &r.instantRegion),
		create(f.dir, "sample.time.i64", &r.sampleTime),
		create(f.dir, "sample.value.f64", &r.sampleValue),
		r.fact.create(f.dir, "interval_fact"),
		r.instantFact.create(f.dir, "instant_fact"),
	)
}

func (r *factFiles) create(dir, table string) error {
	return cmp.Or(
		create(dir, table+".row.u64", &r.row), create(dir, table+".attribute.u32", &r.attribute),
		create(dir, table+".kind.u8", &r.kind), create(dir, table+".bits.u64", &r.bits),
	)
}

func create[T any](dir, name string, to **columnFile[T]) (err error) {
	*to, err = createColumn[T](dir, name)
	return err
}

func (f *finisher) closeRowFiles() error {
	r := &f.files
	return cmp.Or(
		r.begin.close(), r.duration.close(), r.exclusive.close(), r.region.close(), r.parent.close(), r.depth.close(),
		r.instantLocation.close(), r.instantTime.close(), r.instantRegion.close(), r.sampleTime.close(), r.sampleValue.close(),
		r.fact.close(), r.instantFact.close(),
	)
}

func (r *factFiles) close() error {
	return cmp.Or(r.row.close(), r.attribute.close(), r.kind.close(), r.bits.close())
}
