package timeline

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/analysis/share"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
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
	return s != nil && slices.ContainsFunc(s.time, func(t trace.Time) bool { return t > 0 })
}

// share of a role in a bin, of the wall time of all locations.
func (s *stack) share(bin int, role trace.Role) float64 {
	width := max(1, min(s.begin(bin+1), s.last)-s.begin(bin))
	return float64(s.time[bin*trace.RoleCount+int(role)]) / (float64(s.rows) * float64(width))
}

func (s *stack) begin(bin int) trace.Time {
	return s.grid.binBegin(s.grid.bin(s.grid.begin) + int64(bin))
}

// chooseScale halves the value of a row's full height until the largest share needs more
// than half of it: groups of many locations of which few are ever busy at once would
// look empty. One scale serves all rows.
func chooseScale(groups []*stack) float64 {
	most := 0.0
	for _, s := range groups {
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
	full := 1.0
	for most > 0 && most <= full/2 {
		full /= 2
	}
	return full
}

// A groupPart is a subtree, or a location alone, whose time is added to a row.
type groupPart struct {
	location trace.LocationID
	row      int
	alone    bool
}

// readGroups reads the rows of groups, and with --show average all rows. Bins are whole, so that
// they stay the same when the window moves.
func readGroups(ctx context.Context, in *input, p *plan) ([]*stack, error) {
	groups := make([]*stack, len(p.rows))
	var parts []groupPart
	rows := 0
	for i := range p.rows {
		w := &p.rows[i]
		if w.kind == header || w.kind == leaf && in.opt.show != average {
			continue // the members of a header follow and say more
		}
		pieces := w.pieces
		if w.kind == leaf {
			pieces = []trace.LocationID{w.location}
		}
		for _, id := range pieces {
			parts = append(parts, groupPart{id, i, w.own})
		}
		groups[i] = &stack{rows: w.count, last: in.reader.Info().End}
		rows++
	}
	if len(parts) == 0 {
		return groups, nil
	}
	g := grid{in.selection.Begin, in.selection.End, groupLevel(in, p, rows, len(parts))}
	for _, s := range groups {
		if s != nil {
			s.grid, s.bins = g, g.bins()
			s.time = make([]trace.Time, s.bins*trace.RoleCount)
		}
	}
	var err error
	if in.rule.keep != nil {
		err = scanGroups(ctx, in, g, groups, parts)
	} else {
		err = addGroups(ctx, in, g, groups, parts)
	}
	for i, s := range groups {
		if s != nil && p.rows[i].kind == folded && p.rows[i].isGPU(in.reader.Locations()) {
			s.asOne()
		}
	}
	return groups, err
}

// asOne makes the time of the streams of a GPU its own: ranges of the user are no work, and streams that work at once
// take no more than all of its time.
func (s *stack) asOne() {
	s.rows = 1
	for b := range s.bins {
		times := s.time[b*trace.RoleCount:][:trace.RoleCount]
		times[trace.RoleAnnotation] = 0
		sum := trace.Time(0)
		for _, t := range times {
			sum += t
		}
		width := max(1, min(s.begin(b+1), s.last)-s.begin(b))
		for role := range times {
			if sum > width {
				times[role] = trace.Time(float64(times[role]) * float64(width) / float64(sum))
			}
		}
	}
}

// groupLevel takes the smallest bins that keep polygons and the answer small.
func groupLevel(in *input, p *plan, rows, parts int) int {
	const corner, roles, answer = 16, 4, 64 << 20
	bins := min(in.frame(in.size, p.labelWidth).w/leastGroupBin, groupBytes/float32(rows*roles*corner),
		answer/float32(parts*8*trace.RoleCount))
	return max(p.grid.level, levelFor(in.length(), max(8, bins)))
}

// addGroups takes the sums of subtrees that the store has. The row of a group's own intervals has
// nothing of its subtree: it is scanned.
func addGroups(ctx context.Context, in *input, g grid, groups []*stack, parts []groupPart) error {
	var alone []groupPart
	var ids []trace.LocationID
	var of []*stack
	for _, p := range parts {
		if p.alone {
			alone = append(alone, p)
			continue
		}
		ids, of = append(ids, p.location), append(of, groups[p.row])
	}
	if len(alone) > 0 {
		if err := scanGroups(ctx, in, g, groups, alone); err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		return nil
	}
	sums, err := in.reader.Groups(ctx, ids, g.begin, g.end, g.level)
	if err != nil {
		return err
	}
	n := sums.Bins * trace.RoleCount
	for k, s := range of {
		for i, t := range sums.Time[k*n : (k+1)*n] {
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
func scanGroups(ctx context.Context, in *input, bins grid, groups []*stack, parts []groupPart) error {
	g := &groupSums{grid: bins, first: bins.bin(bins.begin), rowsOf: map[trace.LocationID][]int{},
		sums: make([][]atomic.Int64, len(groups))}
	tree := in.reader.Locations()
	for _, p := range parts {
		last := tree.Last[p.location]
		if p.alone {
			last = p.location
		}
		for x := p.location; x <= last; x++ {
			if tree.Holds[x] {
				g.rowsOf[x] = append(g.rowsOf[x], p.row)
			}
		}
		g.sums[p.row] = make([]atomic.Int64, len(groups[p.row].time))
	}
	scanned := map[trace.LocationID]bool{} // left to the rows
	for id := range g.rowsOf {
		scanned[id] = true
	}
	err := g.addSums(ctx, in, scanned)
	if err == nil && len(scanned) > 0 {
		err = g.addRows(ctx, in, scanned)
	}
	if err != nil {
		return err
	}
	for i, table := range g.sums {
		for k := range table {
			groups[i].time[k] += trace.Time(table[k].Load())
		}
	}
	return nil
}

// addSums takes as much as it can from the store's sums. O(locations × bins), whatever
// the number of rows.
func (g *groupSums) addSums(ctx context.Context, in *input, scanned map[trace.LocationID]bool) error {
	b := in.binner()
	if b == nil {
		return nil
	}
	bins := make([]int64, g.grid.bins())
	for i := range bins {
		bins[i] = g.first + int64(i)
	}
	var want []store.LaneBins
	for id := range g.rowsOf {
		if in.lanes(id) == 1 {
			want = append(want, store.LaneBins{Location: id, Bins: bins})
			delete(scanned, id)
		}
	}
	return b.RegionBins(ctx, g.grid.level, in.rule.keep, want, func(entry int, x *store.RegionBin) error {
		for i, region := range x.Region {
			if t := x.Exclusive[i]; t > 0 && in.rule.keep[region] {
				g.add(want[entry].Location, x.Bin, in.regions[region].Role, t)
			}
		}
		return nil
	})
}

// addRows reads the rows of locations. O(rows).
func (g *groupSums) addRows(ctx context.Context, in *input, scanned map[trace.LocationID]bool) error {
	collect := share.Collector{
		Begin: g.grid.binBegin(g.first), End: g.grid.binBegin(g.grid.bin(g.grid.end-1) + 1),
		Regions: in.regions, Keep: in.rule.keep, Wins: store.RoleOfInstant, Lanes: in.lanes,
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
		Locations: in.reader.Locations().Topmost(slices.Sorted(maps.Keys(scanned)))}
	err := in.reader.Intervals(ctx, w, func(c *trace.Columns) error {
		if scanned[c.Location] {
			collect.Add(c)
		}
		return nil
	})
	collect.Close()
	return err
}
