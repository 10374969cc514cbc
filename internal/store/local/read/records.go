package read

import (
	"context"
	"slices"
	"sort"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Instants implements store.Reader.
func (r records) Instants(ctx context.Context, w store.Window, f func(*store.InstantColumns) error) error {
	if err := r.Enter(); err != nil {
		return err
	}
	defer r.Leave()
	f = disk.Shield(f)
	in := r.Window(w)
	return r.Guarded(ctx, func() error {
		r.Checks.Of("instant").Touch(0, uint64(len(r.C.InstantLocation)))
		for _, x := range r.Ranges(w.Locations) {
			i := r.firstInstant(x[0])
			for i < len(r.C.InstantLocation) && r.C.InstantLocation[i] < x[1] {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				id := r.C.InstantLocation[i]
				end := r.firstInstant(id + 1)
				if end <= i { // they do not ascend
					panic(disk.Damage("instant.location"))
				}
				soundOr("instant.region", r.C.InstantRegion[i:end], len(r.C.RegionName), trace.NoRegion)
				times := r.C.InstantTime[i:end]
				lo, hi := rows.FirstFrom(times, in.Begin), rows.FirstFrom(times, in.Until)
				if lo < hi {
					c := store.InstantColumns{Location: id, Time: times[lo:hi:hi],
						Region: r.C.InstantRegion[i+lo : i+hi : i+hi]}
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

func (r records) firstInstant(id trace.LocationID) int {
	return sort.Search(len(r.C.InstantLocation), func(i int) bool { return r.C.InstantLocation[i] >= id })
}

// Samples implements store.Reader.
func (r records) Samples(ctx context.Context, counters []trace.CounterID, begin, end trace.Time,
	f func(*store.SampleColumns) error) error {
	if err := r.Enter(); err != nil {
		return err
	}
	defer r.Leave()
	f = disk.Shield(f)
	in := r.Window(store.Window{Begin: begin, End: end})
	if counters == nil {
		counters = make([]trace.CounterID, len(r.def.counters))
		for i := range counters {
			counters[i] = trace.CounterID(i)
		}
	}
	return r.Guarded(ctx, func() error {
		for _, id := range counters {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if int(id) >= len(r.def.counters) {
				continue
			}
			first, n := r.C.CounterFirst[id], r.C.CounterCount[id]
			r.Checks.Of("sample").Touch(first, first+n)
			times, values := r.C.SampleTime[first:first+n], r.C.SampleValue[first:first+n]
			lo, hi := rows.FirstFrom(times, in.Begin), rows.FirstFrom(times, in.Until)
			for ; lo < hi; lo += rows.BatchRows {
				e := min(lo+rows.BatchRows, hi)
				if err := f(&store.SampleColumns{Counter: id, Time: times[lo:e:e], Value: values[lo:e:e]}); err != nil {
					return err
				}
			}
		}
		return ctx.Err()
	})
}

// IntervalAttributes implements store.Reader.
func (r records) IntervalAttributes(at store.Row) (out []trace.Attribute, err error) {
	if err := r.Enter(); err != nil {
		return nil, err
	}
	defer r.Leave()
	err = r.Guarded(context.Background(), func() error {
		// its lane is not needed: a caller that asks for many rows would wait for as many
		row, ok := r.RowNumber(at.Location, at.Lane, at.Row)
		if !ok {
			return nil
		}
		lo := r.firstFact(row, -1)
		hi := r.firstFact(row+1, lo)
		r.eachFact(lo, hi, func(i int, _ uint64, a trace.AttributeID) {
			out = append(out, trace.Attribute{Key: r.def.attributes[a], Value: r.value(&r.C.Fact, i)})
		})
		return nil
	})
	return out, err
}

// value copies the value of a fact.
func (r records) value(f *disk.RowFacts, i int) trace.Value {
	switch f.Kind[i] {
	case trace.ValueText:
	case disk.Hexadecimal:
		return trace.Text(trace.FormatHexadecimal(f.Bits[i]))
	default:
		return trace.ValueOf(f.Kind[i], f.Bits[i], "")
	}
	id := f.Bits[i]
	r.Checks.Of("text").Touch(id, id+2)
	r.Checks.Of("text.bytes").Touch(r.C.TextOffset[id], r.C.TextOffset[id+1])
	return trace.Text(string(r.C.TextBytes[r.C.TextOffset[id]:r.C.TextOffset[id+1]]))
}

// AttributeColumn implements store.Reader.
func (r records) AttributeColumn(ctx context.Context, w store.Window, a trace.AttributeID,
	f func(*store.AttributeColumns) error) error {
	if err := r.Enter(); err != nil {
		return err
	}
	defer r.Leave()
	f = disk.Shield(f)
	in := r.Window(w)
	return r.EachLane(ctx, w.Locations, nil, func(id trace.LocationID, lane int, v *rows.Lane) error {
		if in.Begin >= in.Until {
			return nil
		}
		first := r.C.LaneRow[int(r.C.LocationLane[id])+lane]
		lo, hi := v.FirstFrom(in.Begin), v.FirstFrom(in.Until)
		out := store.AttributeColumns{Location: id, Lane: lane}
		for _, o := range v.Open(nil, lo, in.Begin) {
			if o.End <= in.Begin { // only around an empty call at the edge
				continue
			}
			from := r.firstFact(first+uint64(o.Row), -1)
			to := r.firstFact(first+uint64(o.Row)+1, from)
			r.collect(&out, a, first, from, to)
		}
		from := r.firstFact(first+uint64(lo), -1)
		to := r.firstFact(first+uint64(hi), from)
		for from < to || len(out.Row) > 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			end := min(from+rows.BatchRows, to)
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

// InstantAttribute implements store.Reader.
func (r records) InstantAttribute(ctx context.Context, w store.Window, a trace.AttributeID,
	f func(*store.InstantValues) error) error {
	if err := r.Enter(); err != nil {
		return err
	}
	defer r.Leave()
	f = disk.Shield(f)
	in := r.Window(w)
	facts := &r.C.InstantFact
	if len(facts.Row) == 0 {
		return nil
	}
	return r.Guarded(ctx, func() error {
		r.Checks.Of("instant").Touch(0, uint64(len(r.C.InstantLocation)))
		r.Checks.Of("instant_fact").Touch(0, uint64(len(facts.Row)))
		for _, x := range r.Ranges(w.Locations) {
			for i := r.firstInstant(x[0]); i < len(r.C.InstantLocation) && r.C.InstantLocation[i] < x[1]; {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				id := r.C.InstantLocation[i]
				end := r.firstInstant(id + 1)
				if end <= i { // they do not ascend
					panic(disk.Damage("instant.location"))
				}
				soundOr("instant.region", r.C.InstantRegion[i:end], len(r.C.RegionName), trace.NoRegion)
				times := r.C.InstantTime[i:end]
				lo, hi := rows.FirstFrom(times, in.Begin), rows.FirstFrom(times, in.Until)
				out := store.InstantValues{Location: id}
				for k := sort.Search(len(facts.Row),
					func(k int) bool { return facts.Row[k] >= uint64(i+lo) }); k < len(facts.Row) &&
					facts.Row[k] < uint64(i+hi); k++ {
					if facts.Attribute[k] != a {
						continue
					}
					at := int(facts.Row[k])
					out.Row, out.Time = append(out.Row, int32(at-i)), append(out.Time, r.C.InstantTime[at])
					out.Region, out.Value = append(out.Region, r.C.InstantRegion[at]),
						append(out.Value, r.value(facts, k))
				}
				if len(out.Row) > 0 {
					if err := f(&out); err != nil {
						return err
					}
				}
				i = end
			}
		}
		return ctx.Err()
	})
}

// firstFact returns the first fact that is not of a row before; near is one that may be close, -1: it is not known.
func (r records) firstFact(row uint64, near int) int {
	n := len(r.C.Fact.Row)
	if n == 0 {
		return 0
	}
	if near < 0 { // most intervals have about as many as others
		near = int(float64(n) * (float64(row) / float64(len(r.C.Begin)+1)))
	}
	return int(r.Checks.Of("interval_fact").Search(0, uint64(n), int64(row), uint64(near)))
}

// Facts are read in pieces: there may be more than memory holds, and most are read once.
const factPiece = 4 * disk.Frame

// eachFact yields facts [from, to), with their rows and attributes.
func (r records) eachFact(from, to int, f func(i int, row uint64, a trace.AttributeID)) {
	check := r.bringFacts(from, to)
	var rows [factPiece]uint64
	var attributes [factPiece]trace.AttributeID
	for lo := from / disk.Frame * disk.Frame; lo < to; lo += factPiece {
		hi := min(lo+factPiece, to)
		check.TouchFrom(factKind, uint64(max(lo, from)), uint64(hi))
		check.Unpack(0, uint64(lo), uint64(hi), spool.BytesOf(rows[:]))
		check.Unpack(factAttribute, uint64(lo), uint64(hi), spool.BytesOf(attributes[:]))
		for i := max(lo, from); i < hi; i++ {
			f(i, rows[i-lo], attributes[i-lo])
		}
	}
}

// bringFacts asks for remote facts.
func (r records) bringFacts(from, to int) *disk.TableCheck {
	check := r.Checks.Of("interval_fact")
	if from < to && check.IsRemote() {
		disk.Bring(disk.Rows{Of: check, Ranges: [][2]uint64{{uint64(from), uint64(to)}}})
	}
	return check
}

// Columns of interval_fact.
const (
	factAttribute = 1
	factKind      = 2
)

// collect appends the facts [from, to) that are of one attribute. Most are of others: of these nothing else is looked
// at.
func (r records) collect(out *store.AttributeColumns, a trace.AttributeID, first uint64, from, to int) {
	check := r.bringFacts(from, to)
	var rows [factPiece]uint64
	var attributes [factPiece]trace.AttributeID
	for lo := from / disk.Frame * disk.Frame; lo < to; lo += factPiece {
		hi, begin := min(lo+factPiece, to), max(lo, from)
		check.Unpack(factAttribute, uint64(lo), uint64(hi), spool.BytesOf(attributes[:]))
		k := slices.Index(attributes[begin-lo:hi-lo], a)
		if k < 0 {
			continue
		}
		check.TouchFrom(factKind, uint64(begin), uint64(hi))
		check.Unpack(0, uint64(lo), uint64(hi), spool.BytesOf(rows[:]))
		for i := begin + k; i < hi; i++ {
			if attributes[i-lo] == a {
				out.Row, out.Value = append(out.Row, int32(rows[i-lo]-first)), append(out.Value, r.value(&r.C.Fact, i))
			}
		}
	}
}
