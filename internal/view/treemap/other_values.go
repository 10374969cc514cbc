package treemap

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// other returns values that are not time: "counter:PATTERN", the integral of a counter
// over the window (unit × second); "mean:PATTERN", its mean over the window, and for a
// cell the mean of its locations; "instants" or "instants:PATTERN", how often. isOther
// is false if the text asks for time.
func (r *result) other(ctx context.Context, by string) (values [][]float64, isOther bool, err error) {
	kind, pattern, has := strings.Cut(by, ":")
	switch {
	case kind == "instants":
		values, err = r.instants(ctx, pattern)
	case has && (kind == "counter" || kind == "mean"):
		r.mean = kind == "mean"
		values, err = r.counters(ctx, pattern)
	default:
		return nil, false, nil
	}
	return values, true, err
}

// instants counts those of each region in the window.
func (r *result) instants(ctx context.Context, pattern string) ([][]float64, error) {
	s := r.request.Store()
	regions := s.Regions()
	match, err := view.RegionPattern(pattern)
	if err != nil && pattern != "" {
		return nil, fmt.Errorf("--values: %w", err)
	}
	r.unit, r.unitName = 1, "count"
	// Locations come from several goroutines; variables are in the order of locations.
	type count struct {
		location trace.LocationID
		region   trace.RegionID
		n        int64
	}
	var counts []count
	var mu sync.Mutex
	err = s.Instants(ctx, r.request.Window(), func(c *store.InstantColumns) error {
		at := map[trace.RegionID]int{}
		var own []count
		for _, id := range c.Region {
			if pattern != "" && !match(id, &regions[id]) {
				continue
			}
			if _, ok := at[id]; !ok {
				at[id] = len(own)
				own = append(own, count{c.Location, id, 0})
			}
			own[at[id]].n++
		}
		mu.Lock()
		counts = append(counts, own...)
		mu.Unlock()
		return nil
	})
	slices.SortStableFunc(counts, func(a, b count) int { return cmp.Compare(a.location, b.location) })
	of := map[trace.RegionID]int{}
	var out [][]float64
	lost := int64(0)
	for _, c := range counts {
		leaf := r.hierarchy.LeafOf[c.location]
		if leaf < 0 {
			lost += c.n
			continue
		}
		x, ok := of[c.region]
		if !ok {
			x = len(out)
			of[c.region] = x
			out = append(out, make([]float64, r.tree.Len()))
			r.variables = append(r.variables,
				variable{regions[c.region].Name, scene.LocationColour(x), c.region, true, 1, 0})
		}
		out[x][leaf] += float64(c.n)
	}
	r.sayLost(lost, "instants")
	if err == nil && len(out) == 0 {
		err = view.Empty("choose a longer time or another pattern", "no instant of that name lies in the selection")
	}
	return out, err
}

// counters adds up step functions: a value holds from its sample to the next one.
func (r *result) counters(ctx context.Context, pattern string) ([][]float64, error) {
	s := r.request.Store()
	match, err := view.ParsePattern(pattern)
	if err != nil {
		return nil, fmt.Errorf("--values: %w", err)
	}
	r.unit = 1
	all := s.Counters()
	of := map[string]int{}
	var ids []trace.CounterID
	var out [][]float64
	lost := int64(0)
	for i, c := range all {
		if !match(c.Name) {
			continue
		}
		if r.hierarchy.LeafOf[c.Location] < 0 {
			lost++
			continue
		}
		if _, ok := of[c.Name]; !ok {
			of[c.Name] = len(out)
			r.variables = append(r.variables, newVariable(c.Name, scene.LocationColour(len(out)), trace.NoRegion))
			out = append(out, make([]float64, r.tree.Len()))
		}
		ids = append(ids, trace.CounterID(i))
	}
	r.sayLost(lost, "counters")
	if len(ids) == 0 {
		return nil,
			view.Empty("`parallax info` lists the counters",
				"no counter of that name belongs to a location of the hierarchy")
	}
	begin, end := r.request.Selection.Begin, r.request.Selection.End
	// From the start of the run: the value at the window's begin was sampled before it.
	steps := make([]stepSum, len(all)) // samples of a counter come in batches, one after the other
	err = s.Samples(ctx, ids, 0, end, func(c *store.SampleColumns) error {
		x := &steps[c.Counter]
		for i, t := range c.Time {
			x.hold(begin, t)
			x.since, x.value = t, c.Value[i]
		}
		return nil
	})
	scale := 1e9
	if r.mean {
		scale = float64(end - begin)
	}
	for _, id := range ids {
		steps[id].hold(begin, end)
		k := &all[id]
		out[of[k.Name]][r.hierarchy.LeafOf[k.Location]] += steps[id].sum / scale
	}
	return out, err
}

// A stepSum is the integral of a step function, above zero and from some time on.
type stepSum struct {
	since trace.Time
	value float64
	sum   float64
}

// hold adds the value that holds until a time; there is none before the first sample.
func (s *stepSum) hold(begin, until trace.Time) {
	if from := max(s.since, begin); until > from && !math.IsNaN(s.value) {
		s.sum += max(s.value, 0) * float64(until-from)
	}
}

// sayLost notes values that belong to no location that is drawn.
func (r *result) sayLost(n int64, what string) {
	if n > 0 {
		r.notes = append(r.notes,
			fmt.Sprintf("%s %s of locations that are not drawn are left out", view.Thousands(n), what))
	}
}
