package callgraph

import (
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// NodesWhere marks the nodes with a region for which match is true, shifted by
// one with the root first, as Options.Callers wants them.
func NodesWhere(nodes []Node, regions []trace.Region, match func(trace.RegionID, *trace.Region) bool) []bool {
	out := make([]bool, len(nodes)+1)
	for n := range nodes {
		out[n+1] = slices.ContainsFunc(nodes[n].Regions, func(id trace.RegionID) bool { return match(id, &regions[id]) })
	}
	return out
}

// An Overlap counts the calls that are open when a window begins: they began
// before it and are in no bucket of it.
type Overlap struct {
	Begin trace.Time
	mu    sync.Mutex
	seen  map[uint64]bool // lanes
	Calls int64
}

// Add looks at the first batch of each lane.
func (o *Overlap) Add(c *trace.Columns) {
	if len(c.Open) == 0 || c.Open[0].Begin >= o.Begin {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	lane := uint64(c.Location)<<32 | uint64(c.Lane)
	if o.seen[lane] {
		return
	}
	if o.seen == nil {
		o.seen = map[uint64]bool{}
	}
	o.seen[lane] = true
	for _, x := range c.Open {
		if x.Begin < o.Begin && x.End > o.Begin {
			o.Calls++
		}
	}
}

// A ProfileReader makes rows of profile rows, which know totals and no calls.
type ProfileReader struct {
	Options
	Paths  []trace.CallPath
	Metric trace.MetricID
	// Flat takes the source's own totals of regions instead of its call paths.
	Flat bool
	// Index of each location, by id; -1: not chosen.
	Index []int32

	sums map[profileKey]*Row
}

type profileKey struct {
	owner int32
	pair  Pair
}

// Add takes some rows.
func (p *ProfileReader) Add(rows []trace.ProfileRow) {
	if p.sums == nil {
		p.sums = map[profileKey]*Row{}
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
		if p.Callees != nil && !p.Callees[pair.Callee] || p.Callers != nil && !p.Callers[pair.Caller+1] || p.Path != nil && !p.onPath(path) {
			continue
		}
		if p.Profile {
			pair.Caller = Root
		}
		p.add(profileKey{p.Index[x.Location], pair}, x, p.outermost(path))
	}
}

func (p *ProfileReader) add(key profileKey, x *trace.ProfileRow, outermost bool) {
	r := p.sums[key]
	if r == nil {
		r = &Row{Owner: key.owner, Pair: key.pair}
		r.noBox()
		p.sums[key] = r
	}
	r.Count += x.Calls
	r.Inclusive += x.Inclusive
	r.Exclusive += x.Exclusive
	if outermost {
		r.Outermost += x.Inclusive
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

// Rows gives what was added, by owner, then by pair.
func (p *ProfileReader) Rows() []Row {
	out := make([]Row, 0, len(p.sums))
	for _, r := range p.sums {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b Row) int {
		if a.Owner != b.Owner {
			return int(a.Owner) - int(b.Owner)
		}
		return comparePairs(a.Pair, b.Pair)
	})
	return out
}
