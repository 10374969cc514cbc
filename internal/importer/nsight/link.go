package nsight

import (
	"context"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer/launch"
	"github.com/parallax-hpc/parallax/internal/importer/sqlitefile"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// link joins calls and work by process and correlation id.
func (c *converter) link(calls, works []launch.End) {
	if alone := launch.Join(c.w, trace.LinkSpawn, calls, works); alone > 0 {
		c.w.Report(trace.Guessed, "GPU work whose launch is not in the file: kept without a link", alone, c.label)
	}
}

// reportRest counts rows of tables that hold records which are not read.
func (c *converter) reportRest(ctx context.Context) {
	rest := map[string]string{
		"CUDA_CALLCHAINS":  "frames of CUDA calls' call chains",
		"OSRT_CALLCHAINS":  "frames of system calls' call chains",
		"DIAGNOSTIC_EVENT": "diagnostic messages of the profiler",
	}
	for _, t := range c.tables {
		what, known := rest[t.Name]
		if !known {
			if !t.Has("start") || t.Has("start", "end", "globalTid", "nameId") || readElsewhere[t.Name] ||
				strings.HasPrefix(t.Name, "ENUM_") {
				continue
			}
			what = "rows of table " + t.Name
		}
		n := int64(0)
		if t.scan(ctx, func(*sqlitefile.Row) error { n++; return nil }) == nil && n > 0 {
			c.w.Report(trace.MissingEvents, what, n, c.label)
		}
	}
}

// readElsewhere are the tables with a time that are read by name.
var readElsewhere = map[string]bool{
	"COMPOSITE_EVENTS": true,
	"NVTX_EVENTS":      true, "SCHED_EVENTS": true, "CUDA_GPU_MEMORY_USAGE_EVENTS": true,
	"CUPTI_ACTIVITY_KIND_KERNEL": true, "CUPTI_ACTIVITY_KIND_MEMCPY": true,
	"CUPTI_ACTIVITY_KIND_MEMSET": true, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": true,
	"CUPTI_ACTIVITY_KIND_GRAPH_TRACE": true,
}
