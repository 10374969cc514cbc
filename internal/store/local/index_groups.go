package local

import (
	"cmp"

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

// A groupOutput writes the role times of all locations, as part of the second pass.
//
// Workers go through ranges of the tree in preorder. Each keeps bins for the
// locations around the present one. Levels get finer towards the top, so time is
// added only to the lowest location of each level on the way up; when a location
// is done its bins are added to those of its parent if they have the same level.
// A location that is not wholly in the range is put together when all its parts
// have come.
type groupOutput struct {
	r       *Reader
	dir     string
	column  *columnFile[trace.Time]
	out     cursor[trace.Time]
	pending map[trace.LocationID]*roleBins

	first []uint64 // the columns of table location; the last is of all together
	level []uint8
	roles []uint16
}

func newGroupOutput(r *Reader, dir string) (*groupOutput, error) {
	n := len(r.c.locationName)
	column, err := createColumn[trace.Time](dir, "group.time.i64")
	return &groupOutput{
		r: r, dir: dir, column: column, out: cursor[trace.Time]{to: column}, pending: map[trace.LocationID]*roleBins{},
		first: make([]uint64, n+1), level: make([]uint8, n+1), roles: make([]uint16, n+1),
	}, err
}

// consume takes what a range gives, in order.
func (o *groupOutput) consume(p *groupPart) error {
	for _, d := range p.done {
		o.keep(d.id, d.times, d.roles)
	}
	for _, x := range p.parts {
		b := o.pending[x.id]
		if b == nil {
			b, o.pending[x.id] = x.bins, x.bins
		} else {
			b.join(x.bins)
		}
		if _, end := o.r.subtree(x.id); end <= p.end {
			times, mask := b.pack()
			o.keep(x.id, times, mask)
			delete(o.pending, x.id)
		}
	}
	return o.out.err
}

func (o *groupOutput) keep(id trace.LocationID, times []trace.Time, mask uint16) {
	l, _ := groupLevel(o.r.info.End, o.r.rowsBelow(id))
	o.first[id], o.level[id], o.roles[id] = uint64(o.out.position()), uint8(l), mask
	o.out.addAll(times)
}

func (o *groupOutput) finish() error {
	if n := len(o.first) - 1; o.r.oneTop() {
		o.first[n], o.level[n], o.roles[n] = o.first[0], o.level[0], o.roles[0]
	}
	return cmp.Or(o.out.finish(), o.column.close(),
		writeColumn(o.dir, "location.group.u64", o.first), writeColumn(o.dir, "location.group_level.u8", o.level),
		writeColumn(o.dir, "location.group_roles.u16", o.roles))
}

// subtree gives the locations [first, end) of a location and all below; the number
// after the last location stands for all together.
func (r *Reader) subtree(id trace.LocationID) (first, end trace.LocationID) {
	if n := trace.LocationID(len(r.c.locationLast)); id == n {
		return 0, n
	}
	return id, r.c.locationLast[id] + 1
}

// oneTop reports whether one location stands above all others.
func (r *Reader) oneTop() bool {
	last := r.c.locationLast
	return len(last) > 0 && int(last[0]) == len(last)-1
}

// rowsBelow is the number of rows of a location and all below.
func (r *Reader) rowsBelow(id trace.LocationID) uint64 {
	c := &r.c
	first, end := r.subtree(id)
	return c.laneRow[c.locationLane[end]] - c.laneRow[c.locationLane[first]]
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

// start begins a range of locations.
func (g *grouper) start(job [2]trace.LocationID) {
	c := &g.r.c
	g.part = &groupPart{end: job[1]}
	if !g.r.oneTop() {
		g.push(trace.LocationID(len(c.locationLast)), true)
	}
	var above []trace.LocationID
	for p := c.locationParent[job[0]]; p != trace.NoLocation; p = c.locationParent[p] {
		above = append(above, p)
	}
	for i := len(above) - 1; i >= 0; i-- {
		g.push(above[i], true)
	}
}

// next goes on to a location of the range; its time is added then.
func (g *grouper) next(id trace.LocationID) {
	for len(g.path) > 0 {
		if _, end := g.r.subtree(g.path[len(g.path)-1].id); id < end {
			break
		}
		g.pop()
	}
	_, end := g.r.subtree(id)
	g.push(id, end > g.part.end)
	if g.r.isAside(id) {
		g.to = g.to[:0] // counts for nobody above it; its own is read from its rows
	}
}

// lanes adds the time of the present location from its rows.
func (g *grouper) lanes(id trace.LocationID) { g.merge.location(g.r, id, 0, g.r.info.End, g) }

// finish ends the range.
func (g *grouper) finish() *groupPart {
	for len(g.path) > 0 {
		g.pop()
	}
	return g.part
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

// addSegments adds the time of segments that follow each other.
func (g *grouper) addSegments(list []trace.Segment) {
	for _, b := range g.to {
		b.addSegments(list)
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
