package phase

import (
	"cmp"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/share"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A State is the kind of time that an instant counts as.
type State uint8

// The states. Waiting are communication and synchronization, where one location
// waits for others; Idle are regions that say that there is nothing to do; Other
// is overhead, annotations alone and nothing open.
const (
	Other State = iota
	Busy
	Waiting
	Idle
)

// StateOf is the state of a role by default.
func StateOf(r trace.Role) State {
	switch {
	case r.Busy():
		return Busy
	case r == trace.RoleCommunication || r == trace.RoleSynchronization:
		return Waiting
	case r == trace.RoleIdle:
		return Idle
	}
	return Other
}

// A Table holds times of rows (locations) by phase: Busy[row*phases+phase]. If lanes of a location are in
// different states at once, busy wins, then waiting.
type Table struct {
	Rows, Phases        int
	Busy, Waiting, Idle []trace.Time
}

// NewTable makes an empty table.
func NewTable(rows, phases int) *Table {
	n := rows * phases
	return &Table{Rows: rows, Phases: phases, Busy: make([]trace.Time, n), Waiting: make([]trace.Time, n),
		Idle: make([]trace.Time, n)}
}

// Add adds time of a state to a row in a phase.
func (t *Table) Add(row, phase int, s State, d trace.Time) {
	switch s {
	case Busy:
		t.Busy[row*t.Phases+phase] += d
	case Waiting:
		t.Waiting[row*t.Phases+phase] += d
	case Idle:
		t.Idle[row*t.Phases+phase] += d
	}
}

// AddRoles adds the times per role of a digest.
func (t *Table) AddRoles(row, phase int, roles *[trace.RoleCount]trace.Time) {
	for r, d := range roles {
		t.Add(row, phase, StateOf(trace.Role(r)), d)
	}
}

// A Counter fills a table from the rows of a store, batch by batch, in one pass.
// Batches of different locations may come at once.
type Counter struct {
	Phases  *Phases
	Table   *Table
	Regions []trace.Region
	// Begin and End of the time looked at.
	Begin, End trace.Time
	// Row and Unit of a location; -1 for those that do not count.
	Row, Unit []int32
	// State overrides the state of a region, where not nil: by region, 255 for by role.
	State []State
	// Lanes of locations, as store.Reader.Lanes gives them: time on several lanes at once counts once.
	// Segments of such locations are held until Close.
	Lanes []uint32

	mu    sync.Mutex
	lanes map[trace.LocationID]*lane
}

// ByRole in Counter.State leaves a region to its role.
const ByRole State = 255

type lane struct {
	number int
	walker share.Walker
	phase  int       // where the last segment was
	held   []segment // of a location with several lanes
}

// A segment is a time range in a state.
type segment struct {
	begin, end trace.Time
	state      State
}

// Add takes a batch.
func (c *Counter) Add(cols *trace.Columns) {
	row := c.Row[cols.Location]
	if row < 0 {
		return
	}
	l := c.lane(cols.Location)
	if l.number != cols.Lane {
		c.finish(cols.Location, l)
		l.number, l.phase = cols.Lane, 0
		l.walker.Start(c.Begin, c.Regions)
	}
	l.walker.Open(cols)
	for i, begin := range cols.Begin {
		for l.walker.Next(begin) {
			c.count(cols.Location, l)
		}
		l.walker.Push(cols.End(i), cols.Region[i], cols.First+i)
	}
}

func (c *Counter) lane(id trace.LocationID) *lane {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.lanes[id]
	if l == nil {
		if c.lanes == nil {
			c.lanes = map[trace.LocationID]*lane{}
		}
		l = &lane{number: -1}
		c.lanes[id] = l
	}
	return l
}

func (c *Counter) finish(id trace.LocationID, l *lane) {
	if l.number < 0 {
		return
	}
	for l.walker.Next(c.End) {
		c.count(id, l)
	}
}

// Close counts the segments that are left.
func (c *Counter) Close() {
	for id, l := range c.lanes {
		c.finish(id, l)
		c.union(id, l)
	}
	c.lanes = nil
}

// union counts the segments of several lanes, each instant once. O(n log n).
func (c *Counter) union(id trace.LocationID, l *lane) {
	type edge struct {
		at    trace.Time
		state State
		delta int
	}
	edges := make([]edge, 0, 2*len(l.held))
	for _, g := range l.held {
		edges = append(edges, edge{g.begin, g.state, 1}, edge{g.end, g.state, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	var open [Idle + 1]int
	l.phase = 0
	for i, e := range edges {
		if i > 0 && e.at > edges[i-1].at {
			for _, s := range []State{Busy, Waiting, Idle} {
				if open[s] > 0 {
					c.spread(id, l, segment{edges[i-1].at, e.at, s})
					break
				}
			}
		}
		open[e.state] += e.delta
	}
	l.held = nil
}

// count adds the segment at hand to the phases it is in. Segments come in order
// of time, so the phase only moves on.
func (c *Counter) count(id trace.LocationID, l *lane) {
	g := &l.walker.Segment
	if g.Region == trace.NoRegion {
		return
	}
	s := StateOf(g.Role)
	if c.State != nil && c.State[g.Region] != ByRole {
		s = c.State[g.Region]
	}
	if s == Other {
		return
	}
	if own := (segment{g.Begin, g.End, s}); c.Lanes != nil && c.Lanes[id+1]-c.Lanes[id] > 1 {
		l.held = append(l.held, own)
	} else {
		c.spread(id, l, own)
	}
}

// spread adds a segment to the phases it is in.
func (c *Counter) spread(id trace.LocationID, l *lane, g segment) {
	row, unit := int(c.Row[id]), int(c.Unit[id])
	n := len(c.Phases.List)
	for k := l.phase; k < n; k++ {
		p := c.Phases.Span(unit, k)
		if p.Absent() {
			continue
		}
		if p.Begin >= g.end {
			return
		}
		if p.End <= g.begin {
			l.phase = k + 1
			continue
		}
		c.Table.Add(row, k, g.state, min(p.End, g.end)-max(p.Begin, g.begin))
	}
}
