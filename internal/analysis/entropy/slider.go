package entropy

import (
	"fmt"
	"math"
	"sort"
	"strconv"
)

// An Axis turns odds into p and back: Gain and Loss are those of the root.
type Axis struct {
	Gain, Loss float64
	Scale      Scale
}

// factor turns odds of the scale into plain units. If a root's measure is 0 there is nothing to weigh, and
// the scales are the same.
func (a Axis) factor() float64 {
	if a.Scale == Normalised && a.Gain > 0 && a.Loss > 0 {
		return a.Loss / a.Gain
	}
	return 1
}

// Odds turns p into the unit of thresholds: how many bits of loss one unit of gain outweighs, p/(1-p) in
// plain units. Unlike p near 0 or 1 they keep their digits whatever the unit of the values is.
func (a Axis) Odds(p float64) float64 {
	if p >= 1 {
		return math.Inf(1)
	}
	return p / (1 - p) * a.factor()
}

// P is the inverse of Odds.
func (a Axis) P(odds float64) float64 {
	if math.IsInf(odds, 1) {
		return 1
	}
	odds /= a.factor()
	return odds / (1 + odds)
}

// measure brings gain and loss to the scale.
func (a Axis) measure(gain, loss float64) (float64, float64) {
	if a.Scale == Normalised {
		return share(gain, a.Gain), share(loss, a.Loss)
	}
	return gain, loss
}

func share(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return part / whole
}

// A Step is a stretch of p with one picture: past From, up to To. Gain and loss are in
// the scale of p.
type Step struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Gain  float64 `json:"gain"`
	Loss  float64 `json:"loss"`
	Parts int     `json:"parts"`
}

// A Slider is the scale that p moves over.
type Slider struct {
	Axis      Axis
	Spread    Spread
	Stretches []Stretch // fine to coarse, adjoining
	Complete  bool      // none is missing; else those of the smallest odds are
	// Finest is the cut of p = 0, which does not even aggregate equal values.
	Finest Stretch
}

// Steps lists the stretches in p. Odds that are one p are one threshold.
func (s *Slider) Steps() []Step {
	out := make([]Step, 0, len(s.Stretches))
	for _, x := range s.Stretches {
		step := Step{From: s.Axis.P(x.From), To: s.Axis.P(x.To), Parts: x.Parts}
		step.Gain, step.Loss = s.Axis.measure(x.Gain, x.Loss)
		if step.To > step.From {
			out = append(out, step)
		}
	}
	return out
}

// Thresholds lists the p between the steps, and where a list that is cut begins.
func (s *Slider) Thresholds(steps []Step) []float64 {
	out := []float64{}
	for k, x := range steps {
		if k > 0 || !s.Complete {
			out = append(out, x.From)
		}
	}
	return out
}

// CutAt is the deviation from which on the list has all stretches; nil where none is
// missing, or deviations are not known.
func (s *Slider) CutAt() *float64 {
	if s.Complete || !s.Spread.Known() || len(s.Stretches) == 0 {
		return nil
	}
	c := s.Spread.Of(s.Stretches[0].From)
	return &c
}

// CutText describes from where on the list has all stretches; "" where none is missing.
func (s *Slider) CutText() string {
	if s.Complete || len(s.Stretches) == 0 {
		return ""
	}
	text := "stretches are listed from p = " + FormatP(s.Axis.P(s.Stretches[0].From)) + " on"
	if c := s.CutAt(); c != nil {
		text += fmt.Sprintf(", which is a deviation of %s %%", percent(*c))
	}
	return text + ": there are too many below"
}

// Suggested is the p whose cut comes nearest to all the gain at none of the loss: least
// (1-gain)² + loss², both normalised. It is the middle of its stretch on the normalised
// scale.
func (s *Slider) Suggested() float64 {
	if s.Axis.Gain <= 0 || s.Axis.Loss <= 0 {
		return 0.5
	}
	normal := s.Axis
	normal.Scale = Normalised
	best, at := math.Inf(1), 0.5
	for _, x := range s.Stretches {
		g, l := 1-x.Gain/s.Axis.Gain, x.Loss/s.Axis.Loss
		if d := g*g + l*l; d < best-1e-15 {
			best, at = d, (normal.P(x.From)+normal.P(x.To))/2
		}
	}
	return s.Axis.P(normal.Odds(at))
}

// A Curve is gain and loss of the best cut as p goes from 0 to 1, as shares of all there is to gain and to
// lose. If the list of stretches is cut, it begins later.
type Curve struct {
	P    []float64 `json:"p"`
	Gain []float64 `json:"gain"`
	Loss []float64 `json:"loss"`
}

const curveSteps = 128

// Curve samples the steps.
func (s *Slider) Curve() Curve {
	c := Curve{P: []float64{}, Gain: []float64{}, Loss: []float64{}}
	for k := range curveSteps + 1 {
		p := float64(k) / curveSteps
		x, ok := s.at(p)
		if !ok {
			continue
		}
		c.P = append(c.P, p)
		c.Gain, c.Loss = append(c.Gain, share(x.Gain, s.Axis.Gain)), append(c.Loss, share(x.Loss, s.Axis.Loss))
	}
	return c
}

// at finds the cut of a p. At the ends of the slider it is nothing aggregated, and all.
func (s *Slider) at(p float64) (Stretch, bool) {
	switch {
	case p >= 1:
		return Stretch{Gain: s.Axis.Gain, Loss: s.Axis.Loss, Parts: 1}, true
	case p <= 0:
		return s.Finest, s.Complete
	}
	odds := s.Axis.Odds(p)
	k := sort.Search(len(s.Stretches), func(k int) bool { return !Past(s.Stretches[k].To, odds) })
	if k == len(s.Stretches) || k == 0 && odds <= s.Stretches[0].From {
		return Stretch{}, false
	}
	return s.Stretches[k], true
}

// A Choice is the p that a picture begins with, chosen from the data.
type Choice struct {
	P    float64 `json:"p"`
	Why  Why     `json:"why"`
	From float64 `json:"from"` // the stretch of p with the same picture
	To   float64 `json:"to"`
	// Parts that deviate from their mean by less than these shares are drawn as one; null if deviations are
	// not known, or without bound.
	SpreadFrom *float64 `json:"spread_from"`
	SpreadTo   *float64 `json:"spread_to"`
	// single: nothing is drawn as one.
	single bool
}

// Choose makes the choice of a stretch.
func Choose(x Stretch, why Why, s Spread, a Axis) Choice {
	c := Choice{P: s.Middle(x, a.P), Why: why, From: a.P(x.From), To: a.P(x.To), single: x.Gain == 0 && x.Loss == 0}
	if s.Known() && why != WhyAlike {
		from, to := s.Of(x.From), s.Of(x.To)
		if c.SpreadFrom = &from; !math.IsInf(to, 1) {
			c.SpreadTo = &to
		}
	}
	return c
}

// String describes the choice and its reason.
func (c *Choice) String() string {
	text := "p = " + FormatP(c.P) + ", chosen: "
	switch c.Why {
	case WhyAlike:
		return text + "nothing differs, and all is drawn as one"
	case WhyLoss:
		text += "the coarsest picture that hides at most 5 %"
	case WhyParts:
		text += fmt.Sprintf("the finest picture of at most %d boxes", MostParts)
	}
	switch {
	case c.SpreadFrom == nil || c.Why != WhyStretch && *c.SpreadFrom > MostSpread:
		return text // above, a deviation says nothing
	case c.Why != WhyStretch:
		text += "; "
	case c.single && c.SpreadTo != nil:
		return text + "nothing is drawn as one, because the members of each group differ by at least " +
			percent(*c.SpreadTo) + " %"
	}
	return text + "what differs by less than " + c.spreads() + " is drawn as one"
}

// sameSpread is the ratio up to which the ends of a range of deviations are written as one number.
const sameSpread = 1.1

// spreads writes the range of deviations in percent.
func (c *Choice) spreads() string {
	from := percent(*c.SpreadFrom)
	switch {
	case c.SpreadTo == nil:
		return from + " % or any share above"
	case *c.SpreadFrom == 0, from == percent(*c.SpreadTo):
		return percent(*c.SpreadTo) + " %"
	case *c.SpreadTo <= sameSpread**c.SpreadFrom:
		return "about " + percent(*c.SpreadTo) + " %"
	}
	return from + "-" + percent(*c.SpreadTo) + " %"
}

// percent writes a share in whole per cent, or with one digit where that is nothing.
func percent(x float64) string {
	if x *= 100; x < 0.5 {
		return strconv.FormatFloat(x, 'g', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

// FormatP writes p for people: with four digits that count, never with an exponent.
func FormatP(p float64) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(p, 'g', 4, 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
