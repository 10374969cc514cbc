package view

import (
	"context"
	"slices"
	"sort"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// An InfoJSON describes a run in `parallax info --json` and the HTTP API. Fields may be
// added, not renamed; lists are never null.
type InfoJSON struct {
	Sources []string `json:"sources"`
	Format  string   `json:"format"`
	// Kind is the kind of the run.
	Kind  RunKind    `json:"kind"`
	Begin trace.Time `json:"begin"`
	End   trace.Time `json:"end"`
	// Core is where to look first, where a few records far from all others stretch the
	// time; null: everywhere.
	Core *[2]trace.Time `json:"core"`
	// Windows are the stretches in which something is recorded, where most of the time is
	// blank; else none.
	Windows   [][2]trace.Time `json:"windows"`
	Locations int             `json:"locations"`
	Ranks     int             `json:"ranks"`
	Rows      int             `json:"rows"`
	// RowsOverlay counts the locations of overlays: samples and repeated states, which no sum has.
	RowsOverlay int   `json:"rows_overlay"`
	RowsAside   int   `json:"rows_aside"` // as rows_overlay, its name in the release before
	Regions     int   `json:"regions"`
	Intervals   int64 `json:"intervals"` // Of the source.
	Inferred    int64 `json:"inferred"`  // Intervals of unrecorded work, not in the source.
	Links       int64 `json:"links"`
	Counters    int   `json:"counters"`
	Samples     int64 `json:"samples"`
	Instants    int64 `json:"instants"`
	ProfileRows int64 `json:"profile_rows"`
	Depth       int   `json:"depth"`
	// PathDepth is the length of the longest call path of a profile; 1: it has totals of regions alone.
	PathDepth   int          `json:"path_depth"`
	RegionTable []RegionInfo `json:"region_table"`
	// RegionMetric is the metric of the inclusive and exclusive columns of the table.
	RegionMetric MetricInfo        `json:"region_metric"`
	Metrics      []MetricInfo      `json:"metrics"`
	Properties   map[string]string `json:"properties"`
	Topologies   []TopologyInfo    `json:"topologies"`
	Report       []ReportInfo      `json:"report"`
	SizeBytes    int64             `json:"size_bytes"` // Of the store.
}

// A RegionInfo is one line of the region table: regions merged by name. Category and
// role are of the one with the most exclusive time.
type RegionInfo struct {
	Name      string   `json:"name"`
	Category  string   `json:"category"`
	Role      string   `json:"role" ts:"Role"`
	Calls     *float64 `json:"calls"` // null if the source does not count them
	Inclusive float64  `json:"inclusive"`
	Exclusive float64  `json:"exclusive"`
	Unit      string   `json:"unit"` // of inclusive and exclusive: "ns", "bytes", "count", or the source's own
}

// A MetricInfo names a metric of a profile.
type MetricInfo struct {
	Name string `json:"name"`
	Unit string `json:"unit"` // "ns", "bytes", "" for a count, or the source's own
	// Total adds up the exclusive values of the run; null for a metric that does not add up,
	// such as a rate, or that has no rows.
	Total *float64 `json:"total"`
}

// MainMetric is the metric of totals of a run, see package
func MainMetric(r store.Reader) MetricInfo {
	name, unit := runfacts.MainMetric(r)
	return MetricInfo{Name: name, Unit: unit}
}

// Format writes a value of the metric for people.
func (m MetricInfo) Format(v float64) string { return FormatIn(v, m.Unit) }

// Word is the unit in a sentence: the metric's name, such as "samples", if it has no unit or
// counts.
func (m MetricInfo) Word() string {
	if m.Unit == "" || m.Unit == "count" {
		return m.Name
	}
	return m.Unit
}

// A TopologyInfo names a topology.
type TopologyInfo struct {
	Name string `json:"name"`
	Dims []int  `json:"dims"`
}

// A ReportInfo is one line of the import report.
type ReportInfo struct {
	Kind    string `json:"kind" ts:"'repaired' | 'guessed' | 'skipped'"`
	What    string `json:"what"`
	Count   int64  `json:"count"`
	Example string `json:"example"`
	// Lost reports that some data of the program is unknown because of it; false for kept or repeated data.
	Lost bool `json:"lost"`
	// Consequence returns the effect on the run of parts that are not kept; empty for a kind that keeps them.
	Consequence string `json:"consequence"`
}

// InfoOf gathers the description of a run from stored totals: for a trace O(locations ×
// regions), for a profile O(call paths).
func InfoOf(ctx context.Context, r store.Reader) (*InfoJSON, error) {
	i := r.Info()
	out := &InfoJSON{
		Sources: append([]string{}, i.Sources...), Format: i.Format, Kind: KindOf(r), End: i.End, Core: i.Core,
		Locations: r.Locations().Len(), Ranks: i.Ranks, Rows: i.Rows, Regions: len(r.Regions()),
		Intervals: i.Intervals - i.Inferred, Inferred: i.Inferred, Links: i.Links, Counters: len(r.Counters()),
		Samples:  i.Samples,
		Instants: i.Instants, ProfileRows: i.Profile, Depth: i.Depth, PathDepth: pathDepth(r.CallPaths()),
		Metrics: []MetricInfo{}, Properties: i.Properties, Topologies: []TopologyInfo{}, Report: []ReportInfo{},
		SizeBytes: i.SizeBytes,
	}
	for _, aside := range r.Locations().Aside {
		if aside {
			out.RowsOverlay++
			out.RowsAside++
		}
	}
	if out.Properties == nil {
		out.Properties = map[string]string{}
	}
	for _, m := range r.Metrics() {
		out.Metrics = append(out.Metrics, MetricInfo{Name: m.Name, Unit: m.Unit})
	}
	out.RegionMetric = MainMetric(r)
	for _, t := range r.Topologies() {
		out.Topologies = append(out.Topologies, TopologyInfo{t.Name, append([]int{}, t.Dims...)})
	}
	for _, e := range i.Report {
		out.Report = append(out.Report, ReportInfo{e.Kind.String(), e.What, e.Count, e.Example, e.Kind.Lost(),
			e.Kind.Consequence()})
	}
	windows, err := runfacts.Windows(ctx, r)
	if err != nil {
		return nil, err
	}
	out.Windows = append([][2]trace.Time{}, windows...)
	if out.RegionTable, err = regionTable(ctx, r); err != nil {
		return nil, err
	}
	unit := out.RegionMetric.Unit
	if unit == "" {
		unit = "count"
	}
	for k := range out.RegionTable {
		out.RegionTable[k].Unit = unit
	}
	return out, metricTotals(ctx, r, out.Metrics)
}

// pathDepth returns the length of the longest of call paths, in which parents come first.
func pathDepth(paths []trace.CallPath) (most int) {
	depth := make([]int, len(paths))
	for i, p := range paths {
		depth[i] = 1
		if p.Parent >= 0 && int(p.Parent) < i {
			depth[i] = depth[p.Parent] + 1
		}
		most = max(most, depth[i])
	}
	return most
}

// metricTotals adds up each metric of a profile. As in the region table, rows that the
// source gives as totals over all callers win over call paths: they are the same time.
func metricTotals(ctx context.Context, r store.Reader, to []MetricInfo) error {
	if r.Info().Profile == 0 {
		return nil
	}
	rows, err := store.ProfileTotals(ctx, r)
	if err != nil {
		return err
	}
	paths, metrics := r.CallPaths(), r.Metrics()
	flat := make([]bool, len(metrics))
	for _, x := range rows {
		flat[x.Metric] = flat[x.Metric] || paths[x.Path].Flat
	}
	for _, x := range rows {
		if metrics[x.Metric].Join != trace.JoinSum || paths[x.Path].Flat != flat[x.Metric] {
			continue
		}
		if to[x.Metric].Total == nil {
			to[x.Metric].Total = new(float64)
		}
		*to[x.Metric].Total += x.Exclusive
	}
	return nil
}

func regionTable(ctx context.Context, r store.Reader) ([]RegionInfo, error) {
	regions := r.Regions()
	sums := make([]runfacts.Total, len(regions))
	used := make([]bool, len(regions))
	err := wholeTotals(ctx, r, func(list []runfacts.Total) {
		for _, t := range list {
			used[t.Region] = true
			sums[t.Region].Calls += t.Calls
			sums[t.Region].Inclusive += t.Inclusive
			sums[t.Region].Exclusive += t.Exclusive
		}
	})
	if err != nil {
		return nil, err
	}
	counted, err := store.CountsCalls(ctx, r)
	if err != nil {
		return nil, err
	}
	byName := map[string]int{}
	out := []RegionInfo{}
	most := []float64{} // exclusive time of the region that gives category and role
	for id, s := range sums {
		if !used[id] {
			continue
		}
		k, ok := byName[regions[id].Name]
		if !ok {
			k = len(out)
			byName[regions[id].Name] = k
			out, most = append(out, RegionInfo{Name: regions[id].Name}), append(most, 0)
			if counted {
				out[k].Calls = new(float64)
			}
		}
		if !ok || s.Exclusive > most[k] {
			most[k], out[k].Category, out[k].Role = s.Exclusive, regions[id].Category, regions[id].Role.String()
		}
		if counted {
			*out[k].Calls += s.Calls
		}
		out[k].Inclusive += s.Inclusive
		out[k].Exclusive += s.Exclusive
	}
	sort.SliceStable(out, func(a, b int) bool { return out[a].Exclusive > out[b].Exclusive })
	return out, nil
}

// wholeTotals yields totals that add up to those of the run, as the store keeps
// them: neither a table of all locations nor the rows of a profile are looked at.
func wholeTotals(ctx context.Context, r store.Reader, f func([]runfacts.Total)) error {
	metric := runfacts.DefaultMetric(r.Metrics())
	switch {
	case r.Info().Timed():
		t, err := store.TotalTime(ctx, r, store.Window{Begin: 0, End: r.Info().End + 1})
		if err == nil {
			runfacts.EachSum(t, f)
		}
		return err
	case int(metric) < len(r.Metrics()) && r.Metrics()[metric].Join != trace.JoinSum:
		return runfacts.Totals(ctx, r, store.Window{}, metric, f)
	}
	rows, err := store.ProfileTotals(ctx, r)
	if err != nil {
		return err
	}
	paths := r.CallPaths()
	outermost := store.Outermost(paths)
	flat := slices.ContainsFunc(paths, func(p trace.CallPath) bool { return p.Flat })
	var list []runfacts.Total
	for _, x := range rows {
		p := &paths[x.Path]
		if x.Metric != metric || p.Flat != flat {
			continue
		}
		t := runfacts.Total{Location: trace.NoLocation, Region: p.Region, Calls: x.Calls, Exclusive: x.Exclusive}
		if outermost[x.Path] {
			t.Inclusive = x.Inclusive
		}
		list = append(list, t)
	}
	f(list)
	return nil
}
