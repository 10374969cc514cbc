package share

import (
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Collector turns the rows of many locations into the segments of each location: lanes are folded, see
// Fold. It takes columns as a store yields them: of many locations at once, of one location lane after
// lane and each lane in order of time.
type Collector struct {
	// Begin and End of the time looked at.
	Begin, End trace.Time
	Regions    []trace.Region
	// Keep says which regions exist for the fold, by id; nil: all. Time in
	// others is as if nothing were open.
	Keep []bool
	// Lanes gives the number of lanes of a location; with nil every lane is
	// emitted by itself. Pieces of a location with one lane pass through,
	// those of several are held until Close.
	Lanes func(trace.LocationID) int
	// Wins is store.RoleOfInstant.
	Wins func(a, b trace.Role) trace.Role
	// Cut passes on the parts of a piece that are of interest; nil: all of it.
	Cut func(trace.LocationID, Piece, func(Piece))
	// Emit receives pieces with something open: of one location never twice at
	// once, in order of time.
	Emit func(trace.LocationID, Piece)
	// Row receives row i of the columns, after the pieces that end by its
	// begin; may be nil. Rows of several lanes come lane after lane.
	Row func(c *trace.Columns, i int)

	mu    sync.Mutex
	lanes map[trace.LocationID]*collected
}

// collected is the state of one location.
type collected struct {
	location trace.LocationID
	lane     int
	many     bool // lanes to fold
	walker   Walker
	pieces   []Piece // of the lane at hand, where there are many
	folded   folder
	emit     func(trace.Segment)
}

// Add takes a batch. It may be called at once for different locations.
func (c *Collector) Add(cols *trace.Columns) {
	s := c.state(cols.Location)
	if s.lane != cols.Lane {
		c.endLane(s)
		s.lane = cols.Lane
		s.walker.Start(c.Begin, c.Regions)
	}
	if c.Row == nil {
		s.walker.Add(cols, s.emit)
		return
	}
	s.walker.Open(cols)
	for i, begin := range cols.Begin {
		s.walker.advance(begin, s.emit)
		s.walker.Push(cols.End(i), cols.Region[i], cols.First+i)
		c.Row(cols, i)
	}
}

func (c *Collector) state(id trace.LocationID) *collected {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.lanes[id]
	if s == nil {
		s = &collected{location: id, lane: -1, many: c.Lanes != nil && c.Lanes(id) > 1}
		take := func(p Piece) {
			if s.many {
				s.pieces = append(s.pieces, p)
				return
			}
			c.Emit(id, p)
		}
		s.emit = func(g trace.Segment) {
			if g.Region == trace.NoRegion || c.Keep != nil && !c.Keep[g.Region] {
				return
			}
			p := Piece{g, s.lane}
			if c.Cut == nil {
				take(p)
				return
			}
			c.Cut(id, p, take)
		}
		if c.lanes == nil {
			c.lanes = map[trace.LocationID]*collected{}
		}
		c.lanes[id] = s
	}
	return s
}

// endLane emits the remaining segments of the current lane, and folds it.
func (c *Collector) endLane(s *collected) {
	if s.lane < 0 {
		return
	}
	s.walker.Finish(c.End, s.emit)
	if s.many {
		s.folded.add(s.pieces, c.Wins)
		s.pieces = s.pieces[:0]
	}
}

// Close emits the remaining segments. The collector may be used again after it.
func (c *Collector) Close() {
	for id, s := range c.lanes {
		c.endLane(s)
		for _, p := range s.folded.all(c.Wins) {
			c.Emit(id, p)
		}
	}
	c.lanes = nil
}
