package view

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/ranks"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Second is the request for the second of two runs: the same time, or all of it where all of
// the first is selected, regions by their names and locations by Pair. A region that the
// second run does not have is left out; where it has none of them, none is selected.
func (q *Request) Second() *Request {
	first, second := q.Store(), q.Runs[1].Store
	out := *q
	out.Runs, out.together = q.Runs[1:2], q.Runs
	out.Selection = trace.Selection{End: second.Info().End}
	if q.Selection.Begin > 0 || q.Selection.End < first.Info().End {
		end := second.Info().End
		out.Selection.Begin, out.Selection.End = min(q.Selection.Begin, end), min(q.Selection.End, end)
	}
	if q.Selection.Regions != nil {
		chosen := map[string]bool{}
		for _, id := range q.Selection.Regions {
			chosen[first.Regions()[id].Name] = true
		}
		out.Selection.Regions = []trace.RegionID{}
		for id, g := range second.Regions() {
			if chosen[g.Name] {
				out.Selection.Regions = append(out.Selection.Regions, trace.RegionID(id))
			}
		}
	}
	if q.Selection.Locations != nil {
		p := ranks.Pair(first, second)
		out.Selection.Locations = []trace.LocationID{}
		for _, id := range q.Selection.Locations {
			if to := p.To[id]; to != trace.NoLocation {
				out.Selection.Locations = append(out.Selection.Locations, to)
			}
		}
		slices.Sort(out.Selection.Locations)
		out.Selection.Locations = slices.Compact(out.Selection.Locations)
	}
	return &out
}

// First is the request for the first of two runs alone.
func (q *Request) First() *Request {
	out := *q
	out.Runs, out.together = q.Runs[:1], q.Runs
	return &out
}

// PairingNote describes how locations of two runs were paired, if that is not by rank or name.
func PairingNote(p *ranks.Pairing, a, b string) string {
	switch p.By {
	case "coordinates":
		return fmt.Sprintf("%s and %s have not as many ranks: each is held against the one at the same place of the "+
			"machine", a, b)
	case "place":
		return fmt.Sprintf("%s and %s have not as many ranks: each is held against the one as far along among the "+
			"other's", a, b)
	}
	return ""
}

// Larger orders differences, the largest either way first.
func Larger(a, b float64) int { return cmp.Compare(max(b, -b), max(a, -a)) }
