package diagnose

import (
	"fmt"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/peer"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// slowKernels reports GPUs on which the same kernels take longer than on the others. The level is Low if a
// straggler finding names the GPU already.
func (g *gpuCase) slowKernels() error {
	sums := make([]map[peer.Kind]peer.Sum, len(g.job.GPUs))
	for i := range sums {
		sums[i] = map[peer.Kind]peer.Sum{}
		for r, s := range g.job.GPUs[i].Kernels {
			sums[i][peer.Kind{Region: r}] = peer.Sum(s)
		}
	}
	list := peer.Find(sums)
	if len(list) == 0 {
		return nil
	}
	sums, err := g.byGrid()
	if err != nil {
		return err
	}
	if sums != nil { // a longer time may mean more work
		list = peer.Find(sums)
	}
	if len(list) > 0 {
		g.tellSlowKernels(list)
	}
	return nil
}

// byGrid adds up kernels by name and grid; nil where that is not told, or too much to look at.
func (g *gpuCase) byGrid() ([]map[peer.Kind]peer.Sum, error) {
	w := g.window
	w.Locations = nil
	for _, id := range g.devices.Rows {
		if g.devices.GPU[id] >= 0 {
			w.Locations = append(w.Locations, id)
		}
	}
	if !slices.Contains(g.store.Attributes(), "grid") {
		return nil, nil
	}
	if n, err := g.store.Count(w); err != nil || n > mostGrids {
		return nil, err
	}
	var mu sync.Mutex
	grids := map[[3]int32]string{}
	err := runfacts.AttributeNamed(g.ctx, g.store, w, "grid", func(c *store.AttributeColumns) error {
		mu.Lock()
		defer mu.Unlock()
		for i, row := range c.Row {
			grids[[3]int32{int32(c.Location), int32(c.Lane), row}] = c.Value[i].String()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	sums := make([]map[peer.Kind]peer.Sum, len(g.devices.GPUs))
	for i := range sums {
		sums[i] = map[peer.Kind]peer.Sum{}
	}
	kernel := make([]bool, len(g.regions))
	for i := range g.regions {
		term, ok := step.WorkTerm(&g.regions[i])
		kernel[i] = ok && term == step.Kernel
	}
	err = g.store.Intervals(g.ctx, w, func(c *trace.Columns) error {
		mu.Lock()
		defer mu.Unlock()
		all := sums[g.devices.GPU[c.Location]]
		for i, r := range c.Region {
			if kernel[r] {
				k := peer.Kind{Region: r, Grid: grids[[3]int32{int32(c.Location), int32(c.Lane), int32(c.First + i)}]}
				all[k] = peer.Sum{Count: all[k].Count + 1, Time: all[k].Time + max(c.Duration[i], 0)}
			}
		}
		return nil
	})
	return sums, err
}

// mostGrids is how many pieces of work are looked at with the grid they were launched with; of more their names must
// do.
const mostGrids = 1 << 20

func (g *gpuCase) tellSlowKernels(list []peer.Slower) {
	s := &list[0]
	g.said = nil
	unit := g.devices.Units[g.devices.Owner[s.GPU]]
	name := runfacts.UnitNames(g.tree, g.devices.Units)[g.devices.Owner[s.GPU]]
	at := []trace.LocationID{}
	lost := trace.Time(0)
	for i := range list {
		at = append(at, g.devices.GPUs[list[i].GPU])
		lost += list[i].Lost()
	}
	text := fmt.Sprintf("Kernels of %s run below their peers: all together they take %s times as long as the same "+
		"kernels on other GPUs", name, g.say("times as long", s.Ratio, "", ""))
	if len(s.Kernels) > 0 {
		k := &s.Kernels[0]
		text += fmt.Sprintf(", most of it %s, which takes %s a call against %s", words.Middle(g.regions[k.Region].Name),
			g.say("a call", k.Mean, "ns", ""), g.say("a call on the others", k.Others, "ns", ""))
	}
	if len(list) > 1 {
		text += fmt.Sprintf("; so do those of %s", words.Count(len(list)-1, "other GPU"))
		g.say("other slow GPUs", float64(len(list)-1), "count", "")
	}
	hit := float64(s.Lost()) / float64(max(s.Time, 1))
	f := finding.Finding{Kind: finding.SlowKernels, Severity: finding.LevelOf(hit).AtMost(finding.Medium), Lost: lost,
		Hit: hit, View: "operators", Options: map[string][]string{"by": {"kernel"}}, Text: text + ".",
		Selection: finding.Selection{Locations: at},
		Evidence: append([]finding.Evidence{{Name: "of the time of its kernels", Value: hit, Unit: "share"}},
			g.said...)}
	if slices.ContainsFunc(g.list, func(x finding.Finding) bool {
		return x.Kind == finding.Straggler &&
			slices.ContainsFunc(x.Selection.Locations, func(id trace.LocationID) bool {
				return id <= unit && unit <= g.tree.Last[id] || unit <= id && id <= g.tree.Last[unit]
			})
	}) {
		f.Severity = finding.Low
	}
	g.add(f, nil)
}
