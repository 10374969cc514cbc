package kaleidoscope

import (
	"context"
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A scale brings magnitudes onto a ramp of colours: depths evenly, all others by their logarithm, since calls last and
// make from little to very much.
type scale struct {
	least, most float64
	log         bool
	text        func(v float64) string // nil: there is none
}

// add widens the scale. On a logarithmic one 0 is at the low end.
func (s *scale) add(v float64) {
	if s.log && v <= 0 {
		return
	}
	s.least, s.most = min(s.least, v), max(s.most, v)
}

func newScale(paint string, duration func(v float64) string) scale {
	s := scale{least: math.Inf(1), most: math.Inf(-1)}
	switch paint {
	case "depth":
		s.text = func(v float64) string { return view.Thousands(int64(v)) }
	case "children":
		s.log, s.text = true, func(v float64) string { return view.Thousands(int64(v)) }
	case "duration":
		s.log, s.text = true, duration
	}
	return s
}

// share of the ramp, 0 to 1.
func (s *scale) share(v float64) float64 {
	least, most := s.least, s.most
	if s.log {
		v, least, most = math.Log(max(v, least)), math.Log(least), math.Log(most)
	}
	if !(most > least) {
		return 0
	}
	return min(max((v-least)/(most-least), 0), 1)
}

func (s *scale) key(label, ramp string) scene.LegendEntry {
	if s.most < s.least { // none has a value
		return plot.RampKey(label, ramp, "0", "0")
	}
	if s.log {
		label += ", log"
	}
	return plot.RampKey(label, ramp, s.text(s.least), s.text(s.most))
}

// value of a node that a painting shows as a magnitude.
func (f *forest) value(paint string, n *invocation.Node) float64 {
	switch paint {
	case "depth":
		return float64(n.Level)
	case "duration":
		return float64(n.End - n.Begin)
	}
	return float64(f.madeBy(n))
}

// scaleOf returns the scale of a painting over all calls, so that a colour means the same at any zoom.
func (f *forest) scaleOf(ctx context.Context, paint string) (scale, error) {
	s := newScale(paint, func(v float64) string { return view.FormatTime(trace.Time(v)) })
	if s.text == nil {
		return s, nil
	}
	if kept, ok := f.scales.Load(paint); ok {
		return kept.(scale), nil
	}
	switch {
	case !f.calls.OfRows():
		for i, region := range f.calls.Region {
			if region != trace.NoRegion {
				s.add(f.value(paint, f.node(int32(i))))
			}
		}
	case paint == "depth": // every lane begins at the top
		s.add(1)
		s.add(float64(f.height - 1))
	case paint == "duration":
		least, most, err := f.calls.Durations(ctx)
		if err != nil {
			return s, err
		}
		s.add(float64(least))
		s.add(float64(most))
	case paint == "children":
		survey, err := f.calls.Survey(ctx, nil, f.end, len(f.regions))
		if err != nil {
			return s, err
		}
		f.fans.Store(&survey.Fans)
		s.add(float64(survey.LeastMade))
		s.add(float64(survey.MostMade))
	}
	f.scales.Store(paint, s)
	return s, nil
}
