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

// A summer goes through the rows of a lane and makes the lists of sums.
type summer struct {
	sums    []sum        // closed so far, by region
	outer   []trace.Time // begin of the outermost open interval
	onStack []uint32
	posted  []sum // as of the last checkpoint
	changed []bool
	list    []trace.RegionID // changed since the last checkpoint
	active  []trace.RegionID // open now
	place   []int32          // in active
	regions []trace.RegionID // of the lane
	stack   []openRow
	now     trace.Time
	base    uint32 // the last checkpoint whose list holds everything, 1 before any
	entries int    // in the lists since
}

// An openRow is an interval that is open.
type openRow struct {
	end    trace.Time
	row    int32
	region trace.RegionID
}

func newSummer(regions int) *summer {
	return &summer{
		sums: make([]sum, regions), outer: make([]trace.Time, regions), onStack: make([]uint32, regions),
		posted: make([]sum, regions), changed: make([]bool, regions), place: make([]int32, regions),
	}
}

// A sumSink takes the entries of one checkpoint after the other.
type sumSink interface {
	entry(trace.RegionID, sum) error
	// checkpoint ends a list; base is the checkpoint from which lists are added up.
	checkpoint(base uint32) error
}

// lane makes the lists of a lane: one for each checkpoint after the begin, and the
// last one over the whole lane. O(rows + checkpoints × regions open there).
func (s *summer) lane(v *laneView, out sumSink) error {
	s.now, s.base, s.entries = v.begin[0], 1, 0
	for i := range v.begin {
		s.leave(v.parent[i])
		s.advance(v.begin[i])
		if i%checkBlock == 0 && i > 0 {
			whole := s.entries >= checkFactor*len(s.regions)
			if err := s.checkpoint(uint32(i/checkBlock), whole, out); err != nil {
				return err
			}
		}
		s.enter(openRow{v.end(i), int32(i), v.region[i]}, v.begin[i])
	}
	s.leave(-1)
	err := s.checkpoint(uint32((v.len()+checkBlock-1)/checkBlock), true, out)
	for _, r := range s.regions {
		s.sums[r], s.posted[r] = sum{}, sum{}
	}
	s.regions = s.regions[:0]
	return err
}

// advance gives the time until t to the innermost region.
func (s *summer) advance(t trace.Time) {
	if t <= s.now {
		return
	}
	if n := len(s.stack); n > 0 {
		s.sums[s.stack[n-1].region].exclusive += t - s.now
	}
	s.now = t
}

// leave closes the intervals past a parent.
func (s *summer) leave(parent int32) {
	for n := len(s.stack) - 1; n >= 0 && s.stack[n].row > parent; n-- {
		r := s.stack[n].region
		s.advance(s.stack[n].end)
		s.stack = s.stack[:n]
		if s.onStack[r]--; s.onStack[r] == 0 {
			s.sums[r].inclusive += s.now - s.outer[r]
			last := s.active[len(s.active)-1]
			s.active[s.place[r]] = last
			s.place[last] = s.place[r]
			s.active = s.active[:len(s.active)-1]
			s.change(r)
		}
	}
}

func (s *summer) enter(o openRow, t trace.Time) {
	r := o.region
	if s.sums[r].calls == 0 {
		s.regions = append(s.regions, r)
	}
	if s.onStack[r] == 0 {
		s.outer[r] = t
		s.place[r] = int32(len(s.active))
		s.active = append(s.active, r)
	}
	s.onStack[r]++
	s.sums[r].calls++
	s.stack = append(s.stack, o)
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
func (s *summer) checkpoint(k uint32, whole bool, out sumSink) error {
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
			if err := out.entry(r, added); err != nil {
				return err
			}
		}
	}
	s.list = s.list[:0]
	if whole {
		s.base, s.entries = k, 0
		slices.Sort(s.regions) // as answers want them
		for _, r := range s.regions {
			if err := out.entry(r, s.posted[r]); err != nil {
				return err
			}
		}
	}
	return out.checkpoint(s.base)
}

// at gives the sums of a region until now, with what is open.
func (s *summer) at(r trace.RegionID) sum {
	x := s.sums[r]
	if s.onStack[r] > 0 {
		x.inclusive += s.now - s.outer[r]
	}
	return x
}
