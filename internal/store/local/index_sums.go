package local

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Prefix sums of a lane. At every checkBlock-th row there is a checkpoint, at the
// time at which that row begins. Its list of sums holds, for each region that
// changed, what was added since the checkpoint before; from time to time a list holds
// everything so far instead. So what a lane has summed up until a checkpoint is the
// sum over a short run of entries that lie next to each other in the file, and what
// a window holds is the difference of two such sums, each with a walk over less than
// a block. All of it is integers: the answer is exact.
//
// A list holds everything once those since the last such one have checkFactor entries
// for each region of it: they take little room then, whatever the number of regions,
// and a sum has O(regions) entries. A list per region, found by binary search, was
// rejected: it takes several cache misses for each region where this takes few for all.
const (
	checkBlock  = 256
	checkFactor = 8
)

// A sum is what a region adds at a checkpoint.
type sum struct {
	exclusive, inclusive trace.Time
	calls                int64
}

func (s sum) minus(o sum) sum {
	return sum{s.exclusive - o.exclusive, s.inclusive - o.inclusive, s.calls - o.calls}
}

// A summer goes through the rows of a lane, once, and makes the lists of sums; a
// forest takes the segments of time from the same walk.
type summer struct {
	roles   []trace.Role // by region
	sums    []sum        // closed so far, by region
	outer   []trace.Time // begin of the outermost open interval
	onStack []uint32
	posted  []sum // as of the last checkpoint
	changed []bool
	list    []trace.RegionID // changed since the last checkpoint
	active  []trace.RegionID // open now
	place   []int32          // in active
	regions []trace.RegionID // of the lane

	v        *laneView
	out      sumSink // nil: sums are not asked for
	stack    []trace.OpenInterval
	counting []trace.Role // of each on the stack: the role that counts, see trace.Segment
	segments []trace.Segment
	now      trace.Time
	base     uint32 // the last checkpoint whose list holds everything, 1 before any
	entries  int    // in the lists since
	err      error
}

func newSummer(roles []trace.Role) *summer {
	n := len(roles)
	return &summer{
		roles: roles, sums: make([]sum, n), outer: make([]trace.Time, n), onStack: make([]uint32, n),
		posted: make([]sum, n), changed: make([]bool, n), place: make([]int32, n),
	}
}

// A sumSink takes the entries of one checkpoint after the other.
type sumSink interface {
	entry(trace.RegionID, sum) error
	// checkpoint ends a list; base is the checkpoint from which lists are added up.
	checkpoint(base uint32) error
}

// start begins a lane at time 0. There is a list for each checkpoint after the begin,
// and the last one is over the whole lane. O(rows + checkpoints × regions open there).
func (s *summer) start(v *laneView, out sumSink) {
	s.v, s.out, s.segments = v, out, s.segments[:0]
	s.now, s.base, s.entries, s.err = 0, 1, 0, nil
}

// rows goes through rows [lo, hi), and on to a time that no row after them is before.
func (s *summer) rows(lo, hi int, until trace.Time) {
	v := s.v
	for i := lo; i < hi; i++ {
		s.leave(int(v.parent[i]))
		s.advance(v.begin[i])
		if i%checkBlock == 0 && i > 0 && s.out != nil {
			s.checkpoint(uint32(i/checkBlock), s.entries >= checkFactor*len(s.regions))
		}
		s.enter(v.interval(i))
	}
	for n := len(s.stack); n > 0 && s.stack[n-1].End < until; n-- {
		s.pop()
	}
	s.advance(until)
}

// finish ends the lane.
func (s *summer) finish() error {
	s.leave(-1)
	if s.out != nil {
		s.checkpoint(uint32((s.v.len()+checkBlock-1)/checkBlock), true)
	}
	for _, r := range s.regions {
		s.sums[r], s.posted[r] = sum{}, sum{}
	}
	s.regions = s.regions[:0]
	for _, r := range s.list {
		s.changed[r] = false
	}
	s.list = s.list[:0]
	return s.err
}

// advance gives the time until t to the innermost region.
func (s *summer) advance(t trace.Time) {
	if t <= s.now {
		return
	}
	g := trace.Segment{Begin: s.now, End: t, Region: trace.NoRegion, Row: -1}
	if n := len(s.stack) - 1; n >= 0 {
		g.Region, g.Row, g.Role = s.stack[n].Region, s.stack[n].Row, s.counting[n]
		s.sums[g.Region].exclusive += t - s.now
	}
	s.now = t
	if k := len(s.segments); k > 0 && s.segments[k-1].Row == g.Row { // an empty one lay between
		s.segments[k-1].End = t
		return
	}
	s.segments = append(s.segments, g)
}

// leave closes the intervals past a parent.
func (s *summer) leave(parent int) {
	for n := len(s.stack); n > 0 && s.stack[n-1].Row > parent; n-- {
		s.pop()
	}
}

// pop closes the innermost interval.
func (s *summer) pop() {
	n := len(s.stack) - 1
	r := s.stack[n].Region
	s.advance(s.stack[n].End)
	s.stack, s.counting = s.stack[:n], s.counting[:n]
	if s.onStack[r]--; s.onStack[r] == 0 {
		s.sums[r].inclusive += s.now - s.outer[r]
		last := s.active[len(s.active)-1]
		s.active[s.place[r]] = last
		s.place[last] = s.place[r]
		s.active = s.active[:len(s.active)-1]
		s.change(r)
	}
}

func (s *summer) enter(o trace.OpenInterval) {
	r := o.Region
	if s.sums[r].calls == 0 {
		s.regions = append(s.regions, r)
	}
	if s.onStack[r] == 0 {
		s.outer[r] = o.Begin
		s.place[r] = int32(len(s.active))
		s.active = append(s.active, r)
	}
	s.onStack[r]++
	s.sums[r].calls++
	role := s.roles[r]
	if n := len(s.counting); role == trace.RoleAnnotation && n > 0 {
		role = s.counting[n-1]
	}
	s.stack, s.counting = append(s.stack, o), append(s.counting, role)
}

// change notes a region for the next checkpoint: one that was left, or is open then.
// No other can have changed.
func (s *summer) change(r trace.RegionID) {
	if !s.changed[r] {
		s.changed[r] = true
		s.list = append(s.list, r)
	}
}

// checkpoint makes the list of checkpoint k: of everything so far, or of what was
// added.
func (s *summer) checkpoint(k uint32, whole bool) {
	for _, r := range s.active {
		s.change(r)
	}
	for _, r := range s.list {
		s.changed[r] = false
		now := s.at(r)
		added := now.minus(s.posted[r])
		s.posted[r] = now
		if !whole && added != (sum{}) {
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

// at gives the sums of a region until now, with what is open.
func (s *summer) at(r trace.RegionID) sum {
	x := s.sums[r]
	if s.onStack[r] > 0 {
		x.inclusive += s.now - s.outer[r]
	}
	return x
}
