package proposal

import (
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/rankgrid"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Kind is the source of a layout.
type Kind string

// Kinds of layouts, in the order in which they are tried.
const (
	Coordinates Kind = "coordinates" // as the data has them
	Grid        Kind = "grid"        // a grid of ranks, from traffic
	Nodes       Kind = "nodes"       // nodes × cores
	Hosts       Kind = "hosts"       // levels of the host names, as blocks in blocks
	Chain       Kind = "chain"       // from traffic: rows to and fro
	Rows        Kind = "rows"        // rows in order of rank
	Hilbert     Kind = "hilbert"     // a Hilbert curve in order of rank
)

var order = []Kind{Coordinates, Grid, Nodes, Hosts, Chain, Rows, Hilbert}

// A Layout is a place for each rank.
type Layout struct {
	Kind     Kind
	Dims     []int
	Periodic []bool // of a grid or chain, by axis
	// Traffic is the share of the structure of traffic that a grid or chain explains.
	Traffic float64
	// Neighbours is the share of how the value differs that neighbours tell; 0 or less:
	// nothing.
	Neighbours float64
	// Places are up to three whole numbers by rank; nil for Coordinates.
	Places [][]int
	Blocks []Block // of Hosts and Nodes
	Of     []int32 // by rank: its block
}

// A Block is a group of ranks that are drawn together: the rank at the end of its first
// column or row, where its name is read.
type Block struct {
	Rank int
	Name string
}

const (
	// lead is how much more a layout must explain than one of better structure to come first.
	lead = 0.2
	// longLine is how many ranks coordinates on one axis may have.
	longLine = 32
	// longSide is how many times the other a side of nodes × cores is folded from.
	longSide = 4
	// mostAxes is the number of axes that coordinates may have.
	mostAxes = 6
	// mostScored is how many ranks may have a value: of more the kinds alone decide.
	mostScored = 1 << 16
)

// Layouts returns the layouts that a run suggests, the one to begin with first: in the
// order of their kinds, unless neighbours tell much more of a value in another one. value
// is by rank; nil: not known.
func Layouts(r *trace.Ranks, value []float64) []Layout {
	s := analyse(r)
	var out []Layout
	add := func(l Layout, near neighbours) {
		if len(value) == r.Count && r.Count <= mostScored {
			l.Neighbours = told(value, near(value))
		}
		out = append(out, l)
	}
	if l, near, ok := s.coordinates(); ok {
		add(l, near)
	}
	if l, near, ok := s.traffic(); ok {
		add(l, near)
	}
	if l, near, ok := s.nodes(); ok {
		add(l, near)
	}
	if s.hosts != nil && len(s.per) > 1 {
		for levels := len(s.hosts.Kinds); levels > 0; levels-- {
			if l, near, ok := s.blocks(levels); ok {
				add(l, near)
			}
		}
	}
	rows, curve := rowPlaces(r.Count, false), hilbertPlaces(r.Count)
	add(Layout{Kind: Rows, Dims: extent(rows), Places: rows}, beside(rows))
	add(Layout{Kind: Hilbert, Dims: extent(curve), Places: curve}, beside(curve))
	slices.SortStableFunc(out, func(a, b Layout) int {
		return slices.Index(order, a.Kind) - slices.Index(order, b.Kind)
	})
	best, margin := 0, max(lead, 2/math.Sqrt(float64(r.Count)))
	for k := range out {
		if max(out[k].Neighbours, 0) >= max(out[best].Neighbours, 0)+margin {
			best = k
		}
	}
	first := out[best]
	return slices.Insert(slices.Delete(out, best, best+1), 0, first)
}

// coordinates are those of the data, on the axes that have more than one place.
func (s *structure) coordinates() (l Layout, near neighbours, ok bool) {
	if len(s.Coordinates) != s.Count || s.Count == 0 {
		return l, nil, false
	}
	var keep []int
	for a := range s.Coordinates[0] {
		if slices.ContainsFunc(s.Coordinates, func(p []int) bool { return p[a] != s.Coordinates[0][a] }) {
			keep = append(keep, a)
		}
	}
	if len(keep) < 2 && s.Count > longLine || len(keep) > mostAxes {
		return l, nil, false
	}
	places := make([][]int, s.Count)
	for rank, p := range s.Coordinates {
		places[rank] = []int{}
		for _, a := range keep {
			places[rank] = append(places[rank], p[a])
		}
	}
	return Layout{Kind: Coordinates, Dims: extent(places)}, beside(places), true
}

// traffic is the grid or the chain that traffic has.
func (s *structure) traffic() (l Layout, near neighbours, ok bool) {
	g := s.grid
	if g == nil || g.Dims == nil || g.Explained < rankgrid.Enough {
		return l, nil, false
	}
	l = Layout{Kind: Grid, Dims: g.Dims, Periodic: g.Periodic, Traffic: g.Explained}
	if len(g.Dims) == 1 { // a line is folded
		l.Kind, l.Places = Chain, rowPlaces(s.Count, true)
		return l, beside(l.Places), true
	}
	places := make([][]int, s.Count) // a rank that is not on the grid has none
	for rank := range places {
		if on := rank - g.First; on >= 0 && on < g.Ranks {
			places[rank] = rankgrid.Place(on, g.Dims)
		}
	}
	near = beside(places)
	l.Places = make([][]int, s.Count)
	for rank, p := range places {
		switch {
		case p == nil && rank == 0: // a master, next to the grid
			l.Places[rank] = []int{-2, 0}
		case p == nil:
			l.Places[rank] = []int{g.Dims[0] + 1, 0}
		case len(p) > 3: // blocks side by side
			l.Places[rank] = []int{p[0] + p[3]*(g.Dims[0]+1), p[1], p[2]}
		default:
			l.Places[rank] = p
		}
	}
	return l, near, true
}

// nodes is a row per node, and in it a place per rank.
func (s *structure) nodes() (l Layout, near neighbours, ok bool) {
	if len(s.per) < 2 || slices.Max(s.per) < 2 {
		return l, nil, false
	}
	cores, many := slices.Max(s.per), len(s.per)
	places, seen := make([][]int, s.Count), make([]int, many)
	for rank, h := range s.host {
		places[rank] = []int{seen[h], h}
		seen[h]++
	}
	l = Layout{Kind: Nodes, Dims: []int{cores, many}, Places: places}
	if cores > longSide*many || many > longSide*cores {
		keys := make([][]int, s.Count)
		for rank, h := range s.host {
			keys[rank] = []int{h}
		}
		l.Places = nested(keys)
	}
	of := make([]int32, s.Count)
	for rank, h := range s.host {
		of[rank] = int32(h)
	}
	l.Of = of
	l.Blocks = blocksOf(l.Places, of, many, func(rank int) string { return s.Ranks.Hosts[rank] })
	return l, beside(places), true
}

// blocks are ranks in blocks of their hosts' groups on some levels.
func (s *structure) blocks(levels int) (l Layout, near neighbours, ok bool) {
	names := s.hostKeys(levels)
	of, groups := number(names)
	if groups < 2 || groups == s.Count {
		return l, nil, false
	}
	keys := make([][]int, s.Count)
	for j := 1; j <= levels; j++ {
		at, _ := number(firstLevels(names, j))
		for rank, g := range at {
			keys[rank] = append(keys[rank], int(g))
		}
	}
	l = Layout{Kind: Hosts, Dims: s.hosts.Sides[:levels], Places: nested(keys)}
	l.Of = of
	l.Blocks = s.nameNested(blocksOf(l.Places, of, groups, func(int) string { return "" }), l.Places, levels)
	return l, together(of, groups), true
}

// blocksOf names groups at the place of theirs that is highest, of those the leftmost.
func blocksOf(places [][]int, of []int32, groups int, name func(rank int) string) []Block {
	out := make([]Block, groups)
	for g := range out {
		out[g].Rank = -1
	}
	for rank, g := range of {
		p, b := places[rank], &out[g]
		if b.Rank < 0 || p[1] > places[b.Rank][1] || p[1] == places[b.Rank][1] && p[0] < places[b.Rank][0] {
			*b = Block{rank, name(rank)}
		}
	}
	return out
}

// Neighbours returns the mean of each rank's neighbours; NaN of a rank without any.
type neighbours func(values []float64) []float64

// together are the ranks of one group.
func together(of []int32, groups int) neighbours {
	return func(values []float64) []float64 {
		sum, count := make([]float64, groups), make([]float64, groups)
		for i, g := range of {
			sum[g] += values[i]
			count[g]++
		}
		out := make([]float64, len(values))
		for i, g := range of {
			out[i] = math.NaN()
			if count[g] > 1 {
				out[i] = (sum[g] - values[i]) / (count[g] - 1)
			}
		}
		return out
	}
}

// told is how well neighbours predict a value: 1 less the squared errors of a prediction by their mean,
// over those by the mean of all others.
func told(values, mean []float64) float64 {
	n, total := float64(len(values)), 0.0
	for _, v := range values {
		total += v
	}
	left, whole := 0.0, 0.0
	for i, v := range values {
		others := (total - v) / (n - 1)
		from := mean[i]
		if math.IsNaN(from) {
			from = others
		}
		left += (v - from) * (v - from)
		whole += (v - others) * (v - others)
	}
	if !(whole > 0) {
		return 0
	}
	return 1 - left/whole
}

// beside are the ranks one step away on one axis, and those at the same place. A rank
// without a place has none.
func beside(places [][]int) neighbours {
	return func(values []float64) []float64 {
		type held struct{ sum, count float64 }
		at := map[[mostAxes]int]held{}
		for i, p := range places {
			if p != nil {
				h := at[key(p)]
				at[key(p)] = held{h.sum + values[i], h.count + 1}
			}
		}
		out := make([]float64, len(places))
		for i, p := range places {
			out[i] = math.NaN()
			if p == nil {
				continue
			}
			here := at[key(p)]
			near := held{here.sum - values[i], here.count - 1}
			for a := range p {
				for _, by := range []int{-1, 1} {
					k := key(p)
					k[a] += by
					near.sum += at[k].sum
					near.count += at[k].count
				}
			}
			if near.count > 0 {
				out[i] = near.sum / near.count
			}
		}
		return out
	}
}

// key is a place as a key of a map.
func key(p []int) (k [mostAxes]int) {
	copy(k[:], p)
	return k
}

// extent is how many places there are on each axis, from 0 on.
func extent(places [][]int) []int {
	if len(places) == 0 {
		return nil
	}
	out := make([]int, len(places[0]))
	for _, p := range places {
		for a, x := range p {
			out[a] = max(out[a], x+1)
		}
	}
	return out
}
