package services

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Row is a service, or the calls of one by another: then From is the caller, and is empty if that is not in the
// source. Calls of a service are those that enter it; spans and self are of all its calls, and of an edge null.
// Percentiles are of durations, as type 7.
type Row struct {
	Kind       string     `json:"kind" unit:""` // "service" or "edge"
	From       string     `json:"from" unit:""`
	Service    string     `json:"service" unit:""`
	Calls      int64      `json:"calls" unit:"count"`
	Rate       float64    `json:"rate" unit:"" table:"calls per second"` // over the time selected
	Errors     int64      `json:"errors" unit:"count"`
	ErrorShare float64    `json:"error_share" unit:"share"`
	P50        float64    `json:"p50" unit:"ns"`
	P95        float64    `json:"p95" unit:"ns"`
	P99        float64    `json:"p99" unit:"ns"`
	Min        trace.Time `json:"min" unit:"ns"`
	Max        trace.Time `json:"max" unit:"ns"`
	// AsyncCalls are those that the caller does not wait for.
	AsyncCalls int64            `json:"async_calls" unit:"count"`
	Apart      int64            `json:"apart" unit:"count"` // as async_calls, its name in the release before
	Spans      *int64           `json:"spans" unit:"count"`
	Self       *trace.Time      `json:"self" unit:"ns"`
	At         trace.LocationID `json:"location" about:"location"`
	by         trace.LocationID
}

// Data is the "data" of the JSON output.
type Data struct {
	Requests int     `json:"requests"`
	Seconds  float64 `json:"seconds"` // that rates are over
	Rows     []Row   `json:"rows"`    // services, then edges
}

func (r *result) Data() any {
	return Data{Requests: r.graph.Requests, Seconds: r.seconds(), Rows: slices.Concat(r.services, r.edges)}
}

func (r *result) Table() *view.Table {
	return view.TableOf(slices.Concat(r.services, r.edges), nil, nil)
}

func (r *result) makeRows() {
	for i := range r.graph.Services {
		s := &r.graph.Services[i]
		x := r.row("service", &s.Passed, s.At)
		x.Spans, x.Self, x.by = &s.Spans, &s.Self, trace.NoLocation
		r.services = append(r.services, x)
	}
	for i := range r.graph.Edges {
		e := &r.graph.Edges[i]
		x := r.row("edge", &e.Passed, e.To)
		if x.by = e.From; e.From != trace.NoLocation {
			x.From = r.tree.Name[e.From]
		}
		r.edges = append(r.edges, x)
	}
}

func (r *result) row(kind string, p *request.Passed, at trace.LocationID) Row {
	x := Row{Kind: kind, Service: r.tree.Name[at], Calls: p.Calls, Rate: float64(p.Calls) / r.seconds(),
		Errors: p.Failed, P50: p.P50, P95: p.P95, P99: p.P99, Min: p.Least, Max: p.Most, AsyncCalls: p.Apart,
		Apart: p.Apart, At: at}
	if p.Calls > 0 {
		x.ErrorShare = float64(p.Failed) / float64(p.Calls)
	}
	return x
}

// caller names whose calls an edge is.
func (r *result) caller(x *Row) string {
	if x.by == trace.NoLocation {
		return "outside"
	}
	return x.From
}
