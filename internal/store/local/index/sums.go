package index

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Prefix sums of a lane. At every checkBlock-th row there is a checkpoint, at the time at which that row begins. Its
// list of sums holds, for each region that changed, the increase since the checkpoint before; from time to time a list
// holds the whole sums instead. So the sum of a lane until a checkpoint is the sum over a few adjacent entries of the
// file. The sum of a window is the difference of two such sums, each with a walk over less than a block. All sums are
// integers: the answer is exact.
//
// A list holds everything once those since the last such one have checkFactor entries
// for each region of it: they take little room then, whatever the number of regions,
// and a sum has O(regions) entries. A list per region, found by binary search, was
// rejected: it takes several cache misses for each region where this takes few for all.
const (
	CheckBlock  = 256
	checkFactor = 8
)

// A Sum is the increase of a region's sums at a checkpoint.
type Sum struct {
	Exclusive, Inclusive trace.Time
	Calls                int64
}

func (s Sum) Minus(o Sum) Sum {
	return Sum{s.Exclusive - o.Exclusive, s.Inclusive - o.Inclusive, s.Calls - o.Calls}
}

// A summer goes through the rows of a lane, once, and makes the lists of sums; a
// summary tree takes the segments of time from the same walk.
type summer struct {
	roles   []trace.Role     // by region
	of      []regionSum      // by region
	posted  []Sum            // as of the last checkpoint
	list    []trace.RegionID // changed since the last checkpoint
	active  []trace.RegionID // open now
	regions []trace.RegionID // of the lane

	v        *rows.Lane
	out      sumSink // nil: sums are not asked for
	stack    []openRow
	segments []trace.Segment
	now      trace.Time
	base     uint32 // the last checkpoint whose list holds everything, 1 before any
	entries  int    // in the lists since
	err      error
}

// A regionSum is the state of a region, in one place, since a row needs all of it.
type regionSum struct {
	Sum                // closed so far, and the time of its own until now
	outer   trace.Time // begin of the outermost open interval
	onStack uint32
	place   int32 // in active
	changed bool  // since the last checkpoint
}

// An openRow is an interval on the stack.
type openRow struct {
	end    trace.Time
	row    int
	region trace.RegionID
	role   trace.Role // the one that counts, see trace.Segment
}

func newSummer(roles []trace.Role) *summer {
	return &summer{roles: roles, of: make([]regionSum, len(roles)), posted: make([]Sum, len(roles))}
}

// A sumSink takes the entries of one checkpoint after the other.
type sumSink interface {
	entry(trace.RegionID, Sum) error
	// checkpoint ends a list; base is the checkpoint from which lists are added up.
	checkpoint(base uint32) error
}

// start begins a lane at time 0. There is a list for each checkpoint after the begin,
// and the last one is over the whole lane. O(rows + checkpoints × regions open there).
func (s *summer) start(v *rows.Lane, out sumSink) {
	s.v, s.out, s.segments = v, out, s.segments[:0]
	s.now, s.base, s.entries, s.err = 0, 1, 0, nil
}

// rows goes through rows [lo, hi), and on to a time that no row after them is before. It is the innermost loop of an
// import, so it holds values that change with every row in local variables.
func (s *summer) rows(lo, hi int, until trace.Time) {
	begins, durations := s.v.Begin[lo:hi], s.v.Duration[lo:hi]
	regions, parents := s.v.Region[lo:hi], s.v.Parent[lo:hi]
	durations, regions, parents = durations[:len(begins)], regions[:len(begins)], parents[:len(begins)]
	s.reserve(hi - lo)
	of, stack, segments, now := s.of, s.stack, s.segments, s.now
	for i, begin := range begins {
		n := len(stack)
		for n > 0 && stack[n-1].row > int(parents[i]) {
			n--
			top := &stack[n]
			x := &of[top.region]
			if t := top.end; t > now {
				x.Exclusive += t - now
				segments = extend(segments, now, t, top.row, top.region, top.role)
				now = t
			}
			if x.onStack--; x.onStack == 0 {
				x.Inclusive += now - x.outer
				s.left(top.region, x)
			}
		}
		stack = stack[:n]
		around := trace.RoleNone
		if n > 0 {
			top := &stack[n-1]
			around = top.role
			if begin > now {
				of[top.region].Exclusive += begin - now
				segments = extend(segments, now, begin, top.row, top.region, around)
				now = begin
			}
		} else if begin > now {
			segments = extend(segments, now, begin, -1, trace.NoRegion, trace.RoleNone)
			now = begin
		}
		row := lo + i
		if row%CheckBlock == 0 && row > 0 && s.out != nil {
			s.now = now
			s.checkpoint(uint32(row/CheckBlock), s.entries >= checkFactor*len(s.regions))
		}
		r := regions[i]
		x := &of[r]
		if x.onStack == 0 {
			s.entered(r, x, begin)
		}
		x.onStack++
		x.Calls++
		role := s.roles[r]
		if role == trace.RoleAnnotation && n > 0 {
			role = around
		}
		stack = append(stack, openRow{begin + durations[i], row, r, role})
	}
	s.stack, s.segments, s.now = stack, segments, now
	for n := len(s.stack); n > 0 && s.stack[n-1].end < until; n-- {
		s.pop()
	}
	s.advance(until)
}

// reserve makes room for the segments of more rows: each may end one when it begins and one when it is left, and so
// may each open interval.
func (s *summer) reserve(rows int) {
	s.segments = slices.Grow(s.segments, 2*rows+len(s.stack)+1)
}

// extend appends a segment, joined to the last one where an empty interval lay between.
// There is room for it, see reserve. It is written field by field: one that is made
// elsewhere and copied takes three times as long.
func extend(list []trace.Segment, begin, end trace.Time, row int, region trace.RegionID,
	role trace.Role) []trace.Segment {
	k := len(list)
	if k > 0 && list[k-1].Row == row {
		list[k-1].End = end
		return list
	}
	list = list[:k+1]
	g := &list[k]
	g.Begin, g.End, g.Region, g.Row, g.Role = begin, end, region, row, role
	return list
}

// finish ends the lane.
func (s *summer) finish() error {
	s.reserve(0)
	s.leave(-1)
	if s.out != nil {
		s.checkpoint(uint32((s.v.Len()+CheckBlock-1)/CheckBlock), true)
	}
	for _, r := range s.regions {
		s.of[r], s.posted[r] = regionSum{}, Sum{}
	}
	s.regions, s.list = s.regions[:0], s.list[:0]
	return s.err
}

// advance adds the time until t to the innermost region.
func (s *summer) advance(t trace.Time) {
	if t <= s.now {
		return
	}
	row, region, role := -1, trace.NoRegion, trace.RoleNone
	if n := len(s.stack) - 1; n >= 0 {
		top := &s.stack[n]
		row, region, role = top.row, top.region, top.role
		s.of[region].Exclusive += t - s.now
	}
	s.segments = extend(s.segments, s.now, t, row, region, role)
	s.now = t
}

// leave closes the intervals past a parent.
func (s *summer) leave(parent int) {
	for n := len(s.stack); n > 0 && s.stack[n-1].row > parent; n-- {
		s.pop()
	}
}

// pop closes the innermost interval.
func (s *summer) pop() {
	n := len(s.stack) - 1
	r := s.stack[n].region
	s.advance(s.stack[n].end)
	s.stack = s.stack[:n]
	x := &s.of[r]
	if x.onStack--; x.onStack == 0 {
		x.Inclusive += s.now - x.outer
		s.left(r, x)
	}
}

// left takes a region off those that are open.
func (s *summer) left(r trace.RegionID, x *regionSum) {
	last := s.active[len(s.active)-1]
	s.active[x.place] = last
	s.of[last].place = x.place
	s.active = s.active[:len(s.active)-1]
	if !x.changed {
		x.changed = true
		s.list = append(s.list, r)
	}
}

// entered puts a region among those that are open.
func (s *summer) entered(r trace.RegionID, x *regionSum, begin trace.Time) {
	if x.Calls == 0 {
		s.regions = append(s.regions, r)
	}
	x.outer = begin
	x.place = int32(len(s.active))
	s.active = append(s.active, r)
}

// change notes a region for the next checkpoint: one that was left, or is open then.
// No other can have changed.
func (s *summer) change(r trace.RegionID) {
	if x := &s.of[r]; !x.changed {
		x.changed = true
		s.list = append(s.list, r)
	}
}

// checkpoint makes the list of checkpoint k: of the whole sums so far, or of the increases.
func (s *summer) checkpoint(k uint32, whole bool) {
	for _, r := range s.active {
		s.change(r)
	}
	for _, r := range s.list {
		s.of[r].changed = false
		now := s.at(r)
		added := now.Minus(s.posted[r])
		s.posted[r] = now
		if !whole && added != (Sum{}) {
			s.entries++
			s.fail(s.out.entry(r, added))
		}
	}
	s.list = s.list[:0]
	if whole {
		s.base, s.entries = k, 0
		slices.Sort(s.regions) // as answers want them
		for _, r := range s.regions {
			s.fail(s.out.entry(r, s.posted[r]))
		}
	}
	s.fail(s.out.checkpoint(s.base))
}

func (s *summer) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// at returns the sums of a region until now, with open intervals.
func (s *summer) at(r trace.RegionID) Sum {
	x := s.of[r]
	if x.onStack > 0 {
		x.Inclusive += s.now - x.outer
	}
	return x.Sum
}
