package diagnose

// Fault: uneven work, in runs whose waits are not followed one by one.

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
	byUnit, compared := c.busyOfUnits()
	for u, v := range byUnit {
		if compared[u] && !c.blamed[u] {
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
	text := c.workWord() + " is spread unevenly" + c.balanceWords()
	together := "" // the load balance is of parts of units then
	if len(c.alike.members) > len(c.units) {
		together = " all together"
	}
	text += fmt.Sprintf(". %s is busy for %s%s, the mean is %s", capital(c.names[slowest]), c.amount(e.Max), together,
		c.amount(e.Mean))
	if len(left) < len(c.units) {
		text += ", without " + c.named(c.accused())
	}
	source, column := c.busyOf(c.peerRows())
	if c.alike.what == "GPUs" && len(c.alike.members) < len(c.peerRows()) {
		source = "" // streams overlap
	}
	most, mean := c.unitsQuery("max", column, source, left), c.unitsQuery("avg", column, source, left)
	if source == "" && c.alike.what == "GPUs" {
		most = c.togetherQuery("max(v)", "u", left)
		mean = c.togetherQuery(fmt.Sprintf("total(v) / %d", len(left)), "u", left)
	}
	evidence := []finding.Evidence{{Name: "busy, most", Value: e.Max, Unit: c.unit, From: most},
		{Name: "busy, mean", Value: e.Mean, Unit: c.unit, From: mean}}
	for _, x := range []finding.Evidence{
		{Name: "load balance", Value: c.pop.LoadBalance, Unit: "share", From: c.balanceQuery()},
		{Name: "communication efficiency", Value: c.pop.Communication, Unit: "share"}} {
		if !math.IsNaN(x.Value) {
			evidence = append(evidence, x)
		}
	}
	name, ids, part := unevenRegion(c, left)
	if name != "" && 5*part.Lost() >= e.Lost() {
		much := "Most of it is"
		if 2*part.Lost() < e.Lost() {
			much = "The largest part is"
		}
		text += fmt.Sprintf(". %s in %s (load balance %s)", much, words.Middle(name),
			words.FormatShare(part.LoadBalance))
		evidence = append(evidence,
			finding.Evidence{Name: "load balance of " + name, Value: part.LoadBalance, Unit: "share",
				From: c.unevenQuery(ids, left)})
	}
	f := finding.Finding{Kind: finding.Imbalance, Severity: finding.LevelOf(hit), Lost: trace.Time(lost), Hit: hit,
		View: "boxprofile", Options: map[string][]string{"over": {"locations"}},
		Subjects: c.locations([]int32{slowest}), Selection: finding.Selection{Regions: ids}}
	if k, b := unevenPhase(c, left); k >= 0 {
		text += fmt.Sprintf(". The worst phase is %s", c.phases.List[k].Name)
		f.Phases = []string{c.phases.List[k].Name}
		evidence = append(evidence,
			finding.Evidence{Name: "load balance of " + c.phases.List[k].Name, Value: b, Unit: "share"})
	}
	f.Text, f.Evidence = text+".", evidence
	c.add(f, nil)
	return nil
}

// busyOfUnits is how long the peers of each unit are busy, and which units have some. Streams of a GPU that are busy at
// the same time count once.
func (c *diagnosis) busyOfUnits() (busy []float64, compared []bool) {
	busy, compared = make([]float64, len(c.units)), make([]bool, len(c.units))
	add := func(row int32, t float64) {
		u := c.unitOf[c.rows[row]]
		busy[u] += t
		compared[u] = true
	}
	if c.alike.what == "GPUs" {
		for i, rows := range c.alike.members {
			add(rows[0], c.alike.useful[i])
		}
		return busy, compared
	}
	for _, row := range c.peerRows() {
		add(row, c.useful[row])
	}
	return busy, compared
}

// workWord names the activity that is compared: a recorder of input and output knows no other.
func (f *facts) workWord() string {
	for i, r := range f.table.region {
		if role := f.regions[r].Role; role.Busy() && role != trace.RoleIO && f.table.exclusive[i] > 0 {
			return "Work"
		}
	}
	return "Time in input and output"
}

// balanceQuery asks for the load balance of the run; "" where it is over more than single rows.
func (f *facts) balanceQuery() string {
	source, column := f.busyRows()
	var ids []trace.LocationID
	for _, rows := range f.alike.members {
		if len(rows) != 1 {
			return f.togetherQuery(fmt.Sprintf("total(v) / %d / max(v)", len(f.alike.members)), "m", f.allUnits())
		}
		ids = append(ids, f.rows[rows[0]])
	}
	if source == "" || len(ids) > mostNumbers {
		return ""
	}
	return fmt.Sprintf("with t as materialized (select location, total(%s) as v from %s group by 1) select total(v) / "+
		"%d / max(v) from t where location in (%s)", column, source, len(ids), numbers(ids))
}

// togetherQuery asks for something of the time t in which each of some units is busy: the sum v of its GPUs' times,
// each busy while one of its streams is; with by "m" for each GPU.
func (f *facts) togetherQuery(what, by string, units []int32) string {
	if f.profile || !f.window.Whole(f.store) || len(f.rows) > mostNumbers {
		return ""
	}
	in := f.among(units)
	var rows []string
	for i, m := range f.alike.members {
		for _, row := range m {
			if u := f.unitOf[f.rows[row]]; in[u] {
				rows = append(rows, fmt.Sprintf("(%d, %d, %d)", i, u, f.rows[row]))
			}
		}
	}
	return fmt.Sprintf("with d(m, u, at) as (values %s), w as (select m, u, begin as b, \"end\" as e from intervals "+
		"join d on location = at where role in ('compute', 'io', 'copy')), p as (select m, u, b, e, max(e) over "+
		"(partition by m order by b, e rows between unbounded preceding and 1 preceding) as p from w), v as (select "+
		"%s, total(max(e - max(b, coalesce(p, b)), 0)) as v from p group by 1) select %s from v", strings.Join(rows,
		", "), by, what)
}

// unevenQuery asks for the load balance of regions over units.
func (f *facts) unevenQuery(regions []trace.RegionID, units []int32) string {
	q := f.unitsQuery("avg", "exclusive", f.peerTimes(regions), units)
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
		if !c.peer[row] || !g.Role.Busy() || u < 0 || t.exclusive[i] == 0 || len(values) > 200 &&
			values[g.Name] == nil {
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
			if c.peer[row] {
				values[c.unitOf[id]] += float64(c.cells.Busy[row*n+k])
			}
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
