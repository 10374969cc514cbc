package store

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Binner is a Reader that returns the times of regions in many bins at once from its sums, without reading the rows
// of bins that hold many.
type Binner interface {
	// RegionBins yields each bin of 2^level ns that is asked for, aligned to the start of the trace, with those of
	// the regions kept (by id, nil for all) that have time or calls in it; bins without any do not come. The bins of
	// one entry come in order; those of different entries at once. The argument of a callback is valid only until it
	// returns.
	RegionBins(ctx context.Context, level int, keep []bool, want []LaneBins,
		f func(entry int, b *RegionBin) error) error
}

// LaneBins are bins of one lane, ascending: bin b begins at b << level.
type LaneBins struct {
	Location trace.LocationID
	Lane     int
	Bins     []int64
}

// A RegionBin holds the times of the regions of a lane in one bin.
type RegionBin struct {
	Bin       int64
	Region    []trace.RegionID
	Exclusive []trace.Time // innermost time
	Calls     []int64      // that begin in the bin
}
