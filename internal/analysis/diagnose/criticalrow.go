package diagnose

// Fault: the critical path that a build tool recorded bounds the run.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// criticalRow is the name of the row on which a build tool, such as Bazel, records its own critical path.
const criticalRow = "critical path"

// leastCritical is the part of the run from which a recorded critical path is reported.
const leastCritical = 0.25

// findCriticalRow: the tool that was recorded tells its critical path, on a row of its own. The longest actions on it
// bound the run, whatever the others do.
func findCriticalRow(c *diagnosis) error {
	if c.profile || c.spans {
		return nil
	}
	row := slices.IndexFunc(c.rows,
		func(id trace.LocationID) bool { return strings.ToLower(c.tree.Name[id]) == criticalRow })
	if row < 0 {
		return nil
	}
	sum, of := 0.0, map[trace.RegionID]float64{}
	for i, r := range c.table.region {
		if c.table.row[i] == int32(row) {
			sum += c.table.exclusive[i]
			of[r] += c.table.exclusive[i]
		}
	}
	share := sum / float64(c.length)
	if share < leastCritical {
		return nil
	}
	var regions []trace.RegionID
	for r := range of {
		regions = append(regions, r)
	}
	slices.SortFunc(regions,
		func(a, b trace.RegionID) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) })
	regions = regions[:min(len(regions), 3)]
	source := fmt.Sprintf("time_in(%d, %d) where location = %d", c.window.Begin, c.window.End, c.rows[row])
	f := finding.Finding{Kind: finding.Serial, Severity: finding.LevelOf(share), Lost: trace.Time(sum), Hit: share,
		Share: share, ShareOf: "the run", View: "timeline",
		Next: "Shorten, split or cache the longest of these: operations in parallel to them cannot shorten the run.",
		Evidence: []finding.Evidence{
			{Name: "critical path, as recorded", Value: sum, Unit: "ns", From: sumQuery("total(exclusive)", source)},
			{Name: "share of the run", Value: share, Unit: "share",
				From: sumQuery(fmt.Sprintf("total(exclusive) / %d", c.length), source)}},
		Selection: finding.Selection{Locations: []trace.LocationID{c.rows[row]}}}
	var parts []string
	for _, r := range regions {
		parts = append(parts, fmt.Sprintf("%s (%s)", words.Middle(c.regions[r].Name), words.FormatDuration(of[r])))
		f.Evidence = append(f.Evidence, finding.Evidence{Name: c.regions[r].Name, Value: of[r], Unit: "ns",
			From: sumQuery("total(exclusive)", source+fmt.Sprintf(" and region_id = %d", r))})
	}
	f.Text = fmt.Sprintf("The recorded tool reports a critical path of %s, %s of the run. Largest parts: %s.",
		words.FormatDuration(sum), words.FormatShare(share), strings.Join(parts, ", "))
	c.add(f, nil)
	c.gainOfRun(of[regions[0]], fmt.Sprintf("%s took no time", words.Middle(c.regions[regions[0]].Name)), spread{})
	return nil
}
