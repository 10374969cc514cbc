package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Options select the intervals to search, and the hits to name.
type Options struct {
	Begin, End trace.Time // intervals that begin there
	Locations  []trace.LocationID
	// At is the reader's position: the first Limit hits from there on are named, or the last before it.
	At     trace.Time
	Before bool
	Limit  int
	Bins   int // of Answer.Bins
}

// A Hit is an interval.
type Hit struct {
	store.Row
	Region   trace.RegionID
	Begin    trace.Time
	Duration trace.Time
}

// An Answer holds the number of hits, their times, and some of them.
type Answer struct {
	Count int64
	Index int64   // how many come before the first of Hits
	Hits  []Hit   // by begin, location, lane and row
	Bins  []int64 // how many begin in each of equal parts of the window
	// InAttributes are words that no region has in its name; attributes were searched.
	InAttributes []string
}

// earlier is the order of hits, which is total.
func earlier(a, b Hit) int {
	return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.Location, b.Location), cmp.Compare(a.Lane, b.Lane),
		cmp.Compare(a.Row.Row, b.Row.Row))
}

// Find reads the intervals of the locations that may have hits, once: O(their rows), and memory for the hits that
// are named, and for the rows whose attributes hold.
func Find(ctx context.Context, r store.Reader, q *Query, o Options) (*Answer, error) {
	p := q.plan(r)
	s := &scan{plan: p, o: o, answer: Answer{Hits: []Hit{}, Bins: make([]int64, max(o.Bins, 1)), InAttributes: p.any}}
	w := store.Window{Begin: o.Begin, End: o.End, Locations: o.Locations}
	if o.End <= o.Begin {
		return &s.answer, nil
	}
	if len(p.any)+len(p.attributes) > 0 {
		rows, err := p.rowsWithAttributes(ctx, r, w)
		if err != nil || len(rows) == 0 {
			return &s.answer, err
		}
		s.rows = rows
	}
	if p.regions != nil {
		list, err := p.callers(ctx, r, w)
		if err != nil || len(list) == 0 {
			return &s.answer, err
		}
		w.Locations = list
	}
	if err := r.Intervals(ctx, w, s.add); err != nil {
		return nil, err
	}
	s.trim()
	return &s.answer, nil
}

// callers are the locations that call a region of the plan in the window.
func (p *plan) callers(ctx context.Context, r store.Reader, w store.Window) (out []trace.LocationID, err error) {
	t, err := r.Time(ctx, w)
	if err != nil {
		return nil, err
	}
	for k, id := range t.Locations {
		for i := t.Offsets[k]; i < t.Offsets[k+1]; i++ {
			if t.Calls[i] > 0 && p.regions[t.Region[i]] {
				out = append(out, id)
				break
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// A lane is one of a location's.
type lane struct {
	location trace.LocationID
	number   int
}

// rowsWithAttributes returns, for each lane, the rows whose attributes hold, in order.
func (p *plan) rowsWithAttributes(ctx context.Context, r store.Reader, w store.Window) (map[lane][]int32, error) {
	var all map[lane][]int32
	names := r.Attributes()
	meet := func(of func(name string) bool, holds func(trace.Value) bool) error {
		found, mu := map[lane][]int32{}, sync.Mutex{}
		for id, name := range names {
			if !of(strings.ToLower(name)) {
				continue
			}
			err := r.AttributeColumn(ctx, w, trace.AttributeID(id), func(c *store.AttributeColumns) error {
				var rows []int32
				for i, v := range c.Value {
					if holds(v) {
						rows = append(rows, c.Row[i])
					}
				}
				if len(rows) > 0 {
					mu.Lock()
					k := lane{c.Location, c.Lane}
					found[k] = append(found[k], rows...)
					mu.Unlock()
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		for k, rows := range found {
			slices.Sort(rows)
			found[k] = slices.Compact(rows)
		}
		if all == nil {
			all = found
			return nil
		}
		for k, rows := range all {
			other := found[k]
			if rows = slices.DeleteFunc(rows,
				func(x int32) bool { _, ok := slices.BinarySearch(other, x); return !ok }); len(rows) == 0 {
				delete(all, k)
			} else {
				all[k] = rows
			}
		}
		return nil
	}
	for _, c := range p.attributes {
		if err := meet(func(name string) bool { return name == c.name }, c.holds); err != nil {
			return nil, err
		}
	}
	for _, text := range p.any {
		is := func(v trace.Value) bool {
			if v.Kind == trace.ValueText {
				return strings.Contains(strings.ToLower(v.String()), text)
			}
			return v.String() == text
		}
		if err := meet(func(string) bool { return true }, is); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// A scan gathers hits. Batches come on several goroutines.
type scan struct {
	*plan
	o      Options
	rows   map[lane][]int32 // nil: attributes are of no matter
	mu     sync.Mutex
	answer Answer
}

func (s *scan) add(c *trace.Columns) error {
	var named []int32
	if s.rows != nil {
		if named = s.rows[lane{c.Location, c.Lane}]; len(named) == 0 {
			return nil
		}
		at, _ := slices.BinarySearch(named, int32(c.First))
		named = named[at:]
	}
	var hits []Hit
	before, bins, count := int64(0), make([]int64, len(s.answer.Bins)), int64(0)
	width := float64(s.o.End - s.o.Begin)
	for i := range c.Begin {
		if s.rows != nil {
			for len(named) > 0 && named[0] < int32(c.First+i) {
				named = named[1:]
			}
			if len(named) == 0 {
				break
			}
			if named[0] != int32(c.First+i) {
				continue
			}
		}
		if s.regions != nil && !s.regions[c.Region[i]] || !s.duration.has(float64(c.Duration[i])) ||
			!s.exclusive.has(float64(c.Exclusive[i])) {
			continue
		}
		count++
		bins[min(int(float64(len(bins))*float64(c.Begin[i]-s.o.Begin)/width), len(bins)-1)]++
		if (c.Begin[i] < s.o.At) != s.o.Before {
			if !s.o.Before {
				before++
			}
			continue
		}
		hits = append(hits,
			Hit{store.Row{Location: c.Location, Lane: c.Lane, Row: c.First + i}, c.Region[i], c.Begin[i],
				c.Duration[i]})
		if len(hits) > 4*s.o.Limit {
			kept := s.best(hits)
			before += s.dropped(len(hits) - len(kept))
			hits = kept
		}
	}
	if count == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer.Count += count
	s.answer.Index += before
	for i, n := range bins {
		s.answer.Bins[i] += n
	}
	if s.answer.Hits = append(s.answer.Hits, hits...); len(s.answer.Hits) > 4*s.o.Limit+1000 {
		s.trim()
	}
	return nil
}

// best keeps the hits to name.
func (s *scan) best(hits []Hit) []Hit {
	slices.SortFunc(hits, earlier)
	if s.o.Before {
		return slices.Clone(hits[max(len(hits)-s.o.Limit, 0):])
	}
	return hits[:min(len(hits), s.o.Limit)]
}

// dropped returns how far n hits that are not named move the index of the first: they come before it if o.Before is
// set.
func (s *scan) dropped(n int) int64 {
	if s.o.Before {
		return int64(n)
	}
	return 0
}

func (s *scan) trim() {
	kept := s.best(s.answer.Hits)
	s.answer.Index += s.dropped(len(s.answer.Hits) - len(kept))
	s.answer.Hits = kept
}
