package treemap

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A variable is one value that every location has: the time in a region, in a role, in
// the regions of a pattern.
type variable struct {
	name   string
	colour scene.Colour
	region trace.RegionID // NoRegion unless it is just one
	// Instants are counted; weight is the value of one of them against states.
	instant bool
	weight  float64
	flag    scene.Flag // of its strips
}

func newVariable(name string, colour scene.Colour, region trace.RegionID) variable {
	return variable{name: name, colour: colour, region: region}
}

// mostRegions is how many regions are variables of their own by default.
const mostRegions = 8

// values returns variable × node, in units of one second, or of about the mean value of
// a location for a metric that is not time.
func (r *result) values(ctx context.Context, by string) ([][]float64, error) {
	if states, pattern, both := cutInstants(by); both {
		return r.both(ctx, states, pattern)
	}
	if out, is, err := r.other(ctx, by); is || err != nil {
		return out, err
	}
	return r.times(ctx, by)
}

// cutInstants reads STATES+instants[:PATTERN]: states and instants in one cell.
func cutInstants(by string) (states, pattern string, both bool) {
	states, rest, ok := strings.Cut(by, "+instants")
	if !ok || rest != "" && rest[0] != ':' {
		return "", "", false
	}
	return states, strings.TrimPrefix(rest, ":"), true
}

// both returns states and instants. All instants together weigh as much as all states,
// since a number of events has no length.
func (r *result) both(ctx context.Context, states, pattern string) ([][]float64, error) {
	out, err := r.times(ctx, states)
	if err != nil {
		return nil, err
	}
	unit, name, first := r.unit, r.unitName, len(r.variables)
	counts, err := r.instants(ctx, pattern)
	if err != nil {
		return nil, err
	}
	r.unit, r.unitName = unit, name
	length, number := 0.0, 0.0
	for i := range r.tree.Len() {
		for x := range out {
			length += out[x][i]
		}
		for x := range counts {
			number += counts[x][i]
		}
	}
	weight := length / max(number, 1)
	for x := range counts {
		for i := range counts[x] {
			counts[x][i] *= weight
		}
		r.variables[first+x].weight = weight
	}
	r.notes = append(r.notes,
		"instants are the bars at the left of cells, a location's number against the largest; all of them weigh as "+
			"much as all states")
	return append(out, counts...), nil
}

// times returns the time of states, or a metric of a profile.
func (r *result) times(ctx context.Context, by string) ([][]float64, error) {
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
	if by == "" {
		if by, err = r.usual(ctx); err != nil {
			return nil, err
		}
	}
	colours, err := r.request.Colours(ctx)
	if err != nil {
		return nil, err
	}
	which, err := r.choose(by, regions, total, colours) // variable of each region, -1
	if err != nil {
		return nil, err
	}
	if len(r.variables) == 0 {
		return nil,
			r.request.Advise("other regions",
				"another metric").Empty("no region has a value other than 0 in the selection")
	}
	out := make([][]float64, len(r.variables))
	for x := range out {
		out[x] = make([]float64, r.tree.Len())
	}
	if by == "busy" && r.request.Store().Info().Timed() && r.request.Selection.Regions == nil &&
		metricIsTime(r.request.Values.Text("metric")) {
		err := r.busy(ctx, out)
		return out, err
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

// metricIsTime reports whether a value is time in regions, as it is unless something else is asked for.
func metricIsTime(metric string) bool { return metric == "" || metric == "exclusive" }

// busy fills the two variables busy and idle with the time that locations are busy, and in any other
// role: lanes' union, annotations transparent, as in every view. Time with nothing open is in neither.
func (r *result) busy(ctx context.Context, out [][]float64) error {
	s := r.request.Store()
	at := map[string]int{}
	for x := range r.variables {
		at[r.variables[x].name] = x
	}
	ids, err := runfacts.ChosenHolders(ctx, s, r.request.Selection.Locations)
	if err != nil {
		return err
	}
	ids = slices.DeleteFunc(slices.Clone(ids), func(id trace.LocationID) bool { return r.hierarchy.LeafOf[id] < 0 })
	times, err := store.RoleTimes(ctx, s, ids, []trace.Time{r.request.Selection.Begin, r.request.Selection.End})
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
				out[x][r.hierarchy.LeafOf[id]] += float64(times[k*trace.RoleCount+role]) / r.unit
			}
		}
	}
	return nil
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
	metric, err := runfacts.ChooseMetric(s, r.request.Values.Text("metric"))
	if err != nil {
		return nil, err
	}
	if metric.Join != trace.JoinSum {
		// Extremes and rates do not add up: a cell shows the mean of its locations.
		r.mean = true
		r.notes = append(r.notes,
			fmt.Sprintf("%s does not add up: cells show the mean of their locations", metric.Name))
	}
	if metric.Number == runfacts.NumberInclusive {
		r.notes = append(r.notes,
			fmt.Sprintf("%s holds that of what is called: areas count it once for each region around it", metric.Name))
	}
	out := &valueTable{}
	total := 0.0
	err = runfacts.Totals(ctx, s, r.request.Window(), metric.ID, func(list []runfacts.Total) {
		for _, x := range list {
			v := max(metric.Of(x.Calls, x.Inclusive, x.Exclusive), 0)
			total += v
			out.location, out.region, out.value = append(out.location, x.Location), append(out.region, x.Region),
				append(out.value, v)
		}
	})
	r.unitName, r.unit = metric.Unit, 1
	switch {
	case metric.Unit == "ns":
		r.unit = 1e9 // seconds, whatever the source
	case metric.Number != runfacts.NumberCalls:
		// The mean value of a location is about 1, so that the paper's p means something: a
		// power of two, which takes no digit away.
		r.unit = math.Exp2(math.Round(math.Log2(max(total/float64(r.hierarchy.Leaves), 1e-300))))
	}
	if r.scale == entropy.Plain {
		r.notes = append(r.notes,
			fmt.Sprintf("the paper's p: gain in values, loss in bits for %s", view.FormatIn(r.unit, metric.Unit)))
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

// usual takes regions where the run has few, else roles. It asks for the whole run: the
// parts of a cell must not change with the time that is chosen.
func (r *result) usual(ctx context.Context) (string, error) {
	s := r.request.Store()
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

// choose decides the variables and to which each region belongs. Their order is that of
// the run, work before waiting, never that of their sizes: states keep their places when
// another time is chosen.
func (r *result) choose(by string, regions []trace.Region, total []float64, colours *view.Colours) ([]int, error) {
	which := make([]int, len(regions))
	var present []int
	for id := range which {
		which[id] = -1
		if total[id] > 0 {
			present = append(present, id)
		}
	}
	var categories scene.Giver
	var key func(id int) (string, variable)
	switch by {
	case "regions":
		key = func(id int) (string, variable) {
			g := &regions[id]
			return g.Name, newVariable(g.Name, colours.Of(g), trace.RegionID(id))
		}
	case "roles":
		key = func(id int) (string, variable) {
			role := regions[id].Role
			return role.String(), newVariable(role.String(), scene.RoleColour(uint8(role)), trace.NoRegion)
		}
	case "categories":
		key = func(id int) (string, variable) {
			g := &regions[id]
			return g.Category, newVariable(g.Category, categories.Give(g.Category, uint8(g.Role), nil), trace.NoRegion)
		}
	case "busy":
		key = func(id int) (string, variable) {
			if regions[id].Role.Busy() {
				return "busy", newVariable("busy", scene.RoleColour(uint8(trace.RoleCompute)), trace.NoRegion)
			}
			return "idle", newVariable("idle", scene.RoleColour(uint8(trace.RoleIdle)), trace.NoRegion)
		}
	default:
		return which, r.patterns(by, regions, present, which, colours)
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
func (r *result) patterns(list string, regions []trace.Region, present, which []int, colours *view.Colours) error {
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
				v.colour = colours.Of(&regions[id])
				n++
			}
		}
		if n == 0 {
			return fmt.Errorf("--values %q: no region of the selection matches; want regions, roles, categories, "+
				"busy, instants, counter:NAME, mean:NAME, patterns joined by commas, or any states with "+
				"+instants[:NAME]", p)
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
