package view

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Base is the whole that shares are parts of. Shares of time have the same base in all views, tables and
// sentences; one that has another names it.
type Base struct {
	Whole float64 // 0: there are no shares
	Name  string  // after "% of": "all time", "recorded time", "all samples"
}

const (
	allTime      = "all time"
	recordedTime = "recorded time"
)

// TimeBase returns the base of shares of time in a window: its length × rows, the selected locations with
// intervals. Recorded is the sum of exclusive times of all regions; it is the base where rows do not last as
// long as the window (goroutines, calls of services), or do several things at once, so that more time is
// recorded than they have. Takes O(rows).
func TimeBase(r store.Reader, w store.Window, rows []trace.LocationID, recorded float64) Base {
	kinds := r.Locations().Kind
	capacity := float64(w.End-w.Begin) * float64(len(rows))
	partly := func(id trace.LocationID) bool { return kinds[id] == trace.KindGoroutine }
	if recorded > capacity || runfacts.HasSpans(r) || slices.ContainsFunc(rows, partly) {
		return Base{recorded, recordedTime}
	}
	return Base{capacity, allTime}
}

// MetricBase returns the base of shares of a metric without time: its total.
func MetricBase(name, unit string, total float64) Base {
	if unit == "ns" {
		return Base{total, recordedTime}
	}
	return Base{total, "all " + name}
}

// Share returns the part that v is of the base; 0 if there are no shares.
func (b Base) Share(v float64) float64 {
	if b.Whole == 0 {
		return 0
	}
	return v / b.Whole
}

// Head returns the heading of a column of shares; "" if there are none.
func (b Base) Head() string {
	if b.Whole == 0 {
		return ""
	}
	return "% of " + b.Name
}
