package routetest

import (
	"math"
	"slices"
)

// servicesRoute counts the calls that go from one service to another, and sorts how long they take.
var servicesRoute = Route{Options: []map[string]string{{}, {"request": "slow:30%"}}, Check: func(r *Run) {
	list := spanRequestsOf(r)
	if r.Options["request"] != "" { // which are slow is the business of the requests' route
		return
	}
	type edge struct{ kind, from, to string }
	type sums struct {
		errors, apart, spans, self float64
		times                      []float64
	}
	want := map[edge]*sums{}
	at := func(e edge) *sums {
		if want[e] == nil {
			want[e] = &sums{}
		}
		return want[e]
	}
	for _, q := range list {
		for _, root := range q.roots {
			root.each(func(c *spanNode) {
				if !r.Window.shows(c.Region) {
					return
				}
				name := r.Tree.Name[c.service]
				own := at(edge{"service", "", name})
				own.spans++
				own.self += float64(c.selfTime())
				from := ""
				if c.parent != nil {
					if from = r.Tree.Name[c.parent.service]; from == name {
						return
					}
				}
				for _, s := range []*sums{own, at(edge{"edge", from, name})} {
					s.times = append(s.times, float64(c.End-c.Begin))
					if c.failed {
						s.errors++
					}
					if c.apart {
						s.apart++
					}
				}
			})
		}
	}
	if r.Result == nil {
		if len(want) > 0 {
			r.wrong("nothing is shown of %d services and edges", len(want))
		}
		return
	}
	var d struct {
		Requests, Seconds float64
		Rows              []struct {
			Kind, From, Service                       string
			Calls, Rate, Errors, Apart, P50, P95, P99 float64
			ErrorShare                                float64 `json:"error_share"`
			Spans, Self                               *float64
		}
	}
	r.Data(&d)
	r.same("requests", d.Requests, float64(len(list)))
	r.same("seconds", d.Seconds, float64(r.Window.End-r.Window.Begin)/1e9)
	r.same("services and edges", float64(len(d.Rows)), float64(len(want)))
	for _, x := range d.Rows {
		s := want[edge{x.Kind, x.From, x.Service}]
		if s == nil {
			r.wrong("nobody calls %s from %q", x.Service, x.From)
			continue
		}
		name := x.From + " → " + x.Service
		calls := float64(len(s.times))
		r.same("calls of "+name, x.Calls, calls)
		r.same("rate of "+name, x.Rate, calls/d.Seconds)
		r.same("errors of "+name, x.Errors, s.errors)
		r.same("share of errors of "+name, x.ErrorShare, s.errors/max(calls, 1))
		r.same("calls that nobody waits for of "+name, x.Apart, s.apart)
		slices.Sort(s.times)
		for q, got := range map[float64]float64{0.5: x.P50, 0.95: x.P95, 0.99: x.P99} {
			r.same("a percentile of "+name, got, typeSeven(s.times, q))
		}
		if x.Kind == "service" {
			r.same("spans of "+name, *x.Spans, s.spans)
			r.same("self time of "+name, *x.Self, s.self)
		}
	}
}}

// typeSeven is the quantile of sorted values between whose neighbours lines are drawn.
func typeSeven(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	low, high := sorted[int(math.Floor(at))], sorted[int(math.Ceil(at))]
	return low + (at-math.Floor(at))*(high-low)
}
