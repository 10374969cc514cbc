package utilization

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A CounterAxis replaces time by a counter that only grows, such as cycles: the
// paper's t may be any temporal quantity. Each row runs from 0 at the start of the
// window, and its counter is taken as linear between samples.
type CounterAxis struct {
	Name, Unit string
	of         map[trace.LocationID]trace.CounterID
	series     map[trace.CounterID]*counterSeries
	selection  trace.Selection
}

type counterSeries struct {
	time  []trace.Time
	value []float64
}

func newCounterAxis(ctx context.Context, r store.Reader, sel trace.Selection, name string,
	ids []trace.LocationID) (*CounterAxis, error) {
	x := &CounterAxis{Name: name, of: map[trace.LocationID]trace.CounterID{},
		series: map[trace.CounterID]*counterSeries{}, selection: sel}
	own := map[trace.LocationID]trace.CounterID{}
	var known []string
	for id, c := range r.Counters() {
		if !c.Grows && !c.Monotone {
			continue
		}
		if c.Name == name {
			own[c.Location], x.Unit = trace.CounterID(id), c.Unit
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

// at returns the value of a series as that of the last sample and the growth since:
// linear between samples and constant beyond.
func (s *counterSeries) at(t trace.Time) (sample int, value, since float64) {
	n := len(s.time)
	if n == 0 {
		return 0, 0, 0
	}
	i := sort.Search(n, func(i int) bool { return s.time[i] > t })
	switch i {
	case 0:
		return 0, s.value[0], 0
	case n:
		return n, s.value[n-1], 0
	}
	return i, s.value[i-1], s.growth(i, t-s.time[i-1])
}

// growth is the gain of the counter in a time before sample i.
func (s *counterSeries) growth(i int, d trace.Time) float64 {
	return (s.value[i] - s.value[i-1]) * float64(d) / float64(s.time[i]-s.time[i-1])
}

// rise is how much the counter grows from one time to another, in fractions of its unit.
func (s *counterSeries) rise(from, to trace.Time) float64 {
	i, a, sinceA := s.at(from)
	j, b, sinceB := s.at(to)
	if i == j {
		if i == 0 || i == len(s.time) {
			return 0
		}
		return s.growth(i, to-from)
	}
	return (b - a) + (sinceB - sinceA)
}

// Length is how much the counter of a row grows in the selected time, of the row where it grows most.
func (x *CounterAxis) Length(ids []trace.LocationID) (length float64) {
	for _, id := range ids {
		if c, ok := x.of[id]; ok {
			length = max(length, x.series[c].rise(x.selection.Begin, x.selection.End))
		}
	}
	return length
}

// Missing counts the locations without the counter.
func (x *CounterAxis) Missing(ids []trace.LocationID) (n int) {
	for _, id := range ids {
		if _, ok := x.of[id]; !ok {
			n++
		}
	}
	return n
}

// fill scans the window and moves each bar onto the counter.
func (x *CounterAxis) fill(ctx context.Context, f *Rows, l *Layer, orders int) error {
	sketches := make([]moment.Sketch, len(f.IDs))
	err := scanBars(ctx, f.Reader, l.State, f.window(f.IDs), func(id trace.LocationID, begin, end trace.Time) {
		c, ok := x.of[id]
		if !ok || f.at[id] < 0 {
			return
		}
		span := moment.Span(x.series[c].rise(l.begin, begin), x.series[c].rise(begin, end), orders)
		sketches[f.at[id]].Merge(&span, orders)
	})
	l.cubics = make([]moment.Cubic, len(f.IDs))
	for i := range sketches {
		l.cubics[i] = sketches[i].Cubic()
	}
	if orders > 3 {
		l.Higher = sketches
	}
	l.begin, l.end = 0, 0
	return err
}
