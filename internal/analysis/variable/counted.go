package variable

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// instants counts those of each region in the window.
func (q *Query) instants(ctx context.Context, pattern string) (*Table, error) {
	regions, t := q.Store.Regions(), &Table{Unit: 1, UnitName: "count"}
	match := func(trace.RegionID, *trace.Region) bool { return true }
	if pattern != "" {
		var err error
		if match, err = q.Regions(pattern); err != nil {
			return nil, fmt.Errorf("--values: %w", err)
		}
	}
	// Locations come from several goroutines; variables are in the order of locations.
	type count struct {
		location trace.LocationID
		region   trace.RegionID
		n        int64
	}
	var counts []count
	var mu sync.Mutex
	err := q.Store.Instants(ctx, q.window(), func(c *store.InstantColumns) error {
		at := map[trace.RegionID]int{}
		var own []count
		for _, id := range c.Region {
			if !match(id, &regions[id]) {
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
	lost := int64(0)
	for _, c := range counts {
		leaf := q.LeafOf[c.location]
		if leaf < 0 {
			lost += c.n
			continue
		}
		x, ok := of[c.region]
		if !ok {
			x = len(t.Values)
			of[c.region] = x
			t.Values = append(t.Values, make([]float64, q.Nodes))
			t.Variables = append(t.Variables, Variable{Name: regions[c.region].Name, Region: c.region,
				Like: trace.NoRegion, Instant: true, Weight: 1})
		}
		t.Values[x][leaf] += float64(c.n)
	}
	t.lost(lost, "instants")
	if err == nil && len(t.Values) == 0 {
		err = words.Empty("choose a longer time or another pattern", "no instant of that name is in the selection")
	}
	return t, err
}

// counters adds up step functions: a value holds from its sample to the next one.
func (q *Query) counters(ctx context.Context, mean bool, pattern string) (*Table, error) {
	t := &Table{Unit: 1, Mean: mean}
	match, err := q.Names(pattern)
	if err != nil {
		return nil, fmt.Errorf("--values: %w", err)
	}
	all := q.Store.Counters()
	of := map[string]int{}
	var ids []trace.CounterID
	lost := int64(0)
	for i, c := range all {
		if !match(c.Name) {
			continue
		}
		if q.LeafOf[c.Location] < 0 {
			lost++
			continue
		}
		if _, ok := of[c.Name]; !ok {
			of[c.Name] = len(t.Values)
			t.Variables = append(t.Variables, Variable{Name: c.Name, Region: trace.NoRegion, Like: trace.NoRegion})
			t.Values = append(t.Values, make([]float64, q.Nodes))
		}
		ids = append(ids, trace.CounterID(i))
	}
	t.lost(lost, "counters")
	if len(ids) == 0 {
		return nil, words.Empty("`parallax info` lists the counters",
			"no counter of that name belongs to a location of the hierarchy")
	}
	begin, end := q.Selection.Begin, q.Selection.End
	// From the start of the run: the value at the window's begin was sampled before it.
	steps := make([]stepSum, len(all)) // samples of a counter come in batches, one after the other
	err = q.Store.Samples(ctx, ids, 0, end, func(c *store.SampleColumns) error {
		x := &steps[c.Counter]
		for i, at := range c.Time {
			x.hold(begin, at)
			x.since, x.value = at, c.Value[i]
		}
		return nil
	})
	scale := 1e9
	if mean {
		scale = float64(end - begin)
	}
	for _, id := range ids {
		steps[id].hold(begin, end)
		k := &all[id]
		t.Values[of[k.Name]][q.LeafOf[k.Location]] += steps[id].sum / scale
	}
	return t, err
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
