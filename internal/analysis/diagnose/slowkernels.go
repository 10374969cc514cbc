package diagnose

// Fault: the same kernels take longer on some GPUs than on the others.

import (
	"fmt"
	"slices"
	"strings"
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
		for _, k := range g.job.GPUs[i].Kernels {
			sums[i][peer.Kind{Region: k.Region}] = peer.Sum(k.Sum)
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
		g.tellSlowKernels(list, sums != nil)
	}
	return nil
}

// byGrid adds up kernels by name and grid; nil if that is unknown, or too much to look at.
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

// kernelQuery asks for something of r, the kernels of the GPU of a slow one, joined with o, those on the others: times
// as t, counts as n, the mean as m and that of the GPU in the middle as o.
func (g *gpuCase) kernelQuery(s *peer.Slower, grids bool, what string) string {
	var kernels []trace.RegionID
	for i := range g.regions {
		if term, ok := step.WorkTerm(&g.regions[i]); ok && term == step.Kernel {
			kernels = append(kernels, trace.RegionID(i))
		}
	}
	if len(kernels) > mostNumbers || len(g.devices.GPUs) > mostNumbers || !g.window.Whole(g.store) {
		return ""
	}
	var devices []string
	for i, id := range g.devices.GPUs {
		devices = append(devices, fmt.Sprintf("(%d, %d, %d)", i, id, g.tree.Last[id]))
	}
	grid, join := "''", ""
	if grids {
		grid = "coalesce(a.value, '')"
		join = " left join (select location, lane, row, value from attributes where of = 'interval' and key = " +
			"'grid') a on a.location = i.location and a.lane = i.lane and a.row = i.row"
	}
	return fmt.Sprintf("with d(gpu, low, high) as (values %s), k as (select gpu, region_id as r, %s as g, count(*) "+
		"as n, total(duration) as t from intervals i join d on i.location between low and high%s where region_id in "+
		"(%s) group by 1, 2, 3 having n >= 4), w as (select *, t / n as m, row_number() over (partition by r, g "+
		"order by t / n) - 1 as i, row_number() over (partition by r, g order by n) - 1 as j, count(*) over "+
		"(partition by r, g) as c from k), o as (select r, g, max(iif(i = (c - 1) / 2, m, 0)) as o, max(iif(j = c / "+
		"2, n, 0)) as usual, max(c) as c from w group by 1, 2), x as (select w.*, o.o from w join o using (r, g) "+
		"where gpu = %d and o.c >= 3 and 2 * o.c >= %d and n between usual * 0.9 and usual * 1.1) select %s",
		strings.Join(devices, ", "), grid, join,
		numbers(kernels), s.GPU, len(g.devices.GPUs), what)
}

func (g *gpuCase) tellSlowKernels(list []peer.Slower, grids bool) {
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
	text := fmt.Sprintf("Kernels on %s are slow: together they take %s times as long as the same kernels on other "+
		"GPUs", name, g.say("times as long", s.Ratio, "", g.kernelQuery(s, grids,
		"total(t) / total(o * n) from x")))
	if len(s.Kernels) > 0 {
		k := &s.Kernels[0]
		one := fmt.Sprintf(" from x where r = %d and g = %s", k.Region, quoted(k.Grid))
		text += fmt.Sprintf(". Largest part: %s, %s per call against %s", words.Middle(g.regions[k.Region].Name),
			g.say("a call", k.Mean, "ns", g.kernelQuery(s, grids, "m"+one)),
			g.say("a call on the others", k.Others, "ns", g.kernelQuery(s, grids, "o"+one)))
	}
	if len(list) > 1 {
		text += fmt.Sprintf(". The same holds for %s", words.Count(len(list)-1, "other GPU"))
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
