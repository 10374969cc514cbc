// Package services shows which services call which: how often, how many of the calls fail and how
// long they take, as a graph from callers to callees.
//
//	data.go     the twins
//	place.go    where services lie: layers, their order, and boxes drawn as one
//	layout.go   the picture
package services

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/analysis/requests"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:    "services",
	Title:   "Services",
	Summary: "calls between services: rates, errors and durations",
	HowToRead: "Each box is a service, with its callers on the left. An arrow stands for the calls of one service " +
		"by another; wider arrows are more calls. A box states how often the service is called: a number for few " +
		"requests, else a rate. It also states the p95 of the durations if at least five calls are longer than it, " +
		"else the median, and below ten calls the range. Arrows have the same numbers if there is space. Orange " +
		"arrows and edges have failed calls; red ones fail in 5 % of the calls or more. Dashed arrows are " +
		"asynchronous: the caller does not wait. Calls within a service have no arrow. If there are too many " +
		"services, one box stands for those with the fewest calls; the table has all.",
	Needs: view.Needs{Intervals: true, Spans: true},
	Options: view.Words(view.Use("request", "top"),
		"top: number of services with their own box; 0: as many as fit"),
	Data:    []any{Data{}},
	Compute: view.InTime(compute),
}

type result struct {
	request  *view.Request
	tree     *store.Tree
	graph    *request.Graph
	colours  *view.Colours
	services []Row
	edges    []Row
	counts   request.Counts
	notes    []string
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	r := &result{request: q, tree: q.Store().Locations()}
	var err error
	if r.colours, err = q.Colours(ctx); err != nil {
		return nil, err
	}
	if err := r.gather(ctx); err != nil {
		return nil, err
	}
	if len(r.graph.Services) == 0 {
		return nil, view.Empty("choose other regions", "no call of the regions selected is in these requests")
	}
	r.makeRows()
	r.note()
	return r, ctx.Err()
}

// gather finds the graph of the requests that are chosen.
func (r *result) gather(ctx context.Context) error {
	q := r.request
	words := q.Values.Patterns("request")
	if len(words) == 0 && q.Selection.Regions == nil {
		if kept := requests.FindOverviewIn(&q.Runs[0], q.Window()); kept != nil {
			r.graph, r.counts = kept.Graph, kept.Forest().Counts
			return nil
		}
	}
	chosen, err := requests.Choose(ctx, &q.Runs[0], q.Window(), words)
	if err != nil {
		return err
	}
	if len(chosen.List) == 0 {
		return view.Empty("choose a longer time, more locations or other requests",
			"no request begins in the selection")
	}
	var shown func(trace.RegionID) bool
	if list := q.Selection.Regions; list != nil {
		shown = func(id trace.RegionID) bool { return slices.Contains(list, id) }
	}
	r.graph, r.counts = chosen.Forest.Graph(chosen.List, shown), chosen.Forest.Counts
	return nil
}

// seconds returns the length of the selection, the base of rates.
func (r *result) seconds() float64 {
	return float64(r.request.Selection.End-r.request.Selection.Begin) / 1e9
}

func (r *result) note() {
	if x := r.worst(func(x *Row) float64 { return float64(x.Errors) }); x != nil && x.Errors > 0 {
		r.notes = append(r.notes,
			fmt.Sprintf("most calls fail from %s to %s: %s of %s, %s", r.caller(x), x.Service, view.Thousands(x.Errors),
				view.Thousands(x.Calls), view.FormatShare(x.ErrorShare)))
	}
	r.noteFew()
	if n := r.counts.Orphans; n > 0 {
		r.notes = append(r.notes,
			fmt.Sprintf("%s whose caller is not in the source: taken for calls from outside", view.Count(n, "call")))
	}
	if n := r.colours.ServiceNote(); n != "" {
		r.notes = append(r.notes, n)
	}
}

// noteFew says of how many services the picture does not state the percentile that it states of others.
func (r *result) noteFew() {
	few := 0
	for i := range r.services {
		if n := int(r.services[i].Calls); n > 0 && !request.Enough(n, 0.95) {
			few++
		}
	}
	if few > 0 {
		r.notes = append(r.notes,
			fmt.Sprintf("%s of %s: too few calls for p95, beyond which at least five must lie",
				view.Thousands(int64(few)), view.Count(len(r.services), "service")))
	}
}

// worst is the edge with most of something; nil if there is none.
func (r *result) worst(of func(*Row) float64) (most *Row) {
	for i := range r.edges {
		if x := &r.edges[i]; most == nil || of(x) > of(most) {
			most = x
		}
	}
	return most
}

func (r *result) Notes() []string { return append([]string{}, r.notes...) }
