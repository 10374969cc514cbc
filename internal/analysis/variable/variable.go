// Package variable reads the values that a treemap aggregates: for each location the time in regions or roles, a metric
// of a profile, counters, or numbers of instants.
//
//	variable.go   the data that is read, and times with instants
//	states.go     times by region, role, category or pattern
//	counted.go    instants and counters
package variable

import (
	"context"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Variable is one value that every location has.
type Variable struct {
	Name   string
	Region trace.RegionID // NoRegion unless it is just one
	Like   trace.RegionID // one of its regions, whose colour it has; NoRegion: it has none
	// Instants are counted; Weight is the value of one of them against states.
	Instant bool
	Weight  float64
}

// A Table holds variable × node, in units of one second, or of about the mean value of a location for a metric that is
// not time.
type Table struct {
	Variables []Variable
	Values    [][]float64
	By        string  // how states were distinguished: Usual's choice if the query left it open
	Unit      float64 // how much of the values' own unit is one unit of the table
	UnitName  string  // of the values: "ns", "bytes", "count", or the source's own
	Metric    string  // the unit of the metric that was read; "" of instants and counters
	Mean      bool    // a group's value is the mean of its locations, not their sum
	Notes     []string
}

// A Query asks for the values of the selected part of a run.
type Query struct {
	Store     store.Reader
	Selection trace.Selection
	Metric    string
	// LeafOf is the node of each location, -1 for none; there are so many Nodes, of which Leaves have locations.
	LeafOf        []int32
	Nodes, Leaves int
	// Regions and Names parse patterns of regions and of other names.
	Regions func(pattern string) (func(trace.RegionID, *trace.Region) bool, error)
	Names   func(pattern string) (func(string) bool, error)
}

// Window is the selection as a window of the store.
func (q *Query) window() store.Window {
	return store.Window{Begin: q.Selection.Begin, End: q.Selection.End, Locations: q.Selection.Locations}
}

// Read reads the values that a text names:
//
//	regions, roles, categories, busy   time by these; "": Usual
//	PATTERN,PATTERN                    time in the regions of each pattern
//	instants, instants:PATTERN         how often
//	counter:PATTERN                    the integral of a counter over the window (unit × second)
//	mean:PATTERN                       its mean over the window, and for a group the mean of its locations
//	STATES+instants:PATTERN            states and instants in one
func (q *Query) Read(ctx context.Context, by string) (*Table, error) {
	if states, rest, ok := strings.Cut(by, "+instants"); ok && (rest == "" || rest[0] == ':') {
		return q.both(ctx, states, strings.TrimPrefix(rest, ":"))
	}
	kind, pattern, has := strings.Cut(by, ":")
	switch {
	case kind == "instants":
		return q.instants(ctx, pattern)
	case has && (kind == "counter" || kind == "mean"):
		return q.counters(ctx, kind == "mean", pattern)
	}
	return q.states(ctx, by)
}

// both returns states and instants. All instants together weigh as much as all states, since a number of events has no
// length.
func (q *Query) both(ctx context.Context, states, pattern string) (*Table, error) {
	t, err := q.states(ctx, states)
	if err != nil {
		return nil, err
	}
	counts, err := q.instants(ctx, pattern)
	if err != nil {
		return nil, err
	}
	length, number := 0.0, 0.0
	for i := range q.Nodes {
		for x := range t.Values {
			length += t.Values[x][i]
		}
		for x := range counts.Values {
			number += counts.Values[x][i]
		}
	}
	weight := length / max(number, 1)
	for x, values := range counts.Values {
		for i := range values {
			values[i] *= weight
		}
		counts.Variables[x].Weight = weight
	}
	t.Notes = append(append(t.Notes, counts.Notes...),
		"instants are the bars at the left of cells, a location's number against the largest; all of them weigh as "+
			"much as all states")
	t.Variables, t.Values = append(t.Variables, counts.Variables...), append(t.Values, counts.Values...)
	return t, nil
}
