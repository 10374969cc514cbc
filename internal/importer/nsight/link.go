package nsight

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer/sqlitefile"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A launch is a call that starts GPU work, or the work itself.
type launch struct {
	process, id int64
	time        trace.Time
	location    trace.LocationID
	region      trace.RegionID
}

func byID(a, b launch) int {
	return cmp.Or(cmp.Compare(a.process, b.process), cmp.Compare(a.id, b.id), cmp.Compare(a.time, b.time))
}

// link joins calls and work by process and correlation id, in O(n log n). One call may launch
// much (a graph); of several calls with one id the last one before the work is meant.
func (c *converter) link(launches, works []launch) {
	slices.SortFunc(launches, byID)
	slices.SortFunc(works, byID)
	alone := int64(0)
	i := 0
	for _, w := range works {
		for i < len(launches) && (launches[i].process < w.process || launches[i].process == w.process && launches[i].id < w.id) {
			i++
		}
		if i == len(launches) || launches[i].process != w.process || launches[i].id != w.id {
			alone++
			continue
		}
		for i+1 < len(launches) && launches[i+1].process == w.process && launches[i+1].id == w.id && launches[i+1].time <= w.time {
			i++
		}
		from := launches[i]
		c.w.Link(trace.Link{
			Kind: trace.LinkSpawn,
			From: trace.End{Location: from.location, Time: from.time, Region: from.region},
			To:   trace.End{Location: w.location, Time: w.time, Region: w.region},
			Size: -1, Tag: w.id, Communicator: trace.NoCommunicator,
		})
	}
	if alone > 0 {
		c.w.Report(trace.Guessed, "GPU work whose launch is not in the file: kept without a link", alone, c.label)
	}
}

// reportRest counts rows of tables that hold records which are not read.
func (c *converter) reportRest(ctx context.Context) {
	rest := map[string]string{
		"SAMPLING_CALLCHAINS": "frames of CPU samples' call chains",
		"COMPOSITE_EVENTS":    "CPU samples",
		"CUDA_CALLCHAINS":     "frames of CUDA calls' call chains",
		"OSRT_CALLCHAINS":     "frames of system calls' call chains",
		"DIAGNOSTIC_EVENT":    "diagnostic messages of the profiler",
	}
	for _, t := range c.tables {
		what, known := rest[t.Name]
		if !known {
			if !t.Has("start") || t.Has("start", "end", "globalTid", "nameId") || readElsewhere[t.Name] || strings.HasPrefix(t.Name, "ENUM_") {
				continue
			}
			what = "rows of table " + t.Name
		}
		n := int64(0)
		if t.scan(ctx, func(*sqlitefile.Row) error { n++; return nil }) == nil && n > 0 {
			c.w.Report(trace.Skipped, what, n, c.label)
		}
	}
}

// readElsewhere are the tables with a time that are read by name.
var readElsewhere = map[string]bool{
	"NVTX_EVENTS": true, "SCHED_EVENTS": true, "CUDA_GPU_MEMORY_USAGE_EVENTS": true, "CUPTI_ACTIVITY_KIND_KERNEL": true, "CUPTI_ACTIVITY_KIND_MEMCPY": true,
	"CUPTI_ACTIVITY_KIND_MEMSET": true, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": true, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": true,
}
