package moments

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A counterAxis replaces time by a counter that only grows, such as cycles: the
// paper's t may be any temporal quantity. Each row runs from 0 at the start of the
// window, and its counter is taken as linear between samples.
type counterAxis struct {
	name, unit string
	of         map[trace.LocationID]trace.CounterID
	series     map[trace.CounterID]*counterSeries
	selection  trace.Selection
}

type counterSeries struct {
	time  []trace.Time
	value []float64
}

func newCounterAxis(ctx context.Context, r store.Reader, sel trace.Selection, name string, ids []trace.LocationID) (*counterAxis, error) {
	x := &counterAxis{name: name, of: map[trace.LocationID]trace.CounterID{}, series: map[trace.CounterID]*counterSeries{}, selection: sel}
	own := map[trace.LocationID]trace.CounterID{}
	var known []string
	for id, c := range r.Counters() {
		if !c.Grows && !c.Monotone {
			continue
		}
		if c.Name == name {
			own[c.Location], x.unit = trace.CounterID(id), c.Unit
		} else if !slices.Contains(known, c.Name) && len(known) < 5 {
			known = append(known, c.Name)
		}
	}
	if len(own) == 0 {
		return nil, fmt.Errorf("--axis %q: no counter of that name only grows; there are %q", name, known)
	}
	tree := r.Locations()
	var wanted []trace.CounterID
	for _, id := range ids {
		for at := id; at != trace.NoLocation; at = tree.Parent[at] {
			c, ok := own[at]
			if !ok {
				continue
			}
			x.of[id] = c
			if x.series[c] == nil {
				x.series[c] = &counterSeries{}
				wanted = append(wanted, c)
			}
			break
		}
	}
	slices.Sort(wanted)
	var mu sync.Mutex
	err := r.Samples(ctx, wanted, 0, r.Info().End+1, func(c *store.SampleColumns) error {
		mu.Lock()
		defer mu.Unlock()
		s := x.series[c.Counter]
		s.time, s.value = append(s.time, c.Time...), append(s.value, c.Value...)
		return nil
	})
	return x, err
}

// at gives the value of a series, linear between samples and constant beyond.
func (s *counterSeries) at(t trace.Time) float64 {
	n := len(s.time)
	if n == 0 {
		return 0
	}
	i := sort.Search(n, func(i int) bool { return s.time[i] > t })
	switch i {
	case 0:
		return s.value[0]
	case n:
		return s.value[n-1]
	}
	a, b := s.time[i-1], s.time[i]
	return s.value[i-1] + (s.value[i]-s.value[i-1])*float64(t-a)/float64(b-a)
}

// axis is as long as the counter that grew most.
func (x *counterAxis) axis(ids []trace.LocationID) axis {
	a := axis{counter: x.name, unit: x.unit}
	for _, id := range ids {
		if c, ok := x.of[id]; ok {
			s := x.series[c]
			a.end = max(a.end, s.at(x.selection.End)-s.at(x.selection.Begin))
		}
	}
	if a.end == 0 {
		a.end = 1
	}
	return a
}

// fetch scans the window and moves each bar onto the counter.
func (x *counterAxis) fetch(ctx context.Context, f *fetcher, s *state, l *layer) error {
	l.cubics = make([]moment.Cubic, len(f.ids))
	missing := 0
	for _, id := range f.ids {
		if _, ok := x.of[id]; !ok {
			missing++
		}
	}
	if missing > 0 {
		f.notes = append(f.notes, fmt.Sprintf("%s without counter %s", plural(missing, "location"), x.name))
	}
	w := store.Window{Begin: l.begin, End: l.end, Locations: topmost(f.tree, f.ids)}
	err := scanBars(ctx, f.reader, s, w, func(id trace.LocationID, begin, end trace.Time) {
		c, ok := x.of[id]
		if !ok || f.at[id] < 0 {
			return
		}
		series := x.series[c]
		zero := series.at(l.begin)
		from, to := trace.Time(math.Round(series.at(begin)-zero)), trace.Time(math.Round(series.at(end)-zero))
		l.cubics[f.at[id]].Add(from, to)
	})
	l.begin, l.end = 0, 0
	return err
}
