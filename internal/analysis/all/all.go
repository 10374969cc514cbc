// Package all lists the summaries that a store keeps.
package all

import (
	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/analysis/share"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Summaries in the order of their sections in a store.
var Summaries = []trace.Summary{
	share.Summary{},
	moment.Summary{},
}
