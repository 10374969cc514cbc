package callgraph

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// NodesWhere marks the nodes with a region for which match is true, shifted by
// one with the root first, as Options.Callers wants them.
func NodesWhere(nodes []Node, regions []trace.Region, match func(trace.RegionID, *trace.Region) bool) []bool {
	out := make([]bool, len(nodes)+1)
	for n := range nodes {
		out[n+1] = slices.ContainsFunc(nodes[n].Regions,
			func(id trace.RegionID) bool { return match(id, &regions[id]) })
	}
	return out
}

// A Matcher finds nodes by patterns of their regions.
type Matcher struct {
	Nodes   []Node
	Regions []trace.Region
	// Compile reads a pattern.
	Compile func(string) (func(trace.RegionID, *trace.Region) bool, error)
}

// Set returns the nodes that match one of the patterns, the root (the pattern root
// or none) first; nil for no pattern. The option names who asked, for errors.
func (m *Matcher) Set(option string, patterns ...string) ([]bool, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	out := make([]bool, len(m.Nodes)+1)
	for _, p := range patterns {
		if p == "root" || p == "" {
			out[0] = true
			continue
		}
		match, err := m.Compile(p)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", option, err)
		}
		n := 0
		for i, in := range NodesWhere(m.Nodes, m.Regions, match) {
			if in {
				out[i] = true
				n++
			}
		}
		if n == 0 {
			return nil, fmt.Errorf("--%s %q matches no region", option, p)
		}
	}
	return out, nil
}

// Choose fills in the callees, callers and path of options from a selection of
// regions (nil: all) and patterns; the parts of a path are joined by semicolons.
func (m *Matcher) Choose(o *Options, regions []trace.RegionID, callers []string, path string) (err error) {
	if regions != nil {
		chosen := make([]bool, len(m.Regions))
		for _, id := range regions {
			chosen[id] = true
		}
		o.Callees = NodesWhere(m.Nodes, m.Regions,
			func(id trace.RegionID, _ *trace.Region) bool { return chosen[id] })[1:]
	}
	if o.Callers, err = m.Set("caller", callers...); err != nil || path == "" {
		return err
	}
	for part := range strings.SplitSeq(path, ";") {
		set, err := m.Set("path", part)
		if err != nil {
			return err
		}
		o.Path = append(o.Path, set)
	}
	return nil
}

// A ProfileReader makes rows of profile rows, which know totals and no calls.
type ProfileReader struct {
	Options
	Paths  []trace.CallPath
	Metric trace.MetricID
	// Join is how values of several paths of one bucket become one.
	Join trace.Join
	// Flat takes the source's own totals of regions instead of its call paths.
	Flat bool
	// Index of each location, by id; -1: not chosen.
	Index []int32

	sums map[profileKey]int32 // places in list
	list []joined             // as they came
}

// A joined row knows how many paths it holds, of which as outermost ones.
type joined struct {
	Row
	paths, outermost int64
}

type profileKey struct {
	owner int32
	pair  Pair
}

// Add takes some rows.
func (p *ProfileReader) Add(rows []trace.ProfileRow) {
	if p.sums == nil {
		p.sums = map[profileKey]int32{}
	}
	for i := range rows {
		x := &rows[i]
		path := &p.Paths[x.Path]
		if x.Metric != p.Metric || path.Flat != p.Flat || p.Index[x.Location] < 0 {
			continue
		}
		pair := Pair{Root, p.Node[path.Region]}
		if path.Parent != trace.NoCallPath {
			pair.Caller = p.Node[p.Paths[path.Parent].Region]
		}
		if p.Callees != nil && !p.Callees[pair.Callee] || p.Callers != nil && !p.Callers[pair.Caller+1] ||
			p.Path != nil && !p.onPath(path) {
			continue
		}
		if p.Profile {
			pair.Caller = Root
		}
		p.add(profileKey{p.Index[x.Location], pair}, x, p.outermost(path))
	}
}

func (p *ProfileReader) add(key profileKey, x *trace.ProfileRow, outermost bool) {
	at, known := p.sums[key]
	if !known {
		at = int32(len(p.list))
		p.sums[key] = at
		p.list = append(p.list, joined{Row: Row{Owner: key.owner, Pair: key.pair}})
		p.list[at].noBox()
	}
	r := &p.list[at]
	r.Count += x.Calls
	r.paths++
	p.join(&r.Inclusive, x.Inclusive, r.paths)
	p.join(&r.Exclusive, x.Exclusive, r.paths)
	if outermost {
		r.outermost++
		p.join(&r.Outermost, x.Inclusive, r.outermost)
	}
}

// join puts the n-th value to those before it.
func (p *ProfileReader) join(to *float64, v float64, n int64) {
	switch {
	case p.Join == trace.JoinSum:
		*to += v
	case n == 1:
		*to = v
	case p.Join == trace.JoinMin:
		*to = min(*to, v)
	case p.Join == trace.JoinMax:
		*to = max(*to, v)
	default:
		*to += (v - *to) / float64(n)
	}
}

func (p *ProfileReader) outermost(path *trace.CallPath) bool {
	for up := path.Parent; up != trace.NoCallPath; up = p.Paths[up].Parent {
		if p.Node[p.Paths[up].Region] == p.Node[path.Region] {
			return false
		}
	}
	return true
}

// onPath reports whether the callers of a path, from the direct one on, are those
// asked for.
func (p *ProfileReader) onPath(path *trace.CallPath) bool {
	up := path.Parent
	for k := len(p.Path) - 1; k >= 0; k-- {
		caller := Root
		if up != trace.NoCallPath {
			caller = p.Node[p.Paths[up].Region]
		}
		if !p.Path[k][caller+1] || caller == Root && k > 0 {
			return false
		}
		if up != trace.NoCallPath {
			up = p.Paths[up].Parent
		}
	}
	return true
}

// Rows returns the added rows, by owner, then by pair. Stores hold profiles by location: then only the few rows of
// each owner are to be sorted.
func (p *ProfileReader) Rows() []Row {
	out := make([]Row, len(p.list))
	for i := range p.list {
		out[i] = p.list[i].Row
	}
	byOwner := func(a, b Row) int { return int(a.Owner) - int(b.Owner) }
	if !slices.IsSortedFunc(out, byOwner) {
		slices.SortStableFunc(out, byOwner)
	}
	for from := 0; from < len(out); {
		to := from + 1
		for to < len(out) && out[to].Owner == out[from].Owner {
			to++
		}
		slices.SortFunc(out[from:to], func(a, b Row) int { return comparePairs(a.Pair, b.Pair) })
		from = to
	}
	return out
}

// Read returns the rows of a profile of a store: of locations, nil for all. Of them the holders count, each as a part
// of its owner.
func (p *ProfileReader) Read(ctx context.Context, r store.Reader, locations, holders []trace.LocationID,
	owner []int32) ([]Row, error) {
	p.Paths, p.Index = r.CallPaths(), slices.Repeat([]int32{-1}, r.Locations().Len())
	for i, id := range holders {
		p.Index[id] = owner[i]
	}
	err := r.Profile(ctx, locations, func(rows []trace.ProfileRow) error {
		p.Add(rows)
		return ctx.Err()
	})
	return p.Rows(), err
}
