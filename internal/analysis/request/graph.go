package request

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Graph is who calls whom among services, over some requests.
type Graph struct {
	Requests int
	Services []Service // by location
	Edges    []Edge    // by caller, then callee; those without a caller first
}

// A Service is one node. Its calls are those that enter it: from another service, or from
// outside of the source.
type Service struct {
	At trace.LocationID
	Passed
	Spans int64      // all its calls, those to itself too
	Self  trace.Time // of all of them
}

// An Edge is the calls of one service by another. From is trace.NoLocation where the caller is
// not in the source.
type Edge struct {
	From, To trace.LocationID
	Passed
}

// Passed are calls from one service to another.
type Passed struct {
	Calls         int64
	Failed        int64
	Apart         int64 // no caller waits for these
	P50, P95, P99 float64
	Least, Most   trace.Time // durations
	times         []int64
}

// Graph adds up the calls of some requests between services; shown says which regions count, nil: all.
// O(nodes).
func (f *Forest) Graph(requests []int32, shown func(trace.RegionID) bool) *Graph {
	g := &Graph{Requests: len(requests)}
	in := make([]bool, len(f.Requests))
	for _, k := range requests {
		in[k] = true
	}
	type pair struct{ from, to trace.LocationID }
	services, edges := map[trace.LocationID]*Service{}, map[pair]*Edge{}
	var service *Service // the last ones: most calls are of the same as the one before
	var edge *Edge
	for i := range int32(f.Len()) {
		if f.Of[i] < 0 || !in[f.Of[i]] || shown != nil && !shown(f.Region[i]) {
			continue
		}
		at := f.Service(i)
		if service == nil || service.At != at {
			if service = services[at]; service == nil {
				service = &Service{At: at}
				services[at] = service
			}
		}
		service.Spans++
		service.Self += f.Self[i]
		from := trace.NoLocation
		if up := f.Parent[i]; up >= 0 {
			if from = f.Service(up); from == at {
				continue
			}
		}
		if edge == nil || edge.From != from || edge.To != at {
			k := pair{from, at}
			if edge = edges[k]; edge == nil {
				edge = &Edge{From: from, To: at}
				edges[k] = edge
			}
		}
		edge.add(f, i)
	}
	for _, e := range edges {
		g.Edges = append(g.Edges, *e)
	}
	first := func(id trace.LocationID) int64 {
		if id == trace.NoLocation {
			return -1
		}
		return int64(id)
	}
	slices.SortFunc(g.Edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(first(a.From), first(b.From)), cmp.Compare(a.To, b.To))
	})
	for i := range g.Edges {
		services[g.Edges[i].To].join(&g.Edges[i].Passed)
		g.Edges[i].finish()
	}
	for _, s := range services {
		s.finish()
		g.Services = append(g.Services, *s)
	}
	slices.SortFunc(g.Services, func(a, b Service) int { return cmp.Compare(a.At, b.At) })
	return g
}

func (p *Passed) add(f *Forest, node int32) {
	p.Calls++
	if f.Failed(node) {
		p.Failed++
	}
	if f.Apart(node) {
		p.Apart++
	}
	p.times = append(p.times, int64(f.End[node]-f.Begin[node]))
}

func (p *Passed) join(o *Passed) {
	p.Calls += o.Calls
	p.Failed += o.Failed
	p.Apart += o.Apart
	p.times = append(p.times, o.times...)
}

// finish finds the quantiles, of type 7, without sorting all.
func (p *Passed) finish() {
	if len(p.times) > 0 {
		p.Least, p.Most = trace.Time(slices.Min(p.times)), trace.Time(slices.Max(p.times))
	}
	p.P50, p.P95 = orderstat.Quantile(p.times, 0.5), orderstat.Quantile(p.times, 0.95)
	p.P99 = orderstat.Quantile(p.times, 0.99)
	p.times = nil
}
