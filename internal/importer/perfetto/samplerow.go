package perfetto

import (
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// isSampling recognises the categories of call stacks that a profiler took now and then and
// wrote as slices, each until the next: Omnitrace's timer_sampling, overflow_sampling.
func isSampling(category string) bool {
	category = strings.ToLower(category)
	return strings.HasSuffix(category, "sampling") || category == "sample" || category == "samples"
}

// rowFor finds the row of an interval. Sampled call stacks are no work that was
// measured, so they have rows of their own, which count nowhere: a track that
// begins with them is one, on others they are in a row below. nil as of place.
func (c *pairer) rowFor(t *track, region trace.RegionID) *row {
	if len(c.stacks) == 0 || !c.stacks[region] {
		return c.place(t)
	}
	if t.row == nil && t.kind == ofProgram {
		t.stacks = true
	}
	r := c.place(t)
	if r == nil || t.stacks {
		return r
	}
	if t.samples == nil {
		at := c.w.Location(trace.Location{Parent: r.At, Kind: trace.KindSamples, Name: "samples", Rank: trace.NoRank,
			Order: 1 << 42})
		t.samples = c.rowOf(at)
	}
	return t.samples
}
