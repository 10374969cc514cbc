package utilization

import (
	"context"
	"errors"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/analysis/share"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	// ManyRows is from how many locations on an index of bars is faster than the
	// store, which is asked for each of them.
	ManyRows = 16_384
	// someRows is from how many on it is where they have no more than fewBars
	// intervals each: the store would read most of these anyway.
	someRows = 1024
	fewBars  = 256
	// mostIndexed bounds the intervals that an index is made of; 16 bytes each at most.
	mostIndexed = 16 << 20
)

// A Layer is the sketches of all rows for one state.
type Layer struct {
	State  *State
	Higher []moment.Sketch // by row, where orders above three are asked for

	ids        []trace.LocationID
	begin, end trace.Time
	cubics     []moment.Cubic // by row; nil if bars answer
	bars       *bars          // nil if there is none
	all        []moment.Moments
}

// Layer returns the sketches of one state, of moments up to an order:
//
//  1. windows that a recorder wrote, where that is all there is
//  2. the store's summary tree: O(log n) blocks and rows a location, for whole roles on
//     locations with one lane
//  3. an index of bars that is made once and kept: for other sets, for locations
//     with several lanes, whose busy time is a union, and for very many locations
//  4. a scan of the window, where the run is too large for an index
func (f *Rows) Layer(ctx context.Context, s *State, orders int) (*Layer, error) {
	l := &Layer{State: s, ids: f.IDs, begin: f.Selection.Begin, end: f.Selection.End}
	if f.Recorded != nil {
		l.cubics, l.Higher = f.Recorded.sketches(f.IDs, s, orders)
		return l, nil
	}
	if f.Counter != nil {
		return l, f.Counter.fill(ctx, f, l, orders)
	}
	indexed := f.Reader.Info().Intervals <= mostIndexed
	simple := s.Whole && orders <= 3
	if indexed && (!simple || f.many || len(f.IDs) > ManyRows || f.short()) {
		// Most runs with several lanes are small enough: their index serves all rows.
		b, err := barsOf(ctx, f.Run, s)
		if err != nil {
			return nil, err
		}
		l.bars = b
		if orders > 3 {
			l.Higher = make([]moment.Sketch, len(f.IDs))
			each(len(f.IDs), func(i int) {
				l.Higher[i] = b.index.Sketch(b.row(f.IDs[i]), l.begin, l.end, orders)
			})
		}
		if len(f.IDs) <= ManyRows {
			l.cubics = make([]moment.Cubic, len(f.IDs))
			each(len(f.IDs), func(i int) { l.cubics[i] = b.index.Cubic(b.row(f.IDs[i]), l.begin, l.end) })
		}
		return l, nil
	}
	l.cubics = make([]moment.Cubic, len(f.IDs))
	if !simple {
		return l, f.scan(ctx, l, f.IDs, orders)
	}
	several, err := f.forest(ctx, l)
	if errors.Is(err, store.ErrNotKept) {
		return l, f.scan(ctx, l, f.IDs, orders)
	}
	if err == nil && len(several) > 0 {
		err = f.scan(ctx, l, several, orders)
	}
	return l, err
}

// short reports whether there are some rows and few intervals for each.
func (f *Rows) short() bool {
	return len(f.IDs) >= someRows && f.Reader.Info().Intervals <= int64(len(f.IDs)*fewBars)
}

// forest merges blocks and edge rows of locations with one lane; the others are
// given back.
func (f *Rows) forest(ctx context.Context, l *Layer) (several []trace.LocationID, err error) {
	lanes := f.Reader.Lanes()
	w := store.Window{Begin: l.begin, End: l.end, Locations: f.Selection.Locations}
	if f.many {
		var single []trace.LocationID
		for _, id := range f.IDs {
			if lanes[id+1]-lanes[id] > 1 {
				several = append(several, id)
			} else {
				single = append(single, id)
			}
		}
		if len(single) == 0 {
			return several, nil
		}
		w.Locations = single
	}
	wanted := func(id trace.LocationID) *moment.Cubic {
		if i := f.at[id]; i >= 0 && lanes[id+1]-lanes[id] == 1 {
			return &l.cubics[i]
		}
		return nil
	}
	err = f.Reader.Summaries(ctx, moment.Name, w, store.Coarsest, store.Visitor{
		Closed: true,
		Block: func(id trace.LocationID, _ int, _, _ trace.Time, b trace.Block) error {
			if c := wanted(id); c != nil && !c.AddBlock(b, l.State.roles) {
				return fmt.Errorf("moments of location %d: a block of %d bytes is none", id, len(b))
			}
			return nil
		},
		Rows: func(x *trace.Stretch) error {
			if c := wanted(x.Rows.Location); c != nil {
				c.AddSegments(x.Segments, l.State.roles)
			}
			return nil
		},
	})
	return several, err
}

// scan goes through all rows of the window. O(rows).
func (f *Rows) scan(ctx context.Context, l *Layer, ids []trace.LocationID, orders int) error {
	higher := orders > 3
	if higher && l.Higher == nil {
		l.Higher = make([]moment.Sketch, len(f.IDs))
	}
	for _, id := range ids {
		l.cubics[f.at[id]] = moment.Cubic{}
	}
	return scanBars(ctx, f.Reader, l.State, store.Window{Begin: l.begin, End: l.end, Locations: f.Tree.Topmost(ids)},
		func(id trace.LocationID, begin, end trace.Time) {
			i := f.at[id]
			if i < 0 {
				return
			}
			l.cubics[i].Add(begin, end)
			if higher {
				l.Higher[i].Add(begin, end, orders)
			}
		})
}

// scanBars yields the time that counts, lanes of a location folded into their union; of one location in order, of
// several at once. Pieces that touch are one bar, however the store hands them out, so that sums are the same to the
// last digit.
func scanBars(ctx context.Context, r store.Reader, s *State, w store.Window,
	f func(id trace.LocationID, begin, end trace.Time)) error {
	lanes := r.Lanes()
	open := make([]moment.Interval, r.Locations().Len())
	collect := share.Collector{
		Begin: w.Begin, End: w.End, Regions: s.regions, Wins: store.RoleOfInstant,
		Lanes: func(id trace.LocationID) int { return int(lanes[id+1] - lanes[id]) },
		Emit: func(id trace.LocationID, p share.Piece) {
			bar := &open[id]
			switch {
			case p.Role != trace.RoleCompute:
			case p.Begin == bar.End && bar.End > bar.Begin:
				bar.End = p.End
			default:
				if bar.End > bar.Begin {
					f(id, bar.Begin, bar.End)
				}
				*bar = moment.Interval{Begin: p.Begin, End: p.End}
			}
		},
	}
	if err := r.Intervals(ctx, w, func(c *trace.Columns) error { collect.Add(c); return nil }); err != nil {
		return err
	}
	collect.Close()
	for id, bar := range open {
		if bar.End > bar.Begin {
			f(trace.LocationID(id), bar.Begin, bar.End)
		}
	}
	return nil
}

// Mean returns the moments of the mean utilization of some rows, and the means (m1) of those that are ever busy.
func (l *Layer) Mean(rows []int32) (m moment.Moments, means []float64) {
	var sum moment.Cubic
	means = make([]float64, 0, len(rows))
	for _, i := range rows {
		if mean, busy := l.addTo(&sum, int(i)); busy {
			means = append(means, mean)
		}
	}
	size := float64(len(rows))
	sum.Weight, sum.M2, sum.M3 = sum.Weight/size, sum.M2/size, sum.M3/size
	return sum.Moments(l.begin), means
}

// addTo merges the sketch of a row into s and gives the row's own mean.
func (l *Layer) addTo(s *moment.Cubic, i int) (mean float64, busy bool) {
	if l.cubics == nil {
		return l.bars.index.AddTo(s, l.bars.row(l.ids[i]), l.begin, l.end)
	}
	c := &l.cubics[i]
	if c.Empty() {
		return 0, false
	}
	s.Merge(c)
	return float64(c.Origin-l.begin) + c.Mean, true
}

// AtHand returns the moments of all rows if they are at hand, nil if they
// would have to be computed for a million.
func (l *Layer) AtHand() []moment.Moments {
	if l.cubics == nil {
		return l.all
	}
	return l.All()
}

// All returns the moments of all rows, whatever it takes; they are computed once.
func (l *Layer) All() []moment.Moments {
	if l.all == nil {
		l.all = make([]moment.Moments, len(l.ids))
		each(len(l.ids), func(i int) {
			var c moment.Cubic
			if l.cubics != nil {
				c = l.cubics[i]
			} else {
				c = l.bars.index.Cubic(l.bars.row(l.ids[i]), l.begin, l.end)
			}
			l.all[i] = c.Moments(l.begin)
		})
	}
	return l.all
}

// SizeBytes is the size of the layer in a cache; the index of bars is one of the run.
func (l *Layer) SizeBytes() int64 { return int64(len(l.cubics)) * 40 }

// each calls f for 0 … n-1 on all cores, in ranges.
func each(n int, f func(i int)) {
	parallel.Ranges(context.Background(), n, 64, func(from, to int) {
		for i := from; i < to; i++ {
			f(i)
		}
	})
}
