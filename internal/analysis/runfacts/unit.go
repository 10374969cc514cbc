package runfacts

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// UnitNames calls units by their rank where they have one of their own.
func UnitNames(t *store.Tree, units []trace.LocationID) []string {
	if !ranksDiffer(t, units) {
		return ShortNames(t, units)
	}
	return rankNames(t, units)
}

// ranksDiffer reports whether each of some locations has a rank that no other of them has.
func ranksDiffer(t *store.Tree, ids []trace.LocationID) bool {
	most := int32(-1)
	for _, id := range ids {
		if t.Rank[id] < 0 {
			return false
		}
		most = max(most, t.Rank[id])
	}
	if int(most) >= 64*len(ids)+1024 { // few of many ranks
		seen := make(map[int32]bool, len(ids))
		for _, id := range ids {
			seen[t.Rank[id]] = true
		}
		return len(seen) == len(ids)
	}
	seen := make([]bool, most+1)
	for _, id := range ids {
		if seen[t.Rank[id]] {
			return false
		}
		seen[t.Rank[id]] = true
	}
	return true
}

// rankNames writes "rank N" for each of some locations, many into one piece of memory.
func rankNames(t *store.Tree, ids []trace.LocationID) []string {
	out := make([]string, len(ids))
	_ = parallel.Ranges(context.Background(), len(ids), 1<<12, func(from, to int) {
		var text []byte
		ends := make([]int, 0, to-from)
		for _, id := range ids[from:to] {
			text = strconv.AppendInt(append(text, "rank "...), int64(t.Rank[id]), 10)
			ends = append(ends, len(text))
		}
		all, at := string(text), 0
		for i, end := range ends {
			out[from+i], at = all[at:end], end
		}
	})
	return out
}

// Communicators returns a function that numbers the communicator of an interval, by
// location, lane and row, from 1 on in order of their names; 0 where the source
// names none. It is nil where the source names none at all.
func Communicators(ctx context.Context, r store.Reader, w store.Window) (func(trace.LocationID, int, int) int32,
	error) {
	a := slices.Index(r.Attributes(), "communicator")
	if a < 0 {
		return nil, nil
	}
	type lane struct {
		location trace.LocationID
		number   int
	}
	type column struct {
		row   []int32
		group []int32
	}
	var mu sync.Mutex
	lanes, numbers := map[lane]*column{}, map[string]int32{}
	err := r.AttributeColumn(ctx, w, trace.AttributeID(a), func(c *store.AttributeColumns) error {
		mu.Lock()
		defer mu.Unlock()
		k := lane{c.Location, c.Lane}
		col := lanes[k]
		if col == nil {
			col = &column{}
			lanes[k] = col
		}
		for i, row := range c.Row {
			name := c.Value[i].String()
			g, ok := numbers[name]
			if !ok {
				g = int32(len(numbers)) + 1
				numbers[name] = g
			}
			col.row, col.group = append(col.row, row), append(col.group, g)
		}
		return nil
	})
	names := slices.Sorted(maps.Keys(numbers)) // numbers must not hang on who came first
	place := make([]int32, len(numbers)+1)
	for i, n := range names {
		place[numbers[n]] = int32(i) + 1
	}
	return func(location trace.LocationID, number, row int) int32 {
		col := lanes[lane{location, number}]
		if col == nil {
			return 0
		}
		if i, ok := slices.BinarySearch(col.row, int32(row)); ok {
			return place[col.group[i]]
		}
		return 0
	}, err
}

// Spans reports whether a run holds spans of distributed tracing.
func Spans(r store.Reader) bool {
	switch r.Info().Format {
	case "otlp", "jaeger", "zipkin":
		return true
	}
	return false
}

// mostTargets bounds how many links LinkTargets looks at.
const mostTargets = 1 << 18

// LinkTargets returns the regions that links of a kind lead to, by id: of spans, those that
// another location called. It is nil if there are too many links to look at.
func LinkTargets(ctx context.Context, r store.Reader, w store.Window, kind trace.LinkKind) ([]bool, error) {
	if n, err := r.LinkCount(w); err != nil || n > mostTargets {
		return nil, err
	}
	var mu sync.Mutex
	var ends []store.Row
	err := r.Links(ctx, w, func(l *store.LinkColumns) error {
		mu.Lock()
		defer mu.Unlock()
		for i, k := range l.Kind {
			if k == kind && l.ToRow[i] >= 0 {
				ends = append(ends, store.Row{Location: l.ToLocation[i], Lane: int(l.ToLane[i]), Row: int(l.ToRow[i])})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]bool, len(r.Regions()))
	for _, at := range ends {
		c, err := r.Interval(at)
		if err != nil {
			return nil, err
		}
		if c != nil {
			out[c.Region[0]] = true
		}
	}
	return out, nil
}
