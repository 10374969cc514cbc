package fingerprint

import (
	"cmp"
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/compare"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// mostPaths bounds how many call paths are kept: those with most time.
const mostPaths = 1500

// smaller is the name of all call paths beyond those.
const smaller = "(smaller calls)"

// Tree is its call paths, to be matched with those of other runs.
func (p *Print) Tree() []compare.Path {
	out := make([]compare.Path, len(p.Paths))
	for i := range p.Paths {
		x := &p.Paths[i]
		out[i] = compare.Path{Parent: x.Parent, Name: x.Name, Role: x.Role, Time: x.Exclusive}
	}
	return out
}

func (p *Print) takePaths(ctx context.Context, r store.Reader) (err error) {
	var all []Path
	if p.Timed {
		all, err = p.fromIntervals(ctx, r)
	} else {
		all, err = p.fromProfile(ctx, r)
	}
	if err == nil {
		p.Paths = p.prune(fold(all))
	}
	return err
}

func (p *Print) fromIntervals(ctx context.Context, r store.Reader) ([]Path, error) {
	w := store.Window{End: r.Info().End}
	c := &callgraph.PathCollector{End: w.End + 1, Measure: callgraph.Totals, Regions: len(r.Regions())}
	if err := store.Digests(ctx, r, callgraph.DigestName, w, c.Add); err != nil {
		return nil, err
	}
	t, err := c.Paths(ctx)
	if err != nil {
		return nil, err
	}
	p.Locations, p.Beside = t.Locations, t.Beside
	out := make([]Path, len(t.Parent))
	for i := range out {
		g := &r.Regions()[t.Region[i]]
		out[i] = Path{Parent: t.Parent[i], Name: trace.FoldAcrossRuns(g.Name, g.Role), Role: g.Role,
			Calls: float64(t.Calls[i]), Inclusive: t.Inclusive[i].Float64(), Exclusive: t.Inclusive[i].Float64()}
		if up := out[i].Parent; up >= 0 {
			out[up].Exclusive -= out[i].Inclusive
		}
	}
	if t.Beside {
		for i := range out {
			out[i].Exclusive = min(t.Exclusive[i].Float64(), out[i].Inclusive)
		}
	}
	return out, nil
}

// fromProfile reads the rows of the metric that is time, or the source's first. If the source has totals of
// regions alone, these are the paths.
func (p *Print) fromProfile(ctx context.Context, r store.Reader) ([]Path, error) {
	metric := runfacts.DefaultMetric(r.Metrics())
	_, p.Unit = runfacts.MainMetric(r)
	paths := r.CallPaths()
	out := make([]Path, len(paths))
	for i := range paths {
		g := &r.Regions()[paths[i].Region]
		out[i] = Path{Parent: -1, Name: trace.FoldAcrossRuns(g.Name, g.Role), Role: g.Role}
		if up := paths[i].Parent; up != trace.NoCallPath {
			out[i].Parent = int32(up)
		}
	}
	has := make([]bool, len(paths))
	locations := map[trace.LocationID]bool{}
	flat := true // no path but totals
	for i := range paths {
		flat = flat && paths[i].Flat
	}
	err := r.Profile(ctx, nil, func(rows []trace.ProfileRow) error {
		for _, x := range rows {
			if x.Metric != metric || paths[x.Path].Flat != flat ||
				runfacts.Sampled(&r.Regions()[paths[x.Path].Region]) {
				continue
			}
			locations[x.Location] = true
			has[x.Path] = true
			o := &out[x.Path]
			o.Calls += x.Calls
			o.Inclusive += x.Inclusive
			o.Exclusive += x.Exclusive
		}
		return nil
	})
	p.Locations = len(locations)
	// A path without numbers of its own, above others that have some, has their time.
	used := slices.Clone(has)
	for i := len(out) - 1; i >= 0; i-- {
		up := out[i].Parent
		if flat {
			out[i].Parent, out[i].Inclusive = -1, out[i].Exclusive // totals of regions hold those that they call
			continue
		}
		if used[i] && up >= 0 {
			used[up] = true
			if !has[up] {
				out[up].Inclusive += out[i].Inclusive
			}
		}
	}
	return keep(out, used), err
}

// keep drops the paths that are not wanted; parents of those that are, are.
func keep(list []Path, want []bool) []Path {
	place := make([]int32, len(list))
	out := make([]Path, 0, len(list))
	for i, x := range list {
		if !want[i] {
			continue
		}
		if x.Parent >= 0 {
			x.Parent = place[x.Parent]
		}
		place[i] = int32(len(out))
		out = append(out, x)
	}
	return out
}

// fold joins paths of one name below the same caller: steps by their number, say.
func fold(list []Path) []Path {
	type key struct {
		parent int32
		name   string
	}
	index := make(map[key]int32, len(list))
	place := make([]int32, len(list))
	out := make([]Path, 0, len(list))
	for i, x := range list {
		if x.Parent >= 0 {
			x.Parent = place[x.Parent]
		}
		k := key{x.Parent, x.Name}
		at, ok := index[k]
		if !ok {
			at = int32(len(out))
			index[k] = at
			out = append(out, x)
		} else {
			o := &out[at]
			o.Calls += x.Calls
			o.Inclusive += x.Inclusive
			o.Exclusive += x.Exclusive
		}
		place[i] = at
	}
	return out
}

// prune keeps the paths with most time, in an order that does not hang on who came first,
// and joins the others below their caller, so that the sum of exclusive times stays.
func (p *Print) prune(list []Path) []Path {
	children := make([][]int32, len(list)+1)
	for i := range list {
		up := list[i].Parent
		if up < 0 {
			up = int32(len(list))
		}
		children[up] = append(children[up], int32(i))
	}
	least := 0.0
	if len(list) > mostPaths {
		times := make([]float64, len(list))
		for i := range list {
			times[i] = list[i].Inclusive
		}
		slices.Sort(times)
		least = times[len(times)-mostPaths]
	}
	var out []Path
	var rest func(i int32) Path
	rest = func(i int32) Path {
		sum := list[i]
		for _, c := range children[i] {
			x := rest(c)
			sum.Calls += x.Calls
			sum.Exclusive += x.Exclusive
		}
		return sum
	}
	var descend func(of []int32, parent int32)
	descend = func(of []int32, parent int32) {
		slices.SortFunc(of, func(a, b int32) int {
			return cmp.Or(cmp.Compare(list[b].Inclusive, list[a].Inclusive), cmp.Compare(list[a].Name, list[b].Name))
		})
		joined := Path{Parent: parent, Name: smaller}
		n := 0
		for _, i := range of {
			if list[i].Inclusive < least {
				x := rest(i)
				if n == 0 || x.Inclusive > joined.Inclusive {
					joined.Role = x.Role
				}
				n++
				joined.Calls += x.Calls
				joined.Inclusive += x.Inclusive
				joined.Exclusive += x.Exclusive
				continue
			}
			x := list[i]
			x.Parent = parent
			at := int32(len(out))
			out = append(out, x)
			descend(children[i], at)
		}
		if n > 0 {
			p.Folded += n
			out = append(out, joined)
		}
	}
	descend(children[len(list)], -1)
	return out
}
