package utilization

import (
	"context"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// bars are the index of all locations of a run for one state; or, without an index,
// the locations that hold intervals.
type bars struct {
	index *moment.Index
	ids   []trace.LocationID
	at    []int32 // row of a location, -1
	many  bool    // some location has several lanes
}

func (b *bars) row(id trace.LocationID) int { return int(b.at[id]) }

// sizeBytes is its size; those with an index share the rest.
func (b *bars) sizeBytes() int64 {
	if b.index == nil {
		return int64(4 * (len(b.at) + len(b.ids)))
	}
	return b.index.SizeBytes()
}

// locationsOf lists the locations of a run that hold intervals, once.
func locationsOf(run derived.Run) *bars {
	b, _ := derived.Keep(run.Cache, "moments locations", (*bars).sizeBytes, func() (*bars, error) {
		f := &Rows{Run: run, Reader: run.Store, Tree: run.Store.Locations()}
		f.choose(nil)
		return &bars{ids: f.IDs, at: f.at, many: f.many}, nil
	})
	return b
}

// barsOf returns the index of a state, made on first use and kept for the next window:
// O(rows of the run).
func barsOf(ctx context.Context, run derived.Run, s *State) (*bars, error) {
	return derived.Keep(run.Cache, "moments index "+s.key, (*bars).sizeBytes,
		func() (*bars, error) { return makeBars(ctx, run, s) })
}

// makeBars reads the whole run. Whole roles on single lanes come as segments from
// the store; for the others rows are folded.
func makeBars(ctx context.Context, run derived.Run, s *State) (*bars, error) {
	r := run.Store
	tree, lanes := r.Locations(), r.Lanes()
	b := *locationsOf(run)
	rows := len(b.ids)
	several := []trace.LocationID{}
	if !s.Whole || b.many {
		for _, id := range b.ids {
			if !s.Whole || lanes[id+1]-lanes[id] > 1 {
				several = append(several, id)
			}
		}
	}
	build := moment.NewIndexBuilder(rows)
	whole := store.Window{Begin: 0, End: r.Info().End}
	if len(several) < rows {
		if err := addSegments(ctx, r, s, whole, &b, build); err != nil {
			return nil, err
		}
	}
	if len(several) > 0 {
		wanted := make([]bool, tree.Len())
		for _, id := range several {
			wanted[id] = true
		}
		whole.Locations = tree.Topmost(several)
		err := scanBars(ctx, r, s, whole, func(id trace.LocationID, begin, end trace.Time) {
			if wanted[id] {
				build.Add(int(b.at[id]), []moment.Interval{{Begin: begin, End: end}})
			}
		})
		if err != nil {
			return nil, err
		}
	}
	b.index = build.Index()
	return &b, nil
}

// addSegments takes the segments of all locations with one lane: with bins of a
// nanosecond the store yields rows, and blocks only where more than a few
// intervals begin within one.
func addSegments(ctx context.Context, r store.Reader, s *State, w store.Window, b *bars,
	build *moment.IndexBuilder) error {
	lanes := r.Lanes()
	buffers := sync.Pool{New: func() any { return new([]moment.Interval) }}
	return r.Summaries(ctx, moment.Name, w, 0, store.Visitor{
		Closed: true,
		Block: func(id trace.LocationID, _ int, begin, end trace.Time, block trace.Block) error {
			var c moment.Cubic
			if lanes[id+1]-lanes[id] == 1 && c.AddBlock(block, s.roles) && c.Weight > 0 {
				build.Add(int(b.at[id]), []moment.Interval{{Begin: begin, End: end}})
			}
			return nil
		},
		Rows: func(x *trace.Stretch) error {
			id := x.Rows.Location
			if lanes[id+1]-lanes[id] > 1 {
				return nil
			}
			list := buffers.Get().(*[]moment.Interval)
			*list = (*list)[:0]
			moment.EachBar(x.Segments, s.roles,
				func(begin, end trace.Time) { *list = append(*list, moment.Interval{Begin: begin, End: end}) })
			build.Add(int(b.at[id]), *list)
			buffers.Put(list)
			return nil
		},
	})
}
