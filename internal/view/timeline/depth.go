package timeline

import (
	"context"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/share"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	// nameLevel is the height of a level with names in it.
	nameLevel = labelSize + 2
	// mostDeep bounds the intervals of a window whose levels are drawn without the option: all are read.
	mostDeep = 200_000
	// mostReached bounds those of a run that is read once for the depth of its locations.
	mostReached = 2_000_000
)

// fitLevels chooses the levels that have room for names: with low rows the innermost interval alone, with higher ones
// the outermost and the innermost, and the stack where all of it fits.
func (p *plan) fitLevels(ctx context.Context, in *input, space float32) error {
	if !in.opt.fits || in.opt.show != dominant {
		return nil
	}
	var ids []trace.LocationID
	for i := range p.rows {
		w := &p.rows[i]
		if w.kind != leaf {
			space -= max(in.leastOf(w, 0), scene.RowLabelPitch)
			continue
		}
		ids = append(ids, w.location)
	}
	if len(ids) == 0 || space < 2*nameLevel*float32(len(ids)) {
		return nil
	}
	if n, err := in.reader.Count(in.window(ids)); err != nil || n > mostDeep {
		return err
	}
	reached, err := in.reached(ctx, ids)
	if err != nil {
		return err
	}
	tree := in.reader.Locations()
	height := func(levels int) (h float32) {
		tallest, gpus := float32(0), float32(0) // of threads; how many
		for i := range p.rows {
			w := &p.rows[i]
			row := nameLevel*float32(in.lanes(w.location)*max(1, min(levels, reached[w.location]))) + 4
			switch {
			case w.kind != leaf:
			case w.isGPU(tree):
				gpus++
				h += max(row, 2*leastGPU)
			default:
				tallest = max(tallest, row)
				h += row
			}
		}
		if all := gpus * tallest; 2*all <= space { // see raiseGPUs
			h += gpus * max(0, tallest-2*leastGPU)
		}
		return h
	}
	deepest := 0
	for _, id := range ids {
		deepest = max(deepest, reached[id])
	}
	levels := 1
	for levels < deepest && height(levels+1) <= space {
		levels++
	}
	if levels < 2 {
		return nil
	}
	p.levels, p.clipped = levels, levels < deepest
	if p.clipped {
		p.notes.add("%d of %d levels of nesting have room: the lowest shows the innermost", levels, deepest)
	}
	return nil
}

// reached returns the levels of nesting of locations: those of the whole run where it is small enough, so that rows
// keep their heights while the window moves, else those of the window.
func (in *input) reached(ctx context.Context, ids []trace.LocationID) (map[trace.LocationID]int, error) {
	levels := func(w store.Window) (map[trace.LocationID]int, error) {
		var mu sync.Mutex
		out := map[trace.LocationID]int{}
		err := in.reader.Intervals(ctx, w, func(c *trace.Columns) error {
			most := len(c.Open)
			for _, d := range c.Depth {
				most = max(most, int(d)+1)
			}
			mu.Lock()
			defer mu.Unlock()
			out[c.Location] = max(out[c.Location], most)
			return nil
		})
		return out, err
	}
	if info := in.reader.Info(); info.Intervals <= mostReached {
		size := func(m map[trace.LocationID]int) int64 { return 32 * int64(len(m)) }
		return derived.Keep(in.run.Cache, "timeline levels", size, func() (map[trace.LocationID]int, error) {
			return levels(store.Window{Begin: 0, End: info.End})
		})
	}
	return levels(in.window(ids))
}

// A deepest is the lowest level of a lane: what is innermost of all that is as deep or deeper.
type deepest struct {
	*cells
	walker  share.Walker
	level   int
	started bool
	open    []int    // rows that were open before those of depth, by their depth
	depth   []uint16 // of the rows that began since, from first
	first   int
}

func newDeepest(in *input, g grid, level int) *deepest {
	d := &deepest{cells: newCells(g, &in.rule), level: level}
	d.walker.Start(g.begin, in.regions)
	return d
}

// add takes the next rows of the lane.
func (d *deepest) add(c *trace.Columns) {
	d.opened(c.Open, c.Lane)
	d.walker.Open(c)
	if !d.started {
		d.started, d.first = true, c.First
		for _, o := range c.Open {
			d.open = append(d.open, o.Row)
		}
	}
	for i, begin := range c.Begin {
		d.to(begin, c.Lane)
		if int(c.Depth[i]) >= d.level {
			d.row(begin, c.Duration[i], c.Region[i], c.First+i, c.Lane)
		}
		d.depth = append(d.depth, c.Depth[i])
		d.walker.Push(c.End(i), c.Region[i], c.First+i)
	}
}

// to adds what is innermost before t, where it is deep enough.
func (d *deepest) to(t trace.Time, lane int) {
	for d.walker.Next(t) {
		if d.depthOf(d.walker.Segment.Row) >= d.level {
			d.segment(&d.walker.Segment, lane)
		}
	}
}

func (d *deepest) depthOf(row int) int {
	if i := row - d.first; i >= 0 && i < len(d.depth) {
		return int(d.depth[i])
	}
	return slices.Index(d.open, row)
}

// readLevels fills rows with their levels of nesting from the top. Digests know
// the innermost interval alone, so this reads every row of the window: O(rows).
func readLevels(ctx context.Context, in *input, p *plan, ids []trace.LocationID, leaves []*strips) error {
	n := p.levels
	levels := map[trace.LocationID][]*cells{} // lane * n + level
	lowest := map[trace.LocationID][]*deepest{}
	for _, s := range leaves {
		if s != nil {
			levels[s.location], lowest[s.location] = make([]*cells, s.lanes*n), make([]*deepest, s.lanes)
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
		if p.clipped {
			last := &lowest[c.Location][c.Lane]
			if *last == nil {
				*last = newDeepest(in, p.grid, n-1)
			}
			(*last).add(c)
			list = list[:n-1]
		}
		if !slices.ContainsFunc(list, func(c *cells) bool { return c != nil }) { // the first batch of a lane
			for depth, o := range c.Open {
				if depth < len(list) && o.Begin < p.grid.begin { // it began before the window
					add(list, depth, c.Lane, o)
				}
			}
		}
		for i, depth := range c.Depth {
			if int(depth) < len(list) {
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
		for lane, d := range lowest[s.location] {
			if d != nil {
				d.to(p.grid.end, lane)
				if levels[s.location][lane*n+n-1] = d.cells; d.n+len(d.spans) == 0 && d.rows == 0 {
					levels[s.location][lane*n+n-1] = nil
				}
			}
		}
		for k, c := range levels[s.location] {
			if c == nil && k%n > 0 {
				continue // levels that no interval reaches take no room
			}
			var spans []span
			if c != nil {
				spans = c.finish()
			}
			level := k % n
			if p.clipped && level == n-1 {
				level = -1
			}
			s.list = append(s.list, strip{lane: k / n, level: level, spans: spans})
		}
	}
	return nil
}
