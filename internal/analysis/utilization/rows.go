// Package utilization finds the moments of busy time of many locations of a run, in a window: how much, when, how
// spread out, how lopsided. The moments themselves are analysis/moment; here are the ways to get at busy time:
//
//	state.go     which regions count as busy
//	rows.go      which locations have something to show
//	layer.go     sketches of all rows for one state: from the store's summary tree,
//	bars.go      from an index of bars that is made once for a run,
//	recorded.go  from windows that a recorder wrote, with nothing finer,
//	counter.go   and on the axis of a counter in place of time
//	coverage.go  busy shares in bins, and each bar: the chart that the moments summarise
//	project.go   coefficients of another basis
package utilization

import (
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Rows are the selected locations of a run that have intervals or recorded moments.
type Rows struct {
	Run       derived.Run
	Reader    store.Reader
	Tree      *store.Tree
	Selection trace.Selection
	IDs       []trace.LocationID // in preorder
	Recorded  *Recorded          // nil if the run has intervals, or no program recorded any moments
	Counter   *CounterAxis       // in place of time; nil: time
	at        []int32            // row of a location, -1
	many      bool               // some row has several lanes
}

// Choose finds the rows of a selection. Counter names the counter of the axis; "": time.
func Choose(ctx context.Context, run derived.Run, sel trace.Selection, counter string) (*Rows, error) {
	r := run.Store
	f := &Rows{Run: run, Reader: r, Tree: r.Locations(), Selection: sel}
	var err error
	if f.Recorded, err = readRecorded(ctx, r, sel); err != nil {
		return nil, err
	}
	if sel.Locations == nil && f.Recorded == nil {
		all := locationsOf(run)
		f.IDs, f.at, f.many = all.ids, all.at, all.many
	} else {
		f.choose(sel.Locations)
	}
	if counter != "" {
		if f.Counter, err = newCounterAxis(ctx, r, sel, counter, f.IDs); err != nil {
			return nil, err
		}
	}
	return f, ctx.Err()
}

// choose lists the selected locations that have something to show.
func (f *Rows) choose(selected []trace.LocationID) {
	lanes := f.Reader.Lanes()
	f.at = make([]int32, f.Tree.Len())
	for i := range f.at {
		f.at[i] = -1
	}
	add := func(id trace.LocationID) {
		if !f.Tree.Holds[id] && !f.Recorded.has(id) && (selected == nil || !f.Tree.IsAside(id)) {
			return
		}
		f.many = f.many || lanes[id+1]-lanes[id] > 1
		f.at[id] = int32(len(f.IDs))
		f.IDs = append(f.IDs, id)
	}
	if selected == nil {
		f.IDs = make([]trace.LocationID, 0, f.Reader.Info().Rows)
		for id := range trace.LocationID(f.Tree.Len()) {
			add(id)
		}
		return
	}
	for _, id := range f.Tree.Expand(selected) {
		add(id)
	}
}

// Sampled reports whether rows of samples are among those chosen, and how many threads that have samples alone are
// not: between two samples nobody looked, so that they have no busy time of their own.
func (f *Rows) Sampled() (chosen bool, left int) {
	lanes, threads := f.Reader.Lanes(), map[trace.LocationID]bool{}
	for id, kind := range f.Tree.Kind {
		if kind != trace.KindSamples {
			continue
		}
		chosen = chosen || f.at[id] >= 0
		if p := f.Tree.Parent[id]; p != trace.NoLocation && lanes[p] == lanes[p+1] {
			threads[p] = true
		}
	}
	return chosen, len(threads)
}

// window is the time selected, of some locations.
func (f *Rows) window(ids []trace.LocationID) store.Window {
	return store.Window{Begin: f.Selection.Begin, End: f.Selection.End, Locations: f.Tree.Topmost(Sorted(ids))}
}

// Sorted returns locations in order, each once.
func Sorted(ids []trace.LocationID) []trace.LocationID {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return slices.Compact(ids)
}
