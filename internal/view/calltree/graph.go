package calltree

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A graph has each region once, and a line for each pair of caller and callee.
type graph struct {
	region    []trace.RegionID
	own       []float64 // exclusive, of all its paths
	inclusive []float64
	calls     []float64
	level     []int // least number of callers above it
	calledBy  []int // the caller through which most comes; -1
	from, to  []int // of lines, those that carry most last
	carried   []float64
}

// mostRegions bounds the regions that are drawn; those with the most are.
const mostRegions = 400

// joined is the graph of the tree, made once.
func (r *result) joined() *graph {
	if r.regionsOnce == nil {
		r.regionsOnce = r.newGraph()
	}
	return r.regionsOnce
}

// newGraph joins the paths of a tree. O(nodes).
func (r *result) newGraph() *graph {
	g := &graph{}
	index := map[trace.RegionID]int{}
	type pair struct{ from, to int }
	carried := map[pair]*runfacts.Joined{}
	var own, inclusive []runfacts.Joined
	how := r.tree.how
	for i := range r.tree.nodes {
		n := &r.tree.nodes[i]
		at, ok := index[n.region]
		if !ok {
			at = len(g.region)
			index[n.region] = at
			g.region, g.calls, g.level, g.calledBy = append(g.region, n.region), append(g.calls, 0),
				append(g.level, int(n.depth)), append(g.calledBy, -1)
			own, inclusive = append(own, runfacts.Joined{}), append(inclusive, runfacts.Joined{})
		}
		own[at].Add(how, n.exclusive)
		g.calls[at] += n.calls
		g.level[at] = min(g.level[at], int(n.depth))
		outermost := true
		for up := n.parent; up >= 0; up = r.tree.nodes[up].parent {
			outermost = outermost && r.tree.nodes[up].region != n.region
		}
		if outermost {
			inclusive[at].Add(how, n.inclusive)
		}
		if n.parent >= 0 {
			k := pair{index[r.tree.nodes[n.parent].region], at}
			if carried[k] == nil {
				carried[k] = &runfacts.Joined{}
			}
			carried[k].Add(how, n.inclusive)
		}
	}
	for i := range own {
		g.own, g.inclusive = append(g.own, own[i].Value(how)), append(g.inclusive, inclusive[i].Value(how))
	}
	lines := make([]pair, 0, len(carried))
	for k := range carried {
		lines = append(lines, k)
	}
	slices.SortFunc(lines, func(a, b pair) int {
		return cmp.Or(cmp.Compare(carried[a].Value(how), carried[b].Value(how)), cmp.Compare(a.from, b.from),
			cmp.Compare(a.to, b.to))
	})
	for _, k := range lines {
		g.from, g.to, g.carried = append(g.from, k.from), append(g.to, k.to), append(g.carried, carried[k].Value(how))
		if g.level[k.from] < g.level[k.to] { // those that carry most come last and win
			g.calledBy[k.to] = k.from
		}
	}
	return g
}

// angles gives each region a sector below that of the one that calls it most, as wide as
// the regions that hang below it are many.
func (g *graph) angles() []float64 {
	n := len(g.region)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(g.level[a], g.level[b]) })
	leaves := make([]int, n)
	below := make([][]int, n+1) // the last holds those without a caller
	for k := n - 1; k >= 0; k-- {
		i := order[k]
		leaves[i] = max(leaves[i], 1)
		if up := g.calledBy[i]; up >= 0 {
			leaves[up] += leaves[i]
		}
	}
	all := 0
	for _, i := range order {
		up := g.calledBy[i]
		if up < 0 {
			up = n
			all += leaves[i]
		}
		below[up] = append(below[up], i)
	}
	begin, end, out := make([]float64, n+1), make([]float64, n+1), make([]float64, n)
	end[n] = 2 * math.Pi
	share := func(up, total int) {
		at := begin[up]
		for _, i := range below[up] {
			wide := (end[up] - begin[up]) * float64(leaves[i]) / float64(max(total, 1))
			begin[i], end[i], out[i] = at, at+wide, at+wide/2
			at += wide
		}
	}
	share(n, all)
	for _, i := range order {
		total := 0
		for _, k := range below[i] {
			total += leaves[k]
		}
		share(i, total)
	}
	return out
}

// graph draws regions in space: callers above callees, regions that are called through
// the same ones close together.
func (r *drawing) graph(s *scene.Scene) {
	g := r.joined()
	most, carried, deepest := 0.0, 0.0, 0
	for i := range g.region {
		most, deepest = max(most, g.own[i]), max(deepest, g.level[i])
	}
	for _, v := range g.carried {
		carried = max(carried, v)
	}
	ramp := "viridis"
	m := &scene.Space{W: float32(s.Width), H: float32(s.Height), Form: scene.Balls, High: float32(most),
		Unit: r.metric.Unit, Ramp: ramp, Camera: r.camera, Detail: 4}
	kept := r.kept(g)
	angle := g.angles()
	for i := range g.region {
		v := float32(g.own[i])
		if !kept[i] {
			v = float32(math.NaN())
		}
		far := float64(g.level[i])
		m.Add(float32(far*math.Cos(angle[i])), float32(far*math.Sin(angle[i])), float32(0-far), v)
	}
	for k := range g.from {
		if g.from[k] != g.to[k] && kept[g.from[k]] && kept[g.to[k]] {
			m.Links.Add(g.from[k], g.to[k], scene.Ramp(ramp, g.carried[k]/max(carried, 1e-300)))
		}
	}
	m.Links.Width = 1.5
	reach := 1.0
	for a, places := range [2][]float32{m.PX, m.PY} {
		lo, hi := float64(slices.Min(places)), float64(slices.Max(places))
		pad := 0.05*(hi-lo) + 0.1
		m.Axes[a] = scene.SpaceAxis{Begin: lo - pad, End: hi + pad, Stretch: 1}
		reach = max(reach, hi-lo)
	}
	m.Axes[2] = scene.SpaceAxis{Label: "callers above", Begin: -float64(deepest) - 0.2, End: 0.2,
		Stretch: 0.8 * reach / float64(max(deepest, 1))}
	for level := range deepest + 1 {
		m.Axes[2].Ticks = append(m.Axes[2].Ticks, scene.Tick{At: -float64(level), Label: fmt.Sprint(level)})
	}
	m.Radius = float32(reach * 0.2 / math.Sqrt(float64(len(g.region))+8))
	m.Least = 4
	order := make([]int, 0, len(g.region))
	for i := range g.region {
		if kept[i] {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(max(g.own[b], g.inclusive[b]/4), max(g.own[a], g.inclusive[a]/4))
	})
	for _, i := range order[:min(len(order), 60)] {
		m.Labels = append(m.Labels,
			scene.SpaceLabel{Thing: uint32(i), Text: scene.Shorten(r.regions[g.region[i]].Name, 130, scene.TextSize)})
	}
	m.Of = ofRegion
	s.AddLayer("space", -1, m)
	s.Legend = []scene.LegendEntry{plot.RampKey("exclusive", ramp, "0", r.format(most)),
		plot.RampKey("lines: inclusive, by caller", ramp, "0", r.format(carried))}
	if left := len(g.region) - len(order); left > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%s regions with the least are left out", view.Thousands(int64(left))))
	}
}

// kept returns which regions are drawn: those with the most, and their callers.
func (r *drawing) kept(g *graph) []bool {
	out := make([]bool, len(g.region))
	order := make([]int, len(g.region))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(g.inclusive[b], g.inclusive[a]) })
	for _, i := range order[:min(len(order), mostRegions)] {
		for up := i; up >= 0 && !out[up]; up = g.calledBy[up] {
			out[up] = true
		}
	}
	return out
}

// regionFact describes a region of the graph.
func (r *result) regionFact(index int) view.Fact {
	g := r.joined()
	f := view.Fact{Title: r.regions[g.region[index]].Name, Regions: []trace.RegionID{g.region[index]}}
	line := func(label, value string, exact float64) { f.Say(label, value, view.Cell(exact)) }
	line("exclusive", r.format(g.own[index]), g.own[index])
	line("inclusive", r.format(g.inclusive[index]), g.inclusive[index])
	if r.counted {
		line("calls", view.FormatCount(g.calls[index]), g.calls[index])
	}
	for k := len(g.from) - 1; k >= 0 && len(f.Lines) < 8; k-- {
		if g.to[k] == index {
			line("called by "+r.regions[g.region[g.from[k]]].Name, r.format(g.carried[k]), g.carried[k])
		}
	}
	return f
}
