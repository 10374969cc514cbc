package server

import (
	"context"
	"fmt"
	"math"
	"net/http"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// summaryJSON answers GET /api/runs/{run}/summary?<selection>.
type summaryJSON struct {
	Selection view.TwinSelection `json:"selection"`
	Exact     bool               `json:"exact"`    // Quantiles come from every call; otherwise from a sample, see note.
	Note      string             `json:"note"`     // How the figures were made, in words, where not exact.
	Unit      string             `json:"unit"`     // of all that is not a count: "ns", or that of a profile's metric
	Whole     float64            `json:"whole"`    // The base of the shares of regions; 0 if there are none.
	ShareOf   string             `json:"share_of"` // The same in words: "all time", "recorded time", "all samples".
	Roles     []roleTotal        `json:"roles"`
	Regions   []regionSummary    `json:"regions"`
}

// A roleTotal is the time in which a role counts: each instant of a location once, as in the view activity. If regions
// are chosen it is their exclusive time.
type roleTotal struct {
	Role string `json:"role" ts:"Role"`
	// Time in which the role counts, each instant of a location once; of chosen regions their exclusive time.
	Time  trace.Sum `json:"time"`
	Share float64   `json:"share"` // Of the locations with intervals × the window.
}

// A regionSummary sums up a region in the selection. Exclusive and inclusive are clipped to the window; mean and
// quantiles are of the exclusive times of the calls that begin in it, at full length, so that over the whole run calls
// × mean is the exclusive time.
type regionSummary struct {
	ID     trace.RegionID `json:"id"`
	Name   string         `json:"name"`
	Role   string         `json:"role" ts:"Role"`
	Colour int            `json:"colour"`
	// Calls that begin in the window; null where the source does not count them.
	Count     *int64    `json:"count"`
	Exclusive trace.Sum `json:"exclusive"` // Exclusive and inclusive time, clipped to the window.
	Share     float64   `json:"share"`     // Of exclusive time.
	Inclusive trace.Sum `json:"inclusive"`
	// Exclusive times of the calls that begin in the window, unclipped; null without calls.
	Mean *float64 `json:"mean"`
	P50  *float64 `json:"p50"`
	P90  *float64 `json:"p90"`
	P98  *float64 `json:"p98"`
}

// summaryOf begins the names of summaries: those of many calls look at each.
const summaryOf = "summary "

// summary sums up the selection by region.
func (s *runPages) summary(w http.ResponseWriter, r *http.Request, x *run) error {
	spec, err := parseSpec(r.URL.Query())
	if err != nil {
		return err
	}
	ctx, leave, err := s.panels.enter(r, "summary")
	if err != nil {
		return err
	}
	defer leave()
	body, err := s.cachedJSON(ctx, x, summaryOf+specKey(spec), func(c *computation) (any, error) {
		sel, err := resolve(spec, x.Store)
		if err != nil {
			return nil, err
		}
		return summarise(c.ctx, &x.Run, sel, x.index.of(x.Store.Locations()))
	})
	if err != nil {
		return err
	}
	return s.write(w, r, http.StatusOK, "application/json", body)
}

// summarise takes times from the store's sums, and quantiles from the calls
// themselves: all of them, or a sample where they are too many.
func summarise(ctx context.Context, run *view.Run, sel trace.Selection, index *treeIndex) (*summaryJSON, error) {
	st := run.Store
	regions := st.Regions()
	colours, err := view.ColoursOf(ctx, run)
	if err != nil {
		return nil, err
	}
	out := &summaryJSON{Exact: true, Unit: view.MainMetric(st).Unit, Roles: []roleTotal{}, Regions: []regionSummary{},
		Selection: view.SizeOf(st, sel)}
	totals := make([]regionSummary, len(regions))
	wanted := wantedRegions(len(regions), sel.Regions)
	var durations [][]int64
	var base view.Base
	if st.Info().Timed() {
		window := store.Window{Begin: sel.Begin, End: sel.End, Locations: sel.Locations}
		var recorded float64
		if recorded, err = addTimes(ctx, st, window, wanted, totals); err == nil {
			base = view.TimeBase(st, window, view.Chosen(st.Locations(), sel.Locations, st.Locations().Holds), recorded)
			durations, err = out.calls(ctx, st, window, wanted)
		}
	} else if st.Info().Profile == 0 {
		out.Note = "the source holds no intervals and no profile"
	} else {
		out.Note = "a profile holds totals, not calls: there are no quantiles"
		var recorded float64
		recorded, err = addProfile(ctx, st, sel.Locations, wanted, totals)
		if m := view.DefaultMetric(st.Metrics()); int(m) < len(st.Metrics()) {
			metric := &st.Metrics()[m]
			if metric.Join == trace.JoinSum {
				base = view.MetricBase(metric.Name, metric.Unit, recorded)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	out.Whole, out.ShareOf = base.Whole, base.Name
	var roles [trace.RoleCount]trace.Sum
	for id := range totals {
		t, g := &totals[id], &regions[id]
		if (t.Count == nil || *t.Count == 0) && t.Exclusive == (trace.Sum{}) && t.Inclusive == (trace.Sum{}) {
			continue
		}
		t.ID, t.Name, t.Role, t.Colour = trace.RegionID(id), g.Name, g.Role.String(), int(colours.Of(g))
		if durations != nil {
			t.distribution(durations[id])
		}
		t.Share = base.Share(t.Exclusive.Float64())
		roles[g.Role].AddSum(t.Exclusive)
		out.Regions = append(out.Regions, *t)
	}
	sortByTime(out.Regions)
	if st.Info().Timed() && sel.Regions == nil && sel.Begin < sel.End {
		times, err := st.RoleTime(ctx, sel.Locations, []trace.Time{sel.Begin, sel.End})
		if err != nil {
			return nil, err
		}
		copy(roles[:], times)
		roles[trace.RoleNone] = trace.Sum{}
	}
	out.addRoles(roles, rowsOf(index, st.Locations(), sel.Locations), sel.End-sel.Begin)
	return out, nil
}

// rowsOf counts the locations with intervals in the selection.
func rowsOf(index *treeIndex, t *store.Tree, ids []trace.LocationID) int64 {
	if ids == nil {
		return int64(index.rows[t.Len()])
	}
	n := int64(0)
	for _, id := range ids {
		n += int64(index.rows[t.Last[id]+1] - index.rows[id])
	}
	return n
}

func wantedRegions(n int, ids []trace.RegionID) []bool {
	out := make([]bool, n)
	for i := range out {
		out[i] = ids == nil
	}
	for _, id := range ids {
		out[id] = true
	}
	return out
}

// addTimes adds up the times of the wanted regions, and returns the exclusive time of all.
func addTimes(ctx context.Context, st store.Reader, w store.Window, wanted []bool,
	totals []regionSummary) (recorded float64, err error) {
	t, err := store.TotalTime(ctx, st, w)
	if err != nil {
		return 0, err
	}
	regions := st.Regions()
	for i, id := range t.Region {
		if !view.Sampled(&regions[id]) {
			recorded += t.Exclusive[i].Float64()
		}
		if wanted[id] {
			totals[id].Count = &t.Calls[i]
			totals[id].Exclusive.AddSum(t.Exclusive[i])
			totals[id].Inclusive.AddSum(t.Inclusive[i])
		}
	}
	return recorded, nil
}

// addProfile adds up the metric that stands for time. Flat rows are the source's
// own totals and win over call paths, as in view.InfoOf. It returns the exclusive value of all regions.
func addProfile(ctx context.Context, st store.Reader, locations []trace.LocationID, wanted []bool,
	totals []regionSummary) (recorded float64, err error) {
	metric, paths, regions, flat := view.DefaultMetric(st.Metrics()), st.CallPaths(), st.Regions(), false
	for _, p := range paths {
		flat = flat || p.Flat
	}
	outermost := store.Outermost(paths)
	type sum struct{ calls, exclusive, inclusive float64 }
	sums := make([]sum, len(totals)) // whole numbers at the end alone: rows may be of less than one each
	add := func(rows []trace.ProfileRow) error {
		for _, x := range rows {
			p := paths[x.Path]
			if x.Metric != metric || p.Flat != flat {
				continue
			}
			if !view.Sampled(&regions[p.Region]) {
				recorded += x.Exclusive
			}
			if !wanted[p.Region] {
				continue
			}
			t := &sums[p.Region]
			t.calls += x.Calls
			t.exclusive += x.Exclusive
			if outermost[x.Path] {
				t.inclusive += x.Inclusive
			}
		}
		return nil
	}
	var rows []trace.ProfileRow
	if locations != nil {
		err = st.Profile(ctx, locations, add)
	} else if rows, err = store.ProfileTotals(ctx, st); err == nil {
		err = add(rows)
	}
	if err != nil {
		return 0, err
	}
	counted, err := store.CountsCalls(ctx, st)
	for id, s := range sums {
		t := &totals[id]
		if calls := int64(math.Round(s.calls)); counted {
			t.Count = &calls
		}
		t.Exclusive, t.Inclusive = trace.SumOfNumber(s.exclusive), trace.SumOfNumber(s.inclusive)
		if s.calls > 0 {
			mean := s.exclusive / s.calls
			t.Mean = &mean
		}
	}
	return recorded, err
}

func (out *summaryJSON) addRoles(times [trace.RoleCount]trace.Sum, rows int64, span trace.Time) {
	for role, t := range times {
		if t.Sign() == 0 {
			continue
		}
		share := 0.0
		if whole := float64(rows) * float64(span); whole > 0 {
			share = t.Float64() / whole
		}
		out.Roles = append(out.Roles, roleTotal{trace.Role(role).String(), t, share})
	}
}

// calls gathers the durations of calls by region, and says how where it could
// not take them all.
func (out *summaryJSON) calls(ctx context.Context, st store.Reader, w store.Window, wanted []bool) ([][]int64, error) {
	count, err := st.Count(w)
	if err != nil {
		return nil, err
	}
	if count <= exactCalls {
		return gather(ctx, st, []store.Window{w}, wanted)
	}
	windows := sampleWindows(st.Locations(), w, count, len(st.Lanes()))
	durations, err := gather(ctx, st, windows, wanted)
	taken := int64(0)
	for _, d := range durations {
		taken += int64(len(d))
	}
	out.Exact = false
	out.Note = fmt.Sprintf("mean and quantiles from a sample of %s of %s calls, spread evenly over the time; counts "+
		"and times are exact", view.FormatCount(float64(taken)), view.FormatCount(float64(count)))
	return durations, err
}
