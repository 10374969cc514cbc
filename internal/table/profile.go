package table

import (
	"context"
	"math"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A profileRow is a row of the table: one of the source, or a sum over the calls of a trace.
type profileRow struct {
	*Run
	trace.ProfileRow // its path is NoCallPath in a trace; unknown numbers are NaN
	region           trace.RegionID
	flat, outermost  bool
	metric, unit     string
}

var profile = scanned("profile", "Totals of each location, call path and metric, as a profile has them. "+
	"For a trace: totals of each location and region over the whole run, as time_in() gives them, with the metric "+
	"`time` and no call path. "+
	"Within one metric numbers add up, `sum(inclusive)` by region counts a recursion once; a source with flat rows "+
	"and paths needs a condition on `flat`.",
	func(r *Run) int64 {
		if r.ofCalls() {
			return timeIn.Size(r)
		}
		return r.Store.Info().Profile
	},
	[]column[profileRow]{
		narrow(integer("location", "", "its id", func(x *profileRow) int64 { return int64(x.Location) })),
		narrow(text("path", "of the location", func(x *profileRow) string { return x.Run.path(x.Location) })),
		narrow(maybe("rank", "", "of the location", func(x *profileRow) (int64, bool) { return x.rank(x.Location) })),
		narrow(maybe("callpath", "", "its number in callpaths; null in a trace",
			func(x *profileRow) (int64, bool) { return int64(x.Path), x.Path != trace.NoCallPath })),
		narrow(text("region", "the last of the path",
			func(x *profileRow) string { return x.Run.region(x.region).Name })),
		narrow(integer("region_id", "", "its number in regions", func(x *profileRow) int64 { return int64(x.region) })),
		flag("flat", "1 if it is a total over all callers: never add it to paths",
			func(x *profileRow) bool { return x.flat }),
		narrow(text("metric", "", func(x *profileRow) string { return x.metric })),
		maybeText("unit", "of the metric; null for a count", func(x *profileRow) string { return x.unit }),
		number("calls", "",
			"the same in all metrics of a path; null if the source does not count them, as in samples",
			func(x *profileRow) float64 { return x.Calls }),
		number("subcalls", "", "calls made by it; null if they are not counted",
			func(x *profileRow) float64 { return x.Subcalls }),
		number("inclusive", "",
			"with callees; null if the region is also further up its path, whose value includes this "+
				"one",
			func(x *profileRow) float64 {
				if !x.outermost {
					return math.NaN()
				}
				return x.Inclusive
			}),
		number("exclusive", "", "without", func(x *profileRow) float64 { return x.Exclusive }),
		number("path_inclusive", "", "inclusive of this path, also within a recursion: never add it up by region",
			func(x *profileRow) float64 { return x.Inclusive }),
	}, scanProfile)

// ofCalls reports whether rows of profile are sums over calls: the source is a trace without a profile of its own.
func (r *Run) ofCalls() bool { return r.Store.Info().Timed() && r.Store.Info().Profile == 0 }

// profileFacts are those of all rows of a profile, found once.
type profileFacts struct {
	once      sync.Once
	counted   bool // calls are
	outermost []bool
	err       error
}

func (r *Run) profileFacts(ctx context.Context) (*profileFacts, error) {
	p := &r.profile
	p.once.Do(func() {
		p.outermost = store.Outermost(r.Store.CallPaths())
		p.counted, p.err = store.CountsCalls(context.WithoutCancel(ctx), r.Store)
	})
	return p, p.err
}

func scanProfile(ctx context.Context, r *Run, f *Filter, to *rowsOf[profileRow]) error {
	at, keep, metric := f.locations(r, ""), f.regions(r), f.Words("metric")
	if at.none() || nothing(keep) {
		return nil
	}
	if r.ofCalls() {
		return scanCallSums(ctx, r, f, to)
	}
	facts, err := r.profileFacts(ctx)
	if err != nil {
		return err
	}
	pathLo, pathHi := f.Between("callpath")
	var only []trace.LocationID
	if at.first == at.last {
		only = []trace.LocationID{trace.LocationID(at.first)}
	}
	paths, all := r.Store.CallPaths(), r.Store.Metrics()
	x := &profileRow{Run: r}
	return r.Store.Profile(ctx, only, func(rows []trace.ProfileRow) error {
		to.read(len(rows))
		for i := range rows {
			x.ProfileRow = rows[i]
			p, m := &paths[x.Path], &all[x.Metric]
			x.region, x.flat, x.outermost, x.metric, x.unit = p.Region, p.Flat, facts.outermost[x.Path], m.Name, m.Unit
			if !at.has(x.Location) || !within(int64(x.Path), [2]int64{pathLo, pathHi}) ||
				keep != nil && !keep[x.region] || metric != nil && !metric(m.Name) {
				continue
			}
			if !facts.counted {
				x.Calls, x.Subcalls = math.NaN(), math.NaN()
			}
			if err := to.add(x); err != nil {
				return err
			}
		}
		return nil
	})
}

// scanCallSums adds up the calls of a trace.
func scanCallSums(ctx context.Context, r *Run, f *Filter, to *rowsOf[profileRow]) error {
	const metric = "time"
	if want := f.Words("metric"); want != nil && !want(metric) {
		return nil
	}
	if lo, hi := f.Between("callpath"); lo != math.MinInt64 || hi != math.MaxInt64 {
		return nil
	}
	x := &profileRow{Run: r, flat: true, outermost: true, metric: metric, unit: "ns"}
	return eachTime(ctx, r, f, 0, r.Store.Info().End+1, to.Output, func(t *timeRow) error {
		x.region = t.id
		x.ProfileRow = trace.ProfileRow{Location: t.location, Path: trace.NoCallPath, Calls: float64(t.calls),
			Subcalls: math.NaN(), Inclusive: float64(t.inclusive), Exclusive: float64(t.exclusive)}
		return to.add(x)
	})
}
