package diagnose

// Fault: workers of a task graph wait for tasks that the next ones need.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/words"
)

// tasks: workers wait for tasks that their next ones need. Which of the graph's tasks take longest while workers idle
// is reported; that they do is how the graph is made, and no fault of who runs them.
func (a *culprits) tasks() error {
	f := a.claim(func(r *budget.Row) bool { return 2*r.Of(budget.Task) > r.Caused() })
	share := float64(f.lost) / float64(a.accounts.time)
	level := finding.LevelOf(share).AtMost(finding.Medium)
	var names []string
	evidence := []finding.Evidence{{Name: waitedByOthers, Value: float64(f.lost), Unit: "ns",
		From: a.waitQuery(f, "total(time)", "")},
		{Name: "share of the time", Value: share, Unit: "share",
			From: a.waitQuery(f, fmt.Sprintf("total(time) / %d", a.accounts.time), "")}}
	var regions []int32
	for k := range f.regions {
		if a.accounts.role[k].Busy() {
			regions = append(regions, k)
		}
	}
	slices.SortFunc(regions,
		func(x, y int32) int { return cmp.Or(cmp.Compare(f.regions[y], f.regions[x]), cmp.Compare(x, y)) })
	for _, k := range regions[:min(len(regions), 3)] {
		names = append(names,
			fmt.Sprintf("%s (%s)", words.Middle(a.accounts.regionNames[k]), words.FormatTime(f.regions[k])))
		evidence = append(evidence,
			finding.Evidence{Name: a.accounts.regionNames[k], Value: float64(f.regions[k]), Unit: "ns",
				From: a.waitQuery(f, "total(time)", " and cause_region = "+quoted(a.accounts.regionNames[k]))})
	}
	if len(names) == 0 || level == finding.Low {
		return nil // the budget has it
	}
	rest, busy := f.lost, make([]string, len(regions))
	for i, k := range regions {
		rest -= f.regions[k]
		busy[i] = quoted(a.accounts.regionNames[k])
	}
	more := ""
	if float64(rest) > worthKnowing*float64(f.lost) {
		more = fmt.Sprintf("; for %s these run no task either", words.FormatTime(rest))
		x := finding.Evidence{Name: "awaited workers run no task", Value: float64(rest), Unit: "ns"}
		if len(busy) <= mostNumbers {
			x.From = a.waitQuery(f, "total(time)", " and cause_region not in ("+strings.Join(busy, ", ")+")")
		}
		evidence = append(evidence, x)
	}
	for _, r := range f.rows {
		a.told[causeKey{r.Actor, r.Region}] = finding.Serial
	}
	a.add(finding.Finding{Kind: finding.Serial, Severity: level, Lost: f.lost, Hit: share, Share: share,
		ShareOf: "the time of the waiting workers", View: "timeline", Evidence: evidence,
		Next: "Start these tasks earlier, by their priority, or split them: other tasks cannot start before " +
			"they end.",
		Selection: finding.Selection{Regions: a.accounts.ids[regions[0]]},
		NoGain:    "a scheduler would run the tasks in another order",
		Text: fmt.Sprintf("Workers are idle for %s, %s of the time of locations. They wait for tasks on which their "+
			"next tasks depend, or for the last tasks of the run. Meanwhile the workers with these tasks run %s%s.",
			words.FormatTime(f.lost), words.FormatShare(share), strings.Join(names, ", "), more)}, nil)
	return nil
}
