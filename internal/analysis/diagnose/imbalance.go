package diagnose

// Fault: work that all do takes longer now on these units, now on those, or is spread unevenly.

import (
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
	"github.com/parallax-hpc/parallax/internal/words"
)

// evenShare is the part of the waiting that differences in the total work of units may explain, for the
// imbalance to vary over time rather than by unit.
const evenShare = 0.5

// steep is how closely work must follow the place to be called a gradient.
const steep = 0.9

// varying: work that all do takes longer now here, now there; or it is spread unevenly
// without a group that stands out.
func (a *culprits) varying() error {
	f := a.claim(a.common)
	if workers := a.waitsForWorkers(f); workers != nil {
		a.tellSlack(f, workers, true)
		return nil
	}
	if !a.grave(f) {
		a.give(f)
		return nil
	}
	uneven, most := 0.0, 0.0
	for _, w := range a.work {
		most = max(most, w)
	}
	for _, w := range a.work {
		uneven += most - w
	}
	place := finding.Place(a.work)
	kind := finding.Imbalance
	switch {
	case uneven > evenShare*float64(f.lost) && (place > steep || place < -steep):
	case finding.CourseOf(f.series).Grows:
		kind = finding.Growth
	case uneven < evenShare*float64(f.lost) || uneven < 0.1*most*float64(len(a.work)):
		kind = finding.Jitter
		if turns, alone := finding.Turns(a.costs(f), budget.Bins); alone > 0.7 && finding.TakeTurns(turns) {
			kind = finding.Rotating
		}
	}
	if units, cost := a.shares(f); kind == finding.Imbalance && 3*cost[units[0]] > 2*f.lost && a.clear(units[0]) {
		// It is one of them. The difference of the others is reported by itself, if it is worth it.
		a.give(f)
		f = a.claim(func(r *budget.Row) bool { return a.common(r) && a.accounts.unit[r.Actor] == units[0] })
		kind = finding.Straggler
		if f.messages() {
			kind = a.byMessages(f)
		}
		if err := a.tell(f, kind); err != nil {
			return err
		}
		return a.varying()
	}
	return a.tell(f, kind)
}

// clear reports whether a unit works longer than all others that nothing was told of, by half of its excess over the
// median of them.
func (a *culprits) clear(u int32) bool {
	var others []float64
	for v, w := range a.work {
		if int32(v) != u && !a.blamed[int32(v)] {
			others = append(others, w)
		}
	}
	return len(others) > 1 && 2*(a.work[u]-slices.Max(others)) > a.work[u]-orderstat.Median(others)
}

// tellUneven words work that is spread unevenly.
func (a *culprits) tellUneven(f *fault, region int32, where string, n *finding.Finding) {
	n.View, n.Options = "boxprofile", map[string][]string{"over": {"locations"}}
	name := a.accounts.regionWord(region)
	times := a.accounts.peers[region]
	low, high := 0, 0
	for u, t := range times {
		if t < times[low] {
			low = u
		}
		if t > times[high] {
			high = u
		}
	}
	if p := a.pop.LoadBalance; p == p {
		n.Evidence = append(n.Evidence, finding.Evidence{Name: "load balance", Value: p, Unit: "share",
			From: a.balanceQuery()})
	}
	lead := fmt.Sprintf("Work is spread unevenly%s", a.balanceWords())
	if p := finding.Place(a.work); p > steep || p < -steep {
		lead = fmt.Sprintf("Work %s from one %s to the next%s", words.Plural(boolInt(p > 0), "grows", "falls"),
			a.unitWord(),
			a.balanceWords())
	}
	if len(times) == 0 { // the accounts hold no work of the region
		n.Text = fmt.Sprintf("%s. %ss wait a total of %s for one another%s.", lead, capitalWord(a.unitWord()),
			words.FormatTime(f.lost), where)
		return
	}
	source := a.peerTimes(a.accounts.ids[region])
	n.Evidence = append(n.Evidence,
		finding.Evidence{Name: name + " on " + a.names[low], Value: float64(times[low]), Unit: "ns",
			From: a.unitsQuery("min", "exclusive", source, a.allUnits())},
		finding.Evidence{Name: name + " on " + a.names[high], Value: float64(times[high]), Unit: "ns",
			From: a.unitsQuery("max", "exclusive", source, a.allUnits())})
	n.Text = fmt.Sprintf("%s. On %s %s takes %s, on %s %s. %ss wait a total of %s for one another%s.", lead,
		a.names[low], name, words.FormatDuration(float64(times[low])), a.names[high],
		words.FormatDuration(float64(times[high])), capitalWord(a.unitWord()), words.FormatTime(f.lost), where)
}
