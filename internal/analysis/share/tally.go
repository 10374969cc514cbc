package share

import "github.com/parallax-hpc/parallax/internal/trace"

// A Tally adds up time per region. Adding costs one array access; Reset costs
// what was touched, so one tally serves any number of bins.
type Tally struct {
	time    []trace.Time // by region
	seen    []bool
	regions []trace.RegionID // touched, in order of first touch
}

// Add adds time to a region. NoRegion is ignored.
func (t *Tally) Add(r trace.RegionID, d trace.Time) {
	if r == trace.NoRegion {
		return
	}
	if int(r) >= len(t.time) {
		n := max(int(r)+1, 2*len(t.time), 64)
		t.time = append(t.time, make([]trace.Time, n-len(t.time))...)
		t.seen = append(t.seen, make([]bool, n-len(t.seen))...)
	}
	if !t.seen[r] {
		t.seen[r] = true
		t.regions = append(t.regions, r)
	}
	t.time[r] += d
}

// Time of a region.
func (t *Tally) Time(r trace.RegionID) trace.Time {
	if int(r) >= len(t.time) {
		return 0
	}
	return t.time[r]
}

// Regions that were added, in the order in which they came first.
func (t *Tally) Regions() []trace.RegionID { return t.regions }

// Dominant gives the region with the most time, the lower id of equal ones, and
// its time; NoRegion where nothing was added.
func (t *Tally) Dominant() (trace.RegionID, trace.Time) {
	best, most := trace.NoRegion, trace.Time(-1)
	for _, r := range t.regions {
		if d := t.time[r]; d > most || d == most && r < best {
			best, most = r, d
		}
	}
	return best, max(most, 0)
}

// Reset forgets everything.
func (t *Tally) Reset() {
	for _, r := range t.regions {
		t.time[r], t.seen[r] = 0, false
	}
	t.regions = t.regions[:0]
}
