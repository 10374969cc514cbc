package store

import "github.com/parallax-hpc/parallax/internal/trace"

// A Peeker is a Reader that gives single rows without those around them. Rows are named by their number among all:
// those of a lane follow each other, and so do the lanes.
type Peeker interface {
	// Peeks reports whether single rows cost little: they are on this machine.
	Peeks() bool
	// RowsBefore returns the number of intervals that the locations before one have.
	RowsBefore(id trace.LocationID) int64
	// Peek calls f, alone, with rows that are valid until it returns. A panic of f is an error.
	Peek(f func(Peek) error) error
}

// A Peek gives facts of rows, each by the number of its row, for the use of one goroutine. Rows near to those asked
// for last cost least.
type Peek interface {
	Begin(row uint64) trace.Time
	End(row uint64) trace.Time
	Region(row uint64) trace.RegionID
	Depth(row uint64) uint16
	// Depths calls do for the depths of rows [lo, hi), a stretch at a time.
	Depths(lo, hi uint64, do func(depths []uint16))
	// Regions does for the regions of rows.
	Regions(lo, hi uint64, do func(regions []trace.RegionID))
	// Begins does for when rows begin.
	Begins(lo, hi uint64, do func(begins []trace.Time))
	// Durations does for how long rows last.
	Durations(lo, hi uint64, do func(durations []trace.Time))
}
