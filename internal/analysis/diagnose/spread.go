package diagnose

// The error of a sum, by how far its parts differ.

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A spread is the parts of a sum over steps, phases, requests or time ranges: the error of a sum is how far it
// would move if its parts were drawn anew.
type spread struct {
	n            int
	sum, squares float64
}

func spreadOf(parts ...float64) (s spread) {
	for _, x := range parts {
		s.add(x)
	}
	return s
}

func (s *spread) add(x float64) {
	s.n++
	s.sum += x
	s.squares += x * x
}

// off is twice the standard error of the sum, as a part of it; 0 of a single part, of which nothing is known.
func (s spread) off() float64 {
	if s.n < 2 || s.sum <= 0 {
		return 0
	}
	n := float64(s.n)
	variance := max(s.squares-s.sum*s.sum/n, 0) / (n - 1)
	return 2 * math.Sqrt(n*variance) / s.sum
}

// pieces is how many pieces of equal length a run is cut into, if nothing else divides a sum.
const pieces = 10

// spreadOver is the spread of the time in regions over pieces of the selection; none if it cannot be asked for.
func (c *diagnosis) spreadOver(regions []trace.RegionID) (s spread) {
	wanted := make([]bool, len(c.regions))
	for _, r := range regions {
		wanted[r] = true
	}
	for k := range trace.Time(pieces) {
		w := store.Window{Begin: c.window.Begin + k*c.span/pieces, End: c.window.Begin + (k+1)*c.span/pieces,
			Locations: c.window.Locations}
		t, err := c.totals(c.ctx, w)
		if err != nil {
			return spread{}
		}
		sum := 0.0
		for i, r := range t.region {
			if wanted[r] {
				sum += t.exclusive[i]
			}
		}
		s.add(sum)
	}
	return s
}

// gainWithout predicts the gain of the last finding by a replay of phases: each is shorter by as much as some
// stragglers come before, if they are as busy as the median of the others, and at most as long as each of these waits
// in it. The error is how far that moves with the quartiles of the others.
func (c *diagnosis) gainWithout(s *finding.Straggle, l *finding.Load) {
	in, gain := c.among(s.Units), [3]float64{}
	for _, k := range s.Phases {
		top, wait := trace.Time(0), trace.Time(math.MaxInt64)
		var others []float64
		for u := range c.units {
			if in[u] {
				top = max(top, l.At(u, k))
				continue
			}
			others = append(others, float64(l.At(u, k)))
			wait = min(wait, c.whole[u*l.Phases+k])
		}
		for i, q := range []float64{0.5, 0.25, 0.75} {
			gain[i] += max(min(float64(top)-orderstat.Quantile(others, q), float64(wait)), 0)
		}
	}
	c.sumGain(gain[0], float64(c.length), "the run", c.named(s.Units)+" took as long as the others (median)", spread{})
	if g := c.list[len(c.list)-1].Gain; g != nil {
		g.By, g.AtMost = "replay", false
		g.Error = trace.Time(max(gain[1]-gain[0], gain[0]-gain[2], 0))
	}
}
