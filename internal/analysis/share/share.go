// Package share is the digest of who held a stretch of a lane: exact innermost
// time per role, the regions with the most innermost time, how many intervals
// begin, the longest and the shortest of them, and what came last.
//
// A digest has a bounded size, so it cannot know every region. It lists Listed of
// them with bounds from below and above, and one bound for all others, in the
// manner of the mergeable summaries of Agarwal, Cormode, Huang, Phillips, Wei
// and Yi ("Mergeable Summaries", 2012). Built from rows the listed times are
// exact; merging keeps every bound sound. So the question "which region is
// dominant?" has two answers: this one, for certain; or look at the rows.
package share

import "github.com/parallax-hpc/parallax/internal/trace"

// Name is the name of the summary in a store.
const Name = "share"

// Listed is how many regions a digest names. In steps of some 16 regions of like
// size 4 leave three quarters of the bins of a picture undecided, 8 one in thirty.
const Listed = 8

// A Digest is a decoded block.
type Digest struct {
	// Role is the exact time per role that counts, see trace.Segment;
	// Role[trace.RoleNone] is the time with nothing open.
	Role [trace.RoleCount]trace.Time
	// Rows is how many intervals begin in the stretch, Empty how many of them
	// have no duration.
	Rows, Empty int64
	// Longest and Shortest are among the rows that begin in the stretch, with
	// their full duration; rows of no duration are left out. Equal durations
	// are decided for the lower region.
	Longest, Shortest Extreme
	// Last is the region that is open last, or of an empty interval after
	// that; NoRegion where nothing happened.
	Last trace.RegionID
	// Top are the regions with the largest upper bounds, largest first; of
	// equal ones that with the larger lower bound, then the lower id.
	Top [Listed]Entry
	// Count is how many entries of Top are used.
	Count int
	// Bound is the largest innermost time any region not in Top can have.
	Bound trace.Time
}

// An Extreme is the duration of a row and its region; NoRegion for no row.
type Extreme struct {
	Duration trace.Time
	Region   trace.RegionID
}

// An Entry says that the innermost time of a region is in [Low, High].
type Entry struct {
	Region    trace.RegionID
	Low, High trace.Time
}

// Open is the time with something open.
func (d *Digest) Open() trace.Time {
	sum := trace.Time(0)
	for _, t := range d.Role[1:] {
		sum += t
	}
	return sum
}

// Exact reports whether the times of all regions are known: every region that
// has time is listed, and each with equal bounds.
func (d *Digest) Exact() bool {
	if d.Bound != 0 {
		return false
	}
	for _, e := range d.Top[:d.Count] {
		if e.Low != e.High {
			return false
		}
	}
	return true
}

// Dominant gives the region with the most innermost time, the lower id of equal
// ones; NoRegion where nothing is open. It is not certain where the bounds
// leave room for another region: then the rows must be looked at.
func (d *Digest) Dominant() (region trace.RegionID, certain bool) {
	best := Entry{Region: trace.NoRegion}
	for _, e := range d.Top[:d.Count] {
		if e.Low > best.Low || e.Low == best.Low && e.Region < best.Region {
			best = e
		}
	}
	for _, e := range d.Top[:d.Count] {
		if e.Region != best.Region && (e.High > best.Low || e.High == best.Low && e.Region < best.Region) {
			return best.Region, false
		}
	}
	return best.Region, d.Bound == 0 || d.Bound < best.Low
}
