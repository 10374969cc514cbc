package runfacts

import (
	"context"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Total is the time of one region on one location, or another metric of a profile.
type Total struct {
	Location                    trace.LocationID
	Region                      trace.RegionID
	Calls, Inclusive, Exclusive float64
}

// Totals yields the totals of the selection's time and locations: of a trace
// from its prefix sums, of a profile from its rows. Those of a location come
// together, locations ascending. In a profile, rows that the source gives as totals
// over all callers win over call paths; where there are only those they are put
// together as the metric asks for, inclusive where the region is not below itself. Takes O(rows), and memory that
// does not grow with the locations of a profile.
func Totals(ctx context.Context, r store.Reader, w store.Window, metric trace.MetricID, f func([]Total)) error {
	if r.Info().Timed() {
		return traceTotals(ctx, r, w, f)
	}
	paths := r.CallPaths()
	flat := slices.ContainsFunc(paths, func(p trace.CallPath) bool { return p.Flat })
	outermost := store.Outermost(paths)
	at := make([]int32, len(r.Regions())) // place in the list of the location, plus one
	how := trace.JoinSum
	if int(metric) < len(r.Metrics()) {
		how = r.Metrics()[metric].Join
	}
	var list []Total
	var joined []joinedTotal
	flush := func() {
		for i := range joined {
			list[i].Exclusive, list[i].Inclusive = joined[i].exclusive.Value(how), joined[i].inclusive.Value(how)
		}
		joined = joined[:0]
		if len(list) > 0 {
			slices.SortFunc(list, func(a, b Total) int { return int(a.Region) - int(b.Region) })
			f(list)
		}
		for i := range list {
			at[list[i].Region] = 0
		}
		list = list[:0]
	}
	err := r.Profile(ctx, w.Locations, func(rows []trace.ProfileRow) error {
		for i := range rows {
			x := &rows[i]
			p := &paths[x.Path]
			if x.Metric != metric || p.Flat != flat {
				continue
			}
			if len(list) > 0 && list[0].Location != x.Location {
				flush()
			}
			k := at[p.Region]
			if k == 0 {
				list = append(list, Total{Location: x.Location, Region: p.Region})
				joined = append(joined, joinedTotal{})
				k = int32(len(list))
				at[p.Region] = k
			}
			list[k-1].Calls += x.Calls
			joined[k-1].exclusive.Add(how, x.Exclusive)
			if outermost[x.Path] {
				joined[k-1].inclusive.Add(how, x.Inclusive)
			}
		}
		return nil
	})
	flush()
	return err
}

// A joinedTotal holds the values of one region over its call paths.
type joinedTotal struct{ exclusive, inclusive Joined }

// A TotalsReader is Totals for who asks more than once: the sums of a trace are read once and held.
type TotalsReader struct {
	Store  store.Reader
	Window store.Window
	held   *store.TimeTable
}

// Totals yields the totals, see the function Totals.
func (r *TotalsReader) Totals(ctx context.Context, metric trace.MetricID, f func([]Total)) (err error) {
	if !r.Store.Info().Timed() {
		return Totals(ctx, r.Store, r.Window, metric, f)
	}
	if r.held == nil {
		if r.held, err = r.Store.Time(ctx, r.Window); err != nil {
			return err
		}
	}
	EachTotal(r.held, f)
	return nil
}

func traceTotals(ctx context.Context, r store.Reader, w store.Window, f func([]Total)) error {
	t, err := r.Time(ctx, w)
	if err == nil {
		EachTotal(t, f)
	}
	return err
}

// EachTotal yields a table, location by location.
func EachTotal(t *store.TimeTable, f func([]Total)) {
	var list []Total
	for k, id := range t.Locations {
		list = list[:0]
		for i := t.Offsets[k]; i < t.Offsets[k+1]; i++ {
			list = append(list,
				Total{id, t.Region[i], float64(t.Calls[i]), float64(t.Inclusive[i]), float64(t.Exclusive[i])})
		}
		if len(list) > 0 {
			f(list)
		}
	}
}

// EachSum yields a table of all locations together.
func EachSum(t *store.TotalTable, f func([]Total)) {
	list := make([]Total, len(t.Region))
	for i, r := range t.Region {
		list[i] = Total{trace.NoLocation, r, float64(t.Calls[i]), t.Inclusive[i].Float64(), t.Exclusive[i].Float64()}
	}
	if len(list) > 0 {
		f(list)
	}
}

// Sampled reports whether a region is an estimate by sampling of time that other
// regions hold too, so that totals must leave it out.
func Sampled(g *trace.Region) bool {
	return slices.ContainsFunc(g.Attributes, func(a trace.Attribute) bool { return a.Key == "sampled" })
}

// FlatProfile reports whether a profile tells a metric only as totals of regions. Call paths
// that some other metric has, such as sizes of messages, do not count.
func FlatProfile(ctx context.Context, r store.Reader, metric trace.MetricID) (bool, error) {
	paths := r.CallPaths()
	mixed := [2]bool{}
	for _, p := range paths {
		if p.Flat {
			mixed[1] = true
		} else {
			mixed[0] = true
		}
	}
	if !mixed[0] || !mixed[1] {
		return mixed[1], nil
	}
	var mu sync.Mutex
	flat := true
	err := r.Profile(ctx, nil, func(rows []trace.ProfileRow) error {
		mu.Lock()
		defer mu.Unlock()
		for i := range rows {
			flat = flat && (rows[i].Metric != metric || paths[rows[i].Path].Flat)
		}
		return ctx.Err()
	})
	return flat, err
}

// A Joined puts values of a metric together as its kind asks for. The zero value
// holds none.
type Joined struct {
	n     int
	value float64
}

// Add takes one more value in.
func (j *Joined) Add(how trace.Join, v float64) {
	if j.n++; j.n == 1 {
		j.value = v
		return
	}
	switch how {
	case trace.JoinMin:
		j.value = min(j.value, v)
	case trace.JoinMax:
		j.value = max(j.value, v)
	default:
		j.value += v
	}
}

// Value is 0 of none.
func (j *Joined) Value(how trace.Join) float64 {
	if how == trace.JoinMean && j.n > 0 {
		return j.value / float64(j.n)
	}
	return j.value
}

// MainMetric returns the metric of a run's totals: the time of its intervals, or the metric of a profile that
// stands for time. Code that writes a total takes the unit from it.
func MainMetric(r store.Reader) (name, unit string) {
	if metrics := r.Metrics(); !r.Info().Timed() && len(metrics) > 0 {
		m := &metrics[DefaultMetric(metrics)]
		return m.Name, m.Unit
	}
	return "time", "ns"
}

// DefaultMetric is the metric that stands for time: the one marked so, else the first.
func DefaultMetric(metrics []trace.Metric) trace.MetricID {
	for i, m := range metrics {
		if m.Default {
			return trace.MetricID(i)
		}
	}
	return 0
}
