package index

import (
	"cmp"
	"math/bits"

	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Role times of groups. For each location with enough rows below it the time of each role is kept in bins, of a level
// that depends on how many rows: about one bin for every groupRows rows, up to maxGroupBins over the run. So a level
// of the tree takes a byte or less per row, and the bins at the top do not grow with the trace.
const (
	groupRows    = 64
	minGroupRows = 128
	maxGroupBins = 8192
)

// groupLevel returns the level of bins kept for a location with that many rows; false
// where rows are few enough to be read.
func groupLevel(end trace.Time, rows uint64) (int, bool) {
	if rows < minGroupRows || end <= 0 {
		return 0, false
	}
	most := int(min(rows/groupRows, maxGroupBins))
	level := 0
	for GroupBins(end, level) > most {
		level++
	}
	// As many locations as there are rows fill a bin at most, and it must hold them: of a trace that is so long, bins
	// are finer, four a row at most.
	return min(level, 62-bits.Len64(rows)), true
}

// GroupBins returns the number of bins of a level that cover the trace.
func GroupBins(end trace.Time, level int) int { return int((end-1)>>level) + 1 }

// A groupOutput writes the role times of all locations, as part of the second pass.
//
// Workers go through ranges of the tree in preorder. Each keeps bins for the
// locations around the present one. Levels get finer towards the top, so time is
// added only to the lowest location of each level on the way up; when a location
// is done its bins are added to those of its parent if they have the same level.
// A location that is not wholly in the range is put together when all its parts
// have come.
type groupOutput struct {
	r       *rows.Table
	dir     string
	column  *disk.ColumnFile[trace.Time]
	out     disk.Cursor[trace.Time]
	pending map[trace.LocationID]*rows.RoleBins

	first []uint64 // the columns of table location; the last is of all together
	level []uint8
	roles []uint16
}

func newGroupOutput(r *rows.Table, dir string) *groupOutput {
	n := len(r.C.LocationName)
	column := disk.NewColumn[trace.Time](dir, "group.time.i64")
	return &groupOutput{
		r: r, dir: dir, column: column, out: disk.Cursor[trace.Time]{To: column},
		pending: map[trace.LocationID]*rows.RoleBins{},
		first:   make([]uint64, n+1), level: make([]uint8, n+1), roles: make([]uint16, n+1),
	}
}

// consume takes the result of a range, in order.
func (o *groupOutput) consume(p *groupPart) error {
	for _, d := range p.done {
		o.keep(d.id, d.times, d.roles)
	}
	for _, x := range p.parts {
		b := o.pending[x.id]
		if b == nil {
			b, o.pending[x.id] = x.bins, x.bins
		} else {
			b.Join(x.bins)
		}
		if _, end := o.r.Subtree(x.id); end <= p.end {
			times, mask := b.Pack()
			o.keep(x.id, times, mask)
			delete(o.pending, x.id)
		}
	}
	return o.out.Err
}

func (o *groupOutput) keep(id trace.LocationID, times []trace.Time, mask uint16) {
	l, _ := groupLevel(o.r.End, o.r.RowsBelow(id))
	o.first[id], o.level[id], o.roles[id] = uint64(o.out.Position()), uint8(l), mask
	o.out.AddAll(times)
}

func (o *groupOutput) finish() error {
	if n := len(o.first) - 1; o.r.OneTop() {
		o.first[n], o.level[n], o.roles[n] = o.first[0], o.level[0], o.roles[0]
	}
	return cmp.Or(o.out.Finish(), o.column.Close(),
		disk.WriteColumn(o.dir, "location.group.u64", o.first),
		disk.WriteColumn(o.dir, "location.group_level.u8", o.level),
		disk.WriteColumn(o.dir, "location.group_roles.u16", o.roles))
}

// A groupPart is the result of one range of locations.
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
	bins *rows.RoleBins
}

// A grouper goes through ranges of locations.
type grouper struct {
	r     *rows.Table
	merge rows.Merge
	path  []groupNode // from the top to the present location
	free  []*rows.RoleBins
	to    []*rows.RoleBins // where the present location's time goes
	part  *groupPart
	added int // segments
}

type groupNode struct {
	id   trace.LocationID
	bins *rows.RoleBins // nil where none are kept
	part bool           // not wholly in the range
}

// start begins a range of locations.
func (g *grouper) start(job [2]trace.LocationID) {
	c := &g.r.C
	g.part = &groupPart{end: job[1]}
	if !g.r.OneTop() {
		g.push(trace.LocationID(len(c.LocationLast)), true)
	}
	var above []trace.LocationID
	for p := c.LocationParent[job[0]]; p != trace.NoLocation; p = c.LocationParent[p] {
		above = append(above, p)
	}
	for i := len(above) - 1; i >= 0; i-- {
		g.push(above[i], true)
	}
}

// next goes on to a location of the range; its time is added then.
func (g *grouper) next(id trace.LocationID) {
	for len(g.path) > 0 {
		if _, end := g.r.Subtree(g.path[len(g.path)-1].id); id < end {
			break
		}
		g.pop()
	}
	_, end := g.r.Subtree(id)
	g.push(id, end > g.part.end)
	if g.r.IsAside(id) {
		g.to = g.to[:0] // counts for no location above it; its own is read from its rows
	}
}

// lanes adds the time of the present location from its rows.
func (g *grouper) lanes(id trace.LocationID) { g.merge.Location(g.r, id, 0, g.r.End, g) }

// finish ends the range.
func (g *grouper) finish() *groupPart {
	for len(g.path) > 0 {
		g.pop()
	}
	return g.part
}

func (g *grouper) push(id trace.LocationID, part bool) {
	node := groupNode{id: id, part: part}
	if level, ok := groupLevel(g.r.End, g.r.RowsBelow(id)); ok {
		node.bins = new(rows.RoleBins)
		if n := len(g.free); n > 0 {
			node.bins, g.free = g.free[n-1], g.free[:n-1]
		}
		node.bins.Reset(0, level, GroupBins(g.r.End, level))
	}
	g.path = append(g.path, node)
	g.aim()
}

// aim finds where time goes: the lowest location of each level.
func (g *grouper) aim() {
	g.to = g.to[:0]
	level := -1
	for i := len(g.path) - 1; i >= 0; i-- {
		if b := g.path[i].bins; b != nil && b.Level != level {
			g.to = append(g.to, b)
			level = b.Level
		}
	}
}

// Add implements roleSink.
func (g *grouper) Add(from, to trace.Time, role trace.Role) {
	for _, b := range g.to {
		b.Add(from, to, role)
	}
	if g.added++; g.added&0xffff == 0 {
		g.r.Pace(0x8000) // a row has about two segments
	}
}

// addSegments adds the time of segments that follow each other.
func (g *grouper) addSegments(list []trace.Segment) {
	for _, b := range g.to {
		b.AddSegments(list)
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
	if n > 0 && g.path[n-1].bins != nil && g.path[n-1].bins.Level == b.Level {
		g.path[n-1].bins.Join(b)
	}
	if node.part {
		g.part.parts = append(g.part.parts, groupOpen{node.id, b})
		return
	}
	times, roles := b.Pack()
	g.part.done = append(g.part.done, groupDone{node.id, times, roles})
	g.free = append(g.free, b)
}
