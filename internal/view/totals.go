package view

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A MetricChoice is what --metric asks for: which rows of a profile, and which of
// their numbers.
type MetricChoice struct {
	ID     trace.MetricID // of a profile; without meaning for a trace
	Name   string         // for people: "exclusive time", "calls", "PAPI_TOT_INS"
	Unit   string         // "ns", "bytes", "count" or ""
	Number MetricNumber
	Join   trace.Join // how values of regions and locations become one; calls add up
}

// A MetricNumber is one of the numbers of a row.
type MetricNumber uint8

const (
	NumberExclusive MetricNumber = iota
	NumberInclusive
	NumberCalls
)

// ChooseMetric reads --metric: exclusive, inclusive, calls, or a metric of the
// source, which may be followed by ":inclusive".
func ChooseMetric(r store.Reader, text string) (MetricChoice, error) {
	metrics := r.Metrics()
	profile := !r.Info().Timed() && len(metrics) > 0
	main := MainMetric(r)
	m := MetricChoice{Unit: main.Unit, Name: main.Name}
	if profile {
		m.ID = DefaultMetric(metrics)
		m.Join = metrics[m.ID].Join
	}
	switch text {
	case "", "exclusive":
		m.Name = "exclusive " + m.Name
		return m, nil
	case "inclusive":
		m.Number, m.Name = NumberInclusive, "inclusive "+m.Name
		return m, nil
	case "calls":
		counted, err := store.CountsCalls(context.Background(), r)
		if err == nil && !counted {
			err = errors.New("--metric calls: samples do not count calls; want exclusive or inclusive")
		}
		if err != nil {
			return m, err
		}
		m.Number, m.Name, m.Unit, m.Join = NumberCalls, "calls", "count", trace.JoinSum
		return m, nil
	}
	name, number := text, NumberExclusive
	if base, ok := strings.CutSuffix(text, ":inclusive"); ok {
		name, number = base, NumberInclusive
	} else if base, ok := strings.CutSuffix(text, ":exclusive"); ok {
		name = base
	}
	i := slices.IndexFunc(metrics, func(x trace.Metric) bool { return x.Name == name })
	if i < 0 || !profile {
		var known []string
		for _, x := range metrics {
			if profile && len(known) < 20 {
				known = append(known, x.Name)
			}
		}
		return m, fmt.Errorf("--metric %q: want exclusive, inclusive, calls%s", text, also(known))
	}
	return MetricChoice{ID: trace.MetricID(i), Name: text, Unit: metrics[i].Unit, Number: number,
		Join: metrics[i].Join}, nil
}

func also(known []string) string {
	if len(known) == 0 {
		return "; the source has no metrics of its own"
	}
	return " or a metric of the source: " + strings.Join(known, ", ")
}

// Of picks the number of a row.
func (m MetricChoice) Of(calls, inclusive, exclusive float64) float64 {
	switch m.Number {
	case NumberCalls:
		return calls
	case NumberInclusive:
		return inclusive
	}
	return exclusive
}

// Format writes a value of the metric for people.
func (m MetricChoice) Format(v float64) string { return FormatIn(v, ColumnUnit(m.Unit)) }

// ColumnUnit is the unit as columns of tables name it.
func (m MetricChoice) ColumnUnit() string { return ColumnUnit(m.Unit) }

// ColumnUnit is the unit of a metric as columns of tables and axes name it: whatever is neither time nor bytes is
// counted.
func ColumnUnit(unit string) string {
	if unit == "ns" || unit == "bytes" {
		return unit
	}
	return "count"
}

// A Total is the time of one region on one location, or another metric of a profile.
type Total struct {
	Location                    trace.LocationID
	Region                      trace.RegionID
	Calls, Inclusive, Exclusive float64
}

// Totals hands out the totals of the selection's time and locations: of a trace
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

func traceTotals(ctx context.Context, r store.Reader, w store.Window, f func([]Total)) error {
	t, err := r.Time(ctx, w)
	if err == nil {
		eachTotal(t, f)
	}
	return err
}

// eachTotal hands out a table, location by location.
func eachTotal(t *store.TimeTable, f func([]Total)) {
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

// eachSum hands out a table of all locations together.
func eachSum(t *store.TotalTable, f func([]Total)) {
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
