package request

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/criticalpath"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Path is a call path across services: an operation of a service, called from another path.
type Path struct {
	Parent  int32 // -1 at the top
	Service trace.LocationID
	Region  trace.RegionID
}

// Paths numbers call paths as they are met.
type Paths struct {
	List []Path
	at   map[Path]int32
	of   []int32 // by node + 1; 0: not known yet
	f    *Forest
}

// Of returns the path of a call.
func (p *Paths) Of(node int32) int32 {
	var chain []int32
	at := node
	for at >= 0 && p.of[at] == 0 {
		chain = append(chain, at)
		at = p.f.Parent[at]
	}
	up := int32(-1)
	if at >= 0 {
		up = p.of[at] - 1
	}
	for i := len(chain) - 1; i >= 0; i-- {
		n := chain[i]
		up = p.child(up, p.f.Service(n), p.f.Region[n])
		p.of[n] = up + 1
	}
	return up
}

func (p *Paths) child(parent int32, service trace.LocationID, region trace.RegionID) int32 {
	k := Path{parent, service, region}
	id, ok := p.at[k]
	if !ok {
		id = int32(len(p.List))
		p.List = append(p.List, k)
		p.at[k] = id
	}
	return id
}

// Chain returns the paths from the top down to one.
func (p *Paths) Chain(id int32) (out []int32) {
	for ; id >= 0; id = p.List[id].Parent {
		out = append(out, id)
	}
	slices.Reverse(out)
	return out
}

// An OnPath is the time that a call path has on the critical paths of many requests.
type OnPath struct {
	Path  int32
	Time  trace.Time // in all of them
	Calls int64      // sections
	// Over the requests that have it on their critical path: how many, and how long it is there.
	Requests         int
	Mean             float64
	Median, P95, P99 trace.Time
	Failed           int64 // sections of calls that failed

	each    []perRequest
	current trace.Time // of the present request
}

// A perRequest is the time that a path has in one request.
type perRequest struct {
	request int32
	time    trace.Time
}

// A Critical is the critical paths of requests, added up.
type Critical struct {
	Requests int
	Length   trace.Time // of all of them
	Paths    *Paths
	By       []OnPath // most time first
	// Rootless is time of requests between calls whose common root is not in the source.
	Rootless trace.Time
	// Counts of the walk, see criticalpath.Walker.
	Clipped, Outside, Moved int64
	MostMoved               trace.Time
}

// Walker walks the critical paths of a forest.
func (f *Forest) Walker() *criticalpath.Walker {
	return &criticalpath.Walker{Tree: criticalpath.Tree{Begin: f.Begin, End: f.End, First: f.First,
		Children: f.Children, Apart: f.Apart}}
}

// Walk yields the sections of a request's critical path, last first. If its root is not in the source,
// calls without a parent get a root that took all the time: node -1.
func (f *Forest) Walk(w *criticalpath.Walker, r *Request, emit func(criticalpath.Section)) {
	if r.Root != NoRoot {
		w.Walk(r.Root, emit)
		return
	}
	roots := slices.Clone(r.Roots)
	slices.SortStableFunc(roots, func(a, b int32) int { return cmp.Compare(f.End[b], f.End[a]) })
	cursor := r.End
	for _, x := range roots {
		if f.End[x] > cursor || f.End[x] <= f.Begin[x] {
			continue
		}
		if f.End[x] < cursor {
			emit(criticalpath.Section{Node: NoRoot, Begin: f.End[x], End: cursor})
		}
		w.Walk(x, emit)
		cursor = f.Begin[x]
	}
	if cursor > r.Begin {
		emit(criticalpath.Section{Node: NoRoot, Begin: r.Begin, End: cursor})
	}
}

// A few requests are walked by one core.
const fewRequests = 512

// CriticalPaths adds up the critical paths of requests, by call path. Parts of the requests are walked on all cores;
// their results are added in the order of requests, so that they do not depend on the number of cores.
func (f *Forest) CriticalPaths(requests []int32) *Critical {
	parts := max(1, min(parallel.Workers(), len(requests)/fewRequests))
	walked, of := make([]*Critical, parts), make([]int32, f.Len())
	err := parallel.For(context.Background(), parts, func(i int) {
		walked[i] = f.walkSome(requests[i*len(requests)/parts:(i+1)*len(requests)/parts], of)
	})
	if err != nil {
		panic(err) // its context is never cancelled
	}
	c := walked[0]
	for _, o := range walked[1:] {
		c.add(o)
	}
	if parts > 1 {
		c.Paths.of = make([]int32, f.Len()) // the parts had numbers of their own
	}
	c.By = slices.DeleteFunc(c.By, func(p OnPath) bool { return p.Time == 0 })
	for i := range c.By {
		c.By[i].finish()
	}
	slices.SortStableFunc(c.By,
		func(a, b OnPath) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Path, b.Path)) })
	return c
}

// walkSome walks the critical paths of some requests. The paths of their calls are put into of, which others use for
// theirs.
func (f *Forest) walkSome(requests []int32, of []int32) *Critical {
	c := &Critical{Requests: len(requests), Paths: &Paths{at: map[Path]int32{}, of: of, f: f}}
	w := f.Walker()
	var met []int32 // paths of the present request
	for _, k := range requests {
		r := &f.Requests[k]
		c.Length += r.Duration()
		met = met[:0]
		f.Walk(w, r, func(s criticalpath.Section) {
			if s.Node == NoRoot {
				c.Rootless += s.End - s.Begin
				return
			}
			id := c.Paths.Of(s.Node)
			c.room()
			p := &c.By[id]
			if p.current == 0 {
				met = append(met, id)
			}
			p.current += s.End - s.Begin
			p.Calls++
			if f.Failed(s.Node) {
				p.Failed++
			}
		})
		for _, id := range met {
			p := &c.By[id]
			p.each = append(p.each, perRequest{k, p.current})
			p.Time += p.current
			p.current = 0
		}
	}
	c.Clipped, c.Outside, c.Moved, c.MostMoved = w.Clipped, w.Outside, w.Moved, w.MostMoved
	return c
}

// room has a place for every path.
func (c *Critical) room() {
	for len(c.By) < len(c.Paths.List) {
		c.By = append(c.By, OnPath{Path: int32(len(c.By))})
	}
}

// add adds the paths of later requests, whose paths get numbers after those that are known.
func (c *Critical) add(o *Critical) {
	number := make([]int32, len(o.Paths.List))
	for i, p := range o.Paths.List { // callers come first
		if p.Parent >= 0 {
			p.Parent = number[p.Parent]
		}
		number[i] = c.Paths.child(p.Parent, p.Service, p.Region)
	}
	c.room()
	for i := range o.By {
		p, x := &c.By[number[i]], &o.By[i]
		p.Time += x.Time
		p.Calls += x.Calls
		p.Failed += x.Failed
		p.each = append(p.each, x.each...)
	}
	c.Requests += o.Requests
	c.Length += o.Length
	c.Rootless += o.Rootless
	c.Clipped += o.Clipped
	c.Outside += o.Outside
	c.Moved += o.Moved
	c.MostMoved = max(c.MostMoved, o.MostMoved)
}

func (p *OnPath) finish() {
	times := make([]trace.Time, len(p.each))
	for i, x := range p.each {
		times[i] = x.time
	}
	slices.Sort(times)
	p.Requests = len(times)
	p.Mean = float64(p.Time) / float64(len(times))
	p.Median, p.P95, p.P99 = Quantile(times, 0.5), Quantile(times, 0.95), Quantile(times, 0.99)
}

// Quantile is the least of sorted values that a share q of them does not exceed.
func Quantile(sorted []trace.Time, q float64) trace.Time {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(int(math.Ceil(q*float64(len(sorted))))-1, 0)]
}

// Enough reports whether so many values say something of a share q of them: at least five lie beyond. With fewer,
// the quantile is just one of the longest.
func Enough(n int, q float64) bool { return float64(n)*(1-q) >= 5-1e-9 }

// Merge takes some paths of one operation together, or those of one service; percentiles
// over requests are found anew.
func (c *Critical) Merge(list []OnPath, services bool) []OnPath {
	at := map[Path]int{}
	var out []OnPath
	var in [][]perRequest
	for i := range list {
		p := &list[i]
		k := c.Paths.List[p.Path]
		k.Parent = -1
		if services {
			k.Region = trace.NoRegion
		}
		n, ok := at[k]
		if !ok {
			n = len(out)
			at[k] = n
			out = append(out, OnPath{Path: p.Path})
			in = append(in, nil)
		}
		out[n].Time += p.Time
		out[n].Calls += p.Calls
		out[n].Failed += p.Failed
		in[n] = append(in[n], p.each...)
	}
	for n := range out {
		slices.SortFunc(in[n], func(a, b perRequest) int { return cmp.Compare(a.request, b.request) })
		each := in[n][:0]
		for _, x := range in[n] {
			if k := len(each); k > 0 && each[k-1].request == x.request {
				each[k-1].time += x.time
			} else {
				each = append(each, x)
			}
		}
		out[n].each = each
		out[n].finish()
	}
	slices.SortStableFunc(out,
		func(a, b OnPath) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Path, b.Path)) })
	return out
}
