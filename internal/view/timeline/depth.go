package timeline

import (
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// readLevels fills rows with their levels of nesting from the top. Digests know
// the innermost interval alone, so this reads every row of the window: O(rows).
func readLevels(ctx context.Context, in *input, p *plan, ids []trace.LocationID, leaves []*strips) error {
	n := p.levels
	levels := map[trace.LocationID][]*cells{} // lane * n + level
	for _, s := range leaves {
		if s != nil {
			levels[s.location] = make([]*cells, s.lanes*n)
		}
	}
	add := func(list []*cells, depth, lane int, o trace.OpenInterval) {
		if list[depth] == nil {
			list[depth] = newCells(p.grid, &in.rule)
		}
		c := list[depth]
		c.opened([]trace.OpenInterval{o}, lane)
		c.row(o.Begin, o.End-o.Begin, o.Region, o.Row, lane)
		c.segment(&trace.Segment{Begin: o.Begin, End: o.End, Region: o.Region, Row: o.Row,
			Role: in.regions[o.Region].Role}, lane)
	}
	err := in.reader.Intervals(ctx, in.window(ids), func(c *trace.Columns) error {
		list := levels[c.Location][c.Lane*n:][:n]
		if !slices.ContainsFunc(list, func(c *cells) bool { return c != nil }) { // the first batch of a lane
			for depth, o := range c.Open {
				if depth < n && o.Begin < p.grid.begin { // it began before the window
					add(list, depth, c.Lane, o)
				}
			}
		}
		for i, depth := range c.Depth {
			if int(depth) < n {
				add(list, int(depth), c.Lane,
					trace.OpenInterval{Row: c.First + i, Begin: c.Begin[i], End: c.End(i), Region: c.Region[i]})
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range leaves {
		if s == nil {
			continue
		}
		for k, c := range levels[s.location] {
			if c == nil && k%n > 0 {
				continue // levels that no interval reaches take no room
			}
			var spans []span
			if c != nil {
				spans = c.finish()
			}
			s.list = append(s.list, strip{lane: k / n, level: k % n, spans: spans})
		}
	}
	return nil
}
