package stackalign

import (
	"context"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Read returns the sequences of the calls of some locations, in their order, clipped to a window. node numbers the
// regions, -1 for those that are left out; depth is how many levels are read, 0 for all.
func Read(ctx context.Context, s store.Reader, w store.Window, locations []trace.LocationID, node []int32,
	depth int) ([]*Sequence, error) {
	w.Locations = slices.Sorted(slices.Values(locations))
	at := map[trace.LocationID]*reading{}
	out := make([]*Sequence, len(locations))
	for i, id := range locations {
		out[i] = new(Sequence)
		at[id] = &reading{window: w, node: node, depth: depth, out: out[i]}
	}
	var mu sync.Mutex
	err := s.Intervals(ctx, w, func(c *trace.Columns) error {
		mu.Lock()
		defer mu.Unlock()
		if g := at[c.Location]; g != nil {
			g.addRows(c)
		}
		return ctx.Err()
	})
	return out, err
}

// A reading makes a sequence of the rows of a location's first lane. Calls that are open
// at the begin of the window are in it, clipped.
type reading struct {
	window store.Window
	node   []int32
	depth  int
	out    *Sequence
	place  map[int]int32 // of each row: its call, or that of the nearest one kept around it
	begun  bool
}

// addRows adds the calls of rows.
func (g *reading) addRows(c *trace.Columns) {
	if c.Lane != 0 {
		return
	}
	if !g.begun {
		g.begun, g.place = true, map[int]int32{}
		around := int32(-1)
		for depth, x := range c.Open {
			if x.End <= g.window.Begin {
				continue // it ends where the window begins
			}
			around = g.addCall(x.Row, around, x.Region, x.Begin, x.End, depth)
		}
	}
	for i := range c.Len() {
		around, ok := g.place[int(c.Parent[i])]
		if !ok {
			around = -1
		}
		g.addCall(c.First+i, around, c.Region[i], c.Begin[i], c.End(i), int(c.Depth[i]))
	}
}

// addCall adds one call, unless it is not chosen or too deep, and returns the innermost one kept.
func (g *reading) addCall(row int, around int32, region trace.RegionID, begin, end trace.Time, depth int) int32 {
	begin, end = max(begin, g.window.Begin), min(end, g.window.End)
	if n := g.node[region]; n >= 0 && end >= begin && !(g.depth > 0 && depth >= g.depth) {
		q := g.out
		q.Node, q.Begin, q.End, q.Parent = append(q.Node, n), append(q.Begin, begin), append(q.End, end),
			append(q.Parent, around)
		around = int32(q.Len() - 1)
	}
	g.place[row] = around
	return around
}
