package table

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// splitIntervals splits by locations, and a location with many rows in one lane by time.
func splitIntervals(r *Run, f *Filter, rows int64) ([]*Filter, error) {
	test, at := newIntervalTest(r, f), f.locations(r, "")
	begin, end, _, _ := test.window(r)
	lanes := r.Store.Lanes()
	var out []*Filter
	first, held := at.first, int64(0) // locations from first on have held rows that no filter has yet
	flush := func(until int64) {
		if first < until {
			out = append(out, f.narrowed("location", first, until-1))
		}
		first, held = until, 0
	}
	for id := at.first; id <= at.last; id++ {
		id := trace.LocationID(id)
		if lanes[id] == lanes[id+1] || !at.has(id) {
			continue
		}
		n, err := ownRows(r, id, begin, end)
		if err != nil {
			return nil, err
		}
		if held += n; held < rows {
			continue
		}
		if n < 2*rows || lanes[id+1]-lanes[id] > 1 { // rows of several lanes are not in order of time
			flush(int64(id) + 1)
			continue
		}
		flush(int64(id))
		only := f.narrowed("location", int64(id), int64(id))
		from := begin
		for k := int64(1); k < n/rows; k++ {
			until, err := timeOfRow(r, id, from, end, k*rows, begin)
			if err != nil {
				return nil, err
			}
			if from < until {
				out, from = append(out, only.narrowed("begin", int64(from), int64(until)-1)), until
			}
		}
		out = append(out, only.narrowed("begin", int64(from), int64(end)))
		first = int64(id) + 1
	}
	flush(at.last + 1)
	return out, nil
}

// narrowed returns the filter with one more range that a column must be in.
func (f *Filter) narrowed(column string, low, high int64) *Filter {
	return &Filter{Arguments: f.Arguments, Conditions: append(slices.Clone(f.Conditions),
		Condition{column, AtLeast, low}, Condition{column, AtMost, high})}
}

// ownRows counts the rows of a location without those of the locations below it.
func ownRows(r *Run, id trace.LocationID, begin, end trace.Time) (int64, error) {
	n, err := r.Store.Count(store.Window{Begin: begin, End: end, Locations: []trace.LocationID{id}})
	tree := r.Store.Locations()
	for below := id + 1; err == nil && below <= tree.Last[id]; below = tree.Last[below] + 1 {
		var x int64
		x, err = r.Store.Count(store.Window{Begin: begin, End: end, Locations: []trace.LocationID{below}})
		n -= x
	}
	return max(n, 0), err
}

// timeOfRow returns about when row n of those that begin at begin or later begins, between two times.
func timeOfRow(r *Run, id trace.LocationID, from, to trace.Time, n int64, begin trace.Time) (trace.Time, error) {
	for range 24 { // a ten-millionth of a run is near enough
		if from >= to {
			break
		}
		middle := from + (to-from)/2
		have, err := ownRows(r, id, begin, middle)
		if err != nil {
			return 0, err
		}
		if have < n {
			from = middle + 1
		} else {
			to = middle
		}
	}
	return to, nil
}
