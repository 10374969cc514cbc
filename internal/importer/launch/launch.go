// Package launch joins a start on one row with the work it started on another, by an id that both
// carry: a call and the GPU work of its correlation id, a producer and its consumers.
package launch

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// An End is one end of a link. Ids are distinguished by group: a process, a kind of id.
type End struct {
	Group, ID int64
	Time      trace.Time
	Location  trace.LocationID
	Region    trace.RegionID
}

func compareID(a, b End) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.ID, b.ID))
}

// Join links each of to with the last of from that has its id and does not come after it, else with
// the first, and returns how many of to found none. One may start many. Both lists are sorted: O(n log n).
func Join(w trace.Writer, kind trace.LinkKind, from, to []End) (alone int64) {
	order := func(a, b End) int { return cmp.Or(compareID(a, b), cmp.Compare(a.Time, b.Time)) }
	for _, list := range [][]End{from, to} {
		if !slices.IsSortedFunc(list, order) { // mostly ids grow with time
			slices.SortStableFunc(list, order)
		}
	}
	i := 0
	for _, t := range to {
		for i < len(from) && compareID(from[i], t) < 0 {
			i++
		}
		if i == len(from) || compareID(from[i], t) != 0 {
			alone++
			continue
		}
		for i+1 < len(from) && compareID(from[i+1], t) == 0 && from[i+1].Time <= t.Time {
			i++
		}
		w.Link(trace.Link{
			Kind: kind, From: trace.End{Location: from[i].Location, Time: from[i].Time, Region: from[i].Region},
			To:   trace.End{Location: t.Location, Time: t.Time, Region: t.Region},
			Size: -1, Tag: t.ID, Communicator: trace.NoCommunicator,
		})
	}
	return alone
}
