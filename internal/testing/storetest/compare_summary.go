package storetest

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// summaries checks the cover of a window at several levels: in order, aligned,
// inside the window, and holding each row and each moment of time exactly once.
func (c *comparison) summaries(w store.Window) string {
	want := map[laneID]map[string]int64{}
	in := c.want.window(w)
	for _, id := range in.locations {
		for l := range c.want.lanes[id] {
			if in.begin < in.end && in.begin <= in.last {
				whole := contentOf(c.want.stretch(id, l, in.begin, in.last, in.end > in.last))
				addNamed(want, laneID{id, l}, c.want, whole)
			}
		}
	}
	whole := bits.Len64(uint64(c.want.info.End))
	for _, level := range []int{store.Coarsest, 0, 2, 4, 6, 9, 40, max(0, whole-6), max(0, whole-3), whole} {
		got, fault := c.cover(w, level)
		if fault != "" {
			return fmt.Sprintf("level %d: %s", level, fault)
		}
		if d := diffOf(want, got); d != "" {
			return fmt.Sprintf("level %d: calls and time by lane and region (-want +got):\n%s", level, d)
		}
	}
	return ""
}

func addNamed(to map[laneID]map[string]int64, id laneID, r store.Reader, c content) {
	for kind, m := range map[string]map[trace.RegionID]int64{"calls ": c.calls, "time ": c.time} {
		for name, v := range named(r, m) {
			if to[id] == nil {
				to[id] = map[string]int64{}
			}
			to[id][kind+name] += v
		}
	}
}

// cover asks for the summaries of a window and adds all parts up.
func (c *comparison) cover(w store.Window, level int) (sums map[laneID]map[string]int64, fault string) {
	sums = map[laneID]map[string]int64{}
	end := map[laneID]trace.Time{}
	nextRow := map[laneID]int{}
	var mu sync.Mutex
	piece := func(id laneID, from, to trace.Time, part content) {
		if before, ok := end[id]; ok && from < before {
			fault = fmt.Sprintf("lane %v: a piece from %d follows one that ends at %d", id, from, before)
		}
		if from < w.Begin || to > w.End || from > to {
			fault = fmt.Sprintf("lane %v: piece [%d, %d) lies outside the window", id, from, to)
		}
		end[id] = to
		addNamed(sums, id, c.got, part)
	}
	err := c.got.Summaries(context.Background(), "storetest", w, level, store.Visitor{
		Block: func(location trace.LocationID, lane int, from, to trace.Time, b trace.Block) error {
			mu.Lock()
			defer mu.Unlock()
			part := decodeContent(b)
			if level >= 0 && (from>>level<<level != from || to-from != 1<<level) {
				fault = fmt.Sprintf("block [%d, %d) is no bin", from, to)
			}
			if part.first <= part.last && (part.first < from || part.last > to) {
				fault = fmt.Sprintf("block [%d, %d) holds rows from %d to %d", from, to, part.first, part.last)
			}
			piece(laneID{location, lane}, from, to, part)
			return nil
		},
		Rows: func(s *trace.Stretch) error {
			mu.Lock()
			defer mu.Unlock()
			id := laneID{s.Rows.Location, s.Rows.Lane}
			if f := c.checkRows(s); f != "" {
				fault = f
			}
			if s.Rows.Len() > 0 {
				if s.Rows.First < nextRow[id] {
					fault = fmt.Sprintf("lane %v: row %d comes twice", id, s.Rows.First)
				}
				nextRow[id] = s.Rows.First + s.Rows.Len()
			}
			piece(id, s.Begin, s.End, contentOf(s))
			return nil
		},
	})
	if err != nil {
		fault = err.Error()
	}
	return sums, fault
}

// checkRows holds a stretch handed out against the reference: its rows, and the
// role of each segment.
func (c *comparison) checkRows(s *trace.Stretch) string {
	if f := checkStretch(s, c.got.Regions()); f != "" {
		return f
	}
	l := &c.want.lanes[s.Rows.Location][s.Rows.Lane]
	want := c.want.columns(s.Rows.Location, s.Rows.Lane, s.Rows.First, s.Rows.First+len(s.Rows.Begin))
	for i := range s.Rows.Begin {
		if d := diffOf(intervalOf(c.want, &want, i), intervalOf(c.got, &s.Rows, i)); d != "" {
			return "row of a stretch (-want +got):\n" + d
		}
	}
	for _, g := range s.Segments {
		first := sort.Search(len(l.segments), func(i int) bool { return l.segments[i].End > g.Begin })
		for _, truth := range l.segments[first:] {
			if truth.Begin >= g.End {
				break
			}
			if overlap(g.Begin, g.End, truth.Begin, truth.End) > 0 && (g.Row != truth.Row || g.Role != truth.Role) {
				return fmt.Sprintf("segment [%d, %d): row %d, role %v; want row %d, role %v", g.Begin, g.End, g.Row,
					g.Role, truth.Row, truth.Role)
			}
		}
	}
	return ""
}

// groups compares the times of roles in bins, for each location of the window by
// itself with all below it.
func (c *comparison) groups(w store.Window) string {
	locations := w.Locations
	if locations == nil {
		c.want.tree.Children(trace.NoLocation, func(id trace.LocationID) { locations = append(locations, id) })
	}
	whole := bits.Len64(uint64(c.want.info.End))
	for _, level := range []int{0, 3, 7, 20, max(0, whole-7), max(0, whole-2), whole} {
		if w.Begin < 0 || w.End < w.Begin || (w.End-w.Begin)>>level > 4096 {
			continue
		}
		a, _ := c.want.Groups(context.Background(), locations, w.Begin, w.End, level)
		b, err := c.got.Groups(context.Background(), locations, w.Begin, w.End, level)
		if err != nil {
			return err.Error()
		}
		if a.Begin != b.Begin || a.Level != b.Level || a.Bins != b.Bins {
			return fmt.Sprintf("level %d: %d bins of level %d from %d; want %d of level %d from %d", level, b.Bins,
				b.Level, b.Begin, a.Bins, a.Level, a.Begin)
		}
		if d := diffOf(a, b); d != "" {
			return fmt.Sprintf("level %d (-want +got):\n%s", level, d)
		}
	}
	return ""
}

// roleTime compares the times of roles between edges of several kinds: one bin, bins
// of any width, aligned ones, and such past both ends.
func (c *comparison) roleTime(w store.Window) string {
	if w.End <= w.Begin {
		return ""
	}
	whole := bits.Len64(uint64(c.want.info.End))
	lists := [][]trace.Time{{w.Begin, w.End}, {-5, w.Begin, w.End, c.want.info.End + 7}, {w.Begin}, nil}
	var thirds, aligned []trace.Time
	for t := w.Begin; t < w.End; t += 1 + (w.End-t)/3 {
		thirds = append(thirds, t)
	}
	level := max(0, whole-5)
	for t := max(w.Begin, 0) >> level << level; t <= w.End; t += 1 << level {
		aligned = append(aligned, t)
	}
	for _, edges := range append(lists, thirds, aligned) {
		if !slices.IsSorted(edges) {
			continue
		}
		a, _ := c.want.RoleTime(context.Background(), w.Locations, edges)
		b, err := c.got.RoleTime(context.Background(), w.Locations, edges)
		if err != nil {
			return err.Error()
		}
		if d := diffOf(a, b); d != "" {
			return fmt.Sprintf("edges %d (-want +got):\n%s", edges, d)
		}
	}
	return ""
}

// profileTotals holds totals that a store keeps against its rows.
func (c *comparison) profileTotals(store.Window) string {
	want, _ := store.ProfileTotals(context.Background(), c.want)
	got, err := store.ProfileTotals(context.Background(), c.got)
	if err != nil {
		return err.Error()
	}
	if len(want) != len(got) {
		return fmt.Sprintf("%d totals, want %d", len(got), len(want))
	}
	add := func(rows []trace.ProfileRow) (sum trace.ProfileRow) { // paths may be numbered otherwise
		for _, r := range rows {
			sum.Calls += r.Calls
			sum.Subcalls += r.Subcalls
			sum.Inclusive += r.Inclusive
			sum.Exclusive += r.Exclusive
		}
		return sum
	}
	a, b := add(want), add(got)
	for _, x := range [][2]float64{{a.Calls, b.Calls}, {a.Subcalls, b.Subcalls}, {a.Inclusive, b.Inclusive},
		{a.Exclusive, b.Exclusive}} {
		if math.Abs(x[0]-x[1]) > 1e-9*(1+math.Abs(x[0])) {
			return fmt.Sprintf("totals add up to %v, want %v", b, a)
		}
	}
	return ""
}
