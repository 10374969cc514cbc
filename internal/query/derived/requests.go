package derived

import (
	"context"
	"errors"
	"math"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/latency"
	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// requestCalls are the calls of requests.
var requestCalls = table.NewFunction("request_calls",
	"Every call of the requests of services, with the time that it takes by itself and that the request waits for it.",
	windowArguments,
	[]table.Column{
		{Name: "request", Kind: table.Integer, Help: "number of the request in the run"},
		{Name: "id", Kind: table.Text, Help: "of the request"},
		{Name: "location", Kind: table.Integer, Help: "with lane and row the call in intervals"},
		{Name: "lane", Kind: table.Integer},
		{Name: "row", Kind: table.Integer},
		{Name: "service", Kind: table.Integer, Help: "its location"},
		{Name: "region_id", Kind: table.Integer},
		{Name: "begin", Kind: table.Integer, Unit: "ns"},
		{Name: "end", Kind: table.Integer, Unit: "ns"},
		{Name: "self", Kind: table.Integer, Unit: "ns", Help: "without the calls that it makes"},
		{Name: "critical", Kind: table.Integer, Unit: "ns", Help: "of self, on the critical path of the request"},
		{Name: "failed", Kind: table.Flag},
		{Name: "request_time", Kind: table.Integer, Unit: "ns", Help: "length of the request"},
	}, requestCallRows)

// requestLosses is the time that requests lose.
var requestLosses = table.NewFunction("request_losses",
	"The time that calls of requests lose by each kind of finding about requests (docs/findings.md), also by those "+
		"too small for a finding: one row per call, of repeated and serial calls one per caller.",
	windowArguments,
	[]table.Column{
		{Name: "kind", Kind: table.Text, Help: "slow-operation, repeated-calls, serial-calls, retry, failed-calls"},
		{Name: "known", Kind: table.Flag, Help: "of serial calls: some callers make them in another order or at once"},
		{Name: "request", Kind: table.Integer, Help: "number of the request in the run"},
		{Name: "location", Kind: table.Integer, Help: "with lane and row the call, or the caller, in intervals"},
		{Name: "lane", Kind: table.Integer},
		{Name: "row", Kind: table.Integer},
		{Name: "caller", Kind: table.Text, Help: "service: operation; empty for slow and failed calls"},
		{Name: "operation", Kind: table.Text, Help: "service: operation, several with commas between"},
		{Name: "calls", Kind: table.Integer, Help: "how many calls the row summarizes"},
		{Name: "self", Kind: table.Integer, Unit: "ns", Help: "of the call, without the calls that it makes"},
		{Name: "lost", Kind: table.Integer, Unit: "ns"},
		{Name: "otherwise", Kind: table.Integer, Help: "of serial calls: callers that make them otherwise"},
		{Name: "request_time", Kind: table.Integer, Unit: "ns", Help: "length of the request"},
	}, requestLossRows)

// requestsOf reads the requests of a window.
func requestsOf(ctx context.Context, r *table.Run, f *table.Filter) (*request.Forest, []int32, error) {
	if !runfacts.HasSpans(r.Store) {
		return nil, nil, errors.New("this needs spans of services (OTLP, Jaeger, Zipkin), and the run has none")
	}
	forest, err := request.Gather(runfacts.SpanSourceOf(ctx, r.Store))
	if err != nil {
		return nil, nil, err
	}
	from, to := bound(f, "from_time", math.MinInt64), bound(f, "to_time", math.MaxInt64)
	return forest, forest.Within(trace.Time(from), trace.Time(to), nil), nil
}

func requestCallRows(ctx context.Context, r *table.Run, f *table.Filter, add func(...any) error) error {
	forest, chosen, err := requestsOf(ctx, r, f)
	if err != nil {
		return err
	}
	latency.Calls(forest, chosen, func(x *latency.Call) {
		if err != nil {
			return
		}
		at, k := forest.At(x.Node), &forest.Requests[forest.Of[x.Node]]
		err = add(int64(forest.Of[x.Node]), k.ID, int64(at.Location), int64(at.Lane), int64(at.Row),
			int64(forest.Service(x.Node)), int64(forest.Region[x.Node]), int64(forest.Begin[x.Node]),
			int64(forest.End[x.Node]), int64(forest.Self[x.Node]), int64(x.Critical), flag(forest.Failed(x.Node)),
			int64(k.Duration()))
	})
	return err
}

func requestLossRows(ctx context.Context, r *table.Run, f *table.Filter, add func(...any) error) error {
	forest, chosen, err := requestsOf(ctx, r, f)
	if err != nil {
		return err
	}
	tree := r.Store.Locations()
	latency.Losses(forest, chosen, func(x *latency.Loss) {
		if err != nil {
			return
		}
		names := make([]string, len(x.Fault.Ops))
		for i, o := range x.Fault.Ops {
			names[i] = tree.Name[o.Service] + ": " + forest.Regions[o.Region].Name
		}
		caller := ""
		if c := x.Fault.Caller; c != (latency.Op{}) {
			caller = tree.Name[c.Service] + ": " + forest.Regions[c.Region].Name
		}
		at := forest.At(x.Node)
		err = add(string(x.Fault.Kind), flag(x.Fault.Known), int64(x.Request), int64(at.Location), int64(at.Lane),
			int64(at.Row), caller, strings.Join(names, ", "), x.Calls, int64(forest.Self[x.Node]), int64(x.Time),
			x.Fault.OtherWise, int64(forest.Requests[x.Request].Duration()))
	})
	return err
}
