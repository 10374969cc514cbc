package calltree

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/pathtree"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// mostRegions bounds the regions that are drawn; those with the most are.
const mostRegions = 400

// graphOf is the graph of the tree, made once.
func (r *result) graphOf() *pathtree.Graph {
	if r.regionsOnce == nil {
		r.regionsOnce = r.tree.Graph()
	}
	return r.regionsOnce
}

// angles gives each region a sector below that of the one that calls it most, as wide as
// the regions that hang below it are many.
func angles(g *pathtree.Graph) []float64 {
	n := len(g.Region)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(g.Level[a], g.Level[b]) })
	leaves := make([]int, n)
	below := make([][]int, n+1) // the last holds those without a caller
	for k := n - 1; k >= 0; k-- {
		i := order[k]
		leaves[i] = max(leaves[i], 1)
		if up := g.CalledBy[i]; up >= 0 {
			leaves[up] += leaves[i]
		}
	}
	all := 0
	for _, i := range order {
		up := g.CalledBy[i]
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
	g := r.graphOf()
	most, carried, deepest := 0.0, 0.0, 0
	for i := range g.Region {
		most, deepest = max(most, g.Exclusive[i]), max(deepest, g.Level[i])
	}
	for _, v := range g.Carried {
		carried = max(carried, v)
	}
	ramp := "viridis"
	m := &scene.Space{W: float32(s.Width), H: float32(s.Height), Form: scene.Balls, High: float32(most),
		Unit: r.metric.Unit, Ramp: ramp, Camera: r.camera, Detail: 4}
	kept := g.Most(mostRegions)
	angle := angles(g)
	for i := range g.Region {
		v := float32(g.Exclusive[i])
		if !kept[i] {
			v = float32(math.NaN())
		}
		far := float64(g.Level[i])
		m.Add(float32(far*math.Cos(angle[i])), float32(far*math.Sin(angle[i])), float32(0-far), v)
	}
	for k := range g.From {
		if g.From[k] != g.To[k] && kept[g.From[k]] && kept[g.To[k]] {
			m.Links.Add(g.From[k], g.To[k], scene.Ramp(ramp, g.Carried[k]/max(carried, 1e-300)))
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
	m.Radius = float32(reach * 0.2 / math.Sqrt(float64(len(g.Region))+8))
	m.Least = 4
	order := make([]int, 0, len(g.Region))
	for i := range g.Region {
		if kept[i] {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(max(g.Exclusive[b], g.Inclusive[b]/4), max(g.Exclusive[a], g.Inclusive[a]/4))
	})
	for _, i := range order[:min(len(order), 60)] {
		name := r.tree.Regions[g.Region[i]].Name
		m.Labels = append(m.Labels, scene.SpaceLabel{Thing: uint32(i), Text: scene.Shorten(name, 130, scene.TextSize)})
	}
	m.Of = ofRegion
	s.AddLayer("space", -1, m)
	s.Legend = []scene.LegendEntry{plot.RampKey("exclusive", ramp, "0", r.format(most)),
		plot.RampKey("lines: inclusive, by caller", ramp, "0", r.format(carried))}
	if left := len(g.Region) - len(order); left > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%s regions with the least are left out", view.Thousands(int64(left))))
	}
}

// regionFact describes a region of the graph.
func (r *result) regionFact(index int) view.Fact {
	g := r.graphOf()
	f := view.Fact{Title: r.tree.Regions[g.Region[index]].Name, Regions: []trace.RegionID{g.Region[index]}}
	line := func(label, value string, exact float64) { f.Say(label, value, view.Cell(exact)) }
	line("exclusive", r.format(g.Exclusive[index]), g.Exclusive[index])
	line("inclusive", r.format(g.Inclusive[index]), g.Inclusive[index])
	if r.counted {
		line("calls", view.FormatCount(g.Calls[index]), g.Calls[index])
	}
	for k := len(g.From) - 1; k >= 0 && len(f.Lines) < 8; k-- {
		if g.To[k] == index {
			line("called by "+r.tree.Regions[g.Region[g.From[k]]].Name, r.format(g.Carried[k]), g.Carried[k])
		}
	}
	return f
}
