package timeline

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/scene"
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

// withInstantsOrCounters returns which locations have some: of a run without intervals they are its rows. O(instants).
func withInstantsOrCounters(ctx context.Context, reader store.Reader) ([]bool, error) {
	has := make([]bool, reader.Locations().Len())
	for _, c := range reader.Counters() {
		has[c.Location] = true
	}
	var mu sync.Mutex
	err := reader.Instants(ctx, store.Window{End: math.MaxInt64}, func(c *store.InstantColumns) error {
		mu.Lock()
		has[c.Location] = true
		mu.Unlock()
		return nil
	})
	return has, err
}

// readInstants reads the instants of leaf rows; those that are near each other are one mark.
func readInstants(ctx context.Context, in *input, p *plan) ([]instant, error) {
	rowOf := map[trace.LocationID]int{}
	var ids []trace.LocationID
	for i := range p.rows {
		if p.rows[i].kind == leaf {
			rowOf[p.rows[i].location] = i
			ids = append(ids, p.rows[i].location)
		}
	}
	if in.reader.Info().Instants == 0 || len(ids) == 0 {
		return nil, nil
	}
	bins := min(in.frame(in.size, p.labelWidth).w/instantWidth, float32(mostInstants/len(ids)))
	level := levelFor(in.length(), max(1, bins))
	var marks []instant
	var mu sync.Mutex
	err := in.reader.Instants(ctx, in.window(ids), func(c *store.InstantColumns) error {
		i, shown := rowOf[c.Location]
		if !shown {
			return nil
		}
		var list []instant
		for k, t := range c.Time {
			if !in.rule.keeps(c.Region[k]) {
				continue
			}
			if n := len(list); n > 0 && list[n-1].time>>level == t>>level {
				list[n-1].count++
				continue
			}
			list = append(list, instant{i, t, c.Region[k], 1})
		}
		mu.Lock()
		marks = append(marks, list...)
		mu.Unlock()
		return nil
	})
	slices.SortStableFunc(marks,
		func(a, b instant) int { return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.time, b.time)) })
	// Batches of one location may meet in a bin.
	joined := marks[:0]
	for _, m := range marks {
		if n := len(joined); n > 0 && joined[n-1].row == m.row && joined[n-1].time>>level == m.time>>level {
			joined[n-1].count += m.count
			continue
		}
		joined = append(joined, m)
	}
	return joined, err
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

// A counterSet is the counters that are drawn.
type counterSet struct {
	list  []*series
	found int   // how many were asked for
	many  int64 // links, too many to tell queues from
}

// readCounters reads the counters that the user asked for.
func readCounters(ctx context.Context, in *input, p *plan, rowOf []int32) (*counterSet, error) {
	set := &counterSet{}
	if len(in.opt.counters) == 0 {
		return set, nil
	}
	matches, err := counterPattern(in.opt.counters)
	if err != nil {
		return nil, err
	}
	tree := p.forest.tree
	all := in.reader.Counters()
	stored := len(all)
	devices := &runfacts.Devices{}
	if matches(&runfacts.QueueCounter) && in.reader.Info().Links > 0 {
		devices = runfacts.FindDevices(tree, nil)
		for _, id := range devices.GPUs {
			c := runfacts.QueueCounter
			c.Location = id
			all = append(slices.Clip(all), c)
		}
	}
	asked, err := countersOf(tree, all, matches, in.opt.countOf)
	if err != nil {
		return nil, err
	}
	for id, c := range all {
		at, isAsked := c.Location, false
		if under, ok := asked[c.Location]; ok {
			isAsked = true
			if rowOf[at] < 0 || !p.forest.isSelected(at) {
				// the counter of a node, below the rank that it was asked for
				at = under
			}
		}
		if rowOf[at] < 0 || !p.forest.isSelected(at) || !matches(&c) || asked != nil && !isAsked {
			continue
		}
		if set.found++; set.found <= mostCounters(in.size) {
			set.list = append(set.list, newSeries(trace.CounterID(id), &c, int(rowOf[at]), p.grid))
		}
	}
	return set, set.read(ctx, in, devices, stored)
}

// read fills the series: those of counters from their samples, those of queues, which follow the stored ones, from
// links.
func (s *counterSet) read(ctx context.Context, in *input, devices *runfacts.Devices, stored int) error {
	var ids []trace.CounterID
	byID := map[trace.CounterID]*series{}
	queues := map[trace.LocationID]*series{}
	for _, x := range s.list {
		if int(x.counter) >= stored {
			queues[x.location] = x
			continue
		}
		byID[x.counter] = x
		ids = append(ids, x.counter)
	}
	if len(queues) > 0 {
		var err error
		if s.many, err = readQueues(ctx, in, devices, queues); err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		return nil
	}
	counters := in.reader.Counters()
	return in.reader.Samples(ctx, ids, in.selection.Begin, in.selection.End, func(c *store.SampleColumns) error {
		x := byID[c.Counter]
		for i, t := range c.Time {
			x.add(t, c.Value[i], counters[c.Counter].Monotone)
		}
		return nil
	})
}

// counterPattern matches the names of counters.
func counterPattern(texts []string) (func(*trace.Counter) bool, error) {
	var patterns []view.Pattern
	for _, text := range texts {
		m, err := view.ParsePattern(text)
		if err != nil {
			return nil, err
		}
		patterns = append(patterns, m)
	}
	return func(c *trace.Counter) bool {
		return slices.ContainsFunc(patterns, func(m view.Pattern) bool { return m(c.Name) })
	}, nil
}

// countersOf returns of which locations counters are drawn, where only some are asked for:
// of these and all below them, or, where nothing there has any, of the nearest location
// above, such as the node of a rank. Each comes with the location it was asked for.
// Nil: of all. O((locations + counters) log counters).
func countersOf(tree *store.Tree, all []trace.Counter, matches func(*trace.Counter) bool,
	of []string) (map[trace.LocationID]trace.LocationID, error) {
	if len(of) == 0 {
		return nil, nil
	}
	list, err := view.MatchLocations(tree, of)
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
func mostCounters(size scene.Size) int { return max(1, size.Height/2/counterHeight) }

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
