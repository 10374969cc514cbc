package invocation

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Processors gives, for each goroutine of a Go trace, the processor that ran it
// longest in the window's time; nil if the run has no goroutines. A stay of a
// goroutine on a processor is an interval there that names it. O(stays).
func Processors(ctx context.Context, s store.Reader, w store.Window) ([]trace.LocationID, error) {
	attribute := slices.Index(s.Attributes(), "goroutine")
	goroutines, list := goroutinesOf(s.Locations())
	if attribute < 0 || len(goroutines) == 0 || len(list) == 0 {
		return nil, nil
	}
	w.Locations = list
	var mu sync.Mutex
	long := map[laneKey][]trace.Time{} // of the rows of each lane
	first := map[laneKey]int{}
	err := s.Intervals(ctx, w, func(c *trace.Columns) error {
		key := laneKey{c.Location, c.Lane}
		mu.Lock()
		defer mu.Unlock()
		if len(long[key]) == 0 {
			first[key] = c.First
		}
		for i := range c.Begin {
			long[key] = append(long[key], c.End(i)-c.Begin[i])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	type stay struct{ goroutine, processor trace.LocationID }
	time := map[stay]trace.Time{}
	err = s.AttributeColumn(ctx, w, trace.AttributeID(attribute), func(c *store.AttributeColumns) error {
		key := laneKey{c.Location, c.Lane}
		mu.Lock()
		defer mu.Unlock()
		for i, row := range c.Row {
			n, isNumber := c.Value[i].Integer()
			g, known := goroutines[n]
			if at := int(row) - first[key]; isNumber && known && at >= 0 && at < len(long[key]) {
				time[stay{g, c.Location}] += long[key][at] + 1 // an empty stay is one too
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]trace.LocationID, s.Locations().Len())
	for i := range out {
		out[i] = trace.NoLocation
	}
	for st, t := range time {
		old := out[st.goroutine]
		if o := time[stay{st.goroutine, old}]; old == trace.NoLocation || t > o || t == o && st.processor < old {
			out[st.goroutine] = st.processor
		}
	}
	return out, nil
}

// goroutinesOf returns the goroutines of a tree by the number in their names, and the
// processors.
func goroutinesOf(t *store.Tree) (goroutines map[int64]trace.LocationID, processors []trace.LocationID) {
	goroutines = map[int64]trace.LocationID{}
	for id, kind := range t.Kind {
		switch kind {
		case trace.KindProcessor:
			processors = append(processors, trace.LocationID(id))
		case trace.KindGoroutine:
			name := t.Name[id]
			stem := strings.TrimRight(name, "0123456789")
			if n, err := strconv.ParseInt(name[len(stem):], 10, 64); err == nil {
				goroutines[n] = trace.LocationID(id)
			}
		}
	}
	return goroutines, processors
}
