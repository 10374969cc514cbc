// Package latency finds the causes of time lost in requests: operations that are slow now and then, calls that one
// caller repeats, calls one after the other that could overlap, calls that are tried again, and calls that fail
// while the request waits for them.
//
//	latency.go  faults, and the data that all rules share
//	slow.go     slow operations
//	repeat.go   calls repeated under one caller, and tried again
//	serial.go   calls that could overlap
//	failed.go   errors on the critical path
//	shared.go   the attributes that requests with a fault have in common
//
// All times are of the critical path: calls off it cost nothing. The loss of a fault is a bound: fixing it saves at
// most that time.
package latency

import (
	"cmp"
	"maps"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/criticalpath"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// An Op is an operation of a service.
type Op struct {
	Service trace.LocationID
	Region  trace.RegionID
}

// A Fault is one kind of trouble in one place.
type Fault struct {
	Kind   finding.Kind
	Caller Op   // of calls that are repeated, tried again or serial
	Ops    []Op // the called or slow operations; several of serial calls, in their order
	Calls  int64
	Lost   trace.Time
	// Squares is the sum of the squares of the loss of each request.
	Squares float64

	Requests int        // that lose by it
	Time     trace.Time // of these requests
	Worst    int32      // the one that loses most

	// For slow operations: the median of all calls, the mean of the slow ones, and the location of most of
	// them, if that is one of several; AtShare is its share of the loss.
	All        int64
	Median     trace.Time
	Mean       float64
	At         trace.LocationID
	AtShare    float64
	Callers    int64 // of repeated and serial calls
	Known      bool  // serial calls: some callers make them in another order or at once
	OtherWise  int64 // how many do
	MostCalled int64 // repeated calls: of one caller

	Shared *request.Difference // the attribute, location or pair of such that its requests share; nil for none

	requests map[int32]trace.Time // lost by request
}

// Found lists the faults of some requests.
type Found struct {
	Requests int
	Length   trace.Time // of all of them
	Faults   []Fault    // most lost first
}

const (
	leastShare = 0.02 // of the time of all requests, below which nothing is said
	mostOfKind = 3
)

// Find looks at some requests, whose attributes are read from a source. O(calls of all requests).
func Find(f *request.Forest, source *runfacts.SpanSource, chosen []int32) (*Found, error) {
	c := newLook(f, chosen)
	out := &Found{Requests: len(chosen), Length: c.length}
	for _, list := range c.all() {
		for i := range list {
			list[i].hit(f)
		}
		slices.SortStableFunc(list, byLost)
		out.Faults = append(out.Faults, list[:min(len(list), mostOfKind)]...)
	}
	slices.SortStableFunc(out.Faults, byLost)
	return out, c.share(source, out.Faults)
}

// all finds the faults of each kind.
func (c *look) all() [][]Fault {
	retries, tried := c.retries()
	return [][]Fault{c.slow(), c.repeated(), c.serial(tried), retries, c.failed(tried)}
}

// newLook follows the critical paths of requests.
func newLook(f *request.Forest, chosen []int32) *look {
	c := &look{Forest: f, chosen: chosen, in: make([]bool, len(f.Requests)), critical: make([]trace.Time, f.Len()),
		on: make([]bool, f.Len())}
	w := f.Walker()
	for _, k := range chosen {
		r := &f.Requests[k]
		c.in[k] = true
		c.length += r.Duration()
		f.Walk(w, r, func(s criticalpath.Section) {
			if s.Node < 0 {
				return
			}
			c.critical[s.Node] += s.End - s.Begin
			for n := s.Node; n >= 0 && !c.on[n]; n = f.Parent[n] {
				c.on[n] = true
			}
		})
	}
	return c
}

func byLost(a, b Fault) int {
	return cmp.Or(cmp.Compare(b.Lost, a.Lost), cmp.Compare(b.Requests, a.Requests),
		cmp.Compare(a.Ops[0].Service, b.Ops[0].Service), cmp.Compare(a.Ops[0].Region, b.Ops[0].Region))
}

// A look holds the data that all rules share.
type look struct {
	*request.Forest
	chosen   []int32
	in       []bool
	length   trace.Time
	critical []trace.Time // by call: on the critical path by itself
	on       []bool       // by call: it or one of its callees is on the path
	each     func(*Loss)  // receives every loss, where they are asked for
}

func (c *look) op(node int32) Op { return Op{c.Service(node), c.Region[node]} }

// counts reports whether a call is one of the requests that are looked at.
func (c *look) counts(node int32) bool { return c.Of[node] >= 0 && c.in[c.Of[node]] }

// within is the length of a call inside of its caller.
func (c *look) within(node int32) trace.Time {
	up := c.Parent[node]
	return max(min(c.End[node], c.End[up])-max(c.Begin[node], c.Begin[up]), 0)
}

func (c *look) worthSaying(lost trace.Time) bool {
	return lost > 0 && float64(lost) >= leastShare*float64(c.length)
}

// lose charges a request with the time that a call costs, or its caller's calls; n is how many.
func (c *look) lose(x *Fault, node int32, n int64, t trace.Time) {
	request := c.Of[node]
	if c.each != nil {
		c.each(&Loss{Fault: x, Node: node, Request: request, Calls: n, Time: t})
	}
	if x.requests == nil {
		x.requests = map[int32]trace.Time{}
	}
	x.requests[request] += t
	x.Lost += t
}

// hit adds up the requests that lose by a fault.
func (x *Fault) hit(f *request.Forest) {
	x.Requests, x.Worst = len(x.requests), -1
	most := trace.Time(-1)
	for _, k := range slices.Sorted(maps.Keys(x.requests)) {
		t := x.requests[k]
		x.Time += f.Requests[k].Duration()
		x.Squares += float64(t) * float64(t)
		if t > most || t == most && k < x.Worst {
			x.Worst, most = k, t
		}
	}
}

// callers yields every call of the requests that calls others, with these.
func (c *look) callers(do func(node int32, kids []int32)) {
	for i := range int32(c.Len()) {
		if c.on[i] && c.counts(i) {
			if kids := c.Kids(i); len(kids) > 1 {
				do(i, kids)
			}
		}
	}
}

// sorted returns the faults of a map in an order that does not hang on chance.
func sorted[K comparable](m map[K]*Fault, keep func(*Fault) bool) (out []Fault) {
	for _, x := range m {
		if keep(x) {
			out = append(out, *x)
		}
	}
	slices.SortFunc(out, func(a, b Fault) int {
		return cmp.Or(byLost(a, b), cmp.Compare(a.Caller.Service, b.Caller.Service),
			cmp.Compare(a.Caller.Region, b.Caller.Region))
	})
	return out
}
