package overview

import (
	"context"
	"slices"
	"sort"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
)

// A Curve is gain and loss of the best boxes as p goes from 0 to 1, as shares of all
// there is to gain and to lose.
type Curve struct {
	P    []float64 `json:"p"`
	Gain []float64 `json:"gain"`
	Loss []float64 `json:"loss"`
}

type curve struct {
	Curve
	thresholds []float64
	suggested  float64
}

// mostWork bounds the steps of the programme that the curve may take.
const mostWork = 3e8

// curves finds the p at which the boxes change. Every way to cut is a line in p, and
// the best value is their upper envelope: where the lines of two known cuts cross,
// either a third cut is better, and there are two crossings to look at, or that is a
// threshold. Bounded: of a large picture the coarse thresholds are found, not all.
func (r *result) curves() *curve {
	r.once.Do(func() {
		n := float64(r.slices())
		f := finder{st: r.programme, left: int(min(max(mostWork/(float64(r.tree.Len())*n*n*(n+24)/6), 4), 64))}
		c := &r.prepared.curve
		c.thresholds = []float64{}
		best := 2.0
		points := f.find()
		for k, x := range points {
			from, to := 0.0, 1.0
			if k > 0 {
				from = points[k-1].crossing(x)
				c.thresholds = append(c.thresholds, from)
			}
			if k+1 < len(points) {
				to = x.crossing(points[k+1])
			}
			if d := (1-x.gain)*(1-x.gain) + x.loss*x.loss; d < best-1e-15 {
				best, c.suggested = d, (from+to)/2
			}
		}
		const steps = 128
		for k := range steps + 1 {
			p := float64(k) / steps
			i := sort.Search(len(c.thresholds), func(i int) bool { return c.thresholds[i] >= p })
			c.P, c.Gain, c.Loss = append(c.P, p), append(c.Gain, points[i].gain), append(c.Loss, points[i].loss)
		}
		if r.scale == entropy.Plain {
			for k := range c.thresholds {
				c.thresholds[k] = r.plain(c.thresholds[k])
			}
			for k := range c.P {
				c.P[k] = r.plain(c.P[k])
			}
			c.suggested = r.plain(c.suggested)
		}
	})
	return &r.prepared.curve
}

// plain is a normalised p in the paper's units.
func (r *result) plain(p float64) float64 {
	gain, loss := r.programme.Whole()
	if gain <= 0 || loss <= 0 {
		return p
	}
	return p * loss / (p*loss + (1-p)*gain)
}

// A point is gain and loss of a cut, normalised.
type point struct{ gain, loss float64 }

// crossing is the p at which a finer cut and a coarser one are equally good.
func (a point) crossing(b point) float64 {
	rise := b.gain - a.gain + b.loss - a.loss
	if rise <= 0 {
		return 1
	}
	return min(max((b.loss-a.loss)/rise, 0), 1)
}

type finder struct {
	st   *entropy.SpaceTime
	left int // runs of the programme
}

// find gives the cuts of the envelope, as far as there is time, from fine to coarse.
// Stretches are taken widest first, so that what is found spreads over the curve.
func (f *finder) find() []point {
	points := []point{{0, 0}, {1, 1}} // p = 0 keeps all cells, p = 1 is one box
	if gain, loss := f.st.Whole(); gain <= 0 || loss <= 0 {
		return points[1:]
	}
	done := map[point]bool{} // the left ends of stretches with nothing between
	for ; f.left > 0; f.left-- {
		at, widest := -1, 0.0
		for k := range len(points) - 1 {
			if d := points[k+1].gain - points[k].gain + points[k+1].loss - points[k].loss; !done[points[k]] && d > widest {
				at, widest = k, d
			}
		}
		if at < 0 {
			break
		}
		a, b := points[at], points[at+1]
		p := a.crossing(b)
		x, ok := f.cut(p)
		better := p*(x.gain-a.gain)-(1-p)*(x.loss-a.loss) > 1e-10
		if !ok || !better {
			done[a] = true
			continue
		}
		points = slices.Insert(points, at+1, x)
	}
	return points
}

func (f *finder) cut(p float64) (x point, ok bool) {
	parts, _, err := f.st.Best(context.Background(), f.st.Weights(p, entropy.Normalised))
	if err != nil {
		return x, false
	}
	for _, q := range parts {
		x.gain += q.Gain
		x.loss += q.Loss
	}
	gain, loss := f.st.Whole()
	return point{x.gain / gain, x.loss / loss}, true
}
