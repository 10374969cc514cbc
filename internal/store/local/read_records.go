package local

import (
	"context"
	"sort"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Instants implements store.Reader.
func (r *Reader) Instants(ctx context.Context, w store.Window, f func(*store.InstantColumns) error) error {
	if err := r.enter(); err != nil {
		return err
	}
	defer r.leave()
	f = shield(f)
	in := r.window(w)
	return guard(func() error {
		for _, x := range r.ranges(w.Locations) {
			i := r.firstInstant(x[0])
			for i < len(r.c.instantLocation) && r.c.instantLocation[i] < x[1] {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				id := r.c.instantLocation[i]
				end := r.firstInstant(id + 1)
				times := r.c.instantTime[i:end]
				lo, hi := firstFrom(times, in.begin), firstFrom(times, in.until)
				if lo < hi {
					c := store.InstantColumns{Location: id, Time: times[lo:hi:hi], Region: r.c.instantRegion[i+lo : i+hi : i+hi]}
					if err := f(&c); err != nil {
						return err
					}
				}
				i = end
			}
		}
		return ctx.Err()
	})
}

func (r *Reader) firstInstant(id trace.LocationID) int {
	return sort.Search(len(r.c.instantLocation), func(i int) bool { return r.c.instantLocation[i] >= id })
}

// Samples implements store.Reader.
func (r *Reader) Samples(ctx context.Context, counters []trace.CounterID, begin, end trace.Time, f func(*store.SampleColumns) error) error {
	if err := r.enter(); err != nil {
		return err
	}
	defer r.leave()
	f = shield(f)
	in := r.window(store.Window{Begin: begin, End: end})
	if counters == nil {
		counters = make([]trace.CounterID, len(r.counters))
		for i := range counters {
			counters[i] = trace.CounterID(i)
		}
	}
	return guard(func() error {
		for _, id := range counters {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if int(id) >= len(r.counters) {
				continue
			}
			first, n := r.c.counterFirst[id], r.c.counterCount[id]
			times, values := r.c.sampleTime[first:first+n], r.c.sampleValue[first:first+n]
			lo, hi := firstFrom(times, in.begin), firstFrom(times, in.until)
			for ; lo < hi; lo += batchRows {
				e := min(lo+batchRows, hi)
				if err := f(&store.SampleColumns{Counter: id, Time: times[lo:e:e], Value: values[lo:e:e]}); err != nil {
					return err
				}
			}
		}
		return ctx.Err()
	})
}

// IntervalAttributes implements store.Reader.
func (r *Reader) IntervalAttributes(at store.Row) []trace.Attribute {
	if r.enter() != nil {
		return nil
	}
	defer r.leave()
	v, ok := r.lookup(at.Location, at.Lane)
	if !ok || at.Row < 0 || at.Row >= v.len() {
		return nil
	}
	row := r.c.laneRow[int(r.c.locationLane[at.Location])+at.Lane] + uint64(at.Row)
	var out []trace.Attribute
	_ = guard(func() error {
		facts := &r.c.fact
		lo, hi := rangeOf(facts.row, row)
		for i := lo; i < hi; i++ {
			out = append(out, trace.Attribute{Key: r.attributes[facts.attribute[i]], Value: r.value(facts, i)})
		}
		return nil
	})
	return out
}

// value copies the value of a fact.
func (r *Reader) value(f *rowFacts, i int) trace.Value {
	if f.kind[i] != trace.ValueText {
		return trace.ValueOf(f.kind[i], f.bits[i], "")
	}
	id := f.bits[i]
	return trace.Text(string(r.c.textBytes[r.c.textOffset[id]:r.c.textOffset[id+1]]))
}

// AttributeColumn implements store.Reader.
func (r *Reader) AttributeColumn(ctx context.Context, w store.Window, a trace.AttributeID, f func(*store.AttributeColumns) error) error {
	if err := r.enter(); err != nil {
		return err
	}
	defer r.leave()
	f = shield(f)
	in := r.window(w)
	facts := &r.c.fact
	return r.eachLane(ctx, w.Locations, func(id trace.LocationID, lane int, v *laneView) error {
		if in.begin >= in.until {
			return nil
		}
		first := r.c.laneRow[int(r.c.locationLane[id])+lane]
		lo, hi := v.firstFrom(in.begin), v.firstFrom(in.until)
		out := store.AttributeColumns{Location: id, Lane: lane}
		for _, o := range v.open(nil, lo, in.begin) {
			if o.End <= in.begin { // only around an empty call at the edge
				continue
			}
			from, to := rangeOf(facts.row, first+uint64(o.Row))
			r.collect(&out, a, first, from, to)
		}
		from := sort.Search(len(facts.row), func(i int) bool { return facts.row[i] >= first+uint64(lo) })
		to := from + sort.Search(len(facts.row)-from, func(i int) bool { return facts.row[from+i] >= first+uint64(hi) })
		for from < to || len(out.Row) > 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			end := min(from+batchRows, to)
			r.collect(&out, a, first, from, end)
			from = end
			if len(out.Row) > 0 {
				if err := f(&out); err != nil {
					return err
				}
			}
			out.Row, out.Value = out.Row[:0], out.Value[:0]
		}
		return nil
	})
}

// collect appends the facts [from, to) that are of one attribute.
func (r *Reader) collect(out *store.AttributeColumns, a trace.AttributeID, first uint64, from, to int) {
	facts := &r.c.fact
	for i := from; i < to; i++ {
		if facts.attribute[i] == a {
			out.Row = append(out.Row, int32(facts.row[i]-first))
			out.Value = append(out.Value, r.value(facts, i))
		}
	}
}
