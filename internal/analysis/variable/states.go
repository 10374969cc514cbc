package variable

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// mostRegions is the number of regions that are variables of their own by default.
const mostRegions = 8

// Usual takes regions where a run has few, else roles. It asks for the whole run: the parts of a cell must not change
// with the time that is chosen.
func Usual(ctx context.Context, s store.Reader) (string, error) {
	n := 0
	if s.Info().Timed() {
		t, err := store.TotalTime(ctx, s, store.Window{End: s.Info().End + 1})
		if err != nil {
			return "", err
		}
		for _, time := range t.Exclusive {
			if time.Sign() > 0 {
				n++
			}
		}
	} else {
		seen := make([]bool, len(s.Regions()))
		for _, p := range s.CallPaths() {
			if !seen[p.Region] {
				seen[p.Region] = true
				n++
			}
		}
	}
	if n <= mostRegions {
		return "regions", nil
	}
	return "roles", nil
}

// states returns the time of states, or a metric of a profile.
func (q *Query) states(ctx context.Context, by string) (*Table, error) {
	t := &Table{}
	cells, err := q.cells(ctx, t)
	if err != nil {
		return nil, err
	}
	regions := q.Store.Regions()
	total := make([]float64, len(regions))
	for k, id := range cells.region {
		total[id] += cells.value[k]
	}
	q.restrict(total)
	if by == "" {
		if by, err = Usual(ctx, q.Store); err != nil {
			return nil, err
		}
	}
	t.By = by
	which, err := q.choose(t, by, total) // variable of each region, -1
	if err != nil {
		return nil, err
	}
	if len(t.Variables) == 0 {
		return t, nil
	}
	t.Values = make([][]float64, len(t.Variables))
	for x := range t.Values {
		t.Values[x] = make([]float64, q.Nodes)
	}
	if by == "busy" && q.Store.Info().Timed() && q.Selection.Regions == nil && isTime(q.Metric) {
		return t, q.busy(ctx, t)
	}
	for k, id := range cells.location {
		leaf := q.LeafOf[id]
		if x := which[cells.region[k]]; x >= 0 && leaf >= 0 {
			t.Values[x][leaf] += cells.value[k] / t.Unit
		}
	}
	return t, nil
}

// isTime reports whether a metric is time in regions, as it is unless something else is asked for.
func isTime(metric string) bool { return metric == "" || metric == "exclusive" }

// busy fills the two variables busy and idle with the time that locations are busy, and in any other role: lanes'
// union, annotations transparent, as in every view. Time with nothing open is in neither.
func (q *Query) busy(ctx context.Context, t *Table) error {
	at := map[string]int{}
	for x := range t.Variables {
		at[t.Variables[x].Name] = x
	}
	ids, err := runfacts.ChosenHolders(ctx, q.Store, q.Selection.Locations)
	if err != nil {
		return err
	}
	ids = slices.DeleteFunc(slices.Clone(ids), func(id trace.LocationID) bool { return q.LeafOf[id] < 0 })
	times, err := store.RoleTimes(ctx, q.Store, ids, []trace.Time{q.Selection.Begin, q.Selection.End})
	if err != nil {
		return err
	}
	for k, id := range ids {
		for role := 1; role < trace.RoleCount; role++ {
			name := "idle"
			if trace.Role(role).Busy() {
				name = "busy"
			}
			if x, ok := at[name]; ok {
				t.Values[x][q.LeafOf[id]] += float64(times[k*trace.RoleCount+role]) / t.Unit
			}
		}
	}
	return nil
}

// cells hold values by location and region.
type cells struct {
	location []trace.LocationID
	region   []trace.RegionID
	value    []float64
}

// cells reads time in the window, or a metric of a profile, and sets the unit of a table.
func (q *Query) cells(ctx context.Context, t *Table) (*cells, error) {
	metric, err := runfacts.ChooseMetric(q.Store, q.Metric)
	if err != nil {
		return nil, err
	}
	if metric.Join != trace.JoinSum {
		// Extremes and rates do not add up: a cell shows the mean of its locations.
		t.Mean = true
		t.Notes = append(t.Notes,
			fmt.Sprintf("%s does not add up: cells show the mean of their locations", metric.Name))
	}
	if metric.Number == runfacts.NumberInclusive {
		t.Notes = append(t.Notes,
			fmt.Sprintf("%s holds that of what is called: areas count it once for each region around it", metric.Name))
	}
	var out *cells
	if q.Store.Info().Timed() {
		out, err = q.timeCells(ctx, metric)
	} else {
		out, err = q.profileCells(ctx, metric)
	}
	if err != nil {
		return nil, err
	}
	t.UnitName, t.Metric, t.Unit = metric.Unit, metric.Unit, 1
	switch {
	case metric.Unit == "ns":
		t.Unit = 1e9 // seconds, whatever the source
	case metric.Number != runfacts.NumberCalls:
		// The mean value of a location is about 1, so that the paper's p means something: a power of two, which takes
		// no digit away.
		total := 0.0
		for _, v := range out.value {
			total += v
		}
		t.Unit = math.Exp2(math.Round(math.Log2(max(total/float64(q.Leaves), 1e-300))))
	}
	return out, nil
}

// timeCells reads the time of a trace, in the order of locations.
func (q *Query) timeCells(ctx context.Context, metric runfacts.MetricChoice) (*cells, error) {
	t, err := q.Store.Time(ctx, q.window())
	if err != nil {
		return nil, err
	}
	out := &cells{region: t.Region, location: make([]trace.LocationID, len(t.Region)),
		value: make([]float64, len(t.Region))}
	return out, parallel.Ranges(ctx, len(t.Locations), 1<<12, func(from, to int) {
		for k := from; k < to; k++ {
			for i := t.Offsets[k]; i < t.Offsets[k+1]; i++ {
				out.location[i] = t.Locations[k]
				out.value[i] = max(metric.Of(float64(t.Calls[i]), float64(t.Inclusive[i]), float64(t.Exclusive[i])), 0)
			}
		}
	})
}

// profileCells reads a metric of a profile.
func (q *Query) profileCells(ctx context.Context, metric runfacts.MetricChoice) (*cells, error) {
	out := &cells{}
	return out, runfacts.Totals(ctx, q.Store, q.window(), metric.ID, func(list []runfacts.Total) {
		for _, x := range list {
			out.location, out.region = append(out.location, x.Location), append(out.region, x.Region)
			out.value = append(out.value, max(metric.Of(x.Calls, x.Inclusive, x.Exclusive), 0))
		}
	})
}

// restrict forgets regions that are not selected.
func (q *Query) restrict(total []float64) {
	if q.Selection.Regions == nil {
		return
	}
	keep := make([]bool, len(total))
	for _, id := range q.Selection.Regions {
		keep[id] = true
	}
	for id := range total {
		if !keep[id] {
			total[id] = 0
		}
	}
}

// choose decides the variables and to which each region belongs. Their order is that of the run, work before waiting,
// never that of their sizes: states keep their places when another time is chosen.
func (q *Query) choose(t *Table, by string, total []float64) ([]int, error) {
	regions := q.Store.Regions()
	which := make([]int, len(regions))
	var present []int
	for id := range which {
		which[id] = -1
		if total[id] > 0 {
			present = append(present, id)
		}
	}
	var name func(g *trace.Region) string
	switch by {
	case "regions":
		name = func(g *trace.Region) string { return g.Name }
	case "roles":
		name = func(g *trace.Region) string { return g.Role.String() }
	case "categories":
		name = func(g *trace.Region) string { return g.Category }
	case "busy":
		name = func(g *trace.Region) string {
			if g.Role.Busy() {
				return "busy"
			}
			return "idle"
		}
	default:
		return which, q.patterns(t, by, present, which)
	}
	slices.SortStableFunc(present, func(a, b int) int {
		x, y := regions[a].Role, regions[b].Role
		switch {
		case x.Busy() != y.Busy() && x.Busy():
			return -1
		case x.Busy() != y.Busy():
			return 1
		case by == "regions":
			return a - b
		}
		return cmp.Or(cmp.Compare(x, y), a-b)
	})
	index := map[string]int{}
	for _, id := range present {
		text := name(&regions[id])
		x, ok := index[text]
		if !ok {
			x = len(t.Variables)
			index[text] = x
			v := Variable{Name: text, Region: trace.NoRegion, Like: trace.RegionID(id)}
			if by == "regions" {
				v.Region = v.Like
			}
			t.Variables = append(t.Variables, v)
		} else {
			t.Variables[x].Region = trace.NoRegion
		}
		which[id] = x
	}
	return which, nil
}

// patterns makes one variable of each pattern in a list with commas.
func (q *Query) patterns(t *Table, list string, present, which []int) error {
	regions := q.Store.Regions()
	for _, p := range strings.Split(list, ",") {
		match, err := q.Regions(p)
		if err != nil {
			return fmt.Errorf("--values: %w", err)
		}
		v := Variable{Name: p, Region: trace.NoRegion, Like: trace.NoRegion}
		for _, id := range present {
			if which[id] < 0 && match(trace.RegionID(id), &regions[id]) {
				which[id] = len(t.Variables)
				v.Like = trace.RegionID(id)
			}
		}
		if v.Like == trace.NoRegion {
			return fmt.Errorf("--values %q: no region of the selection matches; want regions, roles, categories, "+
				"busy, instants, counter:NAME, mean:NAME, patterns joined by commas, or any states with "+
				"+instants[:NAME]", p)
		}
		t.Variables = append(t.Variables, v)
	}
	return nil
}

// lost notes values that belong to no node.
func (t *Table) lost(n int64, what string) {
	if n > 0 {
		t.Notes = append(t.Notes,
			fmt.Sprintf("%s %s of locations that are not drawn are left out", words.Thousands(n), what))
	}
}
