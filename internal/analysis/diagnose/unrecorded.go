package diagnose

// Fault: for most of the time nothing is recorded.

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// leastUnrecorded is the part of the time without records that is reported.
const leastUnrecorded = 0.5

// findUnrecorded: for most of the time nothing is recorded, and nothing else is found. It names the recorded
// activities.
func findUnrecorded(c *diagnosis) error {
	idle := c.tree.Kind[c.rows[0]] == trace.KindProcessor
	if c.profile || c.spans || c.untimed || len(c.processors) > 0 || c.alike.what == "GPUs" || len(c.rows) < 2 ||
		slices.ContainsFunc(c.list, func(f finding.Finding) bool { return f.Severity != finding.Low }) {
		return nil
	}
	rows := c.processorRows()
	in, recorded := c.rowSet(rows), trace.Time(0)
	err := c.roles(c.ctx, c.window.Begin, c.window.End,
		func(id trace.LocationID, times *[trace.RoleCount]trace.Time) {
			for role, t := range times {
				if in[c.rowOf[id]] && !(idle && trace.Role(role) == trace.RoleIdle) {
					recorded += t
				}
			}
		})
	if err != nil {
		return err
	}
	whole := trace.SumProduct(int64(len(rows)), c.length).Time()
	rest := max(whole-recorded, 0)
	share := float64(rest) / float64(max(whole, 1))
	if share < leastUnrecorded {
		return nil
	}
	columns := "compute + communication + synchronization + io + copy + overhead + annotation"
	kind := Unrecorded
	lead := "Nothing is recorded for %s of the time of %s (%s): they were idle, or did something that " +
		"the recorder leaves out."
	if idle {
		kind, lead = finding.IdleProcessors, "No task runs for %s of the time of %s (%s)."
	} else {
		columns += " + idle"
	}
	source := fmt.Sprintf("busy(null, %d, %d) where true%s", c.window.Begin, c.window.End, c.whereRows(rows))
	query := func(by trace.Time) string {
		return fmt.Sprintf("select (%d - total(%s)) / %d from %s", whole, columns, by, source)
	}
	f := finding.Finding{Kind: kind, Severity: finding.Low, Lost: rest, Hit: share, Share: share, View: "timeline",
		ShareOf: "the time of " + words.Count(len(rows), c.rowWord()),
		Text: fmt.Sprintf(lead, words.FormatShare(share), words.Count(len(rows), c.rowWord()),
			words.FormatTime(rest)),
		Evidence: []finding.Evidence{
			{Name: "time without records", Value: float64(rest), Unit: "ns", From: query(1)},
			{Name: "share of the time", Value: share, Unit: "share", From: query(whole)}}}
	parts, some, of := []string{}, true, map[string]float64{}
	for i, r := range c.table.region {
		if g := &c.regions[r]; in[c.table.row[i]] && g.Role != trace.RoleIdle {
			of[g.Name] += c.table.exclusive[i]
			some = some && (g.Role == trace.RoleIO || c.table.exclusive[i] == 0)
		}
	}
	names := slices.Sorted(maps.Keys(of))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(of[b], of[a]) })
	for _, name := range names[:min(len(names), mostProofs)] {
		if of[name] < 0.02*float64(recorded) {
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", words.Middle(name), words.FormatDuration(of[name])))
		source := c.times(c.namedSo(name))
		if source != "" && len(rows) < len(c.rows) {
			source += " and location in (" + numbers(c.idsOf(rows)) + ")"
		}
		f.Evidence = append(f.Evidence, finding.Evidence{Name: name, Value: of[name], Unit: "ns",
			From: sumQuery("total(exclusive)", source)})
	}
	switch {
	case len(parts) > 0 && some:
		f.Text += " Only input and output are recorded. Largest parts: " + strings.Join(parts, ", ") + "."
		f.Next = "Record the work and the communication of the program too: then Parallax can find the causes of " +
			"waiting."
	case len(parts) > 0:
		f.Text += " Largest parts of the rest: " + strings.Join(parts, ", ") + "."
	}
	c.add(f, nil)
	return nil
}

// Unrecorded is the kind of findings about time in which nothing is recorded.
const Unrecorded finding.Kind = "unrecorded"

// rowWord is the word for a row: "thread".
func (c *diagnosis) rowWord() string {
	if len(c.rows) == len(c.units) {
		return c.unitWord()
	}
	return "location"
}

// namedSo are the regions of a name.
func (f *facts) namedSo(name string) (ids []trace.RegionID) {
	for i := range f.regions {
		if f.regions[i].Name == name && f.regions[i].Role != trace.RoleIdle {
			ids = append(ids, trace.RegionID(i))
		}
	}
	return ids
}
