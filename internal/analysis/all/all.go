// Package all lists the summaries and digests that a store keeps.
package all

import (
	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/analysis/share"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Summaries in the order of their sections in a store.
var Summaries = []trace.Summary{
	share.Summary{},
	moment.Summary{},
}

// Digests in the order of their records in a store.
var Digests = []trace.Digest{
	callgraph.Digest{},
}
