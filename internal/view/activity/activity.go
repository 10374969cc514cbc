// Package activity shows how the time of the selected locations is spent: the
// share of roles, of busy and idle, or of regions, per bin of time. It is also
// the page's minimap.
//
// Every instant of a location counts once, whatever the number of its lanes, and shares
// are of the wall time of all selected locations that hold intervals. So the shares of a
// bin add up to 1, with "none" for nothing open. If a trace holds processors and the
// goroutines that ran on them, and no location is chosen, the processors alone count.
package activity

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:    "activity",
	Title:   "Activity",
	Summary: "share of time in each role or region, over time, for the selected locations",
	HowToRead: "Time runs to the right. The height of a colour is the share of the selected locations in that role " +
		"or region, averaged over the time bin. Each location counts once at each time. Space above the stack means " +
		"that no interval was open on the remaining locations. Two runs are drawn one above the other with the same " +
		"scales of time and share.",
	Needs: view.Needs{Intervals: true, Rows: true},
	Options: view.Words(view.Use("by=roles", "bins", "top=8", "busy", "idle", "rows"),
		"by: what is counted [roles regions busy]"),
	Report:  view.Report{Place: 2, Height: 220},
	Runs:    2,
	Data:    []any{data{}, PairData{}},
	Compute: view.SideBySide(true, compute, func(a, b *data) any { return PairData{*a, *b} }),
}

// A series is one name of the stack.
type series struct {
	name   string         // in the twins
	label  string         // of a region, which gives its colour
	region trace.RegionID // of a region that stands alone under its name
	role   trace.Role
	kind   kind
	total  float64 // over all locations and bins
}

type kind uint8

const (
	ofRole kind = iota
	ofRegion
	ofOther // all regions that are not among the top
	ofBusy
	ofIdle
)

// Names of the time outside all series: nothing open, or with --regions everything that
// was not chosen.
const (
	noneName = "none"
	restName = "rest"
)

type result struct {
	selection trace.Selection
	length    trace.Time   // of the time axis: that of the selection, of two runs that of the longer
	least     float64      // least value of the full height
	edges     []trace.Time // bins + 1
	series    []series
	time      []trace.Time // [bin * len(series) + series]
	rows      int          // locations that hold intervals
	leftName  string
	notes     []string
	colours   *view.Colours
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	by := q.Values.Text("by")
	if q.Values.Set("busy") || q.Values.Set("idle") {
		if q.Values.Set("by") && by != "busy" {
			return nil, fmt.Errorf("--busy and --idle show busy against idle time; leave out --by %s", by)
		}
		by = "busy"
	}
	if q.Values.Integer("bins") < 0 || q.Values.Integer("bins") > maxBins {
		return nil, fmt.Errorf("--bins %d: want 0 to %d", q.Values.Integer("bins"), maxBins)
	}
	colours, err := q.Colours(ctx)
	if err != nil {
		return nil, err
	}
	r := &result{leftName: noneName, colours: colours, notes: view.RowNotes(q.Store())}
	sel := q.Selection
	r.selection, r.length = sel, sel.End-sel.Begin
	r.rows = holding(q.Store().Locations(), sel.Locations)
	if r.rows == 0 || sel.Begin >= sel.End {
		return nil, view.NoIntervals(q.Store(), "choose other locations or a longer time",
			"no location with intervals in the selection")
	}
	if sel.Regions != nil {
		r.leftName = restName
		if len(sel.Regions) == 0 {
			return nil, view.Empty("choose other regions", "no region is selected")
		}
	}
	c := &counting{ctx: ctx, request: q, result: r, reader: q.Store()}
	if err := c.run(by); err != nil {
		return nil, err
	}
	return r, nil
}

// holding counts the locations with intervals in a selection.
func holding(t *store.Tree, ids []trace.LocationID) int {
	n := 0
	if ids == nil {
		for _, h := range t.Holds {
			if h {
				n++
			}
		}
		return n
	}
	for _, id := range t.Expand(ids) {
		if t.Shows(id) { // those aside are there only where they are named
			n++
		}
	}
	return n
}

func (r *result) bins() int { return len(r.edges) - 1 }

// at returns the time of a series in a bin.
func (r *result) at(bin, series int) trace.Time { return r.time[bin*len(r.series)+series] }

// whole is the wall time of all locations in a bin.
func (r *result) whole(bin int) trace.Time {
	return (r.edges[bin+1] - r.edges[bin]) * trace.Time(r.rows)
}

// left returns the time of a bin outside all series.
func (r *result) left(bin int) trace.Time {
	t := r.whole(bin)
	for s := range r.series {
		t -= r.at(bin, s)
	}
	return t
}

func (r *result) share(bin, series int) float64 {
	return float64(r.at(bin, series)) / float64(r.whole(bin))
}

func (r *result) Notes() []string { return r.notes }
