package clock

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A solver turns differences of pairs into offsets of processes. All lines have
// one origin, the middle of the time seen, so that offset and slope can be
// treated one like the other.
type solver struct {
	edges         []*edge
	around        [][]int32 // edges at each process
	group         []int
	groups        int
	origin        float64
	offset, slope []float64
}

func newSolver(n int, edges []*edge) *solver {
	s := &solver{edges: edges, around: make([][]int32, n), group: make([]int, n), offset: make([]float64, n),
		slope: make([]float64, n)}
	first, last := math.MaxFloat64, -math.MaxFloat64
	for i, e := range edges {
		s.around[e.low] = append(s.around[e.low], int32(i))
		s.around[e.high] = append(s.around[e.high], int32(i))
		for _, b := range [2]*bounds{&e.up, &e.down} {
			for _, x := range b.list {
				first, last = min(first, float64(x.at)), max(last, float64(x.at))
			}
		}
	}
	if first <= last {
		s.origin = (first + last) / 2
	}
	for i := range s.group {
		s.group[i] = -1
	}
	return s
}

// span goes along the narrowest pairs of each group, from its first process.
func (s *solver) span() {
	tree := s.kruskal()
	for p := range s.group {
		if s.group[p] >= 0 {
			continue
		}
		s.group[p] = s.groups
		queue := []int32{int32(p)}
		for len(queue) > 0 {
			at := queue[0]
			queue = queue[1:]
			for _, i := range tree[at] {
				e := s.edges[i]
				to, sign := e.high, -1.0
				if to == at {
					to, sign = e.low, 1.0
				}
				if s.group[to] >= 0 {
					continue
				}
				s.group[to] = s.groups
				s.offset[to] = s.offset[at] + sign*e.at(s.origin)
				s.slope[to] = s.slope[at] + sign*e.slope
				queue = append(queue, to)
			}
		}
		s.groups++
	}
}

// kruskal picks the pairs that connect everything, narrow ones first.
func (s *solver) kruskal() [][]int32 {
	parent := make([]int32, len(s.group))
	for i := range parent {
		parent[i] = int32(i)
	}
	root := func(p int32) int32 {
		for parent[p] != p {
			parent[p] = parent[parent[p]]
			p = parent[p]
		}
		return p
	}
	tree := make([][]int32, len(s.group))
	for i, e := range s.edges {
		a, b := root(e.low), root(e.high)
		if a != b {
			parent[a] = b
			tree[e.low] = append(tree[e.low], int32(i))
			tree[e.high] = append(tree[e.high], int32(i))
		}
	}
	return tree
}

// sweeps bounds the relaxation; it converges long before on graphs of messages.
const sweeps = 100

// relax moves every process to the mean of its neighbours' estimates, weighted by their certainty. The first
// process of a group keeps its clock. Pairs known from one side only have no weight.
func (s *solver) relax() {
	first := s.firsts()
	for range sweeps {
		moved := 0.0
		for p := range s.group {
			if !first[p] {
				moved = max(moved, s.pull(int32(p)))
			}
		}
		if moved < 1 {
			return
		}
	}
}

// settle moves processes so that bounds hold that the compromise breaks, each pair half way, which ends near the
// compromise if the bounds can all hold at once.
func (s *solver) settle() {
	first := s.firsts()
	lines := s.lines()
	for range 4 * sweeps {
		worst := 0.0
		for _, e := range s.edges {
			up, down := e.breaks(lines)
			if up == 0 && down == 0 {
				continue
			}
			push := float64(down - up) // of low, to later
			push += math.Copysign(1, push)
			worst = max(worst, math.Abs(push))
			low, high := push/2, -push/2
			switch {
			case first[e.low]:
				low, high = 0, -push
			case first[e.high]:
				low, high = push, 0
			}
			s.offset[e.low] += low
			s.offset[e.high] += high
			lines[e.low].Offset, lines[e.high].Offset = s.offset[e.low], s.offset[e.high]
		}
		if worst == 0 {
			return
		}
	}
}

// breaks is by how much the bounds of a pair are broken from either side.
func (e *edge) breaks(lines []Line) (up, down trace.Time) {
	low, high := lines[e.low], lines[e.high]
	for _, x := range e.up.list { // cause on low at x.at, effect on high
		up = max(up, low.At(x.at)-high.At(x.at+x.least))
	}
	for _, x := range e.down.list { // effect on low at x.at, cause on high
		down = max(down, high.At(x.at-x.least)-low.At(x.at))
	}
	return up, down
}

// firsts are the processes that keep their clock.
func (s *solver) firsts() []bool {
	seen := make([]bool, s.groups)
	first := make([]bool, len(s.group))
	for p, g := range s.group {
		first[p], seen[g] = !seen[g], true
	}
	return first
}

func (s *solver) lines() []Line {
	lines := make([]Line, len(s.group))
	for p := range lines {
		lines[p] = Line{Origin: trace.Time(math.Round(s.origin)), Offset: s.offset[p], Drift: s.slope[p]}
		if math.Abs(s.slope[p]) < 1e-15 {
			lines[p].Drift = 0
		}
	}
	return lines
}

func (s *solver) pull(p int32) float64 {
	var weight, offset, slope float64
	for _, i := range s.around[p] {
		e := s.edges[i]
		if e.oneSided {
			continue
		}
		k := 1 / square(e.width+100)
		to, sign := e.high, 1.0
		if e.high == p {
			to, sign = e.low, -1.0
		}
		weight += k
		offset += k * (s.offset[to] + sign*e.at(s.origin))
		slope += k * (s.slope[to] + sign*e.slope)
	}
	if weight == 0 {
		return 0
	}
	moved := math.Abs(offset/weight - s.offset[p])
	s.offset[p], s.slope[p] = offset/weight, slope/weight
	return moved
}

func (s *solver) result() *Result {
	r := &Result{Lines: s.lines(), Group: s.group, Groups: s.groups}
	for _, l := range r.Lines {
		if l.Moves() {
			r.Moved++
		}
		if l.Drift != 0 {
			r.Drifting++
		}
		r.Largest = max(r.Largest, trace.Time(math.Abs(math.Round(l.Offset))))
	}
	r.Residual, r.Worst = s.residual(r.Lines)
	return r
}

// residual compares the result with the bounds of the pairs.
func (s *solver) residual(lines []Line) (rms, worst trace.Time) {
	sum, n := 0.0, 0
	for _, e := range s.edges {
		if !e.oneSided {
			d := s.offset[e.low] - s.offset[e.high] - e.at(s.origin)
			sum, n = sum+d*d, n+1
		}
		up, down := e.breaks(lines)
		worst = max(worst, up, down)
	}
	if n > 0 {
		rms = trace.Time(math.Round(math.Sqrt(sum / float64(n))))
	}
	return rms, worst
}
