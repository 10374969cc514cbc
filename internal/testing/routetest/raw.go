package routetest

import (
	"context"
	"slices"
	"sort"
	"sync"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Row is one interval as it was recorded.
type Row struct {
	Begin, End trace.Time
	Region     trace.RegionID
	Parent     int // index in the lane, -1 at the top
	Depth      int
}

// A Lane is the intervals of a location that nest, parents before children.
type Lane struct {
	Location trace.LocationID
	Rows     []Row
	whole    []piece
}

// A Link is one link as it was recorded.
type Link struct {
	Kind             trace.LinkKind
	From, To         trace.LocationID
	FromTime, ToTime trace.Time
	FromRow, ToRow   [2]int // index of the lane in Raw.Lanes and of the row in it; -1
	Size, Count      int64
	Untimed          bool
}

// A Raw is all that was recorded, read once as plain lists. Nothing in it was
// added up by anybody.
type Raw struct {
	Reader  store.Reader
	Tree    *store.Tree
	Regions []trace.Region
	End     trace.Time
	Lanes   []Lane // by location
	Links   []Link
	Profile []trace.ProfileRow
	Paths   []trace.CallPath
	of      map[trace.LocationID][]int // lanes of a location
	// Cached results.
	kept  map[trace.LocationID][]state
	added map[string]map[cell]sum
	known *named
}

// Read takes a run apart.
func Read(tb testing.TB, r store.Reader) *Raw {
	tb.Helper()
	x := &Raw{Reader: r, Tree: r.Locations(), Regions: r.Regions(), End: r.Info().End, Paths: r.CallPaths(),
		of: map[trace.LocationID][]int{}, kept: map[trace.LocationID][]state{}, added: map[string]map[cell]sum{}}
	type key struct {
		location trace.LocationID
		lane     int
	}
	var mu sync.Mutex
	rows := map[key][]Row{}
	all := store.Window{Begin: 0, End: x.End}
	must(tb, r.Intervals(context.Background(), all, func(c *trace.Columns) error {
		mu.Lock()
		defer mu.Unlock()
		k := key{c.Location, c.Lane}
		for i := range c.Begin {
			rows[k] = append(rows[k], Row{c.Begin[i], c.End(i), c.Region[i], int(c.Parent[i]), int(c.Depth[i])})
		}
		return nil
	}))
	keys := []key{}
	for k := range rows {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(a, b int) bool {
		if keys[a].location != keys[b].location {
			return keys[a].location < keys[b].location
		}
		return keys[a].lane < keys[b].lane
	})
	at := map[key]int{}
	for _, k := range keys {
		at[k] = len(x.Lanes)
		x.of[k.location] = append(x.of[k.location], len(x.Lanes))
		l := Lane{Location: k.location, Rows: rows[k]}
		l.whole = l.cut(x.End)
		x.Lanes = append(x.Lanes, l)
	}
	end := func(id trace.LocationID, lane, row int32) [2]int {
		if lane < 0 || row < 0 {
			return [2]int{-1, -1}
		}
		return [2]int{at[key{id, int(lane)}], int(row)}
	}
	must(tb, r.Links(context.Background(), all, func(l *store.LinkColumns) error {
		mu.Lock()
		defer mu.Unlock()
		for i := range l.Kind {
			x.Links = append(x.Links, Link{l.Kind[i], l.FromLocation[i], l.ToLocation[i], l.FromTime[i], l.ToTime[i],
				end(l.FromLocation[i], l.FromLane[i], l.FromRow[i]), end(l.ToLocation[i], l.ToLane[i], l.ToRow[i]),
				l.Size[i], max(l.Count[i], 1), l.Untimed[i]})
		}
		return nil
	}))
	must(tb, r.Profile(context.Background(), nil, func(list []trace.ProfileRow) error {
		mu.Lock()
		defer mu.Unlock()
		x.Profile = append(x.Profile, list...)
		return nil
	}))
	x.check(tb)
	return x
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// check checks that a lane nests: everything below relies on it.
func (x *Raw) check(tb testing.TB) {
	tb.Helper()
	for _, l := range x.Lanes {
		for i, r := range l.Rows {
			if r.End < r.Begin || r.Begin < 0 || r.End > x.End {
				tb.Fatalf("location %d: interval %d..%d in a trace of %d", l.Location, r.Begin, r.End, x.End)
			}
			if r.Parent >= i {
				tb.Fatalf("location %d: row %d has the parent %d", l.Location, i, r.Parent)
			}
			if r.Parent >= 0 {
				if p := l.Rows[r.Parent]; p.Begin > r.Begin || p.End < r.End || p.Depth+1 != r.Depth {
					tb.Fatalf("location %d: %d..%d at depth %d lies below %d..%d at depth %d", l.Location, r.Begin,
						r.End, r.Depth, p.Begin, p.End, p.Depth)
				}
			}
		}
	}
}

// timed reports whether the run has intervals.
func (x *Raw) timed() bool { return len(x.Lanes) > 0 }

// A Window is a selection with its end as the store means it.
type Window struct {
	trace.Selection
	// last is one past the last instant at which something may begin: records at the very end of the trace are part
	// of the whole.
	last trace.Time
}

func (x *Raw) window(s trace.Selection) Window {
	w := Window{s, s.End}
	if s.End >= x.End {
		w.last++
	}
	return w
}

// begins reports whether a call counts in the window.
func (w *Window) begins(r Row) bool { return r.Begin >= w.Begin && r.Begin < w.last }

// clip returns how much of [a, b) is in the window.
func (w *Window) clip(a, b trace.Time) trace.Time {
	return max(0, min(b, w.End)-max(a, w.Begin))
}

// in reports whether a location is selected.
func (x *Raw) in(w *Window, id trace.LocationID) bool {
	if w.Locations == nil {
		return true
	}
	for up := id; up != trace.NoLocation; up = x.Tree.Parent[up] {
		if slices.Contains(w.Locations, up) {
			return true
		}
	}
	return false
}

// shows reports whether a region is selected.
func (w *Window) shows(id trace.RegionID) bool {
	return w.Regions == nil || slices.Contains(w.Regions, id)
}

// holders are the selected locations with intervals, or with rows of a profile, in order.
func (x *Raw) holders(w *Window) []trace.LocationID {
	has := map[trace.LocationID]bool{}
	for _, l := range x.Lanes {
		has[l.Location] = true
	}
	if !x.timed() {
		for _, p := range x.Profile {
			has[p.Location] = true
		}
	}
	out := []trace.LocationID{}
	for id := range x.Tree.Len() {
		if loc := trace.LocationID(id); has[loc] && x.in(w, loc) {
			out = append(out, loc)
		}
	}
	return out
}

// lanes calls f for each lane of the selected locations.
func (x *Raw) lanes(w *Window, f func(*Lane)) {
	for i := range x.Lanes {
		if x.in(w, x.Lanes[i].Location) {
			f(&x.Lanes[i])
		}
	}
}
