package timeline

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A cutTree holds the sums from which the best aggregations of the time in roles are
// read.
type cutTree struct {
	*runfacts.Hierarchy
	labels                  *entropy.Labels
	thresholds, significant []float64
}

func newCutTree(ctx context.Context, reader store.Reader, f *forest, w store.Window) (*cutTree, error) {
	h, err := view.HierarchyBy("tree", f.tree, w.Locations, f.tree.Holds)
	if err != nil {
		return nil, err
	}
	regions := reader.Regions()
	table, err := reader.Time(ctx, w)
	if err != nil {
		return nil, err
	}
	values := make([][]float64, trace.RoleCount)
	for k := range values {
		values[k] = make([]float64, h.Len())
	}
	for k, id := range table.Locations {
		leaf := h.LeafOf[id]
		for i := table.Offsets[k]; i < table.Offsets[k+1] && leaf >= 0; i++ {
			values[regions[table.Region[i]].Role][leaf] += float64(table.Exclusive[i]) / 1e9
		}
	}
	c := &cutTree{Hierarchy: h,
		labels: entropy.Label(&entropy.Tree{Parent: h.Parent, Last: h.Last}, values, entropy.GainValues)}
	c.thresholds, c.significant = c.labels.Thresholds()
	return c, nil
}

// shut lists the groups among parts, which are drawn as one.
func (c *cutTree) shut(parts []int32) []trace.LocationID {
	ids := []trace.LocationID{}
	for _, i := range parts {
		if c.Last[i] > i && c.Location[i] != trace.NoLocation {
			ids = append(ids, c.Location[i])
		}
	}
	return ids
}

// foldOptimal folds the groups that the best aggregation of the time in roles draws
// as one, and opens the others: rows are the cells of the treemap at the same p.
func (p *plan) foldOptimal(ctx context.Context, q *view.Request, in *input, folds folding) (folding, error) {
	c, err := newCutTree(ctx, in.reader, p.forest, q.Window())
	if err != nil {
		return folds, err
	}
	weight := q.Values.Number("p")
	cut := c.labels.Level(0)
	if weight < 1 {
		cut = c.labels.Best(c.thresholds, c.labels.Odds(weight, entropy.Normalised))
	}
	p.notes.add("rows by the best aggregation at p = %.3g: %s for %s", weight, count(int64(len(cut.Parts)), "row"),
		count(int64(c.Leaves), "location"))
	folds.opened, folds.shut = true, c.shut(cut.Parts)
	return folds, nil
}

// fitOptimal makes rows of the finest best aggregation that fits: groups whose members
// spend their time alike are one row, those that differ are open. It looks at the whole
// run, so that rows stay where they are while one zooms. Rows are left as they are where
// no cut of the tree fills half of the room.
func (p *plan) fitOptimal(ctx context.Context, in *input, folds folding, rows []row, space float32) ([]row, error) {
	f := p.forest
	auto := slices.ContainsFunc(rows, func(w row) bool { return w.auto })
	if float32(f.all()) <= space || !auto || folds.opened {
		return rows, nil
	}
	size := func(c *cutTree) int64 { return int64(64 * c.Len()) }
	c, err := derived.Keep(in.run.Cache, "timeline tree "+fmt.Sprint(f.selected), size, func() (*cutTree, error) {
		// of the whole run: every window has its rows from it
		return newCutTree(ctx, in.reader, f, store.Window{Begin: 0, End: in.reader.Info().End, Locations: f.selected})
	})
	if err != nil {
		return nil, err
	}
	shown := func(cut entropy.Cut) ([]row, bool) {
		by := folds
		by.cut = c.shut(cut.Parts)
		rows, _, ok := f.rows(by, int(space/leastLeaf)+1)
		return rows, ok && in.leastHeight(rows, p.levels) <= space
	}
	fits := func(cut entropy.Cut) bool { _, ok := shown(cut); return ok }
	cut, odds, ok := c.labels.Finest(c.thresholds, c.significant, fits)
	if !ok {
		return rows, nil
	}
	best, _ := shown(cut)
	if 2*in.leastHeight(best, p.levels) < space {
		return rows, nil
	}
	p.notes.add("similar rows are drawn as one, so that all fit: p = %.3g", c.labels.P(odds, entropy.Normalised))
	return best, nil
}
