package moments

import (
	"context"
	"errors"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/analysis/share"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	// manyRows is from how many locations on an index of bars is faster than the
	// store, which is asked for each of them.
	manyRows = 16_384
	// someRows is from how many on it is where they have no more than fewBars
	// intervals each: the store would read most of these anyway.
	someRows = 1024
	fewBars  = 256
	// mostIndexed bounds the intervals that an index is made of; 16 bytes each at most.
	mostIndexed = 16 << 20
)

// A layer is the sketches of all rows for one state.
type layer struct {
	state *state
	index int // among the layers drawn
	begin trace.Time
	end   trace.Time

	cubics []moment.Cubic  // by row; nil if bars answer
	higher []moment.Sketch // by row, where orders above three are asked for
	bars   *bars           // nil if there is none
	all    []moment.Moments
}

// A fetcher finds the sketches of the selected rows of a run.
type fetcher struct {
	run       view.Run
	reader    store.Reader
	tree      *store.Tree
	selection trace.Selection
	orders    int
	ids       []trace.LocationID
	at        []int32 // row of a location, -1
	many      bool    // some row has several lanes
	recorded  *recorded
	counter   *counterAxis
	notes     []string
}

func newFetcher(ctx context.Context, run view.Run, sel trace.Selection, orders int, counter string) (*fetcher, error) {
	r := run.Store
	f := &fetcher{run: run, reader: r, tree: r.Locations(), selection: sel, orders: orders,
		notes: view.RowNotes(r)}
	var err error
	if f.recorded, err = readRecorded(ctx, r, sel); err != nil {
		return nil, err
	}
	if sel.Locations == nil && f.recorded == nil {
		all := locationsOf(run)
		f.ids, f.at, f.many = all.ids, all.at, all.many
	} else {
		f.choose(sel.Locations)
	}
	f.notes = append(f.notes, f.sampleNotes()...)
	if counter != "" {
		if f.counter, err = newCounterAxis(ctx, r, sel, counter, f.ids); err != nil {
			return nil, err
		}
	}
	return f, ctx.Err()
}

// choose lists the selected locations that have something to show.
func (f *fetcher) choose(selected []trace.LocationID) {
	lanes := f.reader.Lanes()
	f.at = make([]int32, f.tree.Len())
	for i := range f.at {
		f.at[i] = -1
	}
	add := func(id trace.LocationID) {
		if !f.tree.Holds[id] && !f.recorded.has(id) && (selected == nil || !f.tree.IsAside(id)) {
			return
		}
		f.many = f.many || lanes[id+1]-lanes[id] > 1
		f.at[id] = int32(len(f.ids))
		f.ids = append(f.ids, id)
	}
	if selected == nil {
		f.ids = make([]trace.LocationID, 0, f.reader.Info().Rows)
		for id := range trace.LocationID(f.tree.Len()) {
			add(id)
		}
		return
	}
	for _, id := range f.tree.Expand(selected) {
		add(id)
	}
}

// sampleNotes describes the rows of threads that were sampled. Between two samples nobody looked, so that they
// have no busy time of their own; rows of samples are drawn from one sample to the next, also over short gaps.
func (f *fetcher) sampleNotes() []string {
	lanes, drawn, left := f.reader.Lanes(), false, map[trace.LocationID]bool{}
	for id, kind := range f.tree.Kind {
		if kind != trace.KindSamples {
			continue
		}
		drawn = drawn || f.at[id] >= 0
		if p := f.tree.Parent[id]; p != trace.NoLocation && lanes[p] == lanes[p+1] {
			left[p] = true
		}
	}
	switch {
	case drawn:
		return []string{"rows of samples are busy from one sample to the next: the view profile has the time that " +
			"samples stand for"}
	case len(left) > 0 && f.selection.Locations == nil:
		return []string{fmt.Sprintf("left out: %s with samples alone, which do not show when a thread was busy; the "+
			"views profile and calltree show them", view.Count(len(left), "location"))}
	}
	return nil
}

// fetch returns the sketches of one state:
//
//  1. windows that a recorder wrote, where that is all there is
//  2. the store's summary tree: O(log n) blocks and rows a location, for whole roles on
//     locations with one lane
//  3. an index of bars that is made once and kept: for other sets, for locations
//     with several lanes, whose busy time is a union, and for very many locations
//  4. a scan of the window, where the run is too large for an index
func (f *fetcher) fetch(ctx context.Context, s *state) (*layer, error) {
	l := &layer{state: s, begin: f.selection.Begin, end: f.selection.End}
	if f.recorded != nil {
		l.cubics, l.higher = f.recorded.sketches(f.ids, s, f.orders)
		f.notes = append(f.notes, f.recorded.notes(f.tree)...)
		return l, nil
	}
	if f.counter != nil {
		return l, f.counter.fetch(ctx, f, s, l)
	}
	indexed := f.reader.Info().Intervals <= mostIndexed
	simple := s.whole && f.orders <= 3
	if indexed && (!simple || f.many || len(f.ids) > manyRows || f.short()) {
		// Most runs with several lanes are small enough: their index serves all rows.
		b, err := barsOf(ctx, f.run, s)
		if err != nil {
			return nil, err
		}
		l.bars = b
		if f.orders > 3 {
			l.higher = make([]moment.Sketch, len(f.ids))
			each(len(f.ids), func(i int) {
				l.higher[i] = b.index.Sketch(b.row(f.ids[i]), l.begin, l.end, f.orders)
			})
		}
		if len(f.ids) <= manyRows {
			l.cubics = make([]moment.Cubic, len(f.ids))
			each(len(f.ids), func(i int) { l.cubics[i] = b.index.Cubic(b.row(f.ids[i]), l.begin, l.end) })
		}
		return l, nil
	}
	l.cubics = make([]moment.Cubic, len(f.ids))
	if !simple {
		return l, f.scan(ctx, s, l, f.ids)
	}
	several, err := f.forest(ctx, s, l)
	if errors.Is(err, store.ErrNotKept) {
		return l, f.scan(ctx, s, l, f.ids)
	}
	if err == nil && len(several) > 0 {
		err = f.scan(ctx, s, l, several)
	}
	return l, err
}

// short reports whether there are some rows and few intervals for each.
func (f *fetcher) short() bool {
	return len(f.ids) >= someRows && f.reader.Info().Intervals <= int64(len(f.ids)*fewBars)
}

// forest merges blocks and edge rows of locations with one lane; the others are
// given back.
func (f *fetcher) forest(ctx context.Context, s *state, l *layer) (several []trace.LocationID, err error) {
	lanes := f.reader.Lanes()
	w := store.Window{Begin: l.begin, End: l.end, Locations: f.selection.Locations}
	if f.many {
		var single []trace.LocationID
		for _, id := range f.ids {
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
	err = f.reader.Summaries(ctx, moment.Name, w, store.Coarsest, store.Visitor{
		Closed: true,
		Block: func(id trace.LocationID, _ int, _, _ trace.Time, b trace.Block) error {
			if c := wanted(id); c != nil && !c.AddBlock(b, s.roles) {
				return fmt.Errorf("moments of location %d: a block of %d bytes is none", id, len(b))
			}
			return nil
		},
		Rows: func(x *trace.Stretch) error {
			if c := wanted(x.Rows.Location); c != nil {
				c.AddSegments(x.Segments, s.roles)
			}
			return nil
		},
	})
	return several, err
}

// scan goes through all rows of the window. O(rows).
func (f *fetcher) scan(ctx context.Context, s *state, l *layer, ids []trace.LocationID) error {
	higher := f.orders > 3
	if higher && l.higher == nil {
		l.higher = make([]moment.Sketch, len(f.ids))
	}
	for _, id := range ids {
		l.cubics[f.at[id]] = moment.Cubic{}
	}
	return scanBars(ctx, f.reader, s, store.Window{Begin: l.begin, End: l.end, Locations: f.tree.Topmost(ids)},
		func(id trace.LocationID, begin, end trace.Time) {
			i := f.at[id]
			if i < 0 {
				return
			}
			l.cubics[i].Add(begin, end)
			if higher {
				l.higher[i].Add(begin, end, f.orders)
			}
		})
}

// scanBars yields the time that counts, lanes of a location folded into their
// union; of one location in order, of several at once.
func scanBars(ctx context.Context, r store.Reader, s *state, w store.Window,
	f func(id trace.LocationID, begin, end trace.Time)) error {
	lanes := r.Lanes()
	collect := share.Collector{
		Begin: w.Begin, End: w.End, Regions: s.regions, Wins: store.RoleOfInstant,
		Lanes: func(id trace.LocationID) int { return int(lanes[id+1] - lanes[id]) },
		Emit: func(id trace.LocationID, p share.Piece) {
			if p.Role == trace.RoleCompute {
				f(id, p.Begin, p.End)
			}
		},
	}
	if err := r.Intervals(ctx, w, func(c *trace.Columns) error { collect.Add(c); return nil }); err != nil {
		return err
	}
	collect.Close()
	return nil
}

// each calls f for 0 … n-1 on all cores, in ranges.
func each(n int, f func(i int)) {
	parallel.Ranges(context.Background(), n, 64, func(from, to int) {
		for i := from; i < to; i++ {
			f(i)
		}
	})
}

// cubic is the sketch of a row.
func (l *layer) cubic(ids []trace.LocationID, i int) moment.Cubic {
	if l.cubics != nil {
		return l.cubics[i]
	}
	return l.bars.index.Cubic(l.bars.row(ids[i]), l.begin, l.end)
}

// addTo merges the sketch of a row into s and gives the row's own mean.
func (l *layer) addTo(s *moment.Cubic, ids []trace.LocationID, i int) (mean float64, busy bool) {
	if l.cubics == nil {
		return l.bars.index.AddTo(s, l.bars.row(ids[i]), l.begin, l.end)
	}
	c := &l.cubics[i]
	if c.Empty() {
		return 0, false
	}
	s.Merge(c)
	return float64(c.Origin-l.begin) + c.Mean, true
}

// whole returns the moments of all rows if they are at hand, nil if they
// would have to be computed for a million.
func (l *layer) whole() []moment.Moments {
	if l.cubics == nil {
		return l.all
	}
	return l.moments()
}

func (l *layer) moments() []moment.Moments {
	if l.all == nil && l.cubics != nil {
		l.all = make([]moment.Moments, len(l.cubics))
		each(len(l.cubics), func(i int) { l.all[i] = l.cubics[i].Moments(l.begin) })
	}
	return l.all
}

// every returns the moments of all rows, whatever it takes.
func (l *layer) every(ids []trace.LocationID) []moment.Moments {
	if l.all == nil && l.cubics == nil {
		l.all = make([]moment.Moments, len(ids))
		each(len(ids), func(i int) {
			c := l.cubic(ids, i)
			l.all[i] = c.Moments(l.begin)
		})
	}
	return l.moments()
}
