package topology

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// fromMetadata takes an attribute of each location, or of the nearest above it.
func (r *result) fromMetadata(b *binding, key string) error {
	tree := r.request.Store().Locations()
	values, known := metadata(tree, r.location, key)
	if known == 0 {
		return fmt.Errorf("no location has a number under %q; %s", key, listed("there are", metadataKeys(tree, r.location)))
	}
	b.label, b.values = key, values
	if known < len(values) {
		r.notes = append(r.notes, fmt.Sprintf("%d of %d locations have no number under %q and count as 0", len(values)-known, len(values), key))
	}
	return nil
}

// metadata is an attribute of each location or of the nearest above it; 0 where
// there is none or it is no number. known counts those that have one.
func metadata(t *store.Tree, ids []trace.LocationID, key string) (out []float64, known int) {
	out = make([]float64, len(ids))
	for i, id := range ids {
	up:
		for at := id; at != trace.NoLocation; at = t.Parent[at] {
			for _, a := range t.Attributes[at] {
				if strings.EqualFold(a.Key, key) {
					if v, ok := a.Value.Number(); ok {
						out[i] = v
						known++
					}
					break up
				}
			}
		}
	}
	return out, known
}

// metadataKeys lists the attributes with numbers of a few locations.
func metadataKeys(t *store.Tree, ids []trace.LocationID) []string {
	var out []string
	for _, id := range ids[:min(len(ids), 64)] {
		for at := id; at != trace.NoLocation; at = t.Parent[at] {
			for _, a := range t.Attributes[at] {
				if _, ok := a.Value.Number(); ok && !slices.Contains(out, a.Key) {
					out = append(out, a.Key)
				}
			}
		}
	}
	slices.Sort(out)
	return out
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
// value. Of several call paths the totals count, or else all of them together.
func (r *result) fromAtomics(ctx context.Context, b *binding, text string) error {
	s := r.request.Store()
	name, which := statistic(text, "mean", "count", "min", "max")
	metric := slices.IndexFunc(s.Metrics(), func(m trace.Metric) bool { return m.Name == name })
	if metric < 0 {
		return fmt.Errorf("no atomic event is called %q", name)
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
	err := s.Atomics(ctx, r.request.Selection.Locations, func(rows []trace.AtomicRow) error {
		for i := range rows {
			x := &rows[i]
			at, ok := r.row[x.Location]
			if int(x.Metric) != metric || !ok {
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
		return fmt.Errorf("no atomic event is called %q", name)
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
		return fmt.Errorf("no counter is called %q; %s", name, listed("there are", names))
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
			value[of[id]] = map[string]float64{"mean": t.total / float64(t.n), "min": t.min, "max": t.max, "last": t.last}[which]
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
