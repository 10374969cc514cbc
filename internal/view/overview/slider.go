package overview

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
)

// mostWork bounds the steps of the programme that listing stretches may take once the
// one to begin with is listed.
var mostWork int64 = 1.5e8 // a test takes less

// begin chooses the p to begin with.
func (p *prepared) begin(ctx context.Context) (err error) {
	if p.envelope, err = entropy.NewEnvelope(ctx, p.programme); err != nil {
		return err
	}
	spread, why := p.programme.Spread(), entropy.Why("")
	if p.stretch, why, err = p.envelope.First(ctx, spread); err != nil {
		return err
	}
	p.envelope.Rest()
	p.first = entropy.Choose(p.stretch, why, spread, p.programme.Axis(p.scale))
	return nil
}

// slide finds the stretches of p, from the coarsest on: of a large picture not all.
func (p *prepared) slide() *entropy.Slider {
	p.once.Do(func() {
		s := &p.slider
		s.Axis, s.Spread, s.Finest = p.programme.Axis(p.scale), p.programme.Spread(), p.envelope.Finest()
		s.Stretches, s.Complete, _ = p.envelope.Stretches(context.Background(), p.stretch, mostWork)
		p.envelope = nil
	})
	return &p.slider
}
