package overview

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	// mostHidden is the share of all differences from which on a first picture says too little of the run.
	mostHidden = 0.2
	// fewestSlices are those of the coarsest first picture.
	fewestSlices = 20
)

// settle makes the data of the first picture. If steps of the program are about as long as slices, no picture of
// few boxes shows what differs: then slices are twice as long, or four times, so that each has several steps.
// make is given a number of slices; 0: that of the user, or the usual one.
func settle(make func(slices int) (*gatherer, error)) (*gatherer, error) {
	first, err := make(0)
	if err != nil || first.kept || first.request.Values.Integer("bins") > 0 || !first.crowded() ||
		first.hidden() <= mostHidden {
		return first, err
	}
	best := first
	for n := first.slices() / 2; n >= fewestSlices && best.crowded(); n /= 2 {
		g, err := make(n)
		if err != nil {
			return nil, err
		}
		if !g.crowded() || g.hidden() < best.hidden() {
			best = g
		}
	}
	if best != first {
		best.coarser = fmt.Sprintf("with %d slices, the picture would hide %s of the differences", first.slices(),
			view.FormatShare(first.hidden()))
	}
	return best, nil
}

// crowded reports whether a first picture shows less than it should because it would have too many boxes.
func (p *prepared) crowded() bool { return p.why == entropy.WhyParts }

// hidden is the share of all differences that the first picture hides.
func (p *prepared) hidden() float64 {
	_, whole := p.programme.Whole()
	return share(p.stretch.Loss, whole)
}
