package kaleidoscope

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A path is a call path: all calls of a region through the same callers.
type path struct {
	parent    int32 // -1 at the top
	region    int32 // of pathTree.regions
	calls     float64
	inclusive float64
	exclusive float64
	other     float64 // inclusive, in the second run
	otherOwn  float64 // exclusive, in the second run
	share     float64 // of the circle, with all below
}

// A pathTree is the calls of a window merged by call path, in preorder below a root that is none.
type pathTree struct {
	paths   []path
	regions []trace.Region
	metric  runfacts.MetricChoice
	counted bool // calls
	notes   []string
}

func (t *pathTree) sizeBytes() int64 { return 64 * int64(len(t.paths)) }

// pathsOf returns the tree of a run, which is kept for another painting or subtree.
func pathsOf(ctx context.Context, run view.Run, w store.Window, metric runfacts.MetricChoice) (*pathTree, error) {
	key := "kaleidoscope paths " + metric.Name + keyOf(w)
	return derived.Keep(run.Cache, key, (*pathTree).sizeBytes, func() (*pathTree, error) {
		t := &pathTree{paths: []path{{parent: -1, region: -1}}, regions: run.Store.Regions(), metric: metric}
		var err error
		if run.Store.Info().Timed() {
			err = t.fromIntervals(ctx, run.Store, w)
		} else {
			err = t.fromProfile(ctx, run.Store, w)
		}
		return t, err
	})
}

// fromIntervals merges the calls of a trace. O(call paths) a location for the whole run.
func (t *pathTree) fromIntervals(ctx context.Context, s store.Reader, w store.Window) error {
	c := &callgraph.PathCollector{Begin: max(w.Begin, 0), End: w.End, Measure: callgraph.Totals,
		Regions: len(s.Regions())}
	if w.End >= s.Info().End {
		c.End = s.Info().End + 1 // events at the very end are part of the whole
	}
	if err := store.Digests(ctx, s, callgraph.DigestName, w, c.Add); err != nil {
		return err
	}
	p, err := c.Paths(ctx)
	if err != nil {
		return err
	}
	t.counted = true
	for i := range p.Parent {
		t.paths = append(t.paths, path{parent: p.Parent[i] + 1, region: int32(p.Region[i]), calls: float64(p.Calls[i]),
			inclusive: p.Inclusive[i].Float64()})
	}
	t.own()
	return nil
}

// own finds the part of each path that no path below has.
func (t *pathTree) own() {
	for i := range t.paths {
		if t.paths[i].parent == 0 {
			t.paths[0].inclusive += t.paths[i].inclusive
		}
		t.paths[i].exclusive = t.paths[i].inclusive
	}
	t.paths[0].exclusive = t.paths[0].inclusive
	for i := 1; i < len(t.paths); i++ {
		t.paths[t.paths[i].parent].exclusive -= t.paths[i].inclusive
	}
	for i := range t.paths {
		t.paths[i].exclusive = max(t.paths[i].exclusive, 0)
	}
}

// fromProfile adds up the rows of a metric. Regions without callers are all at the top, with their exclusive values.
func (t *pathTree) fromProfile(ctx context.Context, s store.Reader, w store.Window) (err error) {
	paths := s.CallPaths()
	alone := !slices.ContainsFunc(paths, func(p trace.CallPath) bool { return !p.Flat })
	exclusive, inclusive := make([]runfacts.Joined, len(paths)), make([]runfacts.Joined, len(paths))
	has := make([]bool, len(paths))
	calls := make([]float64, len(paths))
	if t.counted, err = store.CountsCalls(ctx, s); err != nil {
		return err
	}
	err = s.Profile(ctx, w.Locations, func(rows []trace.ProfileRow) error {
		for i := range rows {
			if x := &rows[i]; x.Metric == t.metric.ID && (alone || !paths[x.Path].Flat) {
				has[x.Path] = true
				exclusive[x.Path].Add(t.metric.Join, x.Exclusive)
				inclusive[x.Path].Add(t.metric.Join, x.Inclusive)
				calls[x.Path] += x.Calls
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range paths {
		up := int32(0)
		if p := paths[i].Parent; p != trace.NoCallPath && !alone {
			up = int32(p) + 1 // parents are defined first
		}
		t.paths = append(t.paths, path{parent: up, region: int32(paths[i].Region), calls: calls[i],
			exclusive: positive(exclusive[i].Value(t.metric.Join))})
	}
	if alone {
		t.notes = append(t.notes, "the profile has totals of regions and does not say who called whom: each region "+
			"stands alone, with its exclusive value")
	}
	t.addUp()
	for i := range has {
		if has[i] && !alone {
			t.paths[i+1].inclusive = positive(inclusive[i].Value(t.metric.Join))
		}
	}
	return nil
}

func positive(v float64) float64 {
	if v > 0 && !math.IsInf(v, 0) {
		return v
	}
	return 0
}

// addUp finds inclusive values from exclusive ones.
func (t *pathTree) addUp() {
	for i := len(t.paths) - 1; i >= 0; i-- {
		p := &t.paths[i]
		p.inclusive += p.exclusive
		if p.parent >= 0 {
			t.paths[p.parent].inclusive += p.inclusive
		}
	}
}

// joined returns the paths of two runs, matched by the names of their regions. A path has the larger exclusive value of
// both as its weight.
func joined(a, b *pathTree) *pathTree {
	t := &pathTree{paths: slices.Clone(a.paths), regions: slices.Clone(a.regions), metric: a.metric,
		counted: a.counted && b.counted, notes: slices.Concat(a.notes, b.notes)}
	regions := map[string]int32{}
	for id := range t.regions {
		if _, ok := regions[t.regions[id].Name]; !ok {
			regions[t.regions[id].Name] = int32(id)
		}
	}
	type key struct{ parent, region int32 }
	at := map[key]int32{}
	for i := range t.paths { // regions of one name are one
		p := &t.paths[i]
		if p.region >= 0 {
			p.region = regions[t.regions[p.region].Name]
		}
		if _, ok := at[key{p.parent, p.region}]; !ok {
			at[key{p.parent, p.region}] = int32(i)
		}
	}
	place := make([]int32, len(b.paths))
	for i := range b.paths {
		p := &b.paths[i]
		k := key{-1, -1}
		if p.parent >= 0 {
			k.parent = place[p.parent]
		}
		if p.region >= 0 {
			name := b.regions[p.region].Name
			id, ok := regions[name]
			if !ok {
				id = int32(len(t.regions))
				regions[name] = id
				t.regions = append(t.regions, b.regions[p.region])
			}
			k.region = id
		}
		n, ok := at[k]
		if !ok {
			n = int32(len(t.paths))
			at[k] = n
			t.paths = append(t.paths, path{parent: k.parent, region: k.region})
		}
		place[i] = n
		t.paths[n].other += p.inclusive
		t.paths[n].otherOwn += p.exclusive
	}
	return t
}

// finish shares out the circle, leaves out paths that have none of it and brings the rest into preorder.
func (t *pathTree) finish(order string) *pathTree {
	for i := range t.paths {
		t.paths[i].share = max(t.paths[i].exclusive, t.paths[i].otherOwn)
	}
	for i := len(t.paths) - 1; i > 0; i-- {
		t.paths[t.paths[i].parent].share += t.paths[i].share
	}
	children := make([][]int32, len(t.paths))
	for i := 1; i < len(t.paths); i++ {
		if p := &t.paths[i]; p.share > 0 {
			children[p.parent] = append(children[p.parent], int32(i))
		}
	}
	for _, list := range children {
		slices.SortFunc(list, func(a, b int32) int {
			x, y := &t.paths[a], &t.paths[b]
			byName := strings.Compare(t.regions[x.region].Name, t.regions[y.region].Name)
			if order == byNames {
				return cmp.Or(byName, cmp.Compare(a, b))
			}
			return cmp.Or(cmp.Compare(y.share, x.share), byName, cmp.Compare(a, b))
		})
	}
	out := &pathTree{regions: t.regions, metric: t.metric, counted: t.counted, notes: t.notes}
	type step struct{ id, parent int32 }
	stack := []step{{0, -1}}
	for len(stack) > 0 {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		p := t.paths[s.id]
		p.parent = s.parent
		at := int32(len(out.paths))
		out.paths = append(out.paths, p)
		for _, c := range slices.Backward(children[s.id]) {
			stack = append(stack, step{c, at})
		}
	}
	return out
}

// below returns the subtree of a path, which is its root.
func (t *pathTree) below(root int32) *pathTree {
	end := root + 1
	for int(end) < len(t.paths) && t.paths[end].parent >= root {
		end++
	}
	out := &pathTree{regions: t.regions, metric: t.metric, counted: t.counted, notes: t.notes,
		paths: slices.Clone(t.paths[root:end])}
	for i := range out.paths {
		out.paths[i].parent = max(out.paths[i].parent-root, -1)
	}
	return out
}
