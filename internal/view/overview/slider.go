package overview

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
)

// mostWork bounds the steps of the programme that listing stretches may take once the
// one to begin with is listed.
var mostWork int64 = 1.5e8 // a test takes less

// begin chooses the p to begin with, unless it is known.
func (p *prepared) begin(ctx context.Context) error {
	if p.why == "" {
		if err := p.search(ctx); err != nil {
			return err
		}
	}
	p.first = entropy.Choose(p.stretch, p.why, p.programme.Spread(), p.programme.Axis(p.scale))
	return nil
}

// search finds the stretch to begin with.
func (p *prepared) search(ctx context.Context) (err error) {
	if p.envelope, err = entropy.NewEnvelope(ctx, p.programme); err != nil {
		return err
	}
	p.stretch, p.why, err = p.envelope.First(ctx, p.programme.Spread())
	p.envelope.Rest()
	return err
}

// slide finds the stretches of p, from the coarsest on: of a large picture not all.
func (p *prepared) slide() *entropy.Slider {
	p.once.Do(func() {
		s := &p.slider
		if p.envelope == nil && p.search(context.Background()) != nil {
			return
		}
		s.Axis, s.Spread, s.Finest = p.programme.Axis(p.scale), p.programme.Spread(), p.envelope.Finest()
		s.Stretches, s.Complete, _ = p.envelope.Stretches(context.Background(), p.stretch, mostWork)
		p.envelope = nil
	})
	return &p.slider
}
