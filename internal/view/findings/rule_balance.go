package findings

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/pop"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// imbalance: work is spread unevenly over units, beyond what units that are
// blamed already explain, and others wait for it. The region and the phase that
// contribute most are named.
func (c *court) imbalance() error {
	useful, left := make([]float64, 0, len(c.units)), []int32{}
	byUnit := make([]float64, len(c.units))
	for row, id := range c.rows {
		byUnit[c.unitOf[id]] += c.useful[row]
	}
	for u, v := range byUnit {
		if !c.blamed[u] {
			useful, left = append(useful, v), append(left, int32(u))
		}
	}
	if len(useful) < 2 {
		return nil
	}
	e := pop.Of(useful, float64(c.length))
	lost := e.Lost()
	if c.budget != nil {
		lost = min(lost, float64(c.budget.Sum()))
	}
	hit := lost / (float64(len(useful)) * float64(c.length))
	if finding.LevelOf(hit) == finding.Low || !(e.LoadBalance < 0.95) {
		return nil
	}
	slowest := left[e.Slowest]
	whole := &c.pop // the one figure of the run: what is left of it is said in other words
	text := fmt.Sprintf("Work is spread unevenly: load balance %s (POP, %s)", view.FormatShare(whole.LoadBalance), c.alike.words())
	if len(left) < len(c.units) {
		text += fmt.Sprintf("; apart from %s", c.named(c.accused()))
	}
	text += fmt.Sprintf("; %s is busy %s and the mean is %s", c.names[slowest], view.FormatDuration(e.Max), view.FormatDuration(e.Mean))
	evidence := []finding.Evidence{{Name: "load balance", Value: whole.LoadBalance, Unit: "share"}, {Name: "communication efficiency", Value: whole.Communication, Unit: "share"}, {Name: "busy, most", Value: e.Max, Unit: "ns"}, {Name: "busy, mean", Value: e.Mean, Unit: "ns"}}
	name, ids, part := c.unevenRegion(left)
	if name != "" {
		text += fmt.Sprintf("; most of it in %s (load balance %s)", middle(name), view.FormatShare(part.LoadBalance))
		evidence = append(evidence, finding.Evidence{Name: "load balance of " + name, Value: part.LoadBalance, Unit: "share"})
	}
	f := finding.Finding{Kind: finding.Imbalance, Severity: finding.LevelOf(hit), Lost: trace.Time(lost), Hit: hit, View: "boxprofile", Options: map[string][]string{"over": {"locations"}}, Selection: finding.Selection{Regions: ids}}
	if k, b := c.unevenPhase(left); k >= 0 {
		text += fmt.Sprintf("; worst in %s (%s)", c.phases.List[k].Name, view.FormatShare(b))
		f.Phases = []string{c.phases.List[k].Name}
		evidence = append(evidence, finding.Evidence{Name: "load balance of " + c.phases.List[k].Name, Value: b, Unit: "share"})
	}
	f.Text, f.Evidence = text+".", evidence
	c.add(f, nil)
	return nil
}

// accused are the units that are blamed for something already.
func (c *court) accused() (out []int32) {
	for u, b := range c.blamed {
		if b {
			out = append(out, int32(u))
		}
	}
	return out
}

// unevenRegion is the busy region, by name, with the most time above its mean.
func (c *court) unevenRegion(units []int32) (string, []trace.RegionID, pop.Efficiency) {
	place := make([]int32, len(c.units))
	for i := range place {
		place[i] = -1
	}
	for i, u := range units {
		place[u] = int32(i)
	}
	values, ids := map[string][]float64{}, map[string][]trace.RegionID{}
	t := c.table
	for i, row := range t.row {
		g := &c.regions[t.region[i]]
		u := place[c.unitOf[c.rows[row]]]
		if !g.Role.Busy() || u < 0 || t.exclusive[i] == 0 || len(values) > 200 && values[g.Name] == nil {
			continue
		}
		if values[g.Name] == nil {
			values[g.Name] = make([]float64, len(units))
		}
		values[g.Name][u] += t.exclusive[i]
		if !slices.Contains(ids[g.Name], t.region[i]) {
			ids[g.Name] = append(ids[g.Name], t.region[i])
		}
	}
	best, found := "", pop.Efficiency{}
	for n, v := range values {
		e := pop.Of(v, float64(c.length))
		if x, y := e.Lost(), found.Lost(); x > y || x == y && n < best {
			best, found = n, e
		}
	}
	slices.Sort(ids[best])
	return best, ids[best], found
}

// unevenPhase is the phase with the worst load balance among those that matter, -1
// where phases are alike.
func (c *court) unevenPhase(units []int32) (int, float64) {
	if c.phases == nil || len(c.phases.List) < 2 {
		return -1, 0
	}
	n := len(c.phases.List)
	values := make([]float64, len(c.units))
	best, worst, sum := -1, 1.0, 0.0
	balances := 0
	for k := range n {
		clear(values)
		for row, id := range c.rows {
			values[c.unitOf[id]] += float64(c.cells.Busy[row*n+k])
		}
		own := make([]float64, 0, len(units))
		for _, u := range units {
			own = append(own, values[u])
		}
		e := pop.Of(own, 1)
		if math.IsNaN(e.LoadBalance) || e.Max < 0.01*float64(c.length)/float64(n) {
			continue
		}
		sum += e.LoadBalance
		balances++
		if e.LoadBalance < worst {
			best, worst = k, e.LoadBalance
		}
	}
	if balances < 2 || worst > 0.9*sum/float64(balances) {
		return -1, 0
	}
	return best, worst
}

// bins is over how many bins of time the run is looked at.
const bins = 64

func (c *court) level() int { return bits.Len64(uint64(max(c.length-1, 1) / bins)) }

// serial: stretches in which one unit works and all others do not. At the end of a
// run somebody is always last, so it takes twice as much to be grave.
func (c *court) serial() error {
	if len(c.units) < 4 || c.untimed {
		return nil
	}
	tops := c.window.Locations
	if tops == nil {
		c.tree.Children(trace.NoLocation, func(id trace.LocationID) { tops = append(tops, id) })
	}
	g, err := c.store.Groups(c.ctx, tops, c.window.Begin, c.window.End, c.level())
	if err != nil || g.Bins == 0 {
		return err
	}
	width := float64(int64(1) << g.Level)
	busy := make([]float64, g.Bins)
	for k := range tops {
		for b := range g.Bins {
			for r := range trace.Role(trace.RoleCount) {
				if r.Busy() {
					busy[b] += float64(g.Time[(k*g.Bins+b)*trace.RoleCount+int(r)]) / width
				}
			}
		}
	}
	first, last := longestSerial(busy)
	length := trace.Time(last-first) << g.Level
	begin := max(g.Begin+trace.Time(first)<<g.Level, c.window.Begin)
	hit := float64(length) / float64(c.length)
	if first < 0 || hit < 2*finding.MediumShare {
		return nil
	}
	t, err := c.totals(c.ctx, store.Window{Begin: begin, End: begin + length, Locations: c.window.Locations})
	if err != nil {
		return err
	}
	alone, share := c.worker(t)
	if share < 0.6 || c.known([]int32{alone}) {
		return nil
	}
	lost := trace.Time(float64(length) * float64(len(c.units)-1))
	text := fmt.Sprintf("%s works alone from %s to %s (%s of the run) while the other %s wait.", capital(c.names[alone]), view.FormatTime(begin), view.FormatTime(begin+length), view.FormatShare(hit), view.Thousands(int64(len(c.units)-1)))
	c.add(finding.Finding{Kind: finding.Serial, Severity: finding.LevelOf(hit / 2), Lost: lost, Hit: hit, Text: text, View: "timeline",
		Evidence:  []finding.Evidence{{Name: "length", Value: float64(length), Unit: "ns"}, {Name: "share of the work done by it", Value: share, Unit: "share"}},
		Selection: finding.Selection{Begin: begin, End: begin + length}}, []int32{alone})
	return nil
}

// longestSerial is the longest run of bins with about one location busy.
func longestSerial(busy []float64) (first, last int) {
	first, last = -1, -1
	for i := 0; i < len(busy); i++ {
		k := i
		for k < len(busy) && busy[k] >= 0.3 && busy[k] <= 1.25 {
			k++
		}
		if k-i > last-first || first < 0 && k > i {
			first, last = i, k
		}
		i = k
	}
	return first, last
}

// worker is the unit with the most busy time, and its part of all.
func (c *court) worker(t *totals) (int32, float64) {
	busy := make([]float64, len(c.units))
	sum := 0.0
	for i, row := range t.row {
		if c.regions[t.region[i]].Role.Busy() {
			busy[c.unitOf[c.rows[row]]] += t.exclusive[i]
			sum += t.exclusive[i]
		}
	}
	best := 0
	for u, v := range busy {
		if v > busy[best] {
			best = u
		}
	}
	if sum == 0 {
		return 0, 0
	}
	return int32(best), busy[best] / sum
}

const (
	// leastCommunication is the part of their time that locations which also work
	// must spend in communication for it to be told on its own.
	leastCommunication, highCommunication = 0.2, 0.4
	alsoWorks                             = 0.005
)

// communication: time in communication that no finding above explains.
func (c *court) communication() error {
	works := make([]bool, len(c.rows))
	n := 0
	for row := range c.rows {
		if works[row] = c.useful[row] > alsoWorks*float64(c.length); works[row] {
			n++
		}
	}
	if n < 2 {
		return nil
	}
	sum, byName, ids := 0.0, map[string]float64{}, map[string][]trace.RegionID{}
	for i, row := range c.table.row {
		g := &c.regions[c.table.region[i]]
		if works[row] && g.Role == trace.RoleCommunication {
			sum += c.table.exclusive[i]
			byName[g.Name] += c.table.exclusive[i]
			if !slices.Contains(ids[g.Name], c.table.region[i]) {
				ids[g.Name] = append(ids[g.Name], c.table.region[i])
			}
		}
	}
	if c.books.result != nil {
		return c.transfers(float64(n)*float64(c.length), byName, ids)
	}
	explained := 0.0
	for i := range c.list {
		switch c.list[i].Kind {
		case finding.Straggler, finding.LateSender, finding.LateReceiver, finding.Imbalance:
			explained += float64(c.list[i].Lost)
		}
	}
	capacity := float64(n) * float64(c.length)
	share, rest := sum/capacity, max(sum-explained, 0)/capacity
	if rest < leastCommunication {
		return nil
	}
	names := make([]string, 0, len(byName))
	for k := range byName {
		names = append(names, k)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(byName[b], byName[a]), cmp.Compare(a, b)) })
	level := finding.Medium
	if rest >= highCommunication {
		level = finding.High
	}
	top := names[:min(len(names), 3)]
	for len(top) > 1 && byName[top[len(top)-1]] < 0.01*capacity {
		top = top[:len(top)-1]
	}
	text := fmt.Sprintf("Communication takes %s of the time of %s that also work: parallel efficiency %s, communication efficiency %s (POP); most", view.FormatShare(share), view.Count(n, "location"), view.FormatShare(c.pop.Parallel), view.FormatShare(c.pop.Communication))
	var regions []trace.RegionID
	evidence := []finding.Evidence{{Name: "time in communication", Value: sum, Unit: "ns"}, {Name: "share of the time", Value: share, Unit: "share"}, {Name: "parallel efficiency", Value: c.pop.Parallel, Unit: "share"}, {Name: "communication efficiency", Value: c.pop.Communication, Unit: "share"}}
	for i, k := range top {
		switch {
		case i == 0:
			text += " in "
		case i == len(top)-1:
			text += " and "
		default:
			text += ", "
		}
		text += fmt.Sprintf("%s (%s)", middle(k), view.FormatShare(byName[k]/capacity))
		regions = append(regions, ids[k]...)
		evidence = append(evidence, finding.Evidence{Name: k, Value: byName[k], Unit: "ns"})
	}
	slices.Sort(regions)
	c.add(finding.Finding{Kind: finding.Communication, Severity: level, Lost: trace.Time(rest * capacity), Hit: rest, Text: text + ".", View: "profile", Evidence: evidence, Selection: finding.Selection{Regions: regions}}, nil)
	return nil
}
