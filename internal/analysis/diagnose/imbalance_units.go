package diagnose

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/pop"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// findImbalance finds work that is spread unevenly over units, beyond the share of units that are blamed
// already, and that others wait for. The region and the phase that contribute most are named.
func findImbalance(c *diagnosis) error {
	if !c.summed() && !(c.compared && c.profile) {
		return nil
	}
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
	if finding.LevelOf(hit) == finding.Low || !(e.LoadBalance < even) {
		return nil
	}
	slowest := left[e.Slowest]
	// the load balance of the whole run; that of the remaining units is given as busy times
	text := "Work is spread unevenly" + c.balanceWords()
	if len(left) < len(c.units) {
		text += fmt.Sprintf("; apart from %s", c.named(c.accused()))
	}
	together := "" // the load balance is of parts of units then
	if len(c.alike.members) > len(c.units) {
		together = " all together"
	}
	text += fmt.Sprintf("; %s is busy %s%s and the mean is %s", c.names[slowest], c.amount(e.Max), together,
		c.amount(e.Mean))
	source, column := c.busyRows()
	evidence := []finding.Evidence{
		{Name: "busy, most", Value: e.Max, Unit: c.unit, From: c.unitsQuery("max", column, source, left)},
		{Name: "busy, mean", Value: e.Mean, Unit: c.unit, From: c.unitsQuery("avg", column, source, left)}}
	for _, x := range []finding.Evidence{
		{Name: "load balance", Value: c.pop.LoadBalance, Unit: "share", From: c.balanceQuery()},
		{Name: "communication efficiency", Value: c.pop.Communication, Unit: "share"}} {
		if !math.IsNaN(x.Value) {
			evidence = append(evidence, x)
		}
	}
	name, ids, part := unevenRegion(c, left)
	if name != "" {
		text += fmt.Sprintf("; most of it in %s (load balance %s)", words.Middle(name),
			words.FormatShare(part.LoadBalance))
		evidence = append(evidence,
			finding.Evidence{Name: "load balance of " + name, Value: part.LoadBalance, Unit: "share",
				From: c.unevenQuery(ids, left)})
	}
	f := finding.Finding{Kind: finding.Imbalance, Severity: finding.LevelOf(hit), Lost: trace.Time(lost), Hit: hit,
		View: "boxprofile", Options: map[string][]string{"over": {"locations"}},
		Selection: finding.Selection{Regions: ids}}
	if k, b := unevenPhase(c, left); k >= 0 {
		text += fmt.Sprintf("; worst in %s", c.phases.List[k].Name)
		f.Phases = []string{c.phases.List[k].Name}
		evidence = append(evidence,
			finding.Evidence{Name: "load balance of " + c.phases.List[k].Name, Value: b, Unit: "share"})
	}
	f.Text, f.Evidence = text+".", evidence
	c.add(f, nil)
	return nil
}

// balanceQuery asks for the load balance of the run; "" where it is over more than single rows.
func (f *facts) balanceQuery() string {
	source, column := f.busyRows()
	var ids []trace.LocationID
	for _, rows := range f.alike.members {
		if len(rows) != 1 {
			return ""
		}
		ids = append(ids, f.rows[rows[0]])
	}
	if source == "" || len(ids) > mostNumbers {
		return ""
	}
	return fmt.Sprintf("with t as (select location, total(%s) as v from %s group by 1) select total(v) / %d / max(v) "+
		"from t where location in (%s)", column, source, len(ids), numbers(ids))
}

// unevenQuery asks for the load balance of regions over units.
func (f *facts) unevenQuery(regions []trace.RegionID, units []int32) string {
	q := f.unitsQuery("avg", "exclusive", f.times(regions), units)
	return strings.Replace(q, "avg(coalesce(v, 0))", "avg(coalesce(v, 0)) / max(v)", 1)
}

// unevenRegion is the busy region, by name, with the most time above its mean.
func unevenRegion(c *diagnosis, units []int32) (string, []trace.RegionID, pop.Efficiency) {
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
func unevenPhase(c *diagnosis, units []int32) (int, float64) {
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
