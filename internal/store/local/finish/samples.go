package finish

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Samples are ordered by counter and time. The number of samples of a counter is known before, and most come in the
// order of time: these are written to their place as they come. If one counter of a location is out of order, or it
// has more counters than are worth a buffer each, its samples are sorted.

// A series is a counter that has samples, by the store's numbers.
type series struct {
	location   trace.LocationID
	counter    trace.CounterID
	count      uint32
	disordered bool
}

// mostSeries is how many counters of a location are written at once: 64 KiB each.
const mostSeries = 64

// orderSeries lists the counters that have samples in the order in which these lie.
func orderSeries(f *finisher) (list []series) {
	for id, s := range f.Def.Series {
		if s.Count > 0 {
			list = append(list,
				series{f.order.numberOf(s.Location), renumbered(f.counterNumber, trace.CounterID(id)), s.Count,
					s.Disordered})
		}
	}
	slices.SortFunc(list, func(a, b series) int {
		return cmp.Or(cmp.Compare(a.location, b.location), cmp.Compare(a.counter, b.counter))
	})
	return list
}

// seriesOf returns the series of a location.
func seriesOf(all []series, id trace.LocationID) []series {
	at := func(id trace.LocationID) int {
		i,
			_ := slices.BinarySearchFunc(all, id,
			func(s series, id trace.LocationID) int { return cmp.Compare(s.location, id) })
		return i
	}
	return all[at(id):at(id+1)]
}

// A seriesCursor writes the samples of one counter.
type seriesCursor struct {
	time  disk.Cursor[trace.Time]
	value disk.Cursor[float64]
}

// startSamples decides how the samples of a location are written.
func (w *rowWorker) startSamples(id trace.LocationID, samples uint32) {
	w.direct = false
	if samples == 0 {
		return
	}
	list := seriesOf(w.f.series, id)
	if len(list) > mostSeries || slices.ContainsFunc(list, func(s series) bool { return s.disordered }) {
		return
	}
	w.direct = true
	out := &w.out
	at := out.sampleTime.Position()
	for i, s := range list {
		if i == len(out.series) {
			out.series = append(out.series,
				seriesCursor{disk.Cursor[trace.Time]{To: w.f.files.sampleTime},
					disk.Cursor[float64]{To: w.f.files.sampleValue}})
		}
		out.series[i].time.MoveTo(at)
		out.series[i].value.MoveTo(at)
		c := &w.f.counters[s.counter]
		c.first, c.count, c.series = uint64(at), uint64(s.count), int32(i)
		at += int64(s.count)
	}
	out.sampleTime.MoveTo(at)
	out.sampleValue.MoveTo(at)
}

// sample takes a sample of the location.
func (w *rowWorker) sample(t trace.Time, value float64, id trace.CounterID) {
	if !w.direct {
		w.fail(w.samples.Add(sampleRecord{t, value, id}))
		return
	}
	c := &w.f.counters[id]
	c.growth.Add(value)
	s := &w.out.series[c.series]
	s.time.Add(t)
	s.value.Add(value)
}

// placeSamples writes the remaining samples of a location.
func (w *rowWorker) placeSamples() {
	if w.direct {
		for i := range w.out.series {
			s := &w.out.series[i]
			w.fail(cmp.Or(s.time.Finish(), s.value.Finish()))
		}
		return
	}
	if w.samples.Len() == 0 {
		return
	}
	by := spool.Order[sampleRecord]{
		Key:  func(r *sampleRecord) int64 { return int64(r.counter) },
		Ties: func(a, b *sampleRecord) int { return cmp.Compare(a.time, b.time) },
	}
	w.fail(w.samples.Sorted(nil, by, func(r *sampleRecord) error {
		c := &w.f.counters[r.counter]
		if c.count == 0 {
			c.first = uint64(w.out.sampleTime.Position())
		}
		c.count++
		c.growth.Add(r.value)
		w.out.sampleTime.Add(r.time)
		w.out.sampleValue.Add(r.value)
		return nil
	}))
}
