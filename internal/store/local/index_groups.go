package local

import (
	"cmp"
	"context"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Role times of groups. For each location with enough rows below it the time of
// each role is kept in bins, of a level that depends on how many rows: about one
// bin for every groupRows rows, up to maxGroupBins over the run. So a level of the
// tree takes a byte or less a row, and the bins at the top do not grow with the
// trace.
const (
	groupRows    = 64
	minGroupRows = 128
	maxGroupBins = 8192
)

// groupLevel is the level of bins kept for a location with that many rows; false
// where rows are few enough to be read.
func groupLevel(end trace.Time, rows uint64) (int, bool) {
	if rows < minGroupRows || end <= 0 {
		return 0, false
	}
	most := int(min(rows/groupRows, maxGroupBins))
	level := 0
	for groupBins(end, level) > most {
		level++
	}
	return level, true
}

// groupBins is how many bins of a level cover the trace.
func groupBins(end trace.Time, level int) int { return int((end-1)>>level) + 1 }

// groupPass writes the role times of all locations.
//
// Workers go through ranges of the tree in preorder. Each keeps bins for the
// locations around the present one. Levels get finer towards the top, so time is
// added only to the lowest location of each level on the way up; when a location
// is done its bins are added to those of its parent if they have the same level.
// A location that is not wholly in the range is put together when all its parts
// have come.
func (f *finisher) groupPass(ctx context.Context) error {
	r := f.rows
	n := len(r.c.locationName)
	first, level, roles := make([]uint64, n), make([]uint8, n), make([]uint16, n)
	column, err := createColumn[trace.Time](f.dir, "group.time.i64")
	if err != nil {
		return err
	}
	out := cursor[trace.Time]{to: column}
	pending := map[trace.LocationID]*roleBins{}
	keep := func(id trace.LocationID, times []trace.Time, mask uint16) {
		l, _ := groupLevel(r.info.End, r.rowsBelow(id))
		first[id], level[id], roles[id] = uint64(out.position()), uint8(l), mask
		out.addAll(times)
	}
	jobs := r.rowJobs(indexJobRows)
	err = ordered(ctx, len(jobs), f.workers, func() *grouper { return &grouper{r: r} },
		func(ctx context.Context, g *grouper, i int) (*groupPart, error) { return g.run(ctx, jobs[i]) },
		func(p *groupPart) error {
			for _, d := range p.done {
				keep(d.id, d.times, d.roles)
			}
			for _, x := range p.parts {
				b := pending[x.id]
				if b == nil {
					b, pending[x.id] = x.bins, x.bins
				} else {
					b.join(x.bins)
				}
				if r.c.locationLast[x.id] < p.end {
					times, mask := b.pack()
					keep(x.id, times, mask)
					delete(pending, x.id)
				}
			}
			return out.err
		})
	return cmp.Or(err, out.finish(), column.close(),
		writeColumn(f.dir, "location.group.u64", first), writeColumn(f.dir, "location.group_level.u8", level),
		writeColumn(f.dir, "location.group_roles.u16", roles))
}

// rowsBelow is the number of rows of a location and all below.
func (r *Reader) rowsBelow(id trace.LocationID) uint64 {
	c := &r.c
	return c.laneRow[c.locationLane[c.locationLast[id]+1]] - c.laneRow[c.locationLane[id]]
}

// A groupPart is what one range of locations gives.
type groupPart struct {
	end   trace.LocationID
	done  []groupDone
	parts []groupOpen // innermost first
}

type groupDone struct {
	id    trace.LocationID
	times []trace.Time
	roles uint16
}

type groupOpen struct {
	id   trace.LocationID
	bins *roleBins
}

// A grouper goes through ranges of locations.
type grouper struct {
	r     *Reader
	merge laneMerge
	path  []groupNode // from the top to the present location
	free  []*roleBins
	to    []*roleBins // where the present location's time goes
	part  *groupPart
	added int // segments
}

type groupNode struct {
	id   trace.LocationID
	bins *roleBins // nil where none are kept
	part bool      // not wholly in the range
}

func (g *grouper) run(ctx context.Context, job [2]trace.LocationID) (*groupPart, error) {
	c := &g.r.c
	g.part = &groupPart{end: job[1]}
	err := guard(func() error {
		var above []trace.LocationID
		for p := c.locationParent[job[0]]; p != trace.NoLocation; p = c.locationParent[p] {
			above = append(above, p)
		}
		for i := len(above) - 1; i >= 0; i-- {
			g.push(above[i], true)
		}
		for id := job[0]; id < job[1]; id++ {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			for len(g.path) > 0 && c.locationLast[g.path[len(g.path)-1].id] < id {
				g.pop()
			}
			g.push(id, c.locationLast[id] >= job[1])
			g.merge.location(g.r, id, 0, g.r.info.End, g)
		}
		for len(g.path) > 0 {
			g.pop()
		}
		return nil
	})
	return g.part, err
}

func (g *grouper) push(id trace.LocationID, part bool) {
	node := groupNode{id: id, part: part}
	if level, ok := groupLevel(g.r.info.End, g.r.rowsBelow(id)); ok {
		node.bins = new(roleBins)
		if n := len(g.free); n > 0 {
			node.bins, g.free = g.free[n-1], g.free[:n-1]
		}
		node.bins.reset(0, level, groupBins(g.r.info.End, level))
	}
	g.path = append(g.path, node)
	g.aim()
}

// aim finds where time goes: the lowest location of each level.
func (g *grouper) aim() {
	g.to = g.to[:0]
	level := -1
	for i := len(g.path) - 1; i >= 0; i-- {
		if b := g.path[i].bins; b != nil && b.level != level {
			g.to = append(g.to, b)
			level = b.level
		}
	}
}

// add implements roleSink.
func (g *grouper) add(from, to trace.Time, role trace.Role) {
	for _, b := range g.to {
		b.add(from, to, role)
	}
	if g.added++; g.added&0xffff == 0 {
		g.r.pace(0x8000) // a row has about two segments
	}
}

func (g *grouper) pop() {
	n := len(g.path) - 1
	node := g.path[n]
	g.path = g.path[:n]
	b := node.bins
	if b == nil {
		return
	}
	if n > 0 && g.path[n-1].bins != nil && g.path[n-1].bins.level == b.level {
		g.path[n-1].bins.join(b)
	}
	if node.part {
		g.part.parts = append(g.part.parts, groupOpen{node.id, b})
		return
	}
	times, roles := b.pack()
	g.part.done = append(g.part.done, groupDone{node.id, times, roles})
	g.free = append(g.free, b)
}
