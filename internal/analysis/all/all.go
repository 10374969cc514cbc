// Package all lists the summaries and digests that a store keeps, and the results that are made at import.
package all

import (
	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/analysis/operator"
	"github.com/parallax-hpc/parallax/internal/analysis/requests"
	"github.com/parallax-hpc/parallax/internal/analysis/share"
	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/analysis/steppath"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Summaries in the order of their sections in a store.
var Summaries = []trace.Summary{
	share.Summary{},
	moment.Summary{},
}

// AtImport are the results of large runs that the first look would wait for: they are made at import, and kept next
// to the store.
var AtImport = []derived.Preparer{
	step.JobOfRun,
	steppath.PathsOfRun,
	operator.TablesOfRun,
	requests.OverviewOfRun,
	invocation.LevelsOfRun,
}

// Digests in the order of their records in a store.
var Digests = []trace.Digest{
	callgraph.Digest{},
}
