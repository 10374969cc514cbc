package table

import (
	"context"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A sample is a row of the table.
type sample struct {
	*Run
	*store.SampleColumns
	counter *trace.Counter
	path    string
	i       int
}

var samples = scanned("samples", "Values of counters, in order of counter and time.",
	func(r *Run) int64 { return r.Store.Info().Samples },
	[]column[sample]{
		narrow(integer("counter", "", "its number in counters", func(x *sample) int64 { return int64(x.Counter) })),
		narrow(text("name", "of the counter", func(x *sample) string { return x.counter.Name })),
		maybeText("unit", "of the counter", func(x *sample) string { return x.counter.Unit }),
		narrow(integer("location", "", "id of the location of the counter",
			func(x *sample) int64 { return int64(x.counter.Location) })),
		narrow(text("path", "of the location", func(x *sample) string { return x.path })),
		narrow(maybe("rank", "", "of the location",
			func(x *sample) (int64, bool) { return x.rank(x.counter.Location) })),
		narrow(integer("time", "ns", "", func(x *sample) int64 { return int64(x.Time[x.i]) })),
		number("value", "", "", func(x *sample) float64 { return x.Value[x.i] }),
	}, scanSamples)

func scanSamples(ctx context.Context, r *Run, f *Filter, to *rowsOf[sample]) error {
	at, name := f.locations(r, ""), f.Words("name")
	lo, hi := f.Between("counter")
	begin, end := f.timeRange(r, "time")
	all := r.Store.Counters()
	chosen := []trace.CounterID{}
	for id := range all {
		c := &all[id]
		if within(int64(id), [2]int64{lo, hi}) && at.has(c.Location) &&
			(name == nil || name(strings.ToValidUTF8(c.Name, "\uFFFD"))) {
			chosen = append(chosen, trace.CounterID(id))
		}
	}
	x := &sample{Run: r}
	return r.Store.Samples(ctx, chosen, begin, end, func(c *store.SampleColumns) error {
		to.read(len(c.Time))
		x.SampleColumns, x.counter = c, &all[c.Counter]
		x.path = r.path(x.counter.Location)
		for x.i = range c.Time {
			if err := to.add(x); err != nil {
				return err
			}
		}
		return nil
	})
}

// timeRange returns the window [begin, end) that the conditions on a column of times leave.
func (f *Filter) timeRange(r *Run, column string) (begin, end trace.Time) {
	lo, hi := f.Between(column)
	return trace.Time(max(lo, 0)), trace.Time(min(hi, int64(r.Store.Info().End))) + 1
}

// An instant is a row of the table.
type instant struct {
	*Run
	*store.InstantColumns
	path   string
	region *trace.Region
	i      int
}

var instants = scanned("instants", "Points in time with a name, in order of location and time.",
	func(r *Run) int64 { return r.Store.Info().Instants },
	[]column[instant]{
		narrow(integer("location", "", "its id", func(x *instant) int64 { return int64(x.Location) })),
		narrow(text("path", "of the location", func(x *instant) string { return x.path })),
		narrow(maybe("rank", "", "of the location", func(x *instant) (int64, bool) { return x.rank(x.Location) })),
		narrow(integer("time", "ns", "", func(x *instant) int64 { return int64(x.Time[x.i]) })),
		narrow(text("region", "its name", func(x *instant) string { return x.region.Name })),
		narrow(integer("region_id", "", "its number in regions",
			func(x *instant) int64 { return int64(x.Region[x.i]) })),
		narrow(maybeText("category", "of the region", func(x *instant) string { return x.region.Category })),
	}, scanInstants)

func scanInstants(ctx context.Context, r *Run, f *Filter, to *rowsOf[instant]) error {
	at, keep := f.locations(r, ""), f.regions(r)
	if at.none() || nothing(keep) {
		return nil
	}
	w := store.Window{Locations: r.everyone()}
	w.Begin, w.End = f.timeRange(r, "time")
	if at.first == at.last {
		w.Locations = []trace.LocationID{trace.LocationID(at.first)}
	}
	x := &instant{Run: r}
	return r.Store.Instants(ctx, w, func(c *store.InstantColumns) error {
		if !at.has(c.Location) {
			return nil
		}
		to.read(len(c.Time))
		x.InstantColumns, x.path = c, r.path(c.Location)
		for x.i = range c.Time {
			if keep != nil && !keep[c.Region[x.i]] {
				continue
			}
			x.region = r.region(c.Region[x.i])
			if err := to.add(x); err != nil {
				return err
			}
		}
		return nil
	})
}
