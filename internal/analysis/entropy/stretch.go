package entropy

import "sort"

// A Stretch is a range of odds over which one cut is the best: past From, up to To.
type Stretch struct {
	From, To   float64
	Gain, Loss float64
	Parts      int
}

// Stretches returns all of them, ascending and adjoining, from the thresholds of the
// nodes and the odds at which the best cut changes. A node is a part from its own
// threshold to the least of those above it. O(nodes log stretches).
func (l *Labels) Stretches(thresholds, significant []float64) []Stretch {
	n := len(significant) + 1
	out := make([]Stretch, n)
	for k := range out {
		out[k].To = Never
		if k > 0 {
			out[k].From, out[k-1].To = significant[k-1], significant[k-1]
		}
	}
	// first is the first stretch whose odds are past a threshold.
	first := func(threshold float64) int {
		return sort.Search(n, func(k int) bool { return !(out[k].To <= threshold*(1+tie)) })
	}
	gain, loss, parts := make([]sum, n+1), make([]sum, n+1), make([]int, n+1)
	least := make([]float64, l.Tree.Len()) // of the thresholds of the nodes above
	for i, own := range thresholds {
		least[i] = Never
		if up := l.Tree.Parent[i]; up >= 0 {
			least[i] = min(least[up], thresholds[up])
		}
		from, to := 0, n
		if !l.Tree.Leaf(i) {
			if own == Never {
				continue
			}
			from = first(own)
		}
		if least[i] < Never {
			to = first(least[i])
		}
		if from >= to {
			continue
		}
		gain[from].add(l.Gain[i])
		loss[from].add(l.Loss[i])
		parts[from]++
		gain[to].add(-l.Gain[i])
		loss[to].add(-l.Loss[i])
		parts[to]--
	}
	var g, o sum
	count := 0
	for k := range out {
		g.add(gain[k].value())
		o.add(loss[k].value())
		count += parts[k]
		out[k].Gain, out[k].Loss, out[k].Parts = g.value(), max(o.value(), 0), count
	}
	return out
}

// A sum adds up with the rounding of each step kept (Neumaier): a value that is added and later subtracted
// leaves nothing.
type sum struct{ high, low float64 }

func (s *sum) add(v float64) {
	t := s.high + v
	if abs(s.high) >= abs(v) {
		s.low += s.high - t + v
	} else {
		s.low += v - t + s.high
	}
	s.high = t
}

func (s *sum) value() float64 { return s.high + s.low }

func abs(v float64) float64 {
	if v < 0 {
		return -v
	}
	return v
}
