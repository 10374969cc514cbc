package timeline

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/share"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A span is one thing drawn in a strip: a segment of an interval, cut where something
// inside it is innermost; or an aggregate, which fills a bin (or several similar ones,
// see join) and stands for its content.
type span struct {
	begin, end trace.Time
	// open is how long something shown is open in [begin, end).
	open trace.Time
	// longest is the duration of the interval; of an aggregate that of the
	// longest that begins in it.
	longest trace.Time
	region  trace.RegionID // who won; NoRegion where roles compete
	row     int32          // in the lane; -1: an aggregate
	lane    int32
	count   uint32 // intervals that it stands for, at least 1
	role    trace.Role
	// pending aggregates have no winner yet: the rows must be looked at.
	pending bool
	// loose counts include intervals of regions that are not selected.
	loose bool
}

func (s *span) aggregate() bool { return s.row < 0 }

// A grid is the bins of 2^level ns, aligned to the start of the trace, so that
// moving the window moves the same bins.
type grid struct {
	begin, end trace.Time // the window
	level      int
}

func (g *grid) bin(t trace.Time) int64        { return int64(t >> g.level) }
func (g *grid) binBegin(bin int64) trace.Time { return trace.Time(bin) << g.level }

// bins is how many bins the window touches.
func (g *grid) bins() int { return int(g.bin(g.end-1)-g.bin(g.begin)) + 1 }

// A rule defines the competitors for a bin and how the winner is found.
type rule struct {
	show   show
	key    key
	keep   []bool // by region; nil: all
	kept   int    // how many are kept
	labels []trace.Region
	// durations are wanted of single intervals: colours show them.
	durations bool
}

type show uint8

const (
	dominant show = iota
	longest
	shortest
	last
	average
	random     // the region open at a random instant, or nothing
	randomOpen // the same among the instants with something open
)

// A key is the kind of competitors for a bin: regions, roles, or busy against not busy.
type key uint8

const (
	byRegion key = iota
	byRole
	byBusy
)

func (r *rule) keeps(id trace.RegionID) bool {
	return id != trace.NoRegion && (r.keep == nil || r.keep[id])
}

// sums reports whether the time of each region is all that a bin needs.
func (r *rule) sums() bool {
	return r.show == dominant && r.key == byRegion && r.keep == nil && !r.durations
}

// exactPieces is how many pieces of a bin are drawn as they are. More make an aggregate.
const exactPieces = 2

// cells build the spans of one strip. Segments and rows come in order of time: a
// row after the segments that end where it begins. O(1) a call, apart from
// finding the winner of a bin, which costs the regions met in it.
type cells struct {
	grid  grid
	rule  *rule
	tally *share.Tally // of the open bin, once it has more pieces than are kept
	spans []span
	// silent are bins in which intervals begin, but none is innermost.
	silent []trace.Time

	binBegin trace.Time // of the open bin
	binEnd   trace.Time
	from, to trace.Time // of it, as far as it is in the window
	n        int        // pieces in it
	pieces   [exactPieces]span
	role     [trace.RoleCount]trace.Time
	open     trace.Time
	rows     uint32
	longest  share.Extreme
	shortest share.Extreme

	lastRegion trace.RegionID
	lastRole   trace.Role
	// duration of rows, by place; nil if not wanted.
	duration map[place]trace.Time
}

// A place is an interval of a location.
type place struct{ lane, row int32 }

func newCells(g grid, r *rule) *cells {
	c := &cells{grid: g, rule: r, tally: new(share.Tally)}
	if r.durations {
		c.duration = map[place]trace.Time{}
	}
	c.reset()
	return c
}

// opened says which intervals are open before the rows that come.
func (c *cells) opened(open []trace.OpenInterval, lane int) {
	if c.duration == nil {
		return
	}
	for _, o := range open {
		c.duration[place{int32(lane), int32(o.Row)}] = o.End - o.Begin
	}
}

func (c *cells) reset() {
	c.n, c.open, c.rows = 0, 0, 0
	c.role = [trace.RoleCount]trace.Time{}
	c.longest.Region, c.shortest.Region = trace.NoRegion, trace.NoRegion
	c.lastRegion, c.lastRole = trace.NoRegion, trace.RoleNone
	c.tally.Reset()
}

// segment adds a time range in which a row of a lane is innermost.
func (c *cells) segment(s *trace.Segment, lane int) {
	if s.Begin >= c.from && s.End <= c.to && s.Begin < s.End && c.rule.keeps(s.Region) { // most are in the open bin
		c.piece(s.Begin, s.End, s.Region, s.Role, s.Row, lane)
		return
	}
	begin, end := max(s.Begin, c.grid.begin), min(s.End, c.grid.end)
	if begin >= end || !c.rule.keeps(s.Region) {
		return
	}
	for {
		if begin >= c.binEnd || begin < c.binBegin {
			c.move(begin)
		}
		to := min(end, c.binEnd)
		// A segment that covers bins wholly is alone in them.
		if end > c.binEnd && c.n == 0 && begin == c.binBegin {
			to = max(to, c.grid.binBegin(c.grid.bin(end)))
		}
		c.piece(begin, to, s.Region, s.Role, s.Row, lane)
		if to > c.binEnd {
			c.close()
			c.setBin(to)
		}
		if begin = to; begin >= end {
			return
		}
	}
}

// row says that an interval begins.
func (c *cells) row(begin, duration trace.Time, region trace.RegionID, row, lane int) {
	if begin < c.grid.begin || !c.rule.keeps(region) {
		return
	}
	if c.duration != nil {
		c.duration[place{int32(lane), int32(row)}] = duration
	}
	if begin >= c.binEnd || begin < c.binBegin {
		c.move(begin)
	}
	c.rows++
	if duration == 0 {
		c.piece(begin, begin, region, c.rule.labels[region].Role, row, lane)
		return
	}
	x := share.Extreme{Duration: duration, Region: region}
	if l := c.longest; l.Region == trace.NoRegion || x.Duration > l.Duration ||
		x.Duration == l.Duration && x.Region < l.Region {
		c.longest = x
	}
	if s := c.shortest; s.Region == trace.NoRegion || x.Duration < s.Duration ||
		x.Duration == s.Duration && x.Region < s.Region {
		c.shortest = x
	}
}

// piece adds to the open bin.
func (c *cells) piece(begin, end trace.Time, region trace.RegionID, role trace.Role, row, lane int) {
	d := end - begin
	c.open += d
	c.role[role] += d
	c.lastRegion, c.lastRole = region, role
	if c.n > exactPieces {
		c.n++
		c.tally.Add(region, d)
		return
	}
	if c.n > 0 && d > 0 {
		if p := &c.pieces[c.n-1]; p.row == int32(row) && p.lane == int32(lane) && p.end == begin {
			p.end, p.open = end, p.open+d
			return
		}
	}
	if c.n < exactPieces {
		c.pieces[c.n] = span{begin: begin, end: end, open: d, region: region, role: role, row: int32(row),
			lane: int32(lane), count: 1}
	} else {
		for _, q := range c.pieces {
			c.tally.Add(q.region, q.open)
		}
		c.tally.Add(region, d)
	}
	c.n++
}

// move closes the open bin and opens that of t.
func (c *cells) move(t trace.Time) {
	c.close()
	c.setBin(t)
}

func (c *cells) setBin(t trace.Time) {
	c.binBegin = c.grid.binBegin(c.grid.bin(t))
	c.binEnd = c.binBegin + 1<<c.grid.level
	c.from, c.to = max(c.binBegin, c.grid.begin), min(c.binEnd, c.grid.end)
}

// close turns the open bin into spans.
func (c *cells) close() {
	if c.n == 0 && c.rows == 0 {
		return
	}
	if c.n == 0 {
		c.silent = append(c.silent, c.binBegin)
	}
	if c.n <= exactPieces {
		for i := range c.n {
			c.emit(&c.pieces[i])
		}
		c.reset()
		return
	}
	s := span{open: c.open, row: -1, region: trace.NoRegion, count: max(1, c.rows), longest: c.longest.Duration}
	s.begin = max(c.grid.begin, c.binBegin)
	s.end = max(s.begin, min(c.grid.end, c.binEnd))
	if draws, _ := c.rule.lots(); draws && c.open > 0 {
		if c.drawOpen(&s) {
			c.add(&s)
		}
		c.reset()
		return
	}
	c.decide(&s)
	c.add(&s)
	c.reset()
}

// decide names the winner of the open bin.
func (c *cells) decide(s *span) {
	switch {
	case c.open == 0: // empty intervals alone
		s.region, s.role = c.lastRegion, c.lastRole
		return
	case c.rule.show == longest && c.longest.Region != trace.NoRegion:
		s.region = c.longest.Region
	case c.rule.show == shortest && c.shortest.Region != trace.NoRegion:
		s.region = c.shortest.Region
	case c.rule.show == last:
		s.region, s.role = c.lastRegion, c.lastRole
		return
	case c.rule.key == byRegion:
		s.region, _ = c.tally.Dominant()
	default:
		s.region, s.role = trace.NoRegion, c.rule.winningRole(&c.role)
		return
	}
	s.role = c.rule.labels[s.region].Role
}

// winningRole returns the role with the most time, the lower one of equal ones.
// With busy against not busy it is the largest role of the winning side, busy
// of equal ones.
func (r *rule) winningRole(time *[trace.RoleCount]trace.Time) trace.Role {
	sides := [2]trace.Time{}
	best := [2]trace.Role{}
	for i, t := range time[1:] {
		role := trace.Role(i + 1)
		side := 0
		if r.key == byBusy && !role.Busy() {
			side = 1
		}
		sides[side] += t
		if best[side] == trace.RoleNone || t > time[best[side]] {
			best[side] = role
		}
	}
	if sides[1] > sides[0] {
		return best[1]
	}
	return best[0]
}

// emit appends a span, joined to the one before where that goes on.
func (c *cells) emit(s *span) {
	if c.duration != nil && !s.aggregate() {
		s.longest = c.duration[place{s.lane, s.row}]
	}
	if n := len(c.spans); n > 0 && !s.aggregate() && s.begin < s.end {
		p := &c.spans[n-1]
		if p.row == s.row && p.lane == s.lane && p.end == s.begin && p.begin < p.end {
			p.end, p.open = s.end, p.open+s.open
			return
		}
	}
	c.add(s)
}

// add appends a span. Most bins of a lane that has many have one: there is room for
// those that follow at once, as far as it is no more than a few times those before.
func (c *cells) add(s *span) {
	if n := len(c.spans); n == cap(c.spans) {
		left := int(c.grid.bin(c.grid.end)-c.grid.bin(s.begin)) + 2
		c.spans = slices.Grow(c.spans, min(left, 16+3*n))
	}
	c.spans = append(c.spans, *s)
}

// finish closes the last bin.
func (c *cells) finish() []span {
	c.close()
	return c.spans
}
