package entropy

import (
	"math"
	"strconv"
)

// The rule by which the first p is chosen from the data.
const (
	LeastSpread = 0.005 // deviations below are noise
	MostSpread  = 0.5   // and above are differences to anyone
	longStretch = 1.0   // length in ln c from which on a stretch is a level of its own
	MostParts   = 256   // parts that a first picture may have
	mostLost    = 0.05  // share of the loss that it may have where no stretch is long
)

// A Why says which clause of the rule decided.
type Why string

const (
	WhyStretch Why = "stretch" // the longest stretch of one cut
	WhyLoss    Why = "loss"    // the coarsest cut that loses at most 5 %
	WhyParts   Why = "parts"   // the finest cut of at most 256 parts
	WhyAlike   Why = "alike"   // nothing is lost at all
)

// A Spread turns odds into a deviation: a large group whose members deviate from their
// mean by less than the share Of(odds) is drawn as one.
//
//	c = sqrt(2 ln 2 · variables · odds / mean)
//
// This holds for the gain in values; for another gain Mean is 0, and deviations are not
// known.
type Spread struct {
	Mean      float64 // value of a leaf (of a cell), all variables added
	Variables int
}

// Spread of a labelled tree.
func (l *Labels) Spread() Spread {
	s := Spread{Variables: len(l.Sum)}
	if l.Measure != GainValues {
		return s
	}
	for _, x := range l.Sum {
		s.Mean += x[0]
	}
	s.Mean /= float64(max(l.Leaves[0], 1))
	return s
}

// Spread returns the spread of the cells of a programme.
func (st *SpaceTime) Spread() Spread {
	s := Spread{Variables: len(st.sum)}
	if st.measure != GainValues {
		return s
	}
	for x := range st.sum {
		s.Mean += st.Sum(x, st.Root())
	}
	s.Mean /= st.places * float64(st.Slices)
	return s
}

// Known reports whether odds mean a deviation.
func (s Spread) Known() bool { return s.Mean > 0 }

// Of returns the deviation at some odds.
func (s Spread) Of(odds float64) float64 {
	if math.IsInf(odds, 1) {
		return odds
	}
	return math.Sqrt(2 * math.Ln2 * float64(s.Variables) * odds / s.Mean)
}

// Odds is the inverse of Of.
func (s Spread) Odds(c float64) float64 {
	return c * c * s.Mean / (2 * math.Ln2 * float64(s.Variables))
}

// Deviation is the share of their mean by which many things of a sum deviate that lose
// this much as one.
func Deviation(loss, total float64) float64 {
	if total <= 0 {
		return 0
	}
	return math.Sqrt(2 * math.Ln2 * max(loss, 0) / total)
}

// length of a stretch in ln c, within the deviations that matter.
func (s Spread) length(x Stretch) float64 {
	from, to := max(s.Of(x.From), LeastSpread), min(s.Of(x.To), MostSpread)
	if to <= from {
		return 0
	}
	return math.Log(to / from)
}

// longest returns the longest stretch of at most MostParts, of equals the finest, if one is long. Where that is the
// finest of all, which aggregates nothing, a long one that aggregates some but not all is taken instead.
func (s Spread) longest(list []Stretch) (at int, ok bool) {
	at, most := s.longestIn(list, 0, len(list))
	if at == 0 {
		if k, n := s.longestIn(list, 1, len(list)-1); n >= longStretch {
			return k, true
		}
	}
	return at, most >= longStretch
}

// longestIn looks at the stretches from one up to another.
func (s Spread) longestIn(list []Stretch, from, to int) (at int, most float64) {
	for k := from; k < to; k++ {
		if list[k].Parts > MostParts {
			continue
		}
		if n := s.length(list[k]); n > most*(1+1e-9) {
			at, most = k, n
		}
	}
	return at, most
}

// First chooses the stretch that a picture begins with. list is all of them, fine to
// coarse; whole is all there is to lose.
func First(list []Stretch, s Spread, whole float64) (int, Why) {
	last := len(list) - 1
	if whole <= 0 {
		return last, WhyAlike
	}
	if s.Known() {
		if k, ok := s.longest(list); ok {
			return k, WhyStretch
		}
	}
	for k := last; k >= 0; k-- {
		if list[k].Loss <= mostLost*whole {
			if list[k].Parts <= MostParts {
				return k, WhyLoss
			}
			break
		}
	}
	for k, x := range list {
		if x.Parts <= MostParts {
			return k, WhyParts
		}
	}
	return last, WhyParts
}

// Middle is a p in the middle of a stretch, in log odds and within the deviations that
// matter where it reaches beyond, with as few digits as stay inside. p turns odds into it.
func (s Spread) Middle(x Stretch, p func(odds float64) float64) float64 {
	from, to := x.From, x.To
	if from == 0 && math.IsInf(to, 1) {
		return 0.5 // one cut for every p
	}
	if s.Known() {
		if least := s.Odds(LeastSpread); from < least && least < to {
			from = least
		}
		if most := s.Odds(MostSpread); from < most && most < to {
			to = most
		}
	}
	switch {
	case math.IsInf(to, 1):
		to = 4 * from
	case from == 0:
		from = to / 4
	}
	low, high, middle := p(from), p(to), p(math.Sqrt(from)*math.Sqrt(to))
	for digits := 1; digits < 16; digits++ {
		r, _ := strconv.ParseFloat(strconv.FormatFloat(middle, 'f', digits, 64), 64)
		if low < r && r < high && 0 < r && r < 1 {
			return r
		}
	}
	return middle
}
