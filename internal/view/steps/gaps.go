package steps

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/step"
)

// mostGaps is how many gaps of all GPUs together are drawn.
const mostGaps = 20

// A gap is one of the longest stretches in which a GPU had nothing to do.
type gap struct {
	*step.Gap
	gpu int
}

// findGaps lists the longest gaps.
func (r *result) findGaps() {
	for g := range r.job.GPUs {
		for k := range r.job.GPUs[g].Gaps {
			if x := &r.job.GPUs[g].Gaps[k]; x.Cause() != step.BetweenWorks { // of these there is nothing to say
				r.gaps = append(r.gaps, gap{x, g})
			}
		}
	}
	slices.SortStableFunc(r.gaps,
		func(a, b gap) int { return cmp.Or(cmp.Compare(b.Length(), a.Length()), cmp.Compare(a.Begin, b.Begin)) })
	r.gaps = r.gaps[:min(len(r.gaps), mostGaps)]
}
