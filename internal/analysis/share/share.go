// Package share is the digest of a time range of a lane: exact innermost time per role, the regions with
// the most innermost time, how many intervals begin, the longest and the shortest of them, and the last
// region.
//
// A digest has a bounded size, so it cannot list every region. It is made from a
// long block that does (long.go), so the listed times are exact and the winner is
// certain however many regions there are; only past some thousands of regions in one
// lane is there a slack, and then a digest may have to say: look at the rows.
package share

import "github.com/parallax-hpc/parallax/internal/trace"

// Name is the name of the summary in a store.
const Name = "share"

// Listed is how many regions a digest names: more than the winner, for those who ask
// about some regions alone.
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
	// Top are the regions with the most innermost time, most first, the lower id
	// of equal ones first.
	Top [Listed]Entry
	// Count is how many entries of Top are used.
	Count int
	// Rest is the most time that is listed of any other region.
	Rest trace.Time
	// Slack is how much more time any region may have than is listed of it: 0
	// where all is exact.
	Slack trace.Time
	// Decided says that no other region can have more time than the first of Top.
	Decided bool
}

// An Extreme is the duration of a row and its region; NoRegion for no row.
type Extreme struct {
	Duration trace.Time
	Region   trace.RegionID
}

// An Entry is the innermost time of a region.
type Entry struct {
	Region trace.RegionID
	Time   trace.Time
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
// has time is listed.
func (d *Digest) Exact() bool { return d.Rest == 0 && d.Slack == 0 }

// Dominant returns the region with the most innermost time, the lower id of equal
// ones; NoRegion where nothing is open. It is not certain where the slack
// leaves room for another region: then the rows must be looked at.
func (d *Digest) Dominant() (region trace.RegionID, certain bool) {
	if d.Count == 0 {
		return trace.NoRegion, d.Decided
	}
	return d.Top[0].Region, d.Decided
}
