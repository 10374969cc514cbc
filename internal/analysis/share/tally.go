package share

import "github.com/parallax-hpc/parallax/internal/trace"

// denseRegions bounds the table of a tally: traces with more regions have the
// rest in a map, so that thousands of tallies stay small.
const denseRegions = 4096

// A Tally adds up time per region. Adding costs one array access for the first regions of a trace; Reset
// costs O(touched regions), so one tally serves any number of bins. The zero Tally is empty.
type Tally struct {
	time    []trace.Time // by region
	seen    []bool
	many    map[trace.RegionID]trace.Time // beyond denseRegions
	regions []trace.RegionID              // touched, in order of first touch
}

// Add adds time to a region. NoRegion is ignored.
func (t *Tally) Add(r trace.RegionID, d trace.Time) {
	if int(r) < len(t.seen) && t.seen[r] { // the common case, inlined
		t.time[r] += d
		return
	}
	t.first(r, d)
}

// first adds to a region that may not be in the table yet.
func (t *Tally) first(r trace.RegionID, d trace.Time) {
	if int(r) >= len(t.time) {
		if !t.grow(r, d) {
			return
		}
	}
	if !t.seen[r] {
		t.seen[r] = true
		t.regions = append(t.regions, r)
	}
	t.time[r] += d
}

// grow makes room for a region in the table, or adds to the map.
func (t *Tally) grow(r trace.RegionID, d trace.Time) bool {
	if r == trace.NoRegion {
		return false
	}
	if r >= denseRegions {
		if t.many == nil {
			t.many = map[trace.RegionID]trace.Time{}
		}
		old, ok := t.many[r]
		if !ok {
			t.regions = append(t.regions, r)
		}
		t.many[r] = old + d
		return false
	}
	n := min(max(int(r)+1, 2*len(t.time), 64), denseRegions)
	t.time = append(t.time, make([]trace.Time, n-len(t.time))...)
	t.seen = append(t.seen, make([]bool, n-len(t.seen))...)
	return true
}

// Time of a region.
func (t *Tally) Time(r trace.RegionID) trace.Time {
	if int(r) < len(t.time) {
		return t.time[r]
	}
	return t.many[r]
}

// Regions that were added, in the order in which they came first.
func (t *Tally) Regions() []trace.RegionID { return t.regions }

// Dominant returns the region with the most time, the lower id of equal ones, and
// its time; NoRegion where nothing was added.
func (t *Tally) Dominant() (trace.RegionID, trace.Time) {
	best, most := trace.NoRegion, trace.Time(-1)
	for _, r := range t.regions {
		if d := t.Time(r); d > most || d == most && r < best {
			best, most = r, d
		}
	}
	return best, max(most, 0)
}

// Reset forgets everything.
func (t *Tally) Reset() {
	for _, r := range t.regions {
		if int(r) < len(t.time) {
			t.time[r], t.seen[r] = 0, false
		}
	}
	if len(t.many) > 0 {
		clear(t.many)
	}
	t.regions = t.regions[:0]
}
