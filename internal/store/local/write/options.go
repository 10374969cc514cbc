package write

import (
	"github.com/parallax-hpc/parallax/internal/match"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Options say how a store is written.
type Options struct {
	// Memory is the budget for buffers, in bytes; 0 for 256 MiB. Definitions
	// (locations, regions, call paths) come on top.
	Memory int64
	// Summaries are kept in the summary tree.
	Summaries []trace.Summary
	// Digests are kept for each lane.
	Digests []trace.Digest
	// Sources and Format are kept as they are, for Info.
	Sources []string
	Format  string
	// RegionName returns the name of a region whose name in the source may hold more than that; nil: as in the source.
	RegionName func(string) string
	// Align selects the correction of clock skew between processes. With "auto" clocks are fitted by messages and
	// collectives if an effect comes before its cause. With "messages" or "collectives" they are fitted by these, even
	// if they agree. With "none" skew is only reported. "": times are taken as they are.
	Align string
	// Infer takes the time between calls of ranks that record communication only as work, see trace.NotRecorded.
	Infer bool
	// Workers is how many goroutines Finish uses; 0 for one a core.
	Workers int
	// Part and Parts: where Parts is above 0, only part Part of so many is written, counted from 1, as a directory that
	// is no store by itself.
	Part, Parts int
	// Shared: the reader gives only what the files of the part hold; see package finish, record.go.
	Shared bool
	// Listing is the files of the source, in the order of their names; with Shared.
	Listing []disk.SourceFile
	// Conclude ends the input of a format when its parts are joined, with what each of them told.
	Conclude func(format string, w trace.Writer, told []Told) error
}

// A Told is what a part told for the end of its run.
type Told = match.Told

const (
	defaultMemory = 256 << 20
	minMemory     = 1 << 16
)

// WithDefaults fills in the options that are not set.
func (o Options) WithDefaults() Options {
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	o.Memory = max(o.Memory, minMemory)
	if o.Workers <= 0 {
		o.Workers = parallel.Workers()
	}
	return o
}

func (o *Options) regionName(name string) string {
	if o.RegionName == nil {
		return name
	}
	return o.RegionName(name)
}
