package timeline

import (
	"context"
	"sync"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// fewLinks are read one by one; of more, cells are counted by the sums that the store
// keeps: so many leave hardly a cell with a few that could be drawn as arrows.
const fewLinks = 1 << 18

// A linkCounter counts the links of a window by cell.
type linkCounter struct {
	reader store.Reader
	set    *linkSet
	rowOf  []int32
}

// count takes the sums that the store keeps of
// those that start in a time range; only those under way at its edges
// are read. With b cells in a row, p pairs of locations and n links it is O(b p log n).
// Which links a cell holds is not known then: also a few become a symbol, in its middle.
func (c *linkCounter) count(ctx context.Context, w store.Window) error {
	set := c.set
	set.cells = map[burstKey]*burst{}
	if err := c.edges(ctx, w); err != nil {
		return err
	}
	var begins []trace.Time
	for begin := w.Begin; begin < w.End; begin = (begin>>set.level + 1) << set.level {
		begins = append(begins, begin)
	}
	none := func() struct{} { return struct{}{} }
	read := func(ctx context.Context, _ struct{}, i int) (*column, error) {
		begin := begins[i]
		x := &column{begin: begin}
		var mu sync.Mutex
		err := store.EachLinkSum(ctx, c.reader,
			store.Window{Begin: begin, End: min((begin>>set.level+1)<<set.level, w.End), Locations: w.Locations},
			func(sums []store.LinkSum) error {
				part := c.columnOf(sums)
				mu.Lock()
				defer mu.Unlock()
				x.take(part)
				return nil
			})
		return x, err
	}
	return parallel.Ordered(ctx, len(begins), atOnce, none, read, func(x *column) error {
		set.hidden, set.inside, set.called = set.hidden+x.hidden, set.inside+x.inside, set.called+x.called
		for row, n := range x.rows {
			if n > 0 {
				c.cell(int32(row), x.begin, n)
			}
		}
		return nil
	})
}

// A column counts the links that start in the cells of one time.
type column struct {
	begin                  trace.Time
	rows                   []int64 // by row
	hidden, inside, called int64   // as in a linkSet
}

// columnOf counts some sums.
func (c *linkCounter) columnOf(sums []store.LinkSum) *column {
	var x column
	var left linkSet
	for i := range sums {
		s := &sums[i]
		row := c.rowOf[s.From]
		if s.Untimed || left.leftOut(s.Kind, row, c.rowOf[s.To], s.Count) {
			continue
		}
		if int(row) >= len(x.rows) {
			x.rows = append(x.rows, make([]int64, int(row)+1-len(x.rows))...)
		}
		x.rows[row] += s.Count
	}
	x.hidden, x.inside, x.called = left.hidden, left.inside, left.called
	return &x
}

// take adds the counts of a part.
func (x *column) take(part *column) {
	x.hidden, x.inside, x.called = x.hidden+part.hidden, x.inside+part.inside, x.called+part.called
	if len(x.rows) < len(part.rows) {
		x.rows = append(x.rows, make([]int64, len(part.rows)-len(x.rows))...)
	}
	for row, n := range part.rows {
		x.rows[row] += n
	}
}

// atOnce is how many cells of a row are asked for at once: a store elsewhere answers them together.
const atOnce = 32

// edges counts the links of a window that do not start in it: before, or, where
// clocks differ, after they have arrived.
func (c *linkCounter) edges(ctx context.Context, w store.Window) error {
	until := w.End
	if until == c.reader.Info().End {
		until++ // links that start at the very end are among the sums
	}
	edges := []struct {
		begin   trace.Time
		outside func(from trace.Time) bool
	}{
		{w.Begin, func(from trace.Time) bool { return from < w.Begin }},
		{w.End - 1, func(from trace.Time) bool { return from >= until }},
	}
	var mu sync.Mutex
	for _, e := range edges {
		err := c.reader.Links(ctx, store.Window{Begin: e.begin, End: e.begin + 1, Locations: w.Locations},
			func(l *store.LinkColumns) error {
				mu.Lock()
				defer mu.Unlock()
				for i := range l.Kind {
					if !l.Untimed[i] && e.outside(l.FromTime[i]) {
						c.add(l.Kind[i], l.FromLocation[i], l.ToLocation[i], l.FromTime[i], l.Count[i])
					}
				}
				return nil
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// add takes links that start in the cell of a time.
func (c *linkCounter) add(kind trace.LinkKind, from, to trace.LocationID, t trace.Time, n int64) {
	if row := c.rowOf[from]; !c.set.leftOut(kind, row, c.rowOf[to], n) {
		c.cell(row, t, n)
	}
}

// cell adds links that start in the cell of a row and a time.
func (c *linkCounter) cell(row int32, t trace.Time, n int64) {
	b := c.set.cell(row, t)
	b.count += n
	b.offset += float64(b.end-b.begin) / 2 * float64(n)
}
