package timeline

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	// instantWidth is how near instants of a row may be before they are one mark.
	instantWidth = 6
	mostInstants = 8000
)

// An instant is a mark on a row.
type instant struct {
	row    int
	time   trace.Time // of the first
	region trace.RegionID
	count  uint32
}

// withoutIntervals tells which locations have instants or counters, of a run that has nothing else: they are its rows,
// and counters are drawn unasked. O(instants).
func (r *fetcher) withoutIntervals(ctx context.Context) (func(trace.LocationID) bool, error) {
	if len(r.opt.counters) == 0 && len(r.reader.Counters()) > 0 {
		r.opt.counters = []string{"*"}
	}
	has := make([]bool, r.reader.Locations().Len())
	for _, c := range r.reader.Counters() {
		has[c.Location] = true
	}
	var mu sync.Mutex
	err := r.reader.Instants(ctx, store.Window{End: math.MaxInt64}, func(c *store.InstantColumns) error {
		mu.Lock()
		has[c.Location] = true
		mu.Unlock()
		return nil
	})
	return func(id trace.LocationID) bool { return has[id] }, err
}

func (r *fetcher) fetchInstants(ctx context.Context, _ *forest) error {
	rowOf := map[trace.LocationID]int{}
	var ids []trace.LocationID
	for i := range r.rows {
		if r.rows[i].kind == leaf {
			rowOf[r.rows[i].location] = i
			ids = append(ids, r.rows[i].location)
		}
	}
	if r.reader.Info().Instants == 0 || len(ids) == 0 {
		return nil
	}
	bins := min(r.frame(r.size).w/instantWidth, float32(mostInstants/len(ids)))
	level := levelFor(r.axisEnd-r.selection.Begin, max(1, bins))
	var mu sync.Mutex
	err := r.reader.Instants(ctx, r.window(ids), func(c *store.InstantColumns) error {
		i, shown := rowOf[c.Location]
		if !shown {
			return nil
		}
		var list []instant
		for k, t := range c.Time {
			if !r.rule.keeps(c.Region[k]) {
				continue
			}
			if n := len(list); n > 0 && list[n-1].time>>level == t>>level {
				list[n-1].count++
				continue
			}
			list = append(list, instant{i, t, c.Region[k], 1})
		}
		mu.Lock()
		r.marks = append(r.marks, list...)
		mu.Unlock()
		return nil
	})
	slices.SortStableFunc(r.marks,
		func(a, b instant) int { return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.time, b.time)) })
	// Batches of one location may meet in a bin.
	joined := r.marks[:0]
	for _, m := range r.marks {
		if n := len(joined); n > 0 && joined[n-1].row == m.row && joined[n-1].time>>level == m.time>>level {
			joined[n-1].count += m.count
			continue
		}
		joined = append(joined, m)
	}
	r.marks = joined
	return err
}

// A series is a counter drawn as a strip: least and greatest value per bin.
type series struct {
	counter  trace.CounterID
	location trace.LocationID
	row      int // below which it is drawn
	name     string
	unit     string
	low      []float64 // by bin, NaN for none
	high     []float64
	grid     grid
	min, max float64
	// The last sample, for rates of counters that only grow.
	lastTime  trace.Time
	lastValue float64
	any       bool
}

// fetchCounters reads the counters that the user asked for.
func (r *fetcher) fetchCounters(ctx context.Context, f *forest) error {
	if len(r.opt.counters) == 0 {
		return nil
	}
	var patterns []view.Pattern
	for _, p := range r.opt.counters {
		m, err := view.ParsePattern(p)
		if err != nil {
			return err
		}
		patterns = append(patterns, m)
	}
	matches := func(c *trace.Counter) bool {
		return slices.ContainsFunc(patterns, func(m view.Pattern) bool { return m(c.Name) })
	}
	all := r.reader.Counters()
	stored := len(all)
	devices := &view.Devices{}
	queues := map[trace.LocationID]*series{}
	if matches(&view.QueueCounter) && r.reader.Info().Links > 0 {
		devices = view.FindDevices(f.tree, nil)
		for _, id := range devices.GPUs {
			c := view.QueueCounter
			c.Location = id
			all = append(slices.Clip(all), c)
		}
	}
	asked, err := r.countersOf(f.tree, all, matches)
	if err != nil {
		return err
	}
	rowOf := r.rowOf(f)
	var ids []trace.CounterID
	found := 0
	byID := map[trace.CounterID]*series{}
	for id, c := range all {
		at, isAsked := c.Location, false
		if under, ok := asked[c.Location]; ok {
			isAsked = true
			if rowOf[at] < 0 || !f.isSelected(at) { // the counter of a node, below the rank that it was asked for
				at = under
			}
		}
		if rowOf[at] < 0 || !f.isSelected(at) || !matches(&c) || asked != nil && !isAsked {
			continue
		}
		if found++; found > r.mostCounters() {
			continue
		}
		s := newSeries(trace.CounterID(id), &c, int(rowOf[at]), r.grid)
		r.series = append(r.series, s)
		if id >= stored {
			queues[c.Location] = s
			continue
		}
		byID[s.counter] = s
		ids = append(ids, s.counter)
	}
	if found > len(r.series) {
		r.note("%d of %d counters are drawn; choose fewer by --counters or --locations", len(r.series), found)
	}
	if len(r.series) == 0 {
		r.note("no counter of the rows shown matches --counters")
		return nil
	}
	if len(queues) > 0 {
		if err := fetchQueues(ctx, r.result, devices, queues); err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		return nil
	}
	counters := r.reader.Counters()
	return r.reader.Samples(ctx, ids, r.selection.Begin, r.selection.End, func(c *store.SampleColumns) error {
		s := byID[c.Counter]
		for i, t := range c.Time {
			s.add(t, c.Value[i], counters[c.Counter].Monotone)
		}
		return nil
	})
}

// countersOf tells of which locations counters are drawn, where only some are asked for:
// of these and all below them, or, where nothing there has any, of the nearest location
// above, such as the node of a rank. Each comes with the location it was asked for.
// Nil: of all. O((locations + counters) log counters).
func (r *fetcher) countersOf(tree *store.Tree, all []trace.Counter,
	matches func(*trace.Counter) bool) (map[trace.LocationID]trace.LocationID, error) {
	if len(r.opt.countOf) == 0 {
		return nil, nil
	}
	list, err := view.MatchLocations(tree, r.opt.countOf)
	if err != nil {
		return nil, fmt.Errorf("--counters-of: %w", err)
	}
	var have []trace.LocationID // that have some, in order
	for _, c := range all {
		if matches(&c) {
			have = append(have, c.Location)
		}
	}
	slices.Sort(have)
	have = slices.Compact(have)
	out := map[trace.LocationID]trace.LocationID{}
	for _, id := range list {
		from, _ := slices.BinarySearch(have, id)
		to, _ := slices.BinarySearch(have, tree.Last[id]+1)
		for _, x := range have[from:to] {
			out[x] = id
		}
		for up := id; from == to && up != trace.NoLocation; up = tree.Parent[up] {
			if _, ok := slices.BinarySearch(have, up); ok {
				if _, there := out[up]; !there {
					out[up] = id
				}
				break
			}
		}
	}
	return out, nil
}

// mostCounters leaves at least half of the picture to the rows.
func (r *fetcher) mostCounters() int { return max(1, r.size.Height/2/counterHeight) }

func newSeries(id trace.CounterID, c *trace.Counter, row int, g grid) *series {
	n := g.bins() + 1
	s := &series{counter: id, location: c.Location, row: row, name: c.Name, unit: c.Unit, grid: g,
		low: make([]float64, n), high: make([]float64, n), min: math.Inf(1), max: math.Inf(-1)}
	for i := range s.low {
		s.low[i], s.high[i] = math.NaN(), math.NaN()
	}
	if c.Monotone {
		s.unit += " per s"
	}
	return s
}

// add takes the next sample. Counters that only grow are shown as their rate.
func (s *series) add(t trace.Time, v float64, monotone bool) {
	if monotone {
		last, lastTime, any := s.lastValue, s.lastTime, s.any
		s.lastValue, s.lastTime, s.any = v, t, true
		if !any || t <= lastTime {
			return
		}
		v = (v - last) / float64(t-lastTime) * 1e9
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	b := int(s.grid.bin(t) - s.grid.bin(s.grid.begin))
	if b < 0 || b >= len(s.low) {
		return
	}
	if !(s.low[b] <= v) {
		s.low[b] = v
	}
	if !(s.high[b] >= v) {
		s.high[b] = v
	}
	s.min, s.max = min(s.min, v), max(s.max, v)
}
