package diagnose

// Fault: few units have less to do than all others, and wait for them.

import (
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// tellSlack: few units have less to do than all others, and wait for them. Nobody is late, and little is gained by
// giving them more: the work of the others would get shorter by their part of it alone. For a unit
// that hands out work, waiting is its job.
func (a *culprits) tellSlack(f *fault, busy map[int32]bool, handsOut bool) {
	for _, r := range f.rows {
		a.told[causeKey{r.Actor, r.Region}] = finding.Slack
	}
	var few []int32
	less, work := 0.0, 0.0 // of each kind, on average
	for u := range a.work {
		w := a.recordedWork(u)
		if busy[int32(u)] {
			work += w / float64(len(busy))
		} else {
			few = append(few, int32(u))
			less += w / float64(len(a.work)-len(busy))
		}
	}
	gain := (work - less) * float64(len(few)) / float64(len(a.units))
	ofFew, ofOthers, shorter := a.workQuery("avg", few), a.workQuery("avg", a.allUnits(few...)), ""
	if ofFew != "" && ofOthers != "" {
		shorter = fmt.Sprintf("select ((%s) - (%s)) * %d / %d", ofOthers, ofFew, len(few), len(a.units))
	}
	x := finding.Finding{Kind: finding.Slack, Severity: finding.Low, Lost: f.lost, Hit: a.share(f), View: "boxprofile",
		Options: map[string][]string{"over": {"locations"}},
		Evidence: []finding.Evidence{{Name: "work", Value: less, Unit: "ns", From: ofFew},
			{Name: "work of the others", Value: work, Unit: "ns", From: ofOthers},
			{Name: waitedByOthers, Value: float64(f.lost), Unit: "ns", From: a.waitQuery(f, "total(time)", "")}},
		Selection: finding.Selection{Locations: a.locations(few)}}
	who, does, waits := capital(a.named(few)), words.FormatDuration(less),
		words.Plural(len(few), "It waits ", "They wait a total of ")+words.FormatTime(f.lost)
	if handsOut {
		x.Text = fmt.Sprintf("%s %s out work and %s hardly any of it: %s, against %s of the others. %s for them, "+
			"which costs nothing while they work.", who, words.Plural(len(few), "hands", "hand"),
			words.Plural(len(few), "does", "do"), does, words.FormatDuration(work), waits)
	} else {
		x.Text = fmt.Sprintf("%s %s less to do than the others: %s of work against %s. %s for them. If the work were "+
			"spread evenly, each would work %s less.", who, words.Plural(len(few), "has", "have"), does,
			words.FormatDuration(work), waits, words.FormatDuration(gain))
		x.Evidence = append(x.Evidence,
			finding.Evidence{Name: "gain of each, at most", Value: gain, Unit: "ns", From: shorter})
	}
	a.add(x, nil)
}

// recordedWork is the work of a unit in regions that all enter, as far as it is recorded.
func (a *culprits) recordedWork(u int) float64 {
	if none := a.accounts.work[budget.Nothing]; none != nil {
		return a.work[u] - float64(none[u])
	}
	return a.work[u]
}

// workQuery asks for a statistic of the recorded work of units.
func (a *culprits) workQuery(statistic string, units []int32) string {
	var ids []trace.RegionID
	for k, times := range a.accounts.work {
		if times != nil && k != int(budget.Nothing) && a.ordinary(int32(k)) && !a.alone[k] {
			ids = append(ids, a.accounts.ids[k]...)
		}
	}
	slices.Sort(ids)
	return a.unitsQuery(statistic, "exclusive", a.times(ids), units)
}
