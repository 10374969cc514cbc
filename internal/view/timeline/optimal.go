package timeline

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A cutTree is what best aggregations of the time in roles are read off.
type cutTree struct {
	*view.Hierarchy
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

// groupOptimal folds the groups that the best aggregation of the time in roles draws
// as one, and opens the others: rows are the cells of the treemap at the same p.
func (r *planner) groupOptimal(ctx context.Context, q *view.Request, f *forest) error {
	c, err := newCutTree(ctx, r.reader, f, q.Window())
	if err != nil {
		return err
	}
	p := q.Values.Number("p")
	cut := c.labels.Level(0)
	if p < 1 {
		cut = c.labels.Best(c.thresholds, c.labels.Odds(p, entropy.Normalised))
	}
	f.opened, f.shut = true, c.shut(cut.Parts)
	r.note("rows by the best aggregation at p = %.3g: %s for %s", p, count(int64(len(cut.Parts)), "row"),
		count(int64(c.Leaves), "location"))
	return nil
}

// fitOptimal makes rows of the finest best aggregation that fits: groups whose members
// spend their time alike are one row, those that differ are open. It looks at the whole
// run, so that rows stay where they are while one zooms. Rows are left as they are where
// no cut of the tree fills half of the room.
func fitOptimal(ctx context.Context, r *result, f *forest, rows []row, space float32) ([]row, error) {
	auto := slices.ContainsFunc(rows, func(w row) bool { return w.auto })
	if float32(f.all()) <= space || !auto || f.opened {
		return rows, nil
	}
	size := func(c *cutTree) int64 { return int64(64 * c.Len()) }
	c, err := derived.Keep(r.cache, "timeline tree "+fmt.Sprint(f.selected), size, func() (*cutTree, error) {
		// of the whole run: every window has its rows from it
		return newCutTree(ctx, r.reader, f, store.Window{Begin: 0, End: r.reader.Info().End, Locations: f.selected})
	})
	if err != nil {
		return nil, err
	}
	defer func() { f.cut = nil }()
	shown := func(cut entropy.Cut) ([]row, bool) {
		f.cut = c.shut(cut.Parts)
		rows, _, ok := f.rows(0, int(space/leastLeaf)+1)
		return rows, ok && r.least(rows) <= space
	}
	cut, odds,
		ok := c.labels.Finest(c.thresholds, c.significant,
		func(cut entropy.Cut) bool { _, ok := shown(cut); return ok })
	if !ok {
		return rows, nil
	}
	best, _ := shown(cut)
	if 2*r.least(best) < space {
		return rows, nil
	}
	r.note("rows by the best aggregation of the time of the whole run that fits, p = %.3g",
		c.labels.P(odds, entropy.Normalised))
	return best, nil
}

// cuts reports whether a node is drawn as one by the cut.
func (f *forest) cuts(n node) bool {
	i, _ := slices.BinarySearch(f.cut, n.top)
	return i < len(f.cut) && f.cut[i] <= n.bottom && f.tree.Last[f.cut[i]] >= n.bottom
}
