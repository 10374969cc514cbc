package timeline

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/analysis/share"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A stack is a row drawn as shares: time per role and bin of all locations that
// it stands for.
type stack struct {
	grid grid
	last trace.Time // the end of the trace
	bins int
	rows int          // locations with intervals
	time []trace.Time // [bin * RoleCount + role]
}

func (s *stack) any() bool {
	return slices.ContainsFunc(s.time, func(t trace.Time) bool { return t > 0 })
}

// share of a role in a bin, of the wall time of all locations.
func (s *stack) share(bin int, role trace.Role) float64 {
	width := max(1, min(s.begin(bin+1), s.last)-s.begin(bin))
	return float64(s.time[bin*trace.RoleCount+int(role)]) / (float64(s.rows) * float64(width))
}

func (s *stack) begin(bin int) trace.Time {
	return s.grid.binBegin(s.grid.bin(s.grid.begin) + int64(bin))
}

// fetchGroups fills the rows of groups, and with --show average all rows.
func (r *fetcher) fetchGroups(ctx context.Context, _ *forest) error {
	r.fullShare = 1
	if err := r.fetchStacks(ctx); err != nil {
		return err
	}
	r.chooseScale()
	return nil
}

// chooseScale halves what the full height of a row means until the largest
// share needs more than half of it: groups of many locations of which few are
// ever busy at once would look empty. One scale serves all rows.
func (r *fetcher) chooseScale() {
	most := 0.0
	for _, s := range r.groups {
		if s == nil {
			continue
		}
		for b := range s.bins {
			sum := 0.0
			for _, role := range roleOrder {
				sum += s.share(b, role)
			}
			most = max(most, sum)
		}
	}
	for most > 0 && most <= r.fullShare/2 {
		r.fullShare /= 2
	}
	if r.fullShare < 1 {
		r.note("the full height of a group's row means %s of its locations", view.FormatShare(r.fullShare))
	}
}

// fetchStacks asks for the bins. They are whole, so that they stay the same when
// the window moves.
func (r *fetcher) fetchStacks(ctx context.Context) error {
	var ids []trace.LocationID
	var of []int // row of each id
	for i := range r.rows {
		w := &r.rows[i]
		switch {
		case w.kind == header: // its members follow and say more
			continue
		case w.kind == folded:
			ids = append(ids, w.pieces...)
		case r.opt.show == average:
			ids = append(ids, w.location)
			r.leaves[i] = nil
		default:
			continue
		}
		for len(of) < len(ids) {
			of = append(of, i)
		}
		r.groups[i] = &stack{rows: w.count, last: r.reader.Info().End}
	}
	if len(ids) == 0 {
		return nil
	}
	g := grid{r.selection.Begin, r.selection.End, r.groupLevel(len(ids))}
	for _, s := range r.groups {
		if s != nil {
			s.grid, s.bins = g, g.bins()
			s.time = make([]trace.Time, s.bins*trace.RoleCount)
		}
	}
	if r.rule.keep != nil {
		return r.scanGroups(ctx, ids, of)
	}
	return r.addGroups(ctx, ids, of)
}

// groupLevel takes the smallest bins that keep polygons and the answer small.
func (r *fetcher) groupLevel(ids int) int {
	rows := 0
	for _, s := range r.groups {
		if s != nil {
			rows++
		}
	}
	const corner, roles, answer = 16, 4, 64 << 20
	bins := min(r.frame(r.size).w/leastGroupBin, groupBytes/float32(rows*roles*corner),
		answer/float32(ids*8*trace.RoleCount))
	return max(r.grid.level, levelFor(r.axisEnd-r.selection.Begin, max(8, bins)))
}

func (r *fetcher) addGroups(ctx context.Context, ids []trace.LocationID, of []int) error {
	level := r.groups[of[0]].grid.level
	// The store answers for a subtree; the row of a group's own intervals has
	// none of it. Such rows are scanned.
	var own []trace.LocationID
	var ownOf []int
	whole, wholeOf := ids[:0:0], of[:0:0]
	for k, id := range ids {
		if w := &r.rows[of[k]]; w.own {
			own, ownOf = append(own, id), append(ownOf, of[k])
			continue
		}
		whole, wholeOf = append(whole, id), append(wholeOf, of[k])
	}
	if len(own) > 0 {
		if err := r.scanGroups(ctx, own, ownOf); err != nil {
			return err
		}
	}
	if len(whole) == 0 {
		return nil
	}
	g, err := r.reader.Groups(ctx, whole, r.selection.Begin, r.selection.End, level)
	if err != nil {
		return err
	}
	n := g.Bins * trace.RoleCount
	for k, row := range wholeOf {
		s := r.groups[row]
		for i, t := range g.Time[k*n : (k+1)*n] {
			if i < len(s.time) {
				s.time[i] += t
			}
		}
	}
	return nil
}

// A groupSums adds up the time of regions that are kept, per row and bin.
type groupSums struct {
	grid   grid
	first  int64 // bin
	rowsOf map[trace.LocationID][]int
	sums   [][]atomic.Int64 // by row
}

func (g *groupSums) add(id trace.LocationID, bin int64, role trace.Role, t trace.Time) {
	for _, i := range g.rowsOf[id] {
		g.sums[i][int(bin-g.first)*trace.RoleCount+int(role)].Add(int64(t))
	}
}

// scanGroups adds up the time of the regions that are kept: from the store's sums for
// locations with one lane, else from the rows below the groups.
func (r *fetcher) scanGroups(ctx context.Context, ids []trace.LocationID, of []int) error {
	g := &groupSums{grid: r.groups[of[0]].grid, rowsOf: map[trace.LocationID][]int{},
		sums: make([][]atomic.Int64, len(r.rows))}
	g.first = g.grid.bin(g.grid.begin)
	tree := r.reader.Locations()
	for k, id := range ids {
		last := tree.Last[id]
		if r.rows[of[k]].own {
			last = id
		}
		for x := id; x <= last; x++ {
			if tree.Holds[x] {
				g.rowsOf[x] = append(g.rowsOf[x], of[k])
			}
		}
		g.sums[of[k]] = make([]atomic.Int64, len(r.groups[of[k]].time))
	}
	scanned := map[trace.LocationID]bool{} // left to the rows
	for id := range g.rowsOf {
		scanned[id] = true
	}
	err := r.sumGroups(ctx, g, scanned)
	if err == nil && len(scanned) > 0 {
		err = r.readGroups(ctx, g, scanned)
	}
	if err != nil {
		return err
	}
	for i, table := range g.sums {
		for k := range table {
			r.groups[i].time[k] += trace.Time(table[k].Load())
		}
	}
	return nil
}

// sumGroups takes what it can from the store's sums. O(locations × bins), whatever
// the number of rows.
func (r *fetcher) sumGroups(ctx context.Context, g *groupSums, scanned map[trace.LocationID]bool) error {
	b := r.binner()
	if b == nil {
		return nil
	}
	bins := make([]int64, g.grid.bins())
	for i := range bins {
		bins[i] = g.first + int64(i)
	}
	var want []store.LaneBins
	for id := range g.rowsOf {
		if r.lanes(id) == 1 {
			want = append(want, store.LaneBins{Location: id, Bins: bins})
			delete(scanned, id)
		}
	}
	return b.RegionBins(ctx, g.grid.level, r.rule.keep, want, func(entry int, x *store.RegionBin) error {
		for i, region := range x.Region {
			if t := x.Exclusive[i]; t > 0 && r.rule.keep[region] {
				g.add(want[entry].Location, x.Bin, r.regions[region].Role, t)
			}
		}
		return nil
	})
}

// readGroups reads the rows of locations. O(rows).
func (r *fetcher) readGroups(ctx context.Context, g *groupSums, scanned map[trace.LocationID]bool) error {
	collect := share.Collector{
		Begin: g.grid.binBegin(g.first), End: g.grid.binBegin(g.grid.bin(g.grid.end-1) + 1),
		Regions: r.regions, Keep: r.rule.keep, Wins: store.RoleOfInstant, Lanes: r.lanes,
		Emit: func(id trace.LocationID, p share.Piece) {
			for at := p.Begin; at < p.End; {
				bin := g.grid.bin(at)
				to := min(p.End, g.grid.binBegin(bin+1))
				g.add(id, bin, p.Role, to-at)
				at = to
			}
		},
	}
	w := store.Window{Begin: collect.Begin, End: collect.End,
		Locations: topmost(r.reader.Locations(), slices.Collect(maps.Keys(scanned)))}
	err := r.reader.Intervals(ctx, w, func(c *trace.Columns) error {
		if scanned[c.Location] {
			collect.Add(c)
		}
		return nil
	})
	collect.Close()
	return err
}

// topmost sorts ids and drops those below others.
func topmost(tree *store.Tree, ids []trace.LocationID) []trace.LocationID {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	out := ids[:0]
	for _, id := range ids {
		if n := len(out); n == 0 || id > tree.Last[out[n-1]] {
			out = append(out, id)
		}
	}
	return out
}
