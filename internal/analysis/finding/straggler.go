package finding

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Load is how long units are busy in phases: Busy[unit*Phases+phase].
type Load struct {
	Units, Phases int
	Busy          []trace.Time
	// Sliced phases are slices of time: the work of a wave is in one slice here
	// and in another there, so only few units may straggle in a single one.
	Sliced bool
}

// At returns the busy time of a unit in a phase.
func (l *Load) At(unit, phase int) trace.Time { return l.Busy[unit*l.Phases+phase] }

// Total of a unit over all phases.
func (l *Load) Total(unit int) (sum trace.Time) {
	for _, t := range l.Busy[unit*l.Phases : (unit+1)*l.Phases] {
		sum += t
	}
	return sum
}

// A Budget is the time that units wait in phases and that has no known cause yet.
type Budget struct {
	Units, Phases int
	Left          []trace.Time
}

// Take takes up to t of a unit's unblamed waiting and returns the amount taken.
func (b *Budget) Take(unit, phase int, t trace.Time) trace.Time {
	left := &b.Left[unit*b.Phases+phase]
	t = max(min(t, *left), 0)
	*left -= t
	return t
}

// Sum returns the total that is left.
func (b *Budget) Sum() (sum trace.Time) {
	for _, t := range b.Left {
		sum += t
	}
	return sum
}

// A Straggle is units that are busy longer than all others, who wait meanwhile.
type Straggle struct {
	Units []int32
	// Phases in which they are the busiest.
	Phases []int
	// Lost is the time that the others wait because of it, by waiter in Waiters.
	Lost    trace.Time
	Waiters map[int32]trace.Time
	Score   float64
}

const (
	// leastExcess is how much longer than the median a straggler is busy.
	leastExcess = 0.05
	// togetherExcess: units with at least this part of the largest excess straggle
	// together.
	togetherExcess = 0.7
	// mostStragglers is the part of the units beyond which it is the others that
	// are special.
	mostStragglers = 0.4
	// fewSliced is the same for single slices of time.
	fewSliced = 0.05
)

// Stragglers finds units that are busy longer than their peers, in all phases together and then in single
// ones, and charges the waiting of others to them: in each phase at most the difference in busy time, and
// never more than is left in the budget, which is reduced. The longest busy come first, so no unit is
// blamed for waits that another causes anyway. O(units × phases × groups).
func Stragglers(l *Load, b *Budget) []Straggle {
	if l.Units < 4 {
		return nil
	}
	totals := make([]float64, l.Units)
	for u := range totals {
		totals[u] = float64(l.Total(u))
	}
	var out []Straggle
	taken := make(map[[2]int]bool) // unit, phase
	for _, units := range together(totals) {
		s := Straggle{Units: units, Score: score(totals, units)}
		for k := range l.Phases {
			if busiest(l, k, units) {
				s.Phases = append(s.Phases, k)
			}
		}
		out = append(out, s)
	}
	for i := range out {
		out[i].charge(l, b)
		for _, k := range out[i].Phases {
			for _, u := range out[i].Units {
				taken[[2]int{int(u), k}] = true
			}
		}
	}
	return append(out, single(l, b, taken)...)
}

// together lists units that stand out upwards, in groups of like excess.
func together(values []float64) (groups [][]int32) {
	peers := Peers(values)
	var list []int32
	for u, p := range peers {
		if p.StandsOut() && p.Value > p.Median*(1+leastExcess) {
			list = append(list, int32(u))
		}
	}
	if float64(len(list)) > mostStragglers*float64(len(values)) {
		return nil
	}
	excess := func(u int32) float64 { return peers[u].Value - peers[u].Median }
	slices.SortFunc(list, func(a, b int32) int { return cmp.Or(cmp.Compare(excess(b), excess(a)), cmp.Compare(a, b)) })
	for i := 0; i < len(list); {
		k := i
		for k < len(list) && excess(list[k]) >= togetherExcess*excess(list[i]) {
			k++
		}
		group := slices.Clone(list[i:k])
		slices.Sort(group)
		groups = append(groups, group)
		i = k
	}
	return groups
}

func score(values []float64, units []int32) float64 {
	peers := Peers(values)
	best := 0.0
	for _, u := range units {
		best = max(best, peers[u].Score)
	}
	return best
}

// busiest reports whether the units of a group are clearly busier in a phase than
// the median of all, and hold the largest value.
func busiest(l *Load, phase int, units []int32) bool {
	values := make([]float64, l.Units)
	for u := range values {
		values[u] = float64(l.At(u, phase))
	}
	middle, top, mean := orderstat.Median(values), 0.0, 0.0
	for _, u := range units {
		top = max(top, values[u])
		mean += values[u] / float64(len(units))
	}
	if mean < middle*(1+leastExcess) {
		return false
	}
	above := 0
	for u, v := range values {
		if v > top && !slices.Contains(units, int32(u)) {
			above++
		}
	}
	return above == 0
}

// single finds units that straggle in some phases only.
func single(l *Load, b *Budget, taken map[[2]int]bool) []Straggle {
	byUnits := map[string]*Straggle{}
	var order []*Straggle
	values := make([]float64, l.Units)
	for k := range l.Phases {
		for u := range values {
			values[u] = float64(l.At(u, k))
		}
		for _, units := range together(values) {
			units = slices.DeleteFunc(units, func(u int32) bool { return taken[[2]int{int(u), k}] })
			if len(units) == 0 || !busiest(l, k, units) ||
				l.Sliced && float64(len(units)) > max(fewSliced*float64(l.Units), 1) {
				continue
			}
			key := keyOf(units)
			s := byUnits[key]
			if s == nil {
				s = &Straggle{Units: units}
				byUnits[key] = s
				order = append(order, s)
			}
			s.Phases = append(s.Phases, k)
			s.Score = max(s.Score, score(values, units))
		}
	}
	var out []Straggle
	for _, s := range order {
		s.charge(l, b)
		out = append(out, *s)
	}
	return out
}

func keyOf(units []int32) string {
	key := make([]byte, 0, 4*len(units))
	for _, u := range units {
		key = append(key, byte(u), byte(u>>8), byte(u>>16), byte(u>>24))
	}
	return string(key)
}

// charge blames waits on the group.
func (s *Straggle) charge(l *Load, b *Budget) {
	in := make(map[int32]bool, len(s.Units))
	for _, u := range s.Units {
		in[u] = true
	}
	s.Waiters = map[int32]trace.Time{}
	for _, k := range s.Phases {
		top := trace.Time(0)
		for _, u := range s.Units {
			top = max(top, l.At(int(u), k))
		}
		for v := range l.Units {
			if in[int32(v)] {
				continue
			}
			if t := b.Take(v, k, top-l.At(v, k)); t > 0 {
				s.Lost += t
				s.Waiters[int32(v)] += t
			}
		}
	}
}
