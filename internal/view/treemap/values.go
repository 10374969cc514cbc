package treemap

import (
	"context"
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A variable is one value that every location has: the time in a region, in a
// role, in what a pattern names.
type variable struct {
	name   string
	colour scene.Colour
	region trace.RegionID // NoRegion unless it is just one
}

// mostRegions is how many regions are variables of their own by default.
const mostRegions = 8

// values gives variable × node, in units of one second, or of about what a location
// holds of a metric that is not time.
func (r *result) values(ctx context.Context) ([][]float64, error) {
	if out, is, err := r.other(ctx, r.request.Values.Text("values")); is || err != nil {
		return out, err
	}
	table, err := r.table(ctx)
	if err != nil {
		return nil, err
	}
	regions := r.request.Store().Regions()
	total := make([]float64, len(regions))
	for k, id := range table.region {
		total[id] += table.value[k]
	}
	r.restrict(total)
	which, err := r.choose(regions, total) // variable of each region, -1
	if err != nil {
		return nil, err
	}
	if len(r.variables) == 0 {
		return nil, view.Empty("choose other regions or a longer time", "no region has time in the selection")
	}
	out := make([][]float64, len(r.variables))
	for x := range out {
		out[x] = make([]float64, r.tree.Len())
	}
	for k, id := range table.location {
		leaf := r.hierarchy.LeafOf[id]
		if x := which[table.region[k]]; x >= 0 && leaf >= 0 {
			out[x][leaf] += table.value[k] / r.unit
		}
	}
	if r.request.Values.Text("paper") == "true" {
		r.paperColours()
	}
	return out, nil
}

// A valueTable holds values by location and region.
type valueTable struct {
	location []trace.LocationID
	region   []trace.RegionID
	value    []float64
}

// table reads time in the window, or a metric of a profile.
func (r *result) table(ctx context.Context) (*valueTable, error) {
	s := r.request.Store()
	metric, err := view.ChooseMetric(s, r.request.Values.Text("metric"))
	if err != nil {
		return nil, err
	}
	if metric.Join != trace.JoinSum {
		// Extremes and rates do not add up: a cell shows the mean of its locations.
		r.mean = true
		r.notes = append(r.notes, fmt.Sprintf("%s does not add up: cells show the mean of their locations", metric.Name))
	}
	if metric.Number == view.NumberInclusive {
		r.notes = append(r.notes, fmt.Sprintf("%s holds that of what is called: areas count it once for each region around it", metric.Name))
	}
	out := &valueTable{}
	total := 0.0
	err = view.Totals(ctx, s, r.request.Window(), metric.ID, func(list []view.Total) {
		for _, x := range list {
			v := max(metric.Of(x.Calls, x.Inclusive, x.Exclusive), 0)
			total += v
			out.location, out.region, out.value = append(out.location, x.Location), append(out.region, x.Region), append(out.value, v)
		}
	})
	r.unitName, r.unit = metric.Unit, 1
	switch {
	case metric.Unit == "ns":
		r.unit = 1e9 // seconds, whatever the source
	case metric.Number != view.NumberCalls:
		// What a location holds on average is about 1, so that the paper's p means
		// something: a power of two, which takes no digit away.
		r.unit = math.Exp2(math.Round(math.Log2(max(total/float64(r.hierarchy.Leaves), 1e-300))))
	}
	if r.scale == entropy.Plain {
		r.notes = append(r.notes, fmt.Sprintf("the paper's p: gain in values, loss in bits for %s", view.FormatIn(r.unit, metric.Unit)))
	}
	return out, err
}

// restrict forgets regions that are not selected.
func (r *result) restrict(total []float64) {
	if r.request.Selection.Regions == nil {
		return
	}
	keep := make([]bool, len(total))
	for _, id := range r.request.Selection.Regions {
		keep[id] = true
	}
	for id := range total {
		if !keep[id] {
			total[id] = 0
		}
	}
}

// choose decides what the variables are and to which each region belongs.
func (r *result) choose(regions []trace.Region, total []float64) ([]int, error) {
	which := make([]int, len(regions))
	var present []int
	for id := range which {
		which[id] = -1
		if total[id] > 0 {
			present = append(present, id)
		}
	}
	by := r.request.Values.Text("values")
	if by == "" {
		by = "roles"
		if len(present) <= mostRegions {
			by = "regions"
		}
	}
	key := func(id int) (string, variable) { return "", variable{} }
	switch by {
	case "regions":
		key = func(id int) (string, variable) {
			g := &regions[id]
			return g.Name, variable{g.Name, scene.RegionColour(g.Name, uint8(g.Role)), trace.RegionID(id)}
		}
	case "roles":
		key = func(id int) (string, variable) {
			role := regions[id].Role
			return role.String(), variable{role.String(), scene.RoleColour(uint8(role)), trace.NoRegion}
		}
	case "categories":
		key = func(id int) (string, variable) {
			g := &regions[id]
			return g.Category, variable{g.Category, scene.RegionColour(g.Category, uint8(g.Role)), trace.NoRegion}
		}
	case "busy":
		key = func(id int) (string, variable) {
			if regions[id].Role.Busy() {
				return "busy", variable{"busy", scene.RoleColour(uint8(trace.RoleCompute)), trace.NoRegion}
			}
			return "idle", variable{"idle", scene.RoleColour(uint8(trace.RoleIdle)), trace.NoRegion}
		}
	default:
		return which, r.patterns(by, regions, present, which)
	}
	sort.SliceStable(present, func(a, b int) bool { return total[present[a]] > total[present[b]] })
	index := map[string]int{}
	for _, id := range present {
		name, v := key(id)
		x, ok := index[name]
		if !ok {
			x = len(r.variables)
			index[name] = x
			r.variables = append(r.variables, v)
		} else {
			r.variables[x].region = trace.NoRegion
		}
		which[id] = x
	}
	return which, nil
}

// patterns makes one variable of each pattern in a list with commas.
func (r *result) patterns(list string, regions []trace.Region, present, which []int) error {
	for _, p := range strings.Split(list, ",") {
		match, err := view.RegionPattern(p)
		if err != nil {
			return fmt.Errorf("--values: %w", err)
		}
		v := variable{name: p, region: trace.NoRegion}
		n := 0
		for _, id := range present {
			if which[id] < 0 && match(trace.RegionID(id), &regions[id]) {
				which[id] = len(r.variables)
				v.colour = scene.RegionColour(regions[id].Name, uint8(regions[id].Role))
				n++
			}
		}
		if n == 0 {
			return fmt.Errorf("--values %q: no region of the selection matches; want regions, roles, categories, busy, instants, counter:NAME, mean:NAME, or patterns joined by commas", p)
		}
		r.variables = append(r.variables, v)
	}
	return nil
}

// paperColours are green for the first of two states and red for the second.
func (r *result) paperColours() {
	for x := range r.variables {
		r.variables[x].colour = scene.PaperGreen
		if x > 0 {
			r.variables[x].colour = scene.PaperRed
		}
	}
	if len(r.variables) > 2 {
		r.notes = append(r.notes, "the paper's colours tell the largest state (green) from all others (red)")
	}
}
