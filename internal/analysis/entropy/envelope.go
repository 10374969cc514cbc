package entropy

import (
	"context"
	"math"
	"slices"
	"sort"
)

// An Envelope finds the best partitions over all odds. Every partition is a line in the odds x, x·gain -
// loss, and the best value is the upper envelope of these lines. At the crossing of the lines of two known
// partitions either a third one, between them, is better, or that is a threshold. Each look is a run of the
// programme; Steps says how much work all of them were.
type Envelope struct {
	Steps int64
	st    *SpaceTime
	cuts  []*line // by odds, fine to coarse
	work  workspace
	known [][]int16 // of the last look
}

// A line is a partition that is the best at some odds.
type line struct {
	odds       float64 // at which it was found
	gain, loss float64
	parts      int
	choice     [][]int16
	last       bool // nothing is between it and the next
}

// NewEnvelope begins with the finest partition and the coarsest.
func NewEnvelope(ctx context.Context, st *SpaceTime) (*Envelope, error) {
	e := &Envelope{st: st, work: workspace{again: true}, known: make([][]int16, st.Tree.Len())}
	for _, odds := range []float64{0, Never} {
		x, err := e.end(ctx, odds)
		if err != nil {
			return nil, err
		}
		e.cuts = append(e.cuts, x)
	}
	if a, b := e.cuts[0], e.cuts[1]; a.same(b) {
		e.cuts = e.cuts[1:]
	}
	return e, nil
}

// look runs the programme once.
func (e *Envelope) look(ctx context.Context, w Weights, known *bracket) (*line, error) {
	choice, _, steps, err := e.st.solve(ctx, w, known, &e.work)
	if err != nil {
		return nil, err
	}
	e.Steps += steps
	return e.line(w.Gain/w.Loss, choice), nil
}

// line adds up gain and loss of the parts that choices lead to.
func (e *Envelope) line(odds float64, choice [][]int16) *line {
	x := &line{odds: odds, choice: choice}
	var parts []Part
	e.st.collect(choice, 0, 0, e.st.Slices-1, &parts)
	var gain, loss sum
	for _, p := range parts {
		gain.add(p.Gain)
		loss.add(p.Loss)
	}
	x.gain, x.loss, x.parts = gain.value(), loss.value(), len(parts)
	return x
}

// end is the line at odds 0, where nothing is aggregated, or at the other end, where all
// is; of a gain that some aggregates do not have the programme tells.
func (e *Envelope) end(ctx context.Context, odds float64) (*line, error) {
	if odds > 0 && e.st.measure != GainValues {
		return e.look(ctx, weightsAt(odds), nil)
	}
	n, s := e.st.Tree.Len(), e.st.Slices
	choice := e.work.choices(n)
	for i := range n {
		if choice[i] == nil {
			choice[i] = make([]int16, s*s)
		}
		for first := range s {
			for last := first; last < s; last++ {
				how := asOne
				switch {
				case !e.st.Tree.Leaf(i) && (odds == 0 || e.st.Tree.chain(i)):
					how = bySpace
				case odds == 0 && first < last:
					how = int16(first)
				}
				choice[i][first*s+last] = how
			}
		}
	}
	return e.line(odds, choice), nil
}

// between looks at odds that are between cut k and the next.
func (e *Envelope) between(ctx context.Context, k int, odds float64) (*line, error) {
	for _, x := range e.cuts[k : k+2] {
		if err := e.choose(ctx, x); err != nil {
			return nil, err
		}
	}
	return e.look(ctx, Weights{odds, 1}, &bracket{e.cuts[k].choice, e.cuts[k+1].choice, e.known})
}

// choose fills the choices of a line again where they were dropped.
func (e *Envelope) choose(ctx context.Context, x *line) error {
	if x.choice != nil {
		return nil
	}
	look := func() (*line, error) { return e.look(ctx, weightsAt(x.odds), nil) }
	if x.odds == 0 || math.IsInf(x.odds, 1) {
		look = func() (*line, error) { return e.end(ctx, x.odds) }
	}
	again, err := look()
	if err == nil {
		x.choice = again.choice
	}
	return err
}

// drop releases the memory of a line.
func (e *Envelope) drop(x *line) {
	if x.choice != nil {
		e.work.free = append(e.work.free, x.choice)
		x.choice = nil
	}
}

// Rest drops data that only makes searching faster: it is large.
func (e *Envelope) Rest() {
	for _, x := range e.cuts {
		x.choice = nil
	}
	e.work, e.known = workspace{again: true}, make([][]int16, e.st.Tree.Len())
}

// settle notes that nothing is between cut k and the next. Choices of cuts whose ends
// are both known are not needed any more.
func (e *Envelope) settle(k int) {
	e.cuts[k].last = true
	for _, i := range []int{k, k + 1} {
		if e.ends(i) {
			e.drop(e.cuts[i])
		}
	}
}

func weightsAt(odds float64) Weights {
	if math.IsInf(odds, 1) {
		return Weights{1, 0}
	}
	return Weights{odds, 1}
}

func (a *line) same(b *line) bool {
	return abs(a.gain-b.gain) <= 1e-9*max(1, abs(a.gain)) && abs(a.loss-b.loss) <= 1e-9*max(abs(a.loss), abs(b.loss))
}

func (a *line) at(odds float64) float64 { return odds*a.gain - a.loss }

// crossing is where a finer cut and a coarser one are equally good.
func (a *line) crossing(b *line) float64 {
	if b.gain <= a.gain {
		return Never
	}
	return max(b.loss-a.loss, 0) / (b.gain - a.gain)
}

// split looks where cut k and the next cross. It reports whether a cut is between
// them, which is then cut k+1.
func (e *Envelope) split(ctx context.Context, k int) (bool, error) {
	a, b := e.cuts[k], e.cuts[k+1]
	if a.last {
		return false, nil
	}
	odds := a.crossing(b)
	if math.IsInf(odds, 1) {
		e.settle(k)
		return false, nil
	}
	x, err := e.between(ctx, k, odds)
	if err != nil {
		return false, err
	}
	if x.at(odds) <= a.at(odds)+1e-11*(odds*abs(x.gain)+x.loss) || x.same(a) || x.same(b) {
		e.drop(x)
		e.settle(k)
		return false, nil
	}
	e.cuts = slices.Insert(e.cuts, k+1, x)
	return true, nil
}

// At returns the place of the best cut at some odds.
func (e *Envelope) At(ctx context.Context, odds float64) (int, error) {
	k := sort.Search(len(e.cuts), func(k int) bool { return e.cuts[k].odds >= odds })
	switch {
	case k == len(e.cuts):
		return k - 1, nil
	case k == 0 || e.cuts[k].odds == odds:
		return k, nil
	}
	a, b := e.cuts[k-1], e.cuts[k]
	if a.last {
		if odds <= a.crossing(b) {
			return k - 1, nil
		}
		return k, nil
	}
	x, err := e.between(ctx, k-1, odds)
	if err != nil {
		return 0, err
	}
	switch {
	case x.same(a):
		e.drop(x)
		a.odds = odds
		return k - 1, nil
	case x.same(b):
		e.drop(x)
		b.odds = odds
		return k, nil
	}
	e.cuts = slices.Insert(e.cuts, k, x)
	return k, nil
}

// Stretch finds both ends of a cut.
func (e *Envelope) Stretch(ctx context.Context, x *line) (Stretch, error) {
	for {
		k := slices.Index(e.cuts, x)
		if e.ends(k) {
			return e.stretch(k), nil
		}
		if err := e.narrow(ctx, k); err != nil {
			return Stretch{}, err
		}
	}
}

// stretch of cut k between its neighbours: as long as it can be, and exact where its ends are known.
func (e *Envelope) stretch(k int) Stretch {
	x := e.cuts[k]
	s := Stretch{To: Never, Gain: x.gain, Loss: x.loss, Parts: x.parts}
	if k > 0 {
		s.From = e.cuts[k-1].crossing(x)
	}
	if k+1 < len(e.cuts) {
		s.To = x.crossing(e.cuts[k+1])
	}
	return s
}

// coarsest returns the coarsest cut for which fine holds; if fine holds for a cut, it must hold for all
// finer ones. It returns -1 if fine holds for none.
func (e *Envelope) coarsest(ctx context.Context, fine func(x *line) bool) (int, error) {
	for {
		k := sort.Search(len(e.cuts), func(k int) bool { return !fine(e.cuts[k]) }) - 1
		if k < 0 || k+1 == len(e.cuts) {
			return k, nil
		}
		if more, err := e.split(ctx, k); err != nil || !more {
			return k, err
		}
	}
}

// First chooses the stretch that a picture begins with, as the function First does of a
// list, with few looks.
func (e *Envelope) First(ctx context.Context, s Spread) (Stretch, Why, error) {
	_, whole := e.st.Whole()
	if whole <= 0 || len(e.cuts) == 1 {
		return e.stretch(len(e.cuts) - 1), WhyAlike, nil
	}
	if s.Known() {
		if k, ok, err := e.longest(ctx, s); err != nil || ok {
			return e.stretch(k), WhyStretch, err
		}
	}
	why := WhyParts
	k, err := e.coarsest(ctx, func(x *line) bool { return x.parts > MostParts })
	if err != nil {
		return Stretch{}, "", err
	}
	k = min(k+1, len(e.cuts)-1)
	if fine := func(x *line) bool { return x.loss <= mostLost*whole }; fine(e.cuts[k]) {
		why = WhyLoss
		if k, err = e.coarsest(ctx, fine); err != nil {
			return Stretch{}, "", err
		}
	}
	out, err := e.Stretch(ctx, e.cuts[k])
	return out, why, err
}

// longest finds the longest stretch of few enough parts, of equals the finest, if one is
// long: then it holds one of the deviations of which each is e times the one before. The
// lines next to a cut bound its stretch, so that most need not be looked at further.
func (e *Envelope) longest(ctx context.Context, s Spread) (at int, ok bool, err error) {
	probes := []float64{MostSpread}
	for k := int(math.Log(MostSpread / LeastSpread)); k >= 0; k-- {
		probes = append(probes, LeastSpread*math.Exp(longStretch*float64(k)))
	}
	var found []*line // fine to coarse
	for _, c := range probes {
		k, err := e.At(ctx, s.Odds(c))
		if err != nil {
			return 0, false, err
		}
		x := e.cuts[k]
		if x.parts > MostParts {
			break // and what is finer has more
		}
		if !slices.Contains(found, x) {
			found = slices.Insert(found, 0, x)
		}
	}
	most := longStretch
	var best *line
	for _, x := range found {
		for {
			k := slices.Index(e.cuts, x)
			length := s.length(e.stretch(k))
			if length < most || best != nil && length <= most*(1+1e-9) {
				break
			}
			if e.ends(k) {
				best, most = x, length
				break
			}
			if err := e.narrow(ctx, k); err != nil {
				return 0, false, err
			}
		}
	}
	return max(slices.Index(e.cuts, best), 0), best != nil, nil
}

// ends reports whether both ends of cut k are known.
func (e *Envelope) ends(k int) bool {
	return (k == 0 || e.cuts[k-1].last) && (k+1 == len(e.cuts) || e.cuts[k].last)
}

// narrow looks beside cut k where an end is not known.
func (e *Envelope) narrow(ctx context.Context, k int) error {
	if k+1 < len(e.cuts) && !e.cuts[k].last {
		if _, err := e.split(ctx, k); err != nil {
			return err
		}
	}
	if k > 0 && !e.cuts[k-1].last {
		if _, err := e.split(ctx, k-1); err != nil {
			return err
		}
	}
	return nil
}

// Stretches finds stretches from the coarsest cut on: always up to the first one, and
// then while it takes less than most steps. complete: there are no others.
func (e *Envelope) Stretches(ctx context.Context, first Stretch,
	most int64) (list []Stretch, complete bool, err error) {
	k, limit := len(e.cuts)-1, e.Steps+most
	for k > 0 && (e.cuts[k].parts <= first.Parts || e.Steps < limit) {
		more, err := e.split(ctx, k-1)
		if err != nil {
			return nil, false, err
		}
		if more {
			k++
			continue
		}
		list = append(list, e.stretch(k))
		k--
	}
	if complete = k == 0; complete {
		list = append(list, e.stretch(0))
	}
	slices.Reverse(list)
	// A cut that is the best at odds 0 alone has no stretch.
	list = slices.DeleteFunc(list, func(x Stretch) bool { return x.To <= x.From })
	return list, complete, nil
}

// Finest is the cut at odds 0.
func (e *Envelope) Finest() Stretch {
	x := e.cuts[0]
	return Stretch{Gain: x.gain, Loss: x.loss, Parts: x.parts}
}

// A bracket is the choices at two odds. If a stretch of a node is cut alike at both, all the way down, its
// line is the same, and so is the best one for all odds between.
type bracket struct {
	low, high [][]int16
	known     [][]int16 // by node
}

// of returns the choices of node i that are known for all odds between, after those of its
// children.
func (b *bracket) of(t *Tree, i, slices int) []int16 {
	if b == nil {
		return nil
	}
	if b.known[i] == nil {
		b.known[i] = make([]int16, slices*slices)
	}
	out := b.known[i]
	if t.chain(i) {
		copy(out, b.known[i+1])
		return nil
	}
	for first := slices - 1; first >= 0; first-- {
		begin, end := first*slices+first, (first+1)*slices
		row, low, high := out[begin:end], b.low[i][begin:end], b.high[i][begin:end]
		clear(row)
		for c := i + 1; c <= int(t.Last[i]); c = int(t.Last[c]) + 1 {
			for k, how := range b.known[c][begin:end] {
				if how == unknown {
					row[k] = unknown
				}
			}
		}
		for k, how := range low {
			switch {
			case how != high[k], how == bySpace && row[k] == unknown,
				how >= 0 && (out[first*slices+int(how)] == unknown || out[(int(how)+1)*slices+first+k] == unknown):
				how = unknown
			}
			row[k] = how
		}
	}
	b.known[i] = out
	return out
}
