package diagnose

// Claims: the numbers of a finding, each with the query that gives it again, and the next step.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// claimAll gives each finding its next step, and makes claims of its numbers that have a query. One without any
// claims the time of its subject: of its regions, or else the work of its locations.
func (c *diagnosis) claimAll() {
	for i := range c.list {
		f := &c.list[i]
		f.Place = cmp.Or(f.Place, c.placeOf(f))
		f.Next = c.nextStep(f)
		for k := range f.Evidence {
			e := &f.Evidence[k]
			if !c.provable(e.From) {
				e.From = ""
			}
			if e.From != "" {
				f.Claims = append(f.Claims, finding.Claim{Says: e.Name, Value: e.Value, Unit: e.Unit, From: e.From})
			}
		}
		if len(f.Claims) > 0 {
			continue
		}
		if claim, ok := c.claimSubject(f); ok {
			f.Claims = append(f.Claims, claim)
		}
	}
}

// provable reports whether a query can ask for the selection: tables know no part of the regions, and those of waits
// and of GPUs no part of the locations.
func (c *diagnosis) provable(from string) bool {
	return c.question.Selection.Regions == nil && (c.question.Selection.Locations == nil ||
		!slices.ContainsFunc([]string{"waited(", "gpu_time(", "steps(", "critical_path(", "waits("},
			func(t string) bool { return strings.Contains(from, t) }))
}

// claimSubject is the time that a finding's subject takes in all that is selected.
func (c *diagnosis) claimSubject(f *finding.Finding) (finding.Claim, bool) {
	if c.question.Selection.Regions != nil { // sums of a part of the regions have no table
		return finding.Claim{}, false
	}
	rows := c.rowsBelow(f.Selection.Locations)
	switch {
	case c.profile:
		return c.claimProfile(f.Selection.Regions, rows)
	case len(f.Selection.Regions) > 0:
		return c.claimRegions(f.Selection.Regions, rows), true
	}
	return c.claimWork(rows), true
}

// rowsBelow are the rows of locations; all rows of none.
func (c *diagnosis) rowsBelow(locations []trace.LocationID) (rows []int32) {
	for row, id := range c.rows {
		if len(locations) == 0 || slices.ContainsFunc(locations, func(top trace.LocationID) bool {
			return top <= id && id <= c.tree.Last[top]
		}) {
			rows = append(rows, int32(row))
		}
	}
	if len(rows) == 0 {
		return c.rowsBelow(nil)
	}
	return rows
}

// claimRegions is the exclusive time of regions on rows.
func (c *diagnosis) claimRegions(regions []trace.RegionID, rows []int32) finding.Claim {
	in := c.rowSet(rows)
	sum := 0.0
	for i, r := range c.table.region {
		if in[c.table.row[i]] && slices.Contains(regions, r) {
			sum += c.table.exclusive[i]
		}
	}
	return finding.Claim{Says: "time in " + c.regionWords(regions) + c.onWords(rows), Value: sum, Unit: "ns",
		From: fmt.Sprintf("select total(exclusive) from time_in(%d, %d) where region_id in (%s)%s", c.window.Begin,
			c.window.End, numbers(regions), c.whereRows(rows))}
}

// claimWork is the time in which rows work.
func (c *diagnosis) claimWork(rows []int32) finding.Claim {
	sum := 0.0
	for _, row := range rows {
		sum += c.useful[row]
	}
	return finding.Claim{Says: "work" + c.onWords(rows), Value: sum, Unit: "ns",
		From: fmt.Sprintf("select total(busy) from busy(null, %d, %d) where true%s", c.window.Begin, c.window.End,
			c.whereRows(rows))}
}

// claimProfile is the total of regions of a profile, all where none is named, for metrics that add up.
func (c *diagnosis) claimProfile(regions []trace.RegionID, rows []int32) (finding.Claim, bool) {
	metrics := c.store.Metrics()
	if len(metrics) == 0 {
		return finding.Claim{}, false
	}
	m := &metrics[c.metric()]
	if m.Join != trace.JoinSum {
		return finding.Claim{}, false
	}
	in := c.rowSet(rows)
	sum := 0.0
	for i, r := range c.table.region {
		if in[c.table.row[i]] && (len(regions) == 0 || slices.Contains(regions, r)) {
			sum += c.table.exclusive[i]
		}
	}
	flat := 0
	if slices.ContainsFunc(c.store.CallPaths(), func(p trace.CallPath) bool { return p.Flat }) {
		flat = 1
	}
	says, where := "all", ""
	if len(regions) > 0 {
		says, where = c.regionWords(regions), fmt.Sprintf(" and region_id in (%s)", numbers(regions))
	} else if skipped := c.leftOut(); len(skipped) > 0 {
		where = fmt.Sprintf(" and region_id not in (%s)", numbers(skipped))
	}
	return finding.Claim{Says: "total of " + says + c.onWords(rows), Value: sum, Unit: c.unit,
		From: fmt.Sprintf("select total(exclusive) from profile where metric = %s and flat = %d%s%s", quoted(m.Name),
			flat, where, c.whereRows(rows))}, true
}

// leftOut are the regions whose totals are not taken, since they tell the time of others again.
func (c *facts) leftOut() (out []trace.RegionID) {
	for i := range c.regions {
		if c.skipped(trace.RegionID(i)) {
			out = append(out, trace.RegionID(i))
		}
	}
	return out
}

func (c *facts) rowSet(rows []int32) []bool {
	out := make([]bool, len(c.rows))
	for _, row := range rows {
		out[row] = true
	}
	return out
}

// onWords names rows: " on rank 5", nothing where it is all of them.
func (c *facts) onWords(rows []int32) string {
	if len(rows) == len(c.rows) {
		return ""
	}
	var units []int32
	for _, row := range rows {
		units = append(units, c.unitOf[c.rows[row]])
	}
	slices.Sort(units)
	units = slices.Compact(units)
	return " on " + c.named(units)
}

// regionWords names regions, the first two.
func (c *facts) regionWords(regions []trace.RegionID) string {
	var names []string
	for _, r := range regions {
		if n := words.Middle(c.regions[r].Name); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	if len(names) > 2 {
		return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
	}
	return strings.Join(names, " and ")
}
