package topology

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/words"
)

// fromMetadata takes a fact of each location, of the nearest above it, or of the run.
func (r *result) fromMetadata(b *binding, key string) error {
	s := r.request.Store()
	m := view.Metadata(s, r.who.location, key)
	trouble := m.Trouble(s, r.who.location, key)
	if m.Numbers() == 0 {
		return errors.New(trouble)
	}
	b.label, b.values = key, m.Values
	if trouble != "" {
		r.notes = append(r.notes, trouble)
	}
	return nil
}

func listed(what string, names []string) string {
	if len(names) == 0 {
		return what + " none"
	}
	return what + " " + strings.Join(names[:min(len(names), 20)], ", ")
}

// statistic cuts NAME:WHICH at the last colon, where WHICH is one of those known.
func statistic(text string, known ...string) (name, which string) {
	if cut := strings.LastIndexByte(text, ':'); cut > 0 && slices.Contains(known, text[cut+1:]) {
		return text[:cut], text[cut+1:]
	}
	return text, known[0]
}

// fromAtomics takes a number of an atomic event: its count, least, greatest or mean
// value. If there are several call paths the totals count, or else all of them together.
func (r *result) fromAtomics(ctx context.Context, b *binding, text string) error {
	s := r.request.Store()
	name, which := statistic(text, "mean", "count", "min", "max")
	metric := slices.IndexFunc(s.Metrics(), func(m trace.Metric) bool { return m.Name == name })
	if metric < 0 {
		return r.noAtomic(name)
	}
	b.label, b.unit = name+", "+which, s.Metrics()[metric].Unit
	if which == "count" {
		b.unit = "count"
	}
	type sum struct {
		count, min, max, total float64
		whole                  bool // holds a row without a path, which is the total
	}
	sums := make([]sum, len(r.location))
	found := false
	err := s.Atomics(ctx, r.window().Locations, func(rows []trace.AtomicRow) error {
		for i := range rows {
			x := &rows[i]
			at := r.row[x.Location]
			if int(x.Metric) != metric || at < 0 {
				continue
			}
			found = true
			whole := x.Path == trace.NoCallPath
			t := &sums[at]
			if whole != t.whole || t.count == 0 {
				if t.whole {
					continue
				}
				*t = sum{min: x.Min, max: x.Max, whole: whole}
			}
			t.count, t.total = t.count+x.Count, t.total+x.Count*x.Mean
			t.min, t.max = min(t.min, x.Min), max(t.max, x.Max)
		}
		return nil
	})
	if err == nil && !found {
		return r.noAtomic(name)
	}
	for i := range sums {
		t := &sums[i]
		switch b.values[i] = math.NaN(); {
		case which == "count":
			b.values[i] = t.count
		case t.count == 0:
		case which == "min":
			b.values[i] = t.min
		case which == "max":
			b.values[i] = t.max
		default:
			b.values[i] = t.total / t.count
		}
	}
	return err
}

// fromCounters takes a number of a counter's samples in the window, of the location
// itself or the nearest above it that has the counter.
func (r *result) fromCounters(ctx context.Context, b *binding, text string) error {
	s := r.request.Store()
	name, which := statistic(text, "mean", "min", "max", "last")
	b.label = name + ", " + which
	of := map[trace.CounterID]trace.LocationID{}
	var ids []trace.CounterID
	for id, c := range s.Counters() {
		if c.Name == name {
			of[trace.CounterID(id)], b.unit = c.Location, c.Unit
			ids = append(ids, trace.CounterID(id))
		}
	}
	if len(ids) == 0 {
		var names []string
		for _, c := range s.Counters() {
			if !slices.Contains(names, c.Name) && len(names) < 20 {
				names = append(names, c.Name)
			}
		}
		return fmt.Errorf("no counter is called %q; %s%s", name, listed("there are", names), words.Suggest(name, names))
	}
	type sum struct {
		n                     int
		total, min, max, last float64
	}
	sums := make([]sum, len(s.Counters())) // each is filled by one goroutine at a time
	err := s.Samples(ctx, ids, r.request.Selection.Begin, r.request.Selection.End, func(c *store.SampleColumns) error {
		t := &sums[c.Counter]
		for _, v := range c.Value {
			if t.n == 0 {
				t.min, t.max = v, v
			}
			t.n, t.total, t.last = t.n+1, t.total+v, v
			t.min, t.max = min(t.min, v), max(t.max, v)
		}
		return nil
	})
	value := map[trace.LocationID]float64{}
	for _, id := range ids {
		if t := &sums[id]; t.n > 0 {
			value[of[id]] = map[string]float64{"mean": t.total / float64(t.n), "min": t.min, "max": t.max,
				"last": t.last}[which]
		}
	}
	tree := s.Locations()
	for i, id := range r.location {
		b.values[i] = math.NaN()
		for at := id; at != trace.NoLocation; at = tree.Parent[at] {
			if v, ok := value[at]; ok {
				b.values[i] = v
				break
			}
		}
	}
	return err
}

func (r *result) noAtomic(name string) error {
	var names []string
	for _, m := range r.request.Store().Metrics() {
		names = append(names, m.Name)
	}
	return fmt.Errorf("no atomic event is called %q%s", name, words.Suggest(name, names))
}
